"""Vectors in and out of flat float32 arrays: in order, transposed, and summed over lanes.

Nothing here checks an index: the callers size their arrays for whole vectors.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types

from genspp.population.kernel_lanes import (
    FLOAT,
    FOUR,
    INT,
    OCTET,
    OCTETS,
    ONE,
    QUAD,
    WIDTH,
    LanesType,
    instruction,
    pack,
    splat,
)

_BLOCK = ir.VectorType(FLOAT, QUAD)


def _address(context: Any, builder: Any, kind: Any, array: Any, index: Any, pointee: Any) -> Any:
    """Return a typed pointer to an element of a flat array. Nothing checks the index."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), pointee.as_pointer())


def _offset(builder: Any, index: Any, by: Any) -> Any:
    return builder.add(index, by if isinstance(by, ir.Value) else index.type(by))


def _loader(lanes: LanesType) -> Callable[..., Any]:
    @instruction
    def load(typing: Any, array: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            vector, vectors = ir.VectorType(FLOAT, lanes.width), []
            for unit in range(lanes.units):
                position = _offset(builder, arguments[1], unit * lanes.width)
                pointer = _address(context, builder, array, arguments[0], position, vector)
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
                vectors.append(splat(builder, scalar, lanes.width))
                index = _offset(builder, index, arguments[2])
            return pack(builder, vectors)

        return lanes(array, types.intp, types.intp), generate

    return fill


load, load_quad, load_row = _loader(ONE), _loader(FOUR), _loader(OCTET)
fill, fill_quad = _filler(ONE), _filler(FOUR)
fill_row, fill_rows = _filler(OCTET), _filler(OCTETS)


@instruction
def store(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """Write the vectors one behind the other, from array[index] on."""
    if not isinstance(value, LanesType):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        for unit in range(value.units):
            vector = builder.extract_value(arguments[2], unit)
            position = _offset(builder, arguments[1], unit * value.width)
            pointer = _address(context, builder, array, arguments[0], position, vector.type)
            builder.store(vector, pointer, align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, value), generate


@instruction
def store_spaced(typing: Any, array: Any, index: Any, stride: Any, value: Any) -> Any:
    """Write the vectors `stride` apart, from array[index] on."""
    if not isinstance(value, LanesType):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        position = arguments[1]
        for unit in range(value.units):
            vector = builder.extract_value(arguments[3], unit)
            pointer = _address(context, builder, array, arguments[0], position, vector.type)
            builder.store(vector, pointer, align=4)
            position = _offset(builder, position, arguments[2])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, value), generate


@instruction
def total(typing: Any, value: Any) -> Any:
    """Return the sum over the lanes of a single vector, pairwise."""
    if not isinstance(value, LanesType) or value.units != 1:
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector, width = builder.extract_value(arguments[0], 0), value.width
        while width > 1:
            width //= 2
            halves = [
                builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(INT, width), list(lanes)))
                for lanes in (range(width), range(width, 2 * width))
            ]
            vector = builder.fadd(*halves)
        return builder.extract_element(vector, INT(0))

    return types.float32(value), generate


def transpose(builder: Any, vectors: list[Any]) -> list[Any]:
    """Transpose 4 x 4 blocks: lane 4b+p of vector q becomes lane 4b+q of vector p, in two rounds of shuffles."""
    width = vectors[0].type.count

    def shuffle(a: Any, b: Any, pattern: tuple[int, int, int, int]) -> Any:
        lanes = [4 * block + (p if p < 4 else p - 4 + width) for block in range(width // 4) for p in pattern]
        return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(INT, width), lanes))

    a, b, c, d = vectors
    low, high = (0, 4, 1, 5), (2, 6, 3, 7)
    ab, cd, ab_, cd_ = shuffle(a, b, low), shuffle(c, d, low), shuffle(a, b, high), shuffle(c, d, high)
    left, right = (0, 1, 4, 5), (2, 3, 6, 7)
    return [shuffle(ab, cd, left), shuffle(ab, cd, right), shuffle(ab_, cd_, left), shuffle(ab_, cd_, right)]


@instruction
def fold(typing: Any, value: Any) -> Any:
    """Add up lanes of four vectors until one is left: lane 4b+u holds a part of the sum over unit u."""
    if value is not FOUR and value != FOUR:
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        turned = transpose(builder, [builder.extract_value(arguments[0], unit) for unit in range(QUAD)])
        left, right = builder.fadd(turned[0], turned[1]), builder.fadd(turned[2], turned[3])
        return pack(builder, [builder.fadd(left, right)])

    return ONE(value), generate


def _take(builder: Any, vector: Any, lanes: list[int], other: Any = None) -> Any:
    pattern = ir.Constant(ir.VectorType(INT, len(lanes)), lanes)
    return builder.shuffle_vector(vector, vector if other is None else other, pattern)


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
        return pack(builder, transpose(builder, [_join(builder, rows[q::QUAD]) for q in range(QUAD)]))

    return FOUR(array, offsets, types.intp, types.intp), generate


def _join(builder: Any, vectors: list[Any]) -> Any:
    """Lay vectors end to end, pairwise."""
    while len(vectors) > 1:
        size = 2 * vectors[0].type.count
        vectors = [_take(builder, vectors[i], list(range(size)), vectors[i + 1]) for i in range(0, len(vectors), 2)]
    return vectors[0]


@instruction
def store_turned(typing: Any, array: Any, index: Any, stride: Any, value: Any) -> Any:
    """Write a row of four units a lane: array[index + l * stride + u] is unit u of lane l."""
    if value != FOUR:
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        turned = transpose(builder, [builder.extract_value(arguments[3], unit) for unit in range(QUAD)])
        position = arguments[1]
        for lane in range(WIDTH):
            start = lane // QUAD * QUAD
            row = _take(builder, turned[lane % QUAD], list(range(start, start + QUAD)))
            builder.store(row, _address(context, builder, array, arguments[0], position, _BLOCK), align=4)
            position = _offset(builder, position, arguments[2])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, value), generate


@instruction
def store_sums(typing: Any, array: Any, index: Any, stride: Any, folded: Any) -> Any:
    """Finish the sums that `fold` began: array[index + u * stride] is that of unit u."""
    if folded != ONE:
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector, width = builder.extract_value(arguments[3], 0), WIDTH
        while width > QUAD:
            width //= 2
            upper = _take(builder, vector, list(range(width, 2 * width)))
            vector = builder.fadd(_take(builder, vector, list(range(width))), upper)
        position = arguments[1]
        for unit in range(QUAD):
            pointer = _address(context, builder, array, arguments[0], position, FLOAT)
            builder.store(builder.extract_element(vector, INT(unit)), pointer)
            position = _offset(builder, position, arguments[2])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, folded), generate


@instruction
def selected_lanes(typing: Any, offsets: Any, cell: Any) -> Any:
    """Return the set of lanes whose offset is positive (a selected token) as the bits of a number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        selected = _positive(context, builder, offsets, *arguments)
        return builder.zext(builder.bitcast(selected, ir.IntType(WIDTH)), ir.IntType(64))

    return types.uint64(offsets, types.intp), generate


@instruction
def lowest_lane(typing: Any, lanes: Any) -> Any:
    """Return the first member of a set of lanes that is not empty."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.intp(types.uint64), generate


def _positive(context: Any, builder: Any, kind: Any, offsets: Any, cell: Any) -> Any:
    integers = ir.VectorType(INT, WIDTH)
    values = builder.load(_address(context, builder, kind, offsets, cell, integers), align=4)
    return builder.icmp_signed(">", values, ir.Constant(integers, [0] * WIDTH))


@instruction
def penalty(typing: Any, offsets: Any, cell: Any) -> Any:
    """Return 0 in lanes whose offset is positive (a selected token) and -4 in the others."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        selected = _positive(context, builder, offsets, *arguments)
        zero, four = (ir.Constant(ir.VectorType(FLOAT, WIDTH), [value] * WIDTH) for value in (0.0, -4.0))
        return pack(builder, [builder.select(selected, zero, four)])

    return ONE(offsets, types.intp), generate


def _constant(lanes: LanesType) -> Callable[..., Any]:
    @instruction
    def constant(typing: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            scalar = context.cast(builder, arguments[0], number, types.float32)
            return pack(builder, [splat(builder, scalar, lanes.width)] * lanes.units)

        return lanes(number), generate

    return constant


vector, quad, octets = _constant(ONE), _constant(FOUR), _constant(OCTETS)
