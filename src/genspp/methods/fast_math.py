"""What the compiled parts of the gradient methods share: how they are compiled, activations, sums, products.

Arrays in them are feature-major, (features, tokens, texts): the texts are innermost, so that every loop over texts
is a vector loop.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from genspp.kernels import kept, part

F = TypeVar("F", bound=Callable[..., Any])
Floats = npt.NDArray[np.float32]
Counts = npt.NDArray[np.int64]

_ONE, _TWO, _HALF = np.float32(1), np.float32(2), np.float32(0.5)
_P0, _P1, _P2 = np.float32(135135), np.float32(17325), np.float32(378)
_Q1, _Q2, _Q3 = np.float32(62370), np.float32(3150), np.float32(28)
_FLAT = np.float32(9)  # from here on float32 cannot tell tanh from 1
BLOCK = 256  # numbers of a row that are worked on at once: those of all rows then stay in the nearest cache

# Products may be fused with sums, and -0 is 0. No flag that lets the compiler assume there is no NaN: a training that
# diverges has to end with one. No "reassoc" either: a text's numbers must not depend on how the loop over its
# neighbours was cut into vectors. A sum over texts is nobody's own number, though, and slow if added one by one.
_OWN, _SUMS = {"contract", "nsz"}, {"contract", "nsz", "reassoc"}


def kernel(function: F) -> F:
    """Compile a function that Python calls, and keep it on disk."""
    return kept(function, Path(__file__).parent.glob("*.py"), fastmath=_OWN)


def routine(function: F) -> F:
    """Compile as a part of kernels."""
    return part(function, fastmath=_OWN)


def _sum(function: F) -> F:
    return part(function, fastmath=_SUMS)


def _inlined(function: F) -> F:
    return part(function, fastmath=_OWN, inline="always")


@_inlined
def tanh(x: Any) -> Any:
    """Return tanh(x) within 3e-7, by Lambert's continued fraction at x / 2: the library's would not vectorise."""
    y = (_FLAT if x > _FLAT else -_FLAT if x < -_FLAT else x) * _HALF
    s = y * y
    half = y * (_P0 + s * (_P1 + s * (_P2 + s))) / (_P0 + s * (_Q1 + s * (_Q2 + s * _Q3)))
    return _TWO * half / (_ONE + half * half)


@_inlined
def sigmoid(x: Any) -> Any:
    """Return the logistic function, as exact as `tanh`."""
    return _HALF + _HALF * tanh(_HALF * x)


@routine
def fill(row: Any, start: int, end: int, value: Any) -> None:
    """Set a part of a vector to one value; numba's own way takes long to compile."""
    for i in range(start, end):
        row[i] = value


@_sum
def total(row: Floats) -> Any:
    """Return the sum of a vector."""
    found = np.float32(0)
    for i in range(len(row)):
        found += row[i]
    return found


@_sum
def inner(left: Floats, right: Floats) -> Any:
    """Return the inner product of two vectors."""
    found = np.float32(0)
    for i in range(len(left)):
        found += left[i] * right[i]
    return found


@_sum
def add_inner(left: Floats, right: Floats, shift: int, out: Floats) -> None:
    """Add the inner products of all rows to out (rows of left, rows of right); i of right meets i + shift of left."""
    length = left.shape[1] - abs(shift)
    for start in range(0, length, BLOCK):
        size = min(BLOCK, length - start)
        far, near = start + max(shift, 0), start + max(-shift, 0)
        for k in range(len(right)):
            b = right[k, near : near + size]
            j = 0
            while j + 4 <= len(left):  # four at a time: the other row is loaded a quarter as often
                a0, a1 = left[j, far : far + size], left[j + 1, far : far + size]
                a2, a3 = left[j + 2, far : far + size], left[j + 3, far : far + size]
                s0 = s1 = s2 = s3 = np.float32(0)
                for i in range(size):
                    s0 += a0[i] * b[i]
                    s1 += a1[i] * b[i]
                    s2 += a2[i] * b[i]
                    s3 += a3[i] * b[i]
                out[j, k] += s0
                out[j + 1, k] += s1
                out[j + 2, k] += s2
                out[j + 3, k] += s3
                j += 4
            while j < len(left):
                out[j, k] += inner(left[j, far : far + size], b)
                j += 1


@routine
def add_product(weights: Floats, columns: Floats, sums: Floats) -> None:
    """Add weights (rows, units) times columns (units, size) to sums (rows, size)."""
    rows, units = weights.shape
    for start in range(0, sums.shape[1], BLOCK):
        size = min(BLOCK, sums.shape[1] - start)
        end = start + size
        for row in range(0, rows - 1, 2):
            a, b, left, right = weights[row], weights[row + 1], sums[row, start:end], sums[row + 1, start:end]
            unit = 0
            while unit + 4 <= units:  # two by four: fewer loads and stores for as many products
                a0, a1, a2, a3 = a[unit], a[unit + 1], a[unit + 2], a[unit + 3]
                b0, b1, b2, b3 = b[unit], b[unit + 1], b[unit + 2], b[unit + 3]
                c0, c1 = columns[unit, start:end], columns[unit + 1, start:end]
                c2, c3 = columns[unit + 2, start:end], columns[unit + 3, start:end]
                for i in range(size):
                    left[i] += a0 * c0[i] + a1 * c1[i] + a2 * c2[i] + a3 * c3[i]
                    right[i] += b0 * c0[i] + b1 * c1[i] + b2 * c2[i] + b3 * c3[i]
                unit += 4
            while unit < units:
                column = columns[unit, start:end]
                for i in range(size):
                    left[i] += a[unit] * column[i]
                    right[i] += b[unit] * column[i]
                unit += 1
        if rows % 2:
            left = sums[rows - 1, start:end]
            for unit in range(units):
                weight, column = weights[rows - 1, unit], columns[unit, start:end]
                for i in range(size):
                    left[i] += weight * column[i]
