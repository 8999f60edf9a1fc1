"""Training the regression on the marked words, which decides with the predictors that are kept.

Few texts teach a network less of their words than a regression; and where word order or context matters the networks
know more. So each has half of the say. Both read the highlight and nothing else.
"""

import numpy as np
import numpy.typing as npt
import torch

from genspp.data.encode import Encoded, Mask
from genspp.data.vectors import UNKNOWN
from genspp.data.word_weights import regression
from genspp.kernels.losses import exponentials, logarithms
from genspp.model.forms import MarkedWords
from genspp.model.networks import MarkedWords as Kept
from genspp.population.evaluator import Task

_STRENGTHS = 1.0, 10.0  # scikit-learn's C; validation texts choose


def train_words(kept: Kept, task: Task, train_mask: Mask, val_mask: Mask) -> None:
    """Fit the regression to the highlights of the training texts; those of the validation texts choose its strength."""
    rows, classes = kept.weights.shape
    texts, words = _marked(task.train, train_mask, rows)
    shape, weighed = (len(task.train), rows), (task.train.labels, classes)
    found = []
    for strength in _STRENGTHS:
        fitted = regression(texts, words, shape, *weighed, strength, task.class_weights, seen=1)
        found.append(MarkedWords(*(np.asarray(part, np.float32) for part in fitted)))
    best = min(found, key=lambda one: _loss(one, task, val_mask))
    for name in ("idf", "weights", "bias"):
        getattr(kept, name).copy_(torch.from_numpy(getattr(best, name)))


def _marked(data: Encoded, mask: Mask, rows: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the text and the word of every marked token that is known; the rows of all folds follow each other."""
    words = data.ids.astype(np.int64) % rows
    chosen = (mask != 0) & (words > UNKNOWN)
    return np.repeat(np.arange(len(data)), data.lengths)[chosen], words[chosen]


def _loss(words: MarkedWords, task: Task, mask: Mask) -> float:
    """Return the weighted mean cross-entropy on the validation texts."""
    val = task.val
    logits = words.logits(*_marked(val, mask, len(words.idf)), len(val))
    logits -= logits.max(axis=1, keepdims=True)
    mass = exponentials(logits.ravel()).reshape(logits.shape).sum(axis=1)
    losses = logarithms(mass) - logits[np.arange(len(val)), val.labels]
    each = task.class_weights[val.labels]
    return float((each * losses).sum() / max(float(each.sum()), 1e-12))
