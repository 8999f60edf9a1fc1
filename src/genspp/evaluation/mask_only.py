"""What can be told from a highlight when no word is seen: how much is marked, and where."""

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from genspp.data.encode import Mask
from genspp.evaluation.made_texts import Marked

Features = npt.NDArray[np.float64]

_MOST_ROUNDS = 1000
_NOTHING_MARKED = (0, 0, 1, 0, 0, 0, 0, 0, 0, 0)


def mask_features(texts: Marked) -> Features:
    """Return a row for every text, see `_features`."""
    return np.array([_features(mask) for mask in texts.data.split(texts.mask)], np.float64)


def length_features(texts: Marked) -> Features:
    """Return the length of every text, (texts, 1): what shares and places may give away, but not the highlight."""
    return texts.data.lengths[:, None].astype(np.float64)


def empty_features(texts: Marked) -> Features:
    """Return whether a text has no highlight, (texts, 1)."""
    return np.asarray(texts.counts == 0, np.float64)[:, None]


def _features(mask: Mask) -> tuple[float, ...]:
    """Return of a highlight: number and share of the tokens, whether there is none, number of runs, first, last and
    mean place, and these three as shares of the length."""
    chosen, length = np.flatnonzero(mask), len(mask)
    if not len(chosen):
        return _NOTHING_MARKED
    runs = 1 + int(np.count_nonzero(np.diff(chosen) > 1))
    places = (float(chosen[0]), float(chosen[-1]), float(chosen.mean()))
    return (len(chosen), len(chosen) / length, 0, runs, *places, *(place / length for place in places))


def predicted_from(train: Features, labels: npt.NDArray[np.int32], test: Features) -> npt.NDArray[np.int32]:
    """Return the labels that logistic regression, fitted on training rows, gives to test rows.

    Classes weigh the same however rare they are, or "always the most frequent" would hide what the features know.
    """
    model = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=_MOST_ROUNDS))
    with threadpool_limits(1):
        return np.asarray(model.fit(train, labels).predict(test))
