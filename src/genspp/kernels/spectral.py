"""Singular vectors of a sparse matrix in float64, with sums in one order: the same on every machine.

A library's would come from routines that differ between processors.
"""

import numpy as np
import numpy.typing as npt

from genspp.kernels.compile import kernel, routine
from genspp.kernels.memory import Ints

Doubles = npt.NDArray[np.float64]


@routine
def _product(data: Doubles, columns: Ints, starts: Ints, x: Doubles, y: Doubles) -> None:
    """Write y = M x for a matrix of sparse rows."""
    for row in range(len(y)):
        for j in range(y.shape[1]):
            y[row, j] = 0.0
        for cell in range(starts[row], starts[row + 1]):
            for j in range(y.shape[1]):
                y[row, j] += data[cell] * x[columns[cell], j]


@routine
def _product_turned(data: Doubles, columns: Ints, starts: Ints, x: Doubles, y: Doubles) -> None:
    """Write y = M^T x for a matrix of sparse rows."""
    for row in range(len(y)):
        for j in range(y.shape[1]):
            y[row, j] = 0.0
    for row in range(len(x)):
        for cell in range(starts[row], starts[row + 1]):
            for j in range(y.shape[1]):
                y[columns[cell], j] += data[cell] * x[row, j]


@routine
def _inner(q: Doubles, a: int, b: int) -> float:
    found = 0.0
    for row in range(len(q)):
        found += q[row, a] * q[row, b]
    return found


@routine
def _orthonormalise(q: Doubles) -> None:
    """Make the columns orthonormal, one after the other (Gram-Schmidt, twice); those that depend on others become 0."""
    for j in range(q.shape[1]):
        before = np.sqrt(_inner(q, j, j))
        for _ in range(2):
            for k in range(j):
                share = _inner(q, k, j)
                for row in range(len(q)):
                    q[row, j] -= share * q[row, k]
        length = np.sqrt(_inner(q, j, j))
        factor = 1 / length if length > 1e-10 * before and length > 0 else 0.0
        for row in range(len(q)):
            q[row, j] *= factor


@routine
def _diagonalise(a: Doubles, vectors: Doubles) -> None:
    """Turn a symmetric matrix into a diagonal one by Jacobi's rotations; the columns of `vectors` are turned along."""
    size = len(a)
    for _ in range(60):
        off = 0.0
        for p in range(size):
            for q in range(p + 1, size):
                off += a[p, q] * a[p, q]
        if off < 1e-300:
            return
        for p in range(size):
            for q in range(p + 1, size):
                if a[p, q] == 0.0:
                    continue
                theta = (a[q, q] - a[p, p]) / (2 * a[p, q])
                t = (1.0 if theta >= 0 else -1.0) / (abs(theta) + np.sqrt(theta * theta + 1))
                c = 1 / np.sqrt(t * t + 1)
                s = t * c
                for k in range(size):
                    x, y = a[k, p], a[k, q]
                    a[k, p], a[k, q] = c * x - s * y, s * x + c * y
                for k in range(size):
                    x, y = a[p, k], a[q, k]
                    a[p, k], a[q, k] = c * x - s * y, s * x + c * y
                for k in range(len(vectors)):
                    x, y = vectors[k, p], vectors[k, q]
                    vectors[k, p], vectors[k, q] = c * x - s * y, s * x + c * y


@kernel
def _iterate(
    data: Doubles, columns: Ints, starts: Ints, start: Doubles, rounds: int, other: Doubles, small: Doubles
) -> None:
    """Turn `start`, (rows, count), into left singular vectors; small: (count, count), ends with the squared values.

    Subspace iteration, q <- M M^T q, and a rotation that makes q^T M M^T q diagonal. other: (columns, count).
    """
    _orthonormalise(start)
    for _ in range(rounds):
        _product_turned(data, columns, starts, start, other)
        _product(data, columns, starts, other, start)
        _orthonormalise(start)
    _product_turned(data, columns, starts, start, other)
    count = start.shape[1]
    for a in range(count):
        for b in range(count):
            found = 0.0
            for row in range(len(other)):
                found += other[row, a] * other[row, b]
            small[a, b] = found
    _diagonalise(small, start)


def singular_vectors(data: Doubles, columns: Ints, starts: Ints, start: Doubles, width: int, rounds: int) -> Doubles:
    """Turn `start`, (rows, count), into left singular vectors of a matrix of sparse rows; return their singular values.

    width: the columns of the matrix.
    """
    small = np.zeros((start.shape[1], start.shape[1]))
    _iterate(data, columns, starts, start, rounds, np.zeros((width, start.shape[1])), small)
    return np.sqrt(np.maximum(np.diag(small), 0))
