"""What every word says for every class: logistic regression on TF-IDF, from training texts and their labels alone.

The solver is our own so that the same weights come out on every machine: the label-informed columns of word vectors,
the word list, the first generators of a search and the regression behind final highlights all stand on them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from genspp.data.vectors import vocabulary
from genspp.kernels.losses import exponentials, logarithms

Numbers = npt.NDArray[np.float64]

_ROUNDS, _MEMORY = 60, 8  # of L-BFGS; and how many steps it remembers
_SMALL, _SHORTEST = 1e-7, 1e-4  # it ends when the gradient has shrunk so much (squared), or when a step is so short


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


class Regression(NamedTuple):
    """softmax(X W + b), X the TF-IDF of a text's words, of length 1.

    idf: (words,) 0 for a word that is not read. weights: (words, classes). bias: (classes,).
    """

    idf: Numbers
    weights: Numbers
    bias: Numbers


def word_weights(
    keys: Sequence[Sequence[str]], labels: npt.NDArray[np.int32], classes: int, strength: float = 1.0, seen: int = 2
) -> WordWeights:
    """Return the weights of the words that so many texts have, W times idf of a regression on them."""
    words = vocabulary(keys)
    index = {word: column for column, word in enumerate(words)}
    columns = np.array([index[key] for text in keys for key in text], np.int64)
    rows = np.repeat(np.arange(len(keys)), [len(text) for text in keys])
    idf, weights, _ = regression(rows, columns, (len(keys), len(words)), labels, classes, strength, seen=seen)
    kept = np.flatnonzero(idf)
    return WordWeights(tuple(words[column] for column in kept), weights[kept] * idf[kept, None])


def regression(
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    shape: tuple[int, int],
    labels: npt.NDArray[np.int32],
    classes: int,
    strength: float,
    class_weights: npt.NDArray[np.float32] | None = None,
    *,
    seen: int,
) -> Regression:
    """Fit a regression to the labels of texts, by the words that so many texts have.

    rows, columns: the text and the word of every token. shape: how many of them there are. Minimised is what
    scikit-learn's `LogisticRegression(C=strength)` minimises: the mean cross-entropy + |W|^2 / (2 strength texts),
    |W|^2 twice that where there are two classes; with class weights, the weighted mean.
    """
    from scipy.sparse import csr_matrix

    counts = csr_matrix((np.ones(len(columns)), (rows, columns)), shape=shape)
    counts.sum_duplicates()
    texts = np.asarray((counts > 0).sum(axis=0)).ravel()
    kept = np.flatnonzero(texts >= min(seen, shape[0]))
    idf = logarithms((1 + shape[0]) / (1 + texts[kept])) + 1
    matrix = counts[:, kept].multiply(idf[None, :]).tocsr()
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    matrix = matrix.multiply(1 / np.maximum(lengths, 1e-12)[:, None]).tocsr()
    each = np.ones(shape[0]) if class_weights is None else class_weights[labels].astype(np.float64)
    point = _fit(matrix, labels, classes, strength, each / max(each.sum(), 1e-12))
    found = Regression(np.zeros(shape[1]), np.zeros((shape[1], classes)), point[-1])
    found.idf[kept], found.weights[kept] = idf, point[:-1] - point[:-1].mean(axis=1, keepdims=True)
    return found


def _fit(matrix: Any, labels: npt.NDArray[np.int32], classes: int, strength: float, shares: Numbers) -> Numbers:
    """Return W and, in the last row, b. shares: what every text weighs, 1 in all."""
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
        found = float((shares * (logarithms(mass) - (logits * wanted).sum(axis=1))).sum())
        error = (powers / mass[:, None] - wanted) * shares[:, None]
        slope = np.concatenate([turned @ error + shrinkage * weights, error.sum(axis=0)[None]])
        return found + shrinkage / 2 * _dot(weights, weights), slope

    return _minimise(loss, np.zeros((columns + 1, classes)))


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
