"""Compiled code that is kept on disk, and compiled anew when any of the files it is made of has changed."""

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])
_njit: Any = numba.njit
# Threads run it side by side, and a division by zero gives inf or NaN as in numpy.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def kept(function: F, files: Iterable[Path], **options: Any) -> F:
    """Compile for the machine, beside the package or in the user's cache directory; or, if neither can be written to,
    in memory. `files`: all that its code may come from."""
    try:
        kernel = _njit(cache=True, **OPTIONS, **options)(function)
    except RuntimeError:  # Nowhere to write: compile every time.
        return cast(F, _njit(**OPTIONS, **options)(function))
    # numba looks at the file of the function alone to see whether its code has changed; ours calls other files.
    stamp = tuple((file.name, file.stat().st_mtime, file.stat().st_size) for file in sorted([*files, Path(__file__)]))
    with contextlib.suppress(AttributeError):
        kernel._cache._cache_file._source_stamp = stamp
    return cast(F, kernel)


def part(function: F, **options: Any) -> F:
    """Compile as a part of the functions that call it, not for Python; those are what is kept on disk."""
    return cast(F, _njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **OPTIONS, **options)(function))
