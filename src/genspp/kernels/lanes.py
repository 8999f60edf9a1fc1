"""SIMD vectors as numba values: the alphabet in which the other kernels are written.

Left to itself the compiler vectorises a recurrent step or does not, depending on the hidden size and on how a loop
is phrased. Here a vector is a value with operators, so nothing is left to it, and the code runs at full speed for
sizes that are known only at run time: one compilation serves every hidden size and class count.

A `Lanes` value holds `units` vectors of WIDTH floats. In most of the code a lane is a text (WIDTH texts advance in
lockstep) and a unit is a hidden unit, four at a time: enough independent sums to keep the multipliers busy.
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import lower_builtin, models, register_model, type_callable

from genspp.kernels.compile import instruction

# Fixed, whatever the processor could do: sums over lanes then have one order. Hidden sizes are padded to it.
WIDTH = 8
QUAD = 4

FLOAT, INT = ir.FloatType(), ir.IntType(32)
VECTOR, INTEGERS = ir.VectorType(FLOAT, WIDTH), ir.VectorType(INT, WIDTH)

_insert_function: Any = cgutils.get_or_insert_function
_lower: Any = lower_builtin


class LanesType(types.Type):  # type: ignore[misc]
    """The numba type of `units` vectors of WIDTH floats."""

    def __init__(self, units: int) -> None:
        self.units = units
        super().__init__(name=f"Lanes({units}x{WIDTH})")  # type: ignore[no-untyped-call]


@register_model(LanesType)  # type: ignore[untyped-decorator, unused-ignore]
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, lanes: Any) -> None:
        super().__init__(manager, lanes, ir.ArrayType(VECTOR, lanes.units))  # type: ignore[no-untyped-call]


ONE, FOUR = LanesType(1), LanesType(QUAD)


def splat(builder: Any, scalar: Any) -> Any:
    """Return a vector full of one number."""
    undefined = ir.Constant(VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, scalar, INT(0))
    return builder.shuffle_vector(first, undefined, ir.Constant(INTEGERS, [0] * WIDTH))


def pack(builder: Any, vectors: list[Any]) -> Any:
    """Return vectors as one value of a Lanes type."""
    packed = ir.Constant(ir.ArrayType(VECTOR, len(vectors)), ir.Undefined)
    for unit, vector in enumerate(vectors):
        packed = builder.insert_value(packed, vector, unit)
    return packed


def unpack(builder: Any, value: Any, units: int) -> list[Any]:
    """Return the vectors of a Lanes value."""
    return [builder.extract_value(value, unit) for unit in range(units)]


def _parts(context: Any, builder: Any, units: int, kind: Any, value: Any) -> list[Any]:
    """Return an operand as `units` vectors: one vector serves all units, one number all lanes."""
    if isinstance(kind, LanesType):
        vectors = unpack(builder, value, kind.units)
        return vectors if kind.units == units else vectors * units
    return [splat(builder, context.cast(builder, value, kind, types.float32))] * units


def _wider(kinds: tuple[Any, ...]) -> LanesType | None:
    """Return the type that the operands are brought to, or nothing if they are no business of ours."""
    lanes = [kind for kind in kinds if isinstance(kind, LanesType)]
    if not lanes or any(not isinstance(kind, LanesType | types.Number) for kind in kinds):
        return None
    return max(lanes, key=lambda kind: kind.units)


def _elementwise(emit: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function on Lanes that applies `emit(builder, *vectors)` to each unit."""

    def define(kinds: tuple[Any, ...]) -> Any:
        target = _wider(kinds)
        if target is None:
            return None

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            operands = [
                _parts(context, builder, target.units, kind, value)
                for kind, value in zip(kinds, arguments, strict=True)
            ]
            return pack(builder, [emit(builder, *vectors) for vectors in zip(*operands, strict=True)])

        return target(*kinds), generate

    by_arity: dict[int, Callable[..., Any]] = {
        1: lambda typing, a: define((a,)),
        2: lambda typing, a, b: define((a, b)),
        3: lambda typing, a, b, c: define((a, b, c)),
        4: lambda typing, a, b, c, d: define((a, b, c, d)),
    }
    return instruction(by_arity[emit.__code__.co_argcount - 1])


def _register_operator(function: Any, emit: Callable[..., Any]) -> None:
    """Teach an arithmetic operator to work on Lanes."""

    def typing(context: Any) -> Any:
        return lambda a, b: _wider((a, b))

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        units = signature.return_type.units
        left, right = (
            _parts(context, builder, units, kind, value) for kind, value in zip(signature.args, arguments, strict=True)
        )
        return pack(builder, [emit(builder, a, b) for a, b in zip(left, right, strict=True)])

    type_callable(function)(typing)
    for kinds in ((LanesType, LanesType), (LanesType, types.Number), (types.Number, LanesType)):
        _lower(function, *kinds)(lower)


_register_operator(operator.add, lambda builder, a, b: builder.fadd(a, b))
_register_operator(operator.sub, lambda builder, a, b: builder.fsub(a, b))
_register_operator(operator.mul, lambda builder, a, b: builder.fmul(a, b))
_register_operator(operator.truediv, lambda builder, a, b: builder.fdiv(a, b))


def _call(name: str, arity: int) -> Callable[..., Any]:
    """Return what emits a call of one of LLVM's own functions on vectors."""

    def emit(builder: Any, operands: tuple[Any, ...]) -> Any:
        kind = ir.FunctionType(VECTOR, [VECTOR] * arity)
        return builder.call(_insert_function(builder.module, kind, f"llvm.{name}.v{WIDTH}f32"), operands)

    return (lambda builder, a: emit(builder, (a,))) if arity == 1 else lambda builder, a, b, c: emit(builder, (a, b, c))


def _constant(value: int) -> Any:
    return ir.Constant(INTEGERS, [value] * WIDTH)


def _emit_power_of_two(builder: Any, a: Any) -> Any:
    biased = builder.add(builder.bitcast(a, INTEGERS), _constant(127))
    return builder.bitcast(builder.shl(biased, _constant(23)), VECTOR)


def _emit_exponent(builder: Any, a: Any) -> Any:
    bits = builder.ashr(builder.bitcast(a, INTEGERS), _constant(23))
    return builder.sitofp(builder.sub(bits, _constant(127)), VECTOR)


def _emit_mantissa(builder: Any, a: Any) -> Any:
    bits = builder.and_(builder.bitcast(a, INTEGERS), _constant(0x007FFFFF))
    return builder.bitcast(builder.or_(bits, _constant(0x3F800000)), VECTOR)


# The comparisons are phrased so that a NaN wins: in `smaller` and `larger` that of the second operand.
smaller = _elementwise(lambda builder, a, b: builder.select(builder.fcmp_ordered("<", a, b), a, b))
larger = _elementwise(lambda builder, a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b))
where_greater = _elementwise(lambda builder, a, b, x, y: builder.select(builder.fcmp_unordered(">", a, b), x, y))
where_equal = _elementwise(lambda builder, a, b, x, y: builder.select(builder.fcmp_ordered("==", a, b), x, y))
fma = _elementwise(_call("fma", 3))  # a b + c, rounded once
square_root = _elementwise(_call("sqrt", 1))
magnitude = _elementwise(_call("fabs", 1))
# 2**n, where n is in the low bits of a float that was rounded by adding 1.5 * 2**23.
power_of_two = _elementwise(_emit_power_of_two)
# A positive number is mantissa * 2**exponent, with a mantissa from 1 to 2.
exponent = _elementwise(_emit_exponent)
mantissa = _elementwise(_emit_mantissa)
