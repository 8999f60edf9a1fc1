"""Word vectors times weights, once per different word of a batch, and the gradient of that.

Vectors are frozen: the gradient goes to the weights and, where there is one, to the mask. A one-hot vector needs no
product: its projection is a row of the weights.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from genspp.errors import DataError
from genspp.kernels.compile import routine
from genspp.kernels.gru import Sizes, gate_slot, gru_parts
from genspp.kernels.lanes import QUAD, WIDTH, fma
from genspp.kernels.memory import (
    Floats,
    Ints,
    clear,
    fill,
    fill_quad,
    floats,
    load,
    load_quad,
    lowest_lane,
    quad,
    seen_lanes,
    store,
    store_spaced,
    store_turned,
    total,
    vector,
)


class Table(NamedTuple):
    """The word vectors, flat, and for a row that is one-hot the number of its column, otherwise -1."""

    vectors: Floats
    column: Ints


def word_table(vectors: npt.NDArray[np.float32], *ids: Ints) -> tuple[Table, npt.NDArray[np.int64]]:
    """Return the vectors of the words that occur, behind a row of zeros, and which words those are."""
    words = np.unique(np.concatenate(ids)).astype(np.int64)
    if len(words) and (words[0] < 0 or words[-1] >= len(vectors)):
        raise DataError(f"word ids run from {words[0]} to {words[-1]}, the table has {len(vectors)} rows.")
    rows = np.concatenate([np.zeros_like(vectors[:1]), vectors[words]]).astype(np.float32)
    one_hot = (np.count_nonzero(rows, axis=1) == 1) & (rows.max(axis=1) == 1)
    column = np.where(one_hot, rows.argmax(axis=1), -1).astype(np.int32)
    flat = floats(rows.size)
    flat[: rows.size] = rows.ravel()
    return Table(flat, column), words


@routine
def _project_two(
    first: int, second: int, table: Table, inputs: int, width: int, weights: Floats, out: Floats, at: int, slot: int
) -> None:
    """Write the projections of two words, which share the loads of the weights."""
    vectors = table.vectors
    for unit in range(0, width, 2 * WIDTH):
        wide = unit + WIDTH < width
        a = c = load(out, at + unit)
        b = d = load(out, at + unit + WIDTH) if wide else vector(0.0)
        for i in range(inputs):
            x, y = fill(vectors, first * inputs + i, 0), fill(vectors, second * inputs + i, 0)
            w, v = load(weights, i * width + unit), load(weights, i * width + unit + WIDTH)
            a, b, c, d = fma(x, w, a), fma(x, v, b), fma(y, w, c), fma(y, v, d)
        here = at + slot * width + unit
        store(out, here, a)
        store(out, here + width, c)
        if wide:
            store(out, here + WIDTH, b)
            store(out, here + width + WIDTH, d)


@routine
def project(
    count: int, used: Ints, table: Table, inputs: int, width: int, weights: Floats, out: Floats, at: int
) -> None:
    """Write W x + b for all words of a batch: rows of `width` numbers, behind row 0, which holds b already.

    weights: (inputs, width). out: from `at` on. There must be room for one row more than there are words.
    """
    columns, slot = table.column, 1
    while slot <= count:
        word = used[slot]
        column = columns[word]
        if column >= 0:
            for unit in range(0, width, WIDTH):
                store(out, at + slot * width + unit, load(out, at + unit) + load(weights, column * width + unit))
            slot += 1
        else:
            # The second word's row is written again in its turn if it is one-hot, or if there is none.
            other = used[slot + 1] if slot < count and columns[used[slot + 1]] < 0 else word
            _project_two(word, other, table, inputs, width, weights, out, at, slot)
            slot += 1 if other == word else 2


@routine
def project_gates(
    count: int, used: Ints, table: Table, sizes: Sizes, way: int, weights: Floats, out: Floats, at: int
) -> None:
    """Write W_i x + b_i, and b_h of reset and update with it, for all words and, in row 0, for none."""
    input_bias, _, recurrent_bias, size = gru_parts(sizes)
    own = weights[way * size :]
    for unit in range(0, 3 * sizes.hidden, WIDTH):
        bias = load(own, input_bias + unit)
        if unit < 2 * sizes.hidden:
            bias = bias + load(own, recurrent_bias + unit)
        store(out, at + unit, bias)
    project(count, used, table, sizes.inputs, 3 * sizes.hidden, own, out, at)


@routine
def _sum_mask(
    row: int, cells: Ints, here: int, gate_rows: Floats, projected: Floats, table: int, d_mask: Floats
) -> None:
    """Add, for every lane with a word, the gradient at its gates times W x to that of its mask."""
    for lane in range(WIDTH):
        if cells[here + lane] > 0:
            source, word, sum_ = lane * row, table + cells[here + lane], vector(0.0)
            for unit in range(0, row, WIDTH):
                own = load(projected, word + unit) - load(projected, table + unit)
                sum_ = fma(load(gate_rows, source + unit), own, sum_)
            d_mask[here + lane] += total(sum_)


@routine
def sum_inputs(
    sizes: Sizes,
    places: int,
    cells: Ints,
    mask: Floats,
    at: int,
    gates: Floats,
    history: int,
    gate_rows: Floats,
    projected: Floats,
    d_projected: Floats,
    table: int,
    learning: bool,
    d_mask: Floats,
) -> None:
    """Add the gradients at the gates of every token to those of its word, mask times, and to that of the mask.

    cells, mask, d_mask: (places, WIDTH) from `at` on. A mask is what the word's vector was multiplied by; where nobody
    asks for its gradient, `d_mask` is empty. learning: whether anybody asks for that of the words.
    """
    row, asked = 3 * sizes.hidden, len(d_mask) > 0
    for place in range(places):
        here = at + place * WIDTH
        seen = seen_lanes(cells, mask, here) if learning else np.uint64(0)
        if seen == 0 and not asked:
            continue
        for unit in range(0, row, QUAD):
            gate = history + place * gate_slot(sizes.hidden) + unit * WIDTH
            store_turned(gate_rows, unit, row, load_quad(gates, gate))
        while seen != 0:
            lane = lowest_lane(seen)
            seen &= seen - np.uint64(1)
            source, word, share = lane * row, table + cells[here + lane], fill(mask, here + lane, 0)
            for unit in range(0, row, WIDTH):
                sum_ = fma(share, load(gate_rows, source + unit), load(d_projected, word + unit))
                store(d_projected, word + unit, sum_)
        if asked:
            _sum_mask(row, cells, here, gate_rows, projected, table, d_mask)


@routine
def _collect_dense(
    count: int, dense: Ints, used: Ints, table: Table, inputs: int, width: int, d_out: Floats, at: int, gradient: Floats
) -> None:
    """Sum over words the products of vector and gradient, four inputs and two vectors of the width at a time.

    Where the inputs are no multiple of four, the last rows run over into what comes next, which is written later.
    """
    vectors = table.vectors
    for unit in range(0, width, 2 * WIDTH):
        wide = unit + WIDTH < width
        for i in range(0, inputs, QUAD):
            a, b = quad(0.0), quad(0.0)
            for position in range(count):
                slot = dense[position]
                numbers, here = fill_quad(vectors, used[slot] * inputs + i, 1), at + slot * width + unit
                a = fma(numbers, load(d_out, here), a)
                b = fma(numbers, load(d_out, here + WIDTH), b)
            store_spaced(gradient, i * width + unit, width, a)
            if wide:
                store_spaced(gradient, i * width + unit + WIDTH, width, b)


@routine
def collect_inputs(
    count: int, used: Ints, dense: Ints, table: Table, inputs: int, width: int, d_out: Floats, at: int, gradient: Floats
) -> None:
    """Write dL/dW = sum over words of x (dL/d(W x))^T. What follows the weights in `gradient` is overwritten.

    dense: room to note which words are not one-hot.
    """
    columns, plain = table.column, 0
    for slot in range(1, count + 1):
        dense[plain] = slot
        plain += columns[used[slot]] < 0
    if plain > 0:
        _collect_dense(plain, dense, used, table, inputs, width, d_out, at, gradient)
    else:
        clear(gradient, 0, inputs * width)
    if plain == count:
        return
    for slot in range(1, count + 1):
        column = columns[used[slot]]
        if column >= 0:
            for unit in range(0, width, WIDTH):
                here = column * width + unit
                store(gradient, here, load(gradient, here) + load(d_out, at + slot * width + unit))
