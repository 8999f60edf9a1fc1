"""The networks of the gradient-trained methods, after methods.md 1.1 to 1.3: bidirectional GRU, norm, linear layer.

Arrays here are feature-major, (..., tokens, texts), and the texts of a batch come longest first: see `fast_gru`.
`Pair.select`, `Pair.classify` and `Predictor.full_text` take the (texts, tokens) of the rest of the package.

One deviation from the released code of these methods: there the recurrence runs over padding, so a text's highlight
depends on how long its batch mates are. Here padding never enters it; the states of padding are zero. Unselected
tokens stay in the sequence as zero vectors and are pooled, as published: the predictor knows where a highlight lies.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from genspp.data.encode import Encoded
from genspp.methods.fast_gru import BiGRU
from genspp.methods.fast_layers import Layout, text_logits, token_logits
from genspp.methods.fast_math import Counts, Floats, kernel
from genspp.model.spp import Shape
from genspp.population.evaluator import stream

_NONE = torch.zeros(0, dtype=torch.long)


@kernel
def _lay_out(ids: npt.NDArray[np.int32], starts: Counts, lengths: Counts, table: Floats, vectors: Floats) -> None:
    """Fill in vectors, (inputs, tokens, texts), from rows of the table; the first is that of padding."""
    width, tokens, texts = vectors.shape
    words = np.empty(texts, np.int64)
    for t in range(tokens):
        for i in range(texts):
            words[i] = ids[starts[i] + t] if t < lengths[i] else 0
        for feature in range(width):
            row = vectors[feature, t]
            for i in range(texts):
                row[i] = table[words[i], feature]


@dataclass(frozen=True)
class Batch:
    """Some texts, longest first.

    vectors: (inputs, tokens, texts). lengths: (texts,), falling. labels: (texts,) class numbers, where known.
    """

    vectors: Tensor
    lengths: npt.NDArray[np.int64]
    labels: Tensor = _NONE

    @classmethod
    def take(cls, data: Encoded, rows: npt.NDArray[np.int64], table: Tensor) -> Self:
        """Return some rows of the data; `table` holds the word vectors."""
        lengths = data.starts[rows + 1] - data.starts[rows]
        order = np.argsort(-lengths, kind="stable")
        rows, lengths = rows[order], lengths[order]
        vectors = torch.empty(table.shape[1], int(lengths[0]), len(rows))
        _lay_out(data.ids, data.starts[rows], lengths, table.numpy(), vectors.numpy())
        return cls(vectors, lengths, torch.from_numpy(data.labels[rows].astype(np.int64)))

    @classmethod
    def sort(cls, vectors: Tensor, real: Tensor) -> tuple[Self, Tensor]:
        """Return a batch from (texts, tokens, inputs), and the order that its texts were brought into."""
        lengths, order = real.sum(1).sort(descending=True, stable=True)
        return cls(vectors[order].permute(2, 1, 0), lengths.numpy()), order

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def places(self) -> int:
        """The number of tokens of the longest text."""
        return self.vectors.shape[1]

    @cached_property
    def tokens(self) -> int:
        """The number of real tokens."""
        return int(self.lengths.sum())

    @cached_property
    def padded(self) -> bool:
        """Whether there is any padding."""
        return self.tokens < len(self) * self.places

    @cached_property
    def active(self) -> npt.NDArray[np.int64]:
        """The number of texts that have a token at each place, (tokens,)."""
        return len(self) - np.searchsorted(self.lengths[::-1], np.arange(self.places), side="right")

    @cached_property
    def real(self) -> Tensor:
        """True for what is not padding, (tokens, texts)."""
        return torch.from_numpy(np.arange(self.places)[:, None] < self.lengths)


class Encoder(nn.Module):
    """BiGRU(inputs -> hidden) and, where the method has one, a layer norm over its 2 hidden features."""

    def __init__(self, shape: Shape, norm: nn.LayerNorm | None) -> None:
        super().__init__()
        self.gru = BiGRU(shape.inputs, shape.hidden)
        self.norm = norm


def encoder(shape: Shape, *, norm: bool = True) -> Encoder:
    """Return an encoder with a norm of its own, or with none."""
    return Encoder(shape, nn.LayerNorm(2 * shape.hidden) if norm else None)


class Network(nn.Module):
    """Encoder and linear layer."""

    def __init__(self, encoder: Encoder, shape: Shape, outputs: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.output = nn.Linear(2 * shape.hidden, outputs)
        self.layout = Layout(shape.inputs, shape.hidden, outputs, encoder.norm is not None)

    @property
    def weights(self) -> tuple[Tensor, ...]:
        """The parameters in the order of `layout`, as `parameters()` has them, without its search."""
        modules = (self.encoder.gru, self.encoder.norm, self.output)
        return tuple(p for module in modules if module is not None for p in module._parameters.values())  # type: ignore[misc]


class Generator(Network):
    """Encoder and linear layer: the logits of dropping (0) and selecting (1) each token."""

    def __init__(self, encoder: Encoder, shape: Shape) -> None:
        super().__init__(encoder, shape, 2)

    def forward(self, batch: Batch) -> Tensor:
        """Return the selection logits, (2, tokens, texts)."""
        return token_logits(self.layout, batch.vectors, batch.active, self.weights)


class Predictor(Network):
    """Encoder over the selected vectors, maximum over all real tokens, linear layer."""

    def __init__(self, encoder: Encoder, shape: Shape) -> None:
        super().__init__(encoder, shape, shape.classes)

    def forward(self, batch: Batch, mask: Tensor | None = None) -> Tensor:
        """Return the class logits, (texts, classes), at a mask (tokens, texts) of numbers; None: every token."""
        return text_logits(self.layout, batch.vectors, mask, batch.active, self.weights)

    def full_text(self, vectors: Tensor, real: Tensor) -> Tensor:
        """Return the class logits of (texts, tokens, inputs), every real token selected."""
        batch, order = Batch.sort(vectors, real)
        return _unsorted(self(batch), order)


class Pair(nn.Module):
    """A generator and a predictor, which may share modules, with the frozen table of word vectors that both read.

    `sample_seed` makes evaluation masks Gumbel samples; without it they are the likelier choice, argmax.
    """

    vectors: Tensor

    def __init__(
        self, vectors: Tensor, generator: Generator, predictor: Predictor, sample_seed: int | None = None
    ) -> None:
        super().__init__()
        self.register_buffer("vectors", vectors)
        self.generator = generator
        self.predictor = predictor
        self.sample_seed = sample_seed

    def select(self, ids: Tensor, real: Tensor) -> Tensor:
        """Return the highlight, (texts, tokens), of a padded batch."""
        batch, order = Batch.sort(F.embedding(ids, self.vectors), real)
        margin = _unsorted(margins(self.generator(batch)).t(), order)
        if self.sample_seed is not None:
            margin = margin + text_noise(self.sample_seed, ids, real)
        return (margin > 0) & real

    def classify(self, ids: Tensor, real: Tensor, mask: Tensor) -> Tensor:
        """Return the class logits, (texts, classes), of a padded batch at the given highlight."""
        batch, order = Batch.sort(F.embedding(ids, self.vectors), real)
        chosen = (mask & real)[order].t().to(self.vectors.dtype)
        return _unsorted(self.predictor(batch, chosen), order)


def margins(logits: Tensor) -> Tensor:
    """Return by how much selecting is preferred to dropping, (tokens, texts)."""
    return logits[1] - logits[0]


def text_noise(seed: int, ids: Tensor, real: Tensor) -> Tensor:
    """Return logistic noise, (texts, tokens), that is a function of the seed and of the text alone.

    So a sampled highlight, too, is the same whatever else is in the batch, and the same at every call.
    """
    noise = np.zeros(ids.shape, np.float32)
    for row, text, length in zip(noise, ids.numpy(), real.sum(1).tolist(), strict=True):
        row[:length] = stream(seed, *text[:length].tolist()).logistic(size=length)
    return torch.from_numpy(noise)


def _unsorted(rows: Tensor, order: Tensor) -> Tensor:
    result = torch.empty_like(rows)
    result[order] = rows
    return result
