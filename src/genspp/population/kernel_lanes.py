"""SIMD vectors as numba values: the alphabet in which the other kernels are written.

Left to itself the compiler vectorises a recurrent step or does not, depending on the hidden size and on how a loop
is phrased. Here a vector is a value with operators, so nothing is left to it, and the code runs at full
speed for sizes that are known only at run time: one compilation serves every hidden size and class count.

A `Lanes` value holds `units` vectors of `width` floats. In most of the code a lane is a text (WIDTH texts advance in
lockstep) and a unit is a hidden unit, four at a time, which is enough independent sums to keep the multipliers busy.
"""

import operator
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from llvmlite import binding, ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from genspp.kernels import kept, part

QUAD = 4
ROW = 8  # Hidden sizes are padded to this, so that a row of gates is whole vectors without a remainder.
# A function of what numba's own cache goes by, so that code for one width is never loaded for another.
_OVERRIDDEN = any(os.environ.get(name) for name in ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"))
WIDTH = 16 if binding.get_host_cpu_features().get("avx512f") and not _OVERRIDDEN else 8

FLOAT, INT = ir.FloatType(), ir.IntType(32)
# Products may be fused with sums and that is all: no flag that lets the compiler assume there is no NaN, because
# a predictor that diverges has to end with a NaN loss.
_FUSE = ("contract",)

F = TypeVar("F", bound=Callable[..., Any])
_intrinsic: Any = intrinsic
_insert_function: Any = cgutils.get_or_insert_function
_lower: Any = lower_builtin


def compiled(function: F) -> F:
    """Compile a kernel that Python calls, and keep it on disk."""
    return kept(function, Path(__file__).parent.glob("kernel_*.py"))


def subroutine(function: F) -> F:
    """Compile as a part of the functions that call it; those are what is kept on disk."""
    return part(function)


def inlined(function: F) -> F:
    """Compile into the functions that call it, so that vectors are passed in registers."""
    return part(function, forceinline=True)


def instruction(define: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function of numba types into one that kernels call and whose code it generates itself."""
    return cast(Callable[..., Any], _intrinsic(define))


class LanesType(types.Type):  # type: ignore[misc]
    """The numba type of `units` vectors of `width` floats."""

    def __init__(self, units: int, width: int) -> None:
        self.units = units
        self.width = width
        super().__init__(name=f"Lanes({units}x{width})")  # type: ignore[no-untyped-call]


@register_model(LanesType)  # type: ignore[untyped-decorator, unused-ignore]
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, lanes: Any) -> None:
        vectors = ir.ArrayType(ir.VectorType(FLOAT, lanes.width), lanes.units)
        super().__init__(manager, lanes, vectors)  # type: ignore[no-untyped-call]


ONE, FOUR = LanesType(1, WIDTH), LanesType(QUAD, WIDTH)
OCTET, OCTETS = LanesType(1, ROW), LanesType(QUAD, ROW)


def _parts(context: Any, builder: Any, like: LanesType, kind: Any, value: Any) -> list[Any]:
    """Return an operand as the vectors of `like`: one vector serves all units, one number all lanes."""
    if isinstance(kind, LanesType):
        vectors = [builder.extract_value(value, unit) for unit in range(kind.units)]
        return vectors if kind.units == like.units else vectors * like.units
    return [splat(builder, context.cast(builder, value, kind, types.float32), like.width)] * like.units


def splat(builder: Any, scalar: Any, width: int) -> Any:
    """Return a vector full of one number."""
    undefined = ir.Constant(ir.VectorType(scalar.type, width), ir.Undefined)
    first = builder.insert_element(undefined, scalar, INT(0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(INT, width), [0] * width))


def pack(builder: Any, vectors: list[Any]) -> Any:
    """Return vectors as one value of a Lanes type."""
    packed = ir.Constant(ir.ArrayType(vectors[0].type, len(vectors)), ir.Undefined)
    for unit, vector in enumerate(vectors):
        packed = builder.insert_value(packed, vector, unit)
    return packed


def _wider(kinds: tuple[Any, ...]) -> LanesType | None:
    """Return the type that the operands are brought to, or nothing if they are no business of ours."""
    lanes = [kind for kind in kinds if isinstance(kind, LanesType)]
    if not lanes or any(not isinstance(kind, LanesType | types.Number) for kind in kinds):
        return None
    widest = max(lanes, key=lambda kind: kind.units)
    fitting = all(kind.width == widest.width and kind.units in (1, widest.units) for kind in lanes)
    return widest if fitting else None


def _elementwise(emit: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function on Lanes that applies `emit(builder, *vectors)` to each unit."""

    def define(kinds: tuple[Any, ...]) -> Any:
        target = _wider(kinds)
        if target is None:
            return None

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            operands = [
                _parts(context, builder, target, kind, value) for kind, value in zip(kinds, arguments, strict=True)
            ]
            return pack(builder, [emit(builder, *vectors) for vectors in zip(*operands, strict=True)])

        return target(*kinds), generate

    by_arity: dict[int, Callable[..., Any]] = {
        1: lambda typing, a: define((a,)),
        2: lambda typing, a, b: define((a, b)),
        4: lambda typing, a, b, c, d: define((a, b, c, d)),
    }
    return instruction(by_arity[emit.__code__.co_argcount - 1])


def _register_operator(function: Any, emit: Callable[..., Any]) -> None:
    """Teach an arithmetic operator to work on Lanes."""

    def typing(context: Any) -> Any:
        return lambda a, b: _wider((a, b))

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target = signature.return_type
        left, right = (
            _parts(context, builder, target, kind, value) for kind, value in zip(signature.args, arguments, strict=True)
        )
        return pack(builder, [emit(builder, a, b) for a, b in zip(left, right, strict=True)])

    type_callable(function)(typing)
    for kinds in ((LanesType, LanesType), (LanesType, types.Number), (types.Number, LanesType)):
        _lower(function, *kinds)(lower)


_register_operator(operator.add, lambda builder, a, b: builder.fadd(a, b, flags=_FUSE))
_register_operator(operator.sub, lambda builder, a, b: builder.fsub(a, b, flags=_FUSE))
_register_operator(operator.mul, lambda builder, a, b: builder.fmul(a, b, flags=_FUSE))
_register_operator(operator.truediv, lambda builder, a, b: builder.fdiv(a, b))


def _emit_sqrt(builder: Any, a: Any) -> Any:
    name = f"llvm.sqrt.v{a.type.count}f32"
    return builder.call(_insert_function(builder.module, ir.FunctionType(a.type, [a.type]), name), (a,))


def _emit_power_of_two(builder: Any, a: Any) -> Any:
    """2**n, where n is in the low bits of a float that was rounded by adding 1.5 * 2**23."""
    integers = ir.VectorType(INT, a.type.count)
    biased = builder.add(builder.bitcast(a, integers), ir.Constant(integers, [127] * a.type.count))
    return builder.bitcast(builder.shl(biased, ir.Constant(integers, [23] * a.type.count)), a.type)


# The comparisons are phrased so that a NaN wins: in `smaller` and `larger` that of the second operand.
smaller = _elementwise(lambda builder, a, b: builder.select(builder.fcmp_ordered("<", a, b), a, b))
larger = _elementwise(lambda builder, a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b))
where_greater = _elementwise(
    lambda builder, a, b, x, y: builder.select(builder.fcmp_unordered(">", a, b), x, y),
)
where_equal = _elementwise(lambda builder, a, b, x, y: builder.select(builder.fcmp_ordered("==", a, b), x, y))
square_root = _elementwise(_emit_sqrt)
power_of_two = _elementwise(_emit_power_of_two)
