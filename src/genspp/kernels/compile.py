"""How the code of this room is compiled: without any liberty in its arithmetic, and kept on disk.

No flag lets the compiler fuse, reorder or assume: a product is fused with a sum where the code says `fma`, sums have
the order that is written down, vectors are eight numbers wide. So the same numbers come out on every processor.
"""

import hashlib
import logging
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event
from numba.extending import intrinsic

logger = logging.getLogger("genspp")

F = TypeVar("F", bound=Callable[..., Any])
_njit: Any = numba.njit
_intrinsic: Any = intrinsic
# Threads run it side by side, and a division by zero gives inf or NaN as in numpy. No kernel makes an array, so none
# counts references to arrays, which would cost small groups of texts a tenth of their time.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}


def _spare_scipy() -> None:
    """Keep numba from importing scipy's linear algebra, a fifth of a second, only to see whether it is there.

    It is there, and no kernel uses it; who compiles a product of matrices has numba look again.
    """
    linalg: Any = import_module("numba.np.linalg")
    look = getattr(linalg, "ensure_blas", None)
    linalg.ensure_blas = lambda: None
    try:
        import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = look


_spare_scipy()


def stamp(folder: Path) -> str:
    """Return a hash of all the source files of a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


_STAMP = stamp(Path(__file__).parent)


def kernel(function: F) -> F:
    """Compile a function that Python calls, and keep it on disk: beside the package, or in the user's cache folder.

    numba looks at the file of the function alone to see whether its code has changed; ours calls other files, so they
    all count. Where nothing can be written, or where numba no longer lets us say so, it is compiled every time.
    """
    try:
        compiled = _njit(cache=True, **_OPTIONS)(function)
        file = compiled._cache._cache_file
        if not hasattr(file, "_source_stamp"):
            raise RuntimeError("this version of numba keeps its stamps elsewhere")
    except (RuntimeError, AttributeError):
        return cast(F, _njit(**_OPTIONS)(function))
    file._source_stamp = _STAMP
    return cast(F, compiled)


def routine(function: F) -> F:
    """Compile as a part of the kernels that call it."""
    return cast(F, _njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)(function))


def inlined(function: F) -> F:
    """Compile into the place where it is called."""
    return cast(F, _njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True, **_OPTIONS)(function))


def instruction(define: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function of numba types into one that kernels call and whose code it generates itself."""
    return cast(Callable[..., Any], _intrinsic(define))


class _Notice(event.Listener):  # type: ignore[misc]
    """Says once that kernels are being compiled."""

    given = False

    def on_start(self, event: Any) -> None:
        if not self.given:
            logger.info("compiling for this machine: once, for a minute at most")
        self.given = True

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Notice())  # type: ignore[no-untyped-call]
