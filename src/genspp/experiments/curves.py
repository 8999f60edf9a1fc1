"""What a search had found after so many evaluations, looked at when it is over.

While it runs, the best generator of every generation is put aside; nothing is measured then, so that nothing can be
fed back. Afterwards each is asked for its highlights: of validation rows for R, of test rows for Hl-F1. What these
cost is judged by fresh predictors, under one recipe whatever recipe the search had.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from genspp.app.configure import Data
from genspp.app.predict import open_model
from genspp.app.runs import Run
from genspp.data.encode import Mask
from genspp.errors import RunError
from genspp.evaluation.judges import subject_of
from genspp.evaluation.metrics import hl_f1, selection_rate
from genspp.files import write_bytes
from genspp.model.weights import load_flat

Judge = Callable[[Mask, Mask], Mapping[str, float]]


class FollowedRun(Run):
    """A run folder in which the generator of every step (the best one of a generation) is kept too."""

    def record(self, line: dict[str, Any], state: dict[str, Any], total: int) -> None:
        """Keep the generator, then log the line: every line has one, whenever the run is killed."""
        write_bytes(self._best(line), np.ascontiguousarray(state["generator"], np.float32).tobytes())
        super().record(line, state, total)

    def best(self, line: dict[str, Any]) -> bytes:
        """Return the weights of the generator after a line of the log, as bytes."""
        if not self._best(line).exists():
            raise RunError(f"{self._best(line)} is missing; remove that run's folder, and run the benchmark again.")
        return self._best(line).read_bytes()

    def _best(self, line: dict[str, Any]) -> Path:
        return self.folder / "best" / f"{next(iter(line.values()))}.f32"


class Columns:
    """Columns of numbers, the fields of a dataclass, as a result file has them."""

    def to_json(self) -> dict[str, str]:
        """Return it with every column as one string: one line of the file each."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {name: " ".join(f"{value:.6g}" for value in values) for name, values in columns.items()}

    @classmethod
    def from_json(cls, content: Mapping[str, str]) -> Self:
        """Read what `to_json` gave."""
        return cls(*(tuple(map(float, content[field.name].split())) for field in fields(cls)))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Curve(Columns):
    """The best individual after every generation.

    evaluations: judged so far. own_cost: by the search's own objective. cost, left_over: by the recipe that all are
    judged by. selection_rate: R on validation rows. hl_f1: on test rows; no number where there are no gold highlights.
    """

    evaluations: tuple[float, ...]
    own_cost: tuple[float, ...]
    cost: tuple[float, ...]
    left_over: tuple[float, ...]
    selection_rate: tuple[float, ...]
    hl_f1: tuple[float, ...]


def curve_of(run: FollowedRun, data: Data, judge: Judge) -> Curve:
    """Return the curve of a finished run. judge: tells cost and left_over of highlights of all rows that it may see."""
    model, _ = open_model(run.folder)
    subject, gold = subject_of(model, data.splits), data.splits.test.highlights

    @cache
    def look(genome: bytes) -> tuple[float, ...]:
        load_flat(subject.model.generator, np.frombuffer(genome, np.float32))
        train, val, test = (subject.choosing(part.data).mask for part in (subject.train, subject.val, subject.test))
        judged, found = judge(train, val), hl_f1(subject.test.data.split(test), gold)
        rate = selection_rate(subject.val.data.split(val))
        return judged["cost"], judged.get("left_over", math.nan), rate, math.nan if found is None else found

    lines = run.lines()
    fitness = [float(line["best_fitness"]) for line in lines]
    return Curve(
        tuple(np.cumsum([line["evaluations"] for line in lines]).tolist()),
        tuple(1 / value if value else math.inf for value in fitness),
        *zip(*(look(run.best(line)) for line in lines), strict=True),
    )


def mean_curve(curves: Sequence[Curve], column: str) -> tuple[list[float], list[float]]:
    """Return evaluations and the mean over seeds of a column there; what a search ended with, it has ever after."""
    places = sorted({place for curve in curves for place in curve.evaluations})
    places = [place for place in places if place >= max(curve.evaluations[0] for curve in curves)]
    values = [
        [getattr(curve, column)[np.searchsorted(curve.evaluations, place, "right") - 1] for curve in curves]
        for place in places
    ]
    return places, np.mean(values, axis=1).tolist()
