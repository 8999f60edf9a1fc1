"""What is measured of the way out of a start that is locked in, from result files alone."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from genspp.experiments.board import Board
from genspp.experiments.results import Predictions, Result
from genspp.experiments.skew import BOTH_WAYS
from genspp.report.result_table import mean_std

RECOVERED = 0.9  # of the mean Hl-F1 from a clean start: what a run that has recovered reaches at least
LOCKED_IN = 0.1  # by how much more of the labels a locked-in start tells than one that pays the words no attention
SHOWN = 10  # places of a text in figures


def clean(board: Board, data: str, preset: str, method: str, variant: str) -> list[Result]:
    """Return the runs that a start is compared with: the same method from a clean one."""
    return board.find(data, preset, method, BOTH_WAYS if BOTH_WAYS in variant.split() else "")


class Way(NamedTuple):
    """The way out of a start, over the runs of a row.

    before, after: mean Hl-F1 from a clean and from this start, in percent. recovered: how many runs reach the level.
    steps: after how many steps those that recovered were there first; empty where training was not looked at.
    told: the share of labels that the first places of validation texts tell at the start; idle: what they can tell
    without regard to the words. left, usual: that share of test texts in the end, and from a clean start.
    """

    before: float
    after: float
    recovered: int
    runs: int
    steps: list[float]
    told: float
    idle: float
    left: float
    usual: float

    @property
    def locked_in(self) -> bool:
        """Whether the start told the label."""
        return self.told > self.idle + LOCKED_IN


def way_out(skewed: Sequence[Result], clean: Sequence[Result]) -> Way | None:
    """Return the way out of a start; None where it, or the clean start, has not been run."""
    if not skewed or not clean or any(run.metrics["hl_f1"] is None for run in (*skewed, *clean)):
        return None
    before, after = (mean_std([100 * run.metrics["hl_f1"] for run in runs])[0] for runs in (clean, skewed))
    level = RECOVERED * before / 100
    back = [run for run in skewed if run.metrics["hl_f1"] >= level]
    reached = [found.reached(level) for run in back if (found := run.progress()) is not None]
    return Way(
        before,
        after,
        len(back),
        len(skewed),
        [step for step in reached if step is not None],
        float(np.mean([run.skew["skew_val"] for run in skewed])),
        float(np.mean([_idle(run.predictions()) for run in skewed])),
        float(np.mean([told(run.predictions()) for run in skewed])),
        float(np.mean([told(run.predictions()) for run in clean])),
    )


def told(given: Predictions) -> float:
    """Return the share of texts in which, of the first places, one per class, that of the label alone is selected."""
    codes = ["".join(str(int(place == label)) for place in range(len(given.classes))) for label in given.labels]
    pairs = zip(given.masks, codes, strict=True)
    return float(np.mean([mask[: len(code)] == code[: len(mask)] for mask, code in pairs]))


def _idle(given: Predictions) -> float:
    """Return the share of the most frequent label."""
    return float(np.bincount(given.labels).max() / len(given.labels))


def profile(given: Predictions) -> list[list[float]]:
    """Return, of the texts of every class, the share that has its first, second... token selected."""
    shares = np.zeros((len(given.classes), SHOWN))
    for label, place in np.ndindex(*shares.shape):
        pairs = zip(given.masks, given.labels, strict=True)
        there = [mask[place] == "1" for mask, own in pairs if own == label and place < len(mask)]
        shares[label, place] = np.mean(there) if there else 0.0
    return shares.tolist()
