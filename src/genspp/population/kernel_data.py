"""What the kernels read and write: texts, word table, weights and working memory as flat arrays."""

import numpy as np
import numpy.typing as npt

from genspp.data.encode import Encoded, Mask
from genspp.errors import DataError
from genspp.model.genome import Weights, predictor_parts, unflatten
from genspp.model.spp import Shape
from genspp.population.kernel_batch import Longs, Space, Texts, Words
from genspp.population.kernel_cell import Floats, Ints, Sizes, Table, gate_size_of, layout_of, state_size_of
from genspp.population.kernel_lanes import QUAD, ROW, WIDTH
from genspp.population.kernel_predictor import survey

_ALIGNMENT = 64  # A vector that straddles two cache lines costs two accesses.


def _room(count: int) -> npt.NDArray[np.uint8]:
    """Return zeroed memory for whole vectors, one more than asked for, that begins on a cache line."""
    size = (count // WIDTH + 2) * WIDTH * 4
    raw = np.zeros(size + _ALIGNMENT, np.uint8)
    offset = -raw.ctypes.data % _ALIGNMENT
    return raw[offset : offset + size]


def floats(count: int) -> Floats:
    """Return a workspace of at least `count` zeros."""
    return _room(count).view(np.float32)


def integers(count: int) -> Ints:
    """Return a workspace of at least `count` zeros."""
    return _room(count).view(np.int32)


class Rows:
    """Texts as the kernels read them: ids are rows of a table of only the words that occur, 0 is no word."""

    def __init__(self, data: Encoded, words: npt.NDArray[np.int64], classes: int) -> None:
        if len(data.labels) and (data.labels.min() < 0 or data.labels.max() >= classes):
            raise DataError(f"labels run from {data.labels.min()} to {data.labels.max()}, with {classes} classes")
        self.data = data
        self.ids: Ints = (np.searchsorted(words, data.ids) + 1).astype(np.int32)
        self.starts: Longs = data.starts.astype(np.int64)
        self.longest = int(data.lengths.max(initial=0))
        self.by_length: Longs = np.argsort(-data.lengths, kind="stable")
        self.labels: Ints = data.labels.astype(np.int32)

    def behind(self, mask: Mask) -> Texts:
        """Return the texts as the predictor sees them through a mask."""
        words = self.ids * (mask != 0)
        first, span = np.empty(len(self.data), np.int32), np.empty(len(self.data), np.int32)
        picked, picks = np.empty(len(words) + 1, np.int32), np.empty(len(self.data) + 1, np.int64)
        survey(words, self.starts, first, span, picked, picks)
        return Texts(words, self.starts, first, span, picked, picks, self.labels)


def word_table(vectors: npt.NDArray[np.float32], *data: Encoded) -> tuple[Table, npt.NDArray[np.int64]]:
    """Return the vectors of the words that occur, behind a row of zeros, and which words those are."""
    words = np.unique(np.concatenate([part.ids for part in data])).astype(np.int64)
    if len(words) and (words[0] < 0 or words[-1] >= len(vectors)):
        raise DataError(f"word ids run from {words[0]} to {words[-1]}, the table has {len(vectors)} rows")
    rows = np.concatenate([np.zeros_like(vectors[:1]), vectors[words]]).astype(np.float32)
    one_hot = (np.count_nonzero(rows, axis=1) == 1) & (rows.max(axis=1) == 1)
    column = np.where(one_hot, rows.argmax(axis=1), -1).astype(np.int32)
    flat = floats(rows.size)
    flat[: rows.size] = rows.ravel()
    return Table(flat, column), words


def padded(shape: Shape, classes: int) -> Sizes:
    """Return the sizes as the kernels have them."""
    return Sizes(shape.inputs, -(-shape.hidden // ROW) * ROW, classes)


def _views(packed: Floats, sizes: Sizes, hidden: int) -> list[Floats]:
    """Return the parts of packed weights, without their padding, as torch has them: gates first."""
    D, K, C = sizes
    bounds = (0, *layout_of(sizes))
    shapes = [(D, 3, K), (3, K), (K, 3, K), (3, K), (C, K), (C,)]
    parts = [packed[a:b].reshape(s) for a, b, s in zip(bounds[:-1], bounds[1:], shapes, strict=True)]
    weights, bias, recurrent, recurrent_bias, output, output_bias = parts
    return [
        weights[:, :, :hidden].transpose(1, 2, 0),
        recurrent[:hidden, :, :hidden].transpose(1, 2, 0),
        bias[:, :hidden],
        recurrent_bias[:, :hidden],
        output[:, :hidden],
        output_bias,
    ]


def pack_weights(parts: list[Weights], sizes: Sizes, hidden: int) -> Floats:
    """Return torch's weights of a direction and its output layer in the order of the kernels."""
    packed = floats(layout_of(sizes)[-1])
    for view, part in zip(_views(packed, sizes, hidden), parts, strict=True):
        view[...] = part.reshape(view.shape)
    return packed


def unpack_predictor(packed: Floats, shape: Shape) -> Weights:
    """Return packed weights (or gradients) as one flat vector in torch's order."""
    views = _views(packed, padded(shape, shape.classes), shape.hidden)
    return np.concatenate([view.reshape(-1) for view in views])


def pack_predictor(flat: Weights, shape: Shape) -> Floats:
    """Return a predictor's flat weights in the order of the kernels."""
    parts = list(unflatten(flat, predictor_parts(shape)).values())
    return pack_weights(parts, padded(shape, shape.classes), shape.hidden)


def working_memory(sizes: Sizes, longest: int, batch: int, words: int) -> tuple[Words, Space]:
    """Return the memory to train on batches of texts of at most `longest` tokens and of `words` different words.

    It grows with the tokens and the different words of one batch, not with the data.
    """
    K, C, row = sizes.hidden, sizes.classes, 3 * sizes.hidden
    slots = 1 + min(words, batch * longest)
    projected, drawn = floats(slots * row), floats(slots * row)
    used, dense = integers(slots), integers(slots)
    space = Space(
        cells=integers(longest * WIDTH),
        leaves=integers(WIDTH),
        states=floats((longest + 1) * state_size_of(K)),
        gates=floats((longest + 1) * gate_size_of(K)),
        turned=floats(row * WIDTH),
        pooled=floats(K * WIDTH),
        when=floats(K * WIDTH),
        pull=floats(K * WIDTH),
        slope=floats(K * WIDTH),
        logits=floats(C * WIDTH),
        marks=floats(WIDTH),
        shares=floats(WIDTH),
        recurrent_sums=floats(K // QUAD * row * WIDTH),
        bias_sums=floats(K * WIDTH),
        output_sums=floats((C * K // QUAD + C) * WIDTH),
        prefix_states=floats((longest + 1) * K),
        prefix_gates=floats((longest + 1) * 4 * K),
        prefix_slope=floats((longest + 1) * K),
        counts=integers(longest + 1),
        ranked=integers(batch),
    )
    return Words(projected, drawn, integers(words + 1), used, dense), space
