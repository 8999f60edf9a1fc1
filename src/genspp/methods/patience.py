"""How much of the data training looks at and for how long, so that its time hardly grows with the data.

A search judges highlights on rows that are drawn once, as many as tell good ones from bad; the predictors that are kept
are then trained on all rows. An update takes fewer texts where these are long, or few.
"""

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from genspp.data.encode import Encoded
from genspp.kernels.lanes import WIDTH
from genspp.methods.lesson import Lesson
from genspp.streams import Purpose, stream

_TOKENS = 1280  # per update, about
_UPDATES = 20  # in an epoch of few texts, about
_TRAIN, _VAL = 12_000, 3_000  # rows that a search looks at, at most
_STEPS, _EPOCHS = 5_000, 3  # updates without a lower loss that are enough to end a training; and epochs, at least


def searched(lesson: Lesson, seed: int) -> Lesson:
    """Return the rows that a search looks at: all, or where these are many, some of every class."""
    if len(lesson.train) <= _TRAIN and len(lesson.val) <= _VAL:
        return lesson
    train = lesson.train.take(_some(lesson.train, _TRAIN, stream(seed, Purpose.ROWS, 0)))
    val = lesson.val.take(_some(lesson.val, _VAL, stream(seed, Purpose.ROWS, 1)))
    return replace(lesson, train=train, val=val)


def _some(data: Encoded, most: int, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return at most so many rows, of every class its share."""
    order = random.permutation(len(data))
    order = order[np.argsort(data.labels[order], kind="stable")]
    wanted = min(most, len(order))
    return np.sort(order[np.arange(wanted) * len(order) // wanted])


def texts_per_update(most: int, data: Encoded) -> int:
    """Return how many texts an update takes: whole groups of lanes, fewer where texts are long, or few."""
    mean = max(1, len(data.ids) // max(1, len(data)))
    enough = min(_TOKENS // mean, max(2 * WIDTH, len(data) // _UPDATES))
    return min(most, max(WIDTH, enough // WIDTH * WIDTH))


def patient_epochs(most: int, rows: int, batch_size: int) -> int:
    """Return for how many epochs a training waits for a lower loss: fewer where an epoch is long."""
    return min(most, max(_EPOCHS, math.ceil(_STEPS * batch_size / max(1, rows))))
