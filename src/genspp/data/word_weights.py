"""What every word says for every class: logistic regression on TF-IDF, from training texts and their labels alone.

The solver is our own so that the same weights come out on every machine: the label-informed columns of word vectors,
the word list and the first generators of a search all stand on them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from genspp.data.vectors import vocabulary
from genspp.kernels.losses import exponentials, logarithms

Numbers = npt.NDArray[np.float64]

_ROUNDS, _MEMORY = 60, 8  # of L-BFGS; and how many steps it remembers
_SMALL, _SHORTEST = 1e-7, 1e-4  # it ends when the gradient has shrunk so much (squared), or when a step is so short
_SEEN = 2  # a word that one text has says nothing that holds for others


@dataclass(frozen=True, eq=False)
class WordWeights:
    """weights: (words, classes) what a word adds to the logit of a class, once per occurrence; they sum to 0."""

    words: tuple[str, ...]
    weights: Numbers

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of every word."""
        return {word: row for row, word in enumerate(self.words)}

    def of(self, words: Sequence[str]) -> Numbers:
        """Return the weights of some words, (words, classes); 0 for those that are not known."""
        found = np.zeros((len(words), self.weights.shape[1]))
        known = [(row, self.index[word]) for row, word in enumerate(words) if word in self.index]
        if known:
            rows, places = map(list, zip(*known, strict=True))
            found[rows] = self.weights[places]
        return found


def word_weights(
    keys: Sequence[Sequence[str]], labels: npt.NDArray[np.int32], classes: int, strength: float = 1.0
) -> WordWeights:
    """Fit softmax(X W + b) to the labels, X the TF-IDF of words that two texts have, rows of length 1.

    Minimised is what scikit-learn's `LogisticRegression(C=strength)` minimises: the mean cross-entropy + |W|^2 / (2
    strength texts), |W|^2 twice that where there are two classes. Returned is W times idf.
    """
    words = vocabulary(keys)
    counts = _counts(keys, {word: column for column, word in enumerate(words)})
    texts = np.asarray((counts > 0).sum(axis=0)).ravel()
    kept = np.flatnonzero(texts >= min(_SEEN, len(keys)))
    idf = logarithms((1 + len(keys)) / (1 + texts[kept])) + 1
    matrix = counts[:, kept].multiply(idf[None, :]).tocsr()
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    matrix = matrix.multiply(1 / np.maximum(lengths, 1e-12)[:, None]).tocsr()
    weights = _fit(matrix, labels, classes, strength)
    return WordWeights(tuple(words[column] for column in kept), weights * idf[:, None])


def _counts(keys: Sequence[Sequence[str]], index: dict[str, int]) -> Any:
    from scipy.sparse import csr_matrix

    columns = np.array([index[key] for text in keys for key in text], np.int64)
    rows = np.repeat(np.arange(len(keys)), [len(text) for text in keys])
    matrix = csr_matrix((np.ones(len(columns)), (rows, columns)), shape=(len(keys), len(index)))
    matrix.sum_duplicates()
    return matrix


def _fit(matrix: Any, labels: npt.NDArray[np.int32], classes: int, strength: float) -> Numbers:
    """Return W, (columns, classes), every row of it with mean 0."""
    texts, columns = matrix.shape
    turned, wanted = matrix.T.tocsr(), np.eye(classes)[labels]
    # scikit-learn has one column for two classes, the difference of ours: its square is twice that of our two.
    shrinkage = (2 if classes == 2 else 1) / (strength * texts)

    def loss(point: Numbers) -> tuple[float, Numbers]:
        """Return the loss and its gradient; the last row of a point holds the biases, which are not shrunken."""
        weights, bias = point[:-1], point[-1]
        logits = matrix @ weights + bias
        logits -= logits.max(axis=1, keepdims=True)
        powers = exponentials(logits.ravel()).reshape(logits.shape)
        mass = powers.sum(axis=1)
        found = float((logarithms(mass) - (logits * wanted).sum(axis=1)).mean())
        error = (powers / mass[:, None] - wanted) / texts
        slope = np.concatenate([turned @ error + shrinkage * weights, error.sum(axis=0)[None]])
        return found + shrinkage / 2 * _dot(weights, weights), slope

    weights = _minimise(loss, np.zeros((columns + 1, classes)))[:-1]
    return np.asarray(weights - weights.mean(axis=1, keepdims=True))


def _dot(a: Numbers, b: Numbers) -> float:
    """Return the scalar product by plain sums: a BLAS would add up in another order on another machine."""
    return float((a * b).sum())


def _minimise(loss: Callable[[Numbers], tuple[float, Numbers]], point: Numbers) -> Numbers:
    """Return where a smooth convex function is least, by L-BFGS with a halving line search."""
    value, slope = loss(point)
    first = _dot(slope, slope)
    steps: list[tuple[Numbers, Numbers, float]] = []
    for _ in range(_ROUNDS):
        direction, shares = -slope, []
        for moved, bent, curvature in reversed(steps):
            shares.append(_dot(moved, direction) / curvature)
            direction = direction - shares[-1] * bent
        if steps:
            _, bent, curvature = steps[-1]
            direction = direction * (curvature / _dot(bent, bent))
        for (moved, bent, curvature), share in zip(steps, reversed(shares), strict=True):
            direction = direction + (share - _dot(bent, direction) / curvature) * moved
        fall, length = _dot(slope, direction), 1.0
        new, (new_value, new_slope) = point + direction, loss(point + direction)
        while new_value > value + 1e-4 * length * fall and length > _SHORTEST:
            length /= 2
            new = point + length * direction
            new_value, new_slope = loss(new)
        moved, bent = new - point, new_slope - slope
        if _dot(moved, bent) <= 0 or length <= _SHORTEST:
            break
        steps = [*steps[-_MEMORY + 1 :], (moved, bent, _dot(moved, bent))]
        point, value, slope = new, new_value, new_slope
        if _dot(slope, slope) < _SMALL * first:
            break
    return point
