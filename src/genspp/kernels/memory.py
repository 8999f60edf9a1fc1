"""Vectors in and out of flat float32 arrays: in order, transposed, and summed over lanes.

Nothing here checks an index: the callers size their arrays for whole vectors (`floats`, `integers`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types

from genspp.kernels.compile import instruction, routine
from genspp.kernels.lanes import FLOAT, FOUR, INT, INTEGERS, ONE, QUAD, VECTOR, WIDTH, LanesType, pack, splat, unpack

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

_ALIGNMENT = 64  # A vector that straddles two cache lines costs two accesses.
_BLOCK = ir.VectorType(FLOAT, QUAD)


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


def _address(context: Any, builder: Any, kind: Any, array: Any, index: Any, pointee: Any) -> Any:
    """Return a typed pointer to an element of a flat array."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), pointee.as_pointer())


def _offset(builder: Any, index: Any, by: Any) -> Any:
    return builder.add(index, by if isinstance(by, ir.Value) else index.type(by))


def _loader(lanes: LanesType) -> Callable[..., Any]:
    @instruction
    def load(typing: Any, array: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            vectors = []
            for unit in range(lanes.units):
                position = _offset(builder, arguments[1], unit * WIDTH)
                pointer = _address(context, builder, array, arguments[0], position, VECTOR)
                vectors.append(builder.load(pointer, align=4))
            return pack(builder, vectors)

        return lanes(array, types.intp), generate

    return load


def _filler(lanes: LanesType) -> Callable[..., Any]:
    @instruction
    def fill(typing: Any, array: Any, index: Any, stride: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            index, vectors = arguments[1], []
            for _ in range(lanes.units):
                scalar = builder.load(_address(context, builder, array, arguments[0], index, FLOAT))
                vectors.append(splat(builder, scalar))
                index = _offset(builder, index, arguments[2])
            return pack(builder, vectors)

        return lanes(array, types.intp, types.intp), generate

    return fill


def _constants(lanes: LanesType) -> Callable[..., Any]:
    @instruction
    def constant(typing: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            scalar = context.cast(builder, arguments[0], number, types.float32)
            return pack(builder, [splat(builder, scalar)] * lanes.units)

        return lanes(number), generate

    return constant


# load(array, i): the vector from array[i] on. fill(array, i, stride): a vector full of array[i], the next unit's number
# `stride` further on. vector(x): a vector full of a number. The second of each pair has four units.
load, load_quad = _loader(ONE), _loader(FOUR)
fill, fill_quad = _filler(ONE), _filler(FOUR)
vector, quad = _constants(ONE), _constants(FOUR)


@instruction
def store(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """Write the vectors one behind the other, from array[index] on."""
    if not isinstance(value, LanesType):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        for unit, one in enumerate(unpack(builder, arguments[2], value.units)):
            position = _offset(builder, arguments[1], unit * WIDTH)
            builder.store(one, _address(context, builder, array, arguments[0], position, VECTOR), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, value), generate


@instruction
def store_spaced(typing: Any, array: Any, index: Any, stride: Any, value: Any) -> Any:
    """Write the vectors `stride` apart, from array[index] on."""
    if not isinstance(value, LanesType):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        position = arguments[1]
        for one in unpack(builder, arguments[3], value.units):
            builder.store(one, _address(context, builder, array, arguments[0], position, VECTOR), align=4)
            position = _offset(builder, position, arguments[2])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, value), generate


def _take(builder: Any, one: Any, lanes: list[int], other: Any = None) -> Any:
    pattern = ir.Constant(ir.VectorType(INT, len(lanes)), lanes)
    return builder.shuffle_vector(one, one if other is None else other, pattern)


@instruction
def total(typing: Any, value: Any) -> Any:
    """Return the sum over the lanes of a single vector, pairwise."""
    if value != ONE:
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        one, width = builder.extract_value(arguments[0], 0), WIDTH
        while width > 1:
            width //= 2
            one = builder.fadd(
                _take(builder, one, list(range(width))), _take(builder, one, list(range(width, 2 * width)))
            )
        return builder.extract_element(one, INT(0))

    return types.float32(value), generate


@instruction
def across(typing: Any, value: Any) -> Any:
    """Return the sum over four units, pairwise."""
    if value != FOUR:
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b, c, d = unpack(builder, arguments[0], QUAD)
        return pack(builder, [builder.fadd(builder.fadd(a, b), builder.fadd(c, d))])

    return ONE(value), generate


def _transpose(builder: Any, vectors: list[Any]) -> list[Any]:
    """Transpose 4 x 4 blocks: lane 4b+p of vector q becomes lane 4b+q of vector p, in two rounds of shuffles."""

    def shuffle(a: Any, b: Any, pattern: tuple[int, int, int, int]) -> Any:
        lanes = [4 * block + (p if p < 4 else p - 4 + WIDTH) for block in range(WIDTH // 4) for p in pattern]
        return _take(builder, a, lanes, b)

    a, b, c, d = vectors
    low, high = (0, 4, 1, 5), (2, 6, 3, 7)
    ab, cd, ab_, cd_ = shuffle(a, b, low), shuffle(c, d, low), shuffle(a, b, high), shuffle(c, d, high)
    left, right = (0, 1, 4, 5), (2, 3, 6, 7)
    return [shuffle(ab, cd, left), shuffle(ab, cd, right), shuffle(ab_, cd_, left), shuffle(ab_, cd_, right)]


@instruction
def fold(typing: Any, value: Any) -> Any:
    """Add up lanes of four vectors until one is left: lane 4b+u holds a part of the sum over unit u."""
    if value != FOUR:
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        turned = _transpose(builder, unpack(builder, arguments[0], QUAD))
        left, right = builder.fadd(turned[0], turned[1]), builder.fadd(turned[2], turned[3])
        return pack(builder, [builder.fadd(left, right)])

    return ONE(value), generate


@instruction
def store_sums(typing: Any, array: Any, index: Any, stride: Any, folded: Any) -> Any:
    """Finish the sums that `fold` began: array[index + u * stride] is that of unit u."""
    if folded != ONE:
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        one, position = builder.extract_value(arguments[3], 0), arguments[1]
        half = list(range(QUAD))
        sums = builder.fadd(_take(builder, one, half), _take(builder, one, [QUAD + lane for lane in half]))
        for unit in range(QUAD):
            pointer = _address(context, builder, array, arguments[0], position, FLOAT)
            builder.store(builder.extract_element(sums, INT(unit)), pointer)
            position = _offset(builder, position, arguments[2])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, folded), generate


def _join(builder: Any, vectors: list[Any]) -> Any:
    """Lay vectors end to end, pairwise."""
    while len(vectors) > 1:
        size = 2 * vectors[0].type.count
        vectors = [_take(builder, vectors[i], list(range(size)), vectors[i + 1]) for i in range(0, len(vectors), 2)]
    return vectors[0]


@instruction
def gather(typing: Any, array: Any, offsets: Any, cell: Any, shift: Any) -> Any:
    """Return four columns of WIDTH rows: unit u of lane l is array[offsets[cell + l] + shift + u]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = []
        for lane in range(WIDTH):
            position = _offset(builder, arguments[2], lane)
            start = builder.load(_address(context, builder, offsets, arguments[1], position, INT))
            start = builder.add(builder.sext(start, arguments[3].type), arguments[3])
            rows.append(builder.load(_address(context, builder, array, arguments[0], start, _BLOCK), align=4))
        return pack(builder, _transpose(builder, [_join(builder, rows[q::QUAD]) for q in range(QUAD)]))

    return FOUR(array, offsets, types.intp, types.intp), generate


@instruction
def store_turned(typing: Any, array: Any, index: Any, stride: Any, value: Any) -> Any:
    """Write a row of four units per lane: array[index + l * stride + u] is unit u of lane l."""
    if value != FOUR:
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        turned = _transpose(builder, unpack(builder, arguments[3], QUAD))
        position = arguments[1]
        for lane in range(WIDTH):
            start = lane // QUAD * QUAD
            row = _take(builder, turned[lane % QUAD], list(range(start, start + QUAD)))
            builder.store(row, _address(context, builder, array, arguments[0], position, _BLOCK), align=4)
            position = _offset(builder, position, arguments[2])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, value), generate


@instruction
def where_cell(typing: Any, cells: Any, index: Any, x: Any, y: Any) -> Any:
    """Return x in lanes whose cell holds a word (is positive) and y in the others."""
    if not isinstance(x, LanesType) or x != y:
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        numbers = builder.load(_address(context, builder, cells, arguments[0], arguments[1], INTEGERS), align=4)
        there = builder.icmp_signed(">", numbers, ir.Constant(INTEGERS, [0] * WIDTH))
        pairs = zip(unpack(builder, arguments[2], x.units), unpack(builder, arguments[3], x.units), strict=True)
        return pack(builder, [builder.select(there, a, b) for a, b in pairs])

    return x(cells, types.intp, x, y), generate


@instruction
def seen_lanes(typing: Any, cells: Any, mask: Any, index: Any) -> Any:
    """Return the lanes that hold a word (whose cell is positive) and whose mask is not 0, as the bits of a number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        numbers = builder.load(_address(context, builder, cells, arguments[0], arguments[2], INTEGERS), align=4)
        masks = builder.load(_address(context, builder, mask, arguments[1], arguments[2], VECTOR), align=4)
        there = builder.icmp_signed(">", numbers, ir.Constant(INTEGERS, [0] * WIDTH))
        seen = builder.and_(there, builder.fcmp_unordered("!=", masks, ir.Constant(VECTOR, [0.0] * WIDTH)))
        return builder.zext(builder.bitcast(seen, ir.IntType(WIDTH)), ir.IntType(64))

    return types.uint64(cells, mask, types.intp), generate


@instruction
def lowest_lane(typing: Any, lanes: Any) -> Any:
    """Return the first member of a set of lanes that is not empty."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.intp(types.uint64), generate


@routine
def clear(array: Floats, start: int, count: int) -> None:
    """Set numbers of a workspace to zero, rounded up to whole vectors."""
    for at in range(start, start + count, WIDTH):
        store(array, at, vector(0.0))
