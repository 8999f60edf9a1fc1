"""Texts as the guider's kernels have them, and as torch has them: what the tests of G-RAT share."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from genspp.data.encode import Encoded
from genspp.kernels.inputs import Table
from genspp.kernels.lanes import WIDTH
from genspp.kernels.texts import make_layout
from genspp.model.passes import Batch, prepare

WEIGHTS = np.array([1.0, 2.0, 0.5, 1.5], np.float32)


def laid_out(
    lengths: list[int], hidden: int, classes: int, vectors: Any, *, padded: bool = False, seed: int = 0
) -> tuple[Table, Batch, tuple[Tensor, Tensor, Tensor]]:
    """Return texts of some lengths as a batch; and their vectors, the mask of real tokens and labels in torch.

    torch's texts are in the order of the batch's lanes.
    """
    random = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    ids = random.integers(0, len(vectors), starts[-1]).astype(np.int32)
    labels = random.integers(0, classes, len(lengths)).astype(np.int32)
    table, (rows,) = prepare(vectors, classes, Encoded(ids, starts, labels))
    layout = make_layout(len(lengths), max(lengths), rows.words)
    batch = Batch(rows, random.permutation(len(lengths)), WEIGHTS[:classes], hidden, layout, padded=padded)
    order = layout.rows[: batch.texts]
    own = [torch.from_numpy(vectors[ids[starts[text] : starts[text + 1]]]) for text in order]
    seen = torch.nn.utils.rnn.pad_sequence(own, batch_first=True)
    real = torch.arange(seen.shape[1]) < torch.tensor([len(part) for part in own])[:, None]
    return table, batch, (seen, real, torch.from_numpy(labels[order].astype(np.int64)))


def by_text(batch: Batch, lanes: Any, tokens: int) -> Tensor:
    """Return numbers (places, WIDTH) as (texts, tokens)."""
    found, first = np.zeros((batch.groups * WIDTH, tokens), np.float32), batch.layout.first
    for group in range(batch.groups):
        part = lanes[first[group] * WIDTH : first[group + 1] * WIDTH].reshape(-1, WIDTH)
        found[group * WIDTH : (group + 1) * WIDTH, : len(part)] = part.T
    return torch.from_numpy(found[: batch.texts])


def logits_of(batch: Batch, lanes: Any, classes: int) -> Tensor:
    """Return numbers (groups, classes, WIDTH) as (texts, classes)."""
    table = lanes[: batch.groups * classes * WIDTH].reshape(batch.groups, classes, WIDTH)
    return torch.from_numpy(table.transpose(0, 2, 1).reshape(-1, classes)[: batch.texts].copy())


def gradient_of(optimizer: Any, parameter: Any) -> Tensor:
    """Return the gradient that an optimizer holds for a parameter."""
    return torch.from_numpy(optimizer.gradient[optimizer.vector.places([parameter])]).view_as(parameter)


def shaken(module: Any, seed: int = 0) -> None:
    """Move all parameters: a norm that is still the identity would hide a missing one."""
    stream = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape, generator=stream))
