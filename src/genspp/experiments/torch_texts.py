"""Texts as torch reads them fast: padded to the longest of their batch, and recurrences run over the padding."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from genspp.data.encode import Encoded
from genspp.model.networks import Encoder


class Padded(NamedTuple):
    """Some texts, padded.

    inputs: what networks read: vectors, (texts, tokens, inputs), zero in the padding; and (texts, tokens) True for a
    token. tokens: how many these are. labels: (texts,).
    """

    inputs: tuple[Tensor, Tensor]
    tokens: int
    labels: Tensor

    @property
    def real(self) -> Tensor:
        """True for every token, (texts, tokens)."""
        return self.inputs[1]


class PaddedTexts:
    """All texts of a split, padded once; batches are cut out of them."""

    def __init__(self, data: Encoded, table: npt.NDArray[np.float32]) -> None:
        self._ids = torch.from_numpy(data.padded(np.arange(len(data)))[0])
        self._lengths, self._labels = torch.from_numpy(data.lengths), torch.from_numpy(data.labels.astype(np.int64))
        self._table = torch.from_numpy(table)

    def __len__(self) -> int:
        return len(self._ids)

    def batch(self, rows: Tensor) -> Padded:
        """Return some texts, padded to the longest of them."""
        lengths = self._lengths[rows]
        longest = int(lengths.max())
        real = torch.arange(longest) < lengths.unsqueeze(1)
        vectors = F.embedding(self._ids[rows, :longest], self._table)
        return Padded((vectors, real), int(lengths.sum()), self._labels[rows])


class OverPadding(Encoder):
    """An encoder that runs over padding as over tokens; every token moves its state."""

    def forward(self, vectors: Tensor, real: Tensor, moved: Tensor | None = None) -> Tensor:
        """Return the states, (texts, tokens, features)."""
        # Tokens first, because then a step's numbers lie together: a tenth faster.
        self.gru.batch_first = False
        states: Tensor = self.gru(vectors.transpose(0, 1).contiguous())[0].transpose(0, 1)
        return states if self.norm is None else self.norm(states)
