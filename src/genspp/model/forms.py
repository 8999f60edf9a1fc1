"""Networks as the compiled kernels have them: what each is, its weights in the kernels' order; nothing of torch.

A saved model predicts with these alone. How torch's modules become them is in `weights.py`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from genspp.kernels.gru import Sizes
from genspp.kernels.lanes import WIDTH
from genspp.kernels.memory import floats

Weights = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]
Shapes = Mapping[str, tuple[int, ...]]
Arrays = Mapping[str, npt.NDArray[np.float32]]


class Form(NamedTuple):
    """What a network is.

    selected: a predictor pools the selected tokens only. skipping: its state rests at the others. gated: a generator's
    logits are the shape of a gate. (See `networks.py`.)
    """

    sizes: Sizes
    selected: bool = False
    skipping: bool = False
    gated: bool = False


@dataclass(frozen=True)
class Weighed:
    """A network: its form, and its weights in the kernels' order."""

    form: Form
    weights: Weights


@dataclass(frozen=True)
class MarkedWords:
    """A regression on the marked words (`networks.MarkedWords`): by the rows of the vectors; later rows say nothing."""

    idf: Weights
    weights: Weights
    bias: Weights

    def logits(self, texts: npt.NDArray[np.int64], ids: npt.NDArray[np.integer], count: int) -> npt.NDArray[np.float64]:
        """Return the logits of so many texts, (texts, classes). texts, ids: the text and the row of every token."""
        rows = len(self.idf)
        known = ids < rows
        found, times = np.unique(texts[known] * rows + ids[known], return_counts=True)
        texts, words = found // rows, found % rows
        values = times * self.idf[words].astype(np.float64)
        logits = np.stack([np.bincount(texts, values * column[words], count) for column in self.weights.T], axis=1)
        lengths = np.sqrt(np.bincount(texts, values**2, minlength=count))
        return np.asarray(logits / np.maximum(lengths, 1e-12)[:, None] + self.bias)


@dataclass(frozen=True)
class Together:
    """Predictors of one form that decide together (`networks.Committee`), and a regression where there is one."""

    members: tuple[Weighed, ...]
    words: MarkedWords | None = None


@dataclass(frozen=True)
class WordMargins:
    """A generator that knows single words: the margin of every row of the vectors; later rows are not selected."""

    margins: Weights

    def of(self, ids: npt.NDArray[np.int32]) -> Weights:
        """Return the margins of tokens, by the rows of their words."""
        unseen = np.full(max(0, int(ids.max()) + 1 - len(self.margins)), -1, np.float32)
        return np.concatenate([self.margins, unseen])[ids]


@dataclass(frozen=True)
class SalientTo:
    """A generator that asks a predictor of full texts what it looked at (`networks.Saliency`)."""

    predictor: Weighed


@dataclass(frozen=True)
class KernelPair:
    """A trained pair. vectors: the table that both read. sampled, share: as in `networks.Pair`."""

    vectors: npt.NDArray[np.float32]
    generator: Weighed | WordMargins | SalientTo
    predictor: Weighed | Together
    sampled: int | None = None
    share: float | None = None


def members_of(predictor: Weighed | Together) -> tuple[Weighed, ...]:
    """Return the predictors that decide together; one by itself is alone."""
    return predictor.members if isinstance(predictor, Together) else (predictor,)


def padded_hidden(hidden: int) -> int:
    """Return the hidden size as the kernels have it."""
    return -(-hidden // WIDTH) * WIDTH


def parameter_shapes(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """Return the names and shapes of a network's parameters, in torch's order."""
    D, _, H, ways, outputs, normed = sizes
    shapes: dict[str, tuple[int, ...]] = {}
    for ending in ("_l0", "_l0_reverse")[:ways]:
        shapes[f"encoder.gru.weight_ih{ending}"] = (3 * H, D)
        shapes[f"encoder.gru.weight_hh{ending}"] = (3 * H, H)
        shapes[f"encoder.gru.bias_ih{ending}"] = shapes[f"encoder.gru.bias_hh{ending}"] = (3 * H,)
    if normed:
        shapes["encoder.norm.weight"] = shapes["encoder.norm.bias"] = (ways * H,)
    return {**shapes, "output.weight": (outputs, ways * H), "output.bias": (outputs,)}


@cache
def kernel_order(sizes: Sizes) -> Places:
    """Return, for every number of a network's weights in the kernels' order, its place in torch's; -1 for padding."""
    D, K, H, ways, outputs, normed = sizes
    taken = 0

    def torch_part(*shape: int) -> Places:
        nonlocal taken
        taken += math.prod(shape)
        return np.arange(taken - math.prod(shape), taken).reshape(shape)

    def padded(part: Places, *shape: int) -> Places:
        room = np.full(shape, -1, np.int64)
        room[tuple(slice(size) for size in part.shape)] = part
        return room.ravel()

    laid = []
    for _ in range(ways):
        inputs, recurrent = torch_part(3, H, D), torch_part(3, H, H)
        bias, recurrent_bias = torch_part(3, H), torch_part(3, H)
        laid += [padded(inputs.transpose(2, 0, 1), D, 3, K), padded(bias, 3, K)]
        laid += [padded(recurrent.transpose(2, 0, 1), K, 3, K), padded(recurrent_bias, 3, K)]
    if normed:
        laid += [padded(torch_part(ways, H), ways, K), padded(torch_part(ways, H), ways, K)]
    laid += [padded(torch_part(outputs, ways, H), outputs, ways, K), torch_part(outputs)]
    return np.concatenate(laid)


def pack(flat: Weights, order: Places) -> Weights:
    """Return flat weights in the kernels' order, zero in the padding."""
    packed = floats(len(order))
    packed[: len(order)] = np.where(order >= 0, flat[order], 0)
    return packed


def unpack(packed: Weights, order: Places) -> Weights:
    """Return weights (or gradients) in torch's order."""
    flat = np.empty(int(order.max()) + 1, np.float32)
    real = order >= 0
    flat[order[real]] = packed[: len(order)][real]
    return flat


def check_shapes(wanted: Shapes, arrays: Arrays) -> None:
    """Refuse saved weights that are not all there by their names, in their shapes, and no others."""
    for name in sorted(wanted.keys() | arrays.keys()):
        if name not in wanted or name not in arrays or wanted[name] != arrays[name].shape:
            found = "missing" if name not in arrays else f"of the shape {arrays[name].shape}"
            asked = f"ask for {wanted[name]}" if name in wanted else "know nothing of them"
            raise ValueError(f"the weights {name} are {found}, and the settings {asked}.")
