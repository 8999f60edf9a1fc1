"""How highlights change while a method is trained, looked at when training is over, so that nothing is fed back."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from genspp.app.configure import Data
from genspp.app.predict import open_model
from genspp.evaluation.judges import subject_of
from genspp.evaluation.metrics import hl_f1, selection_rate
from genspp.experiments.curves import Columns, FollowedRun
from genspp.model.weights import load_flat

LOOKS = 60  # at most, spread evenly over the steps


@dataclass(frozen=True)
class Progress(Columns):
    """The generator after some of the steps: epochs of a gradient method, generations (of which the best) of a search.

    steps, seconds: up to here, the first step counted. selection_rate, hl_f1: on test rows; the latter no number where
    there are no gold highlights.
    """

    steps: tuple[float, ...]
    seconds: tuple[float, ...]
    selection_rate: tuple[float, ...]
    hl_f1: tuple[float, ...]

    def reached(self, level: float) -> float | None:
        """Return after how many steps Hl-F1 is at a level for the first time; None: never."""
        return next((step for step, found in zip(self.steps, self.hl_f1, strict=True) if found >= level), None)

    def at(self, shares: np.ndarray) -> np.ndarray:
        """Return the Hl-F1 after shares of all steps."""
        return np.asarray(np.interp(shares, np.array(self.steps) / self.steps[-1], self.hl_f1))


def progress_of(run: FollowedRun, data: Data) -> Progress:
    """Return the progress of a finished run."""
    model, _ = open_model(run.folder)
    subject, gold = subject_of(model, data.splits), data.splits.test.highlights

    @cache
    def look(generator: bytes) -> tuple[float, float]:
        load_flat(subject.model.generator, np.frombuffer(generator, np.float32))
        masks = subject.test.data.split(subject.choosing(subject.test.data).mask)
        found = hl_f1(masks, gold)
        return selection_rate(masks), math.nan if found is None else found

    lines = run.lines()
    seconds = np.cumsum([line["seconds"] for line in lines])
    places = np.unique(np.rint(np.linspace(0, len(lines) - 1, min(len(lines), LOOKS))).astype(int))
    rates, scores = zip(*(look(run.best(lines[place])) for place in places), strict=True)
    return Progress(tuple((places + 1).tolist()), tuple(seconds[places].tolist()), rates, scores)
