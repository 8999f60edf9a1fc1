"""How good highlights are against how much is selected: a curve per method, over the settings of a sweep.

Agreement with gold highlights depends on R, so methods are compared where they select as much. Between the settings of
a method its curve is straight; beyond them there is none, and nothing is guessed.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from genspp.experiments.board import Board
from genspp.experiments.names import family, method_title, methods
from genspp.experiments.results import Result
from genspp.experiments.sparsity import settings_of
from genspp.experiments.untrained import COLUMNS

_UNTRAINED = {"word_list": "Word list of any length", "random": "Random tokens"}


class Point(NamedTuple):
    """Means over the runs of one setting, as fractions. setting: as in the names of runs."""

    setting: str
    rate: float
    precision: float
    recall: float
    hl_f1: float


class Curve(NamedTuple):
    """A method's points, by R."""

    name: str
    points: Sequence[Point]

    def at(self, rate: float) -> float | None:
        """Return the Hl-F1 where R is `rate`; None where the curve does not pass there."""
        rates = [point.rate for point in self.points]
        if not rates or not rates[0] <= rate <= rates[-1]:
            return None
        return float(np.interp(rate, rates, [point.hl_f1 for point in self.points]))

    def nearest(self, rate: float) -> float | None:
        """Return the Hl-F1 of the point whose R is nearest; None where the curve does not pass."""
        if self.at(rate) is None:
            return None
        return min(self.points, key=lambda point: abs(point.rate - rate)).hl_f1


def method_curves(board: Board, data: str, preset: str) -> dict[str, Curve]:
    """Return the curves of all methods that have runs with gold highlights; a method without a sweep has one point."""
    found = {}
    for method in methods():
        settings = dict.fromkeys(["", *(variant for variant, _ in settings_of(method, family(data), preset))])
        runs = {variant: board.find(data, preset, method, variant) for variant in settings}
        points = [_point(variant, there) for variant, there in runs.items() if _with_gold(there)]
        if points:
            found[method] = Curve(method_title(method), sorted(points, key=lambda point: point.rate))
    return found


def untrained_curves(facts: Mapping[str, Any]) -> dict[str, Curve]:
    """Return the curves of what is not trained. facts: what `read_untrained` gave."""
    found = {}
    for name, title in _UNTRAINED.items():
        if name in facts:
            rows = zip(*(facts[name][column] for column in COLUMNS), strict=True)
            found[name] = Curve(title, [Point("", *row) for row in rows])
    return found


def _with_gold(runs: Sequence[Result]) -> bool:
    return bool(runs) and all(run.metrics["hl_f1"] is not None for run in runs)


def _point(setting: str, runs: Sequence[Result]) -> Point:
    precision, recall = np.mean([run.predictions().precision_recall() for run in runs], axis=0).tolist()
    rate, f1 = (float(np.mean([run.metrics[name] for run in runs])) for name in ("selection_rate", "hl_f1"))
    return Point(setting, rate, precision, recall, f1)
