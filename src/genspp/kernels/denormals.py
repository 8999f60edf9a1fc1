"""Denormal numbers taken for zero: they mean nothing here, and cost x86-64 processors ten times the time of others.

That is a state of the processor, two bits of a control word that every thread has of its own. Other processors are left
as they are.
"""

import platform
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types

from genspp.kernels.compile import instruction, kernel
from genspp.kernels.lanes import INT

_FLUSHING = 0x8040  # results that are denormal become zero, and operands that are denormal count as zero
_HERE = platform.machine().lower() in ("x86_64", "amd64")
_POINTER = ir.IntType(8).as_pointer()

_insert_function: Any = cgutils.get_or_insert_function


def _call(builder: Any, name: str, place: Any) -> None:
    kind = ir.FunctionType(ir.VoidType(), [_POINTER])
    builder.call(_insert_function(builder.module, kind, name), [builder.bitcast(place, _POINTER)])


@instruction
def _control_word(typing: Any) -> Any:
    """Return this thread's control word; 0 where there is none."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not _HERE:
            return INT(0)
        place = cgutils.alloca_once(builder, INT)  # type: ignore[no-untyped-call]
        _call(builder, "llvm.x86.sse.stmxcsr", place)
        return builder.load(place)

    return types.int32(), generate


@instruction
def _set_control_word(typing: Any, word: Any) -> Any:
    """Set this thread's control word."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if _HERE:
            place = cgutils.alloca_once_value(builder, arguments[0])  # type: ignore[no-untyped-call]
            _call(builder, "llvm.x86.sse.ldmxcsr", place)
        return context.get_dummy_value()

    return types.void(types.int32), generate


@kernel
def flush_denormals(flush: bool) -> bool:
    """Say whether this thread takes denormal numbers for zero from now on, and return whether it did."""
    word = _control_word()
    _set_control_word(word | _FLUSHING if flush else word & ~_FLUSHING)
    return bool((word & _FLUSHING) == _FLUSHING)
