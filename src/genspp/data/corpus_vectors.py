"""Word vectors made from the texts themselves: positive pointwise mutual information, truncated SVD."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from genspp.data.vectors import Vectors, vocabulary, with_frame
from genspp.kernels.losses import logarithms
from genspp.kernels.spectral import singular_vectors
from genspp.streams import frozen

KIND = "corpus"
DIMENSIONS = 50
_WORD_SEED = 0
_SPARE, _ROUNDS = 10, 8  # singular vectors that are found beside the wanted ones, to find these sooner


def _cooccurrence(keys: Sequence[Sequence[str]], index: dict[str, int], window: int) -> Any:
    """Count how often two words stand within `window` tokens of each other: a symmetric sparse matrix."""
    from scipy.sparse import coo_matrix

    ids = np.array([index[key] for text in keys for key in text], dtype=np.int64)
    texts = np.repeat(np.arange(len(keys)), [len(text) for text in keys])
    left, right = [], []
    for distance in range(1, min(window, len(ids) - 1) + 1):
        together = np.flatnonzero(texts[:-distance] == texts[distance:])
        left.append(ids[together])
        right.append(ids[together + distance])
    pairs = (np.concatenate([*left, *right]), np.concatenate([*right, *left])) if left else (ids[:0], ids[:0])
    return coo_matrix((np.ones(len(pairs[0])), pairs), shape=(len(index), len(index))).tocsr()


def _ppmi(counts: Any) -> Any:
    """Return log(P(w, c) / (P(w) P(c))) where positive, the contexts' counts to the power 3/4."""
    words = np.asarray(counts.sum(axis=1)).ravel()
    roots = np.sqrt(np.sqrt(np.asarray(counts.sum(axis=0)).ravel()))
    contexts = roots * roots * roots
    cells = counts.tocoo()
    cells.data = np.maximum(logarithms(cells.data * contexts.sum() / (words[cells.row] * contexts[cells.col])), 0)
    matrix = cells.tocsr()
    matrix.eliminate_zeros()
    return matrix


def _unit(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Scale rows to length 1; a row of zeros stays one."""
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return np.asarray(rows / np.maximum(lengths, 1e-12))


def left_singular_vectors(matrix: Any, count: int) -> npt.NDArray[np.float64]:
    """Return at most `count` left singular vectors of a matrix, (rows, vectors), each with its largest entry positive.

    Those beyond the rank are rounding error, and are left out.
    """
    wanted = min(count + _SPARE, *matrix.shape)
    left = frozen(_WORD_SEED).random_sample((matrix.shape[0], wanted)) - 0.5
    values = singular_vectors(
        matrix.data.astype(np.float64),
        matrix.indices.astype(np.int32),
        matrix.indptr.astype(np.int32),
        left,
        matrix.shape[1],
        _ROUNDS,
    )
    best = np.argsort(-values, kind="stable")[:count]
    left = left[:, best[values[best] > 1e-6 * values.max()]]
    signs = np.sign(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])])
    found: npt.NDArray[np.float64] = left * signs
    return found


def from_corpus(
    keys: Sequence[Sequence[str]],
    dimensions: int = DIMENSIONS,
    window: int = 2,
    noise: float = 0.3,
) -> Vectors:
    """Make a vector for every word of the texts.

    The left singular vectors are taken without their singular values: the first few dimensions would
    otherwise drown the rest, and words that decide between classes stand in similar contexts. For the same
    reason every word gets a fixed random direction of its own, `noise` long where the context part is sqrt(1
    - noise^2): words that fill the same slot of the same sentences have equal contexts, and nothing could
    tell them apart. The whole table has standard deviation 1.
    """
    words = vocabulary(keys)
    matrix = _ppmi(_cooccurrence(keys, {word: i for i, word in enumerate(words)}, window))
    contexts = np.zeros((len(words), dimensions))
    if matrix.nnz:
        left = left_singular_vectors(matrix, min(dimensions, len(words)))
        contexts[:, : left.shape[1]] = left
    own = frozen(_WORD_SEED).random_sample(contexts.shape) - 0.5
    rows = np.sqrt(1 - noise**2) * _unit(contexts) + noise * _unit(own)
    return with_frame(words, rows / rows.std(), KIND)
