import numpy as np
from scipy.sparse import random as random_sparse

from genspp.kernels.spectral import singular_vectors


def test_singular_vectors_are_numpy_s():
    rng = np.random.default_rng(0)
    matrix = random_sparse(40, 30, 0.3, "csr", rng=rng)
    start = rng.normal(size=(40, 12))
    values = singular_vectors(matrix.data, matrix.indices, matrix.indptr, start, 30, 200)
    left, right, _ = np.linalg.svd(matrix.toarray())
    order = np.argsort(-values)
    np.testing.assert_allclose(values[order][:8], right[:8], rtol=1e-8)
    overlap = np.abs((start[:, order] * left[:, :12]).sum(0))
    np.testing.assert_allclose(overlap[:8], 1, atol=1e-6)


def test_what_is_beyond_the_rank_is_zero():
    matrix = random_sparse(9, 9, 0.0, "csr")
    matrix[0, 0] = matrix[1, 1] = 2.0
    start = np.random.default_rng(0).normal(size=(9, 5))
    matrix = matrix.tocsr()
    values = singular_vectors(matrix.data, matrix.indices, matrix.indptr, start, 9, 5)
    np.testing.assert_allclose(np.sort(values)[::-1], [2, 2, 0, 0, 0], atol=1e-12)
