"""Highlights judged by the full recipe of preset `sound`, whatever recipe found them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from genspp.app.configure import Data
from genspp.data.encode import Mask
from genspp.evolution.fitness import Objective
from genspp.methods.genspp import GenSPP
from genspp.methods.judging import judging, make_objective
from genspp.methods.lesson import Lesson
from genspp.methods.recorder import Recorder
from genspp.population.evaluator import Evaluation, Evaluator
from genspp.streams import Purpose, seed_of

JUDGES = 3  # of every highlight; what they find is averaged


class Pupil(GenSPP):
    """Hears the lesson that GenSPP is trained on, and does not train."""

    def _train(self, settings: dict[str, Any], lesson: Lesson, recorder: Recorder) -> None:
        self.heard_ = settings, lesson


@dataclass
class Recipe:
    """The judges and the objective of a recipe on some data. They have met no generator."""

    evaluator: Evaluator
    objective: Objective
    seed: int

    @classmethod
    @contextmanager
    def of(cls, settings: dict[str, Any], data: Data) -> Iterator[Self]:
        """Open the recipe that settings of GenSPP describe."""
        pupil = Pupil(**{**settings, "vectors": data.vectors})
        own, lesson = pupil.fit(data.splits.train, validation=data.splits.val).heard_
        with judging(own, lesson, own["cell"]) as (evaluator, _):
            yield cls(evaluator, make_objective(own, evaluator), own["seed"])

    def judge(self, train: Mask, val: Mask) -> dict[str, float]:
        """Return what highlights of training and validation rows cost, and what predictor and adversary know of it."""
        found = [
            self.evaluator.judge(train, val, seed_of(self.seed, Purpose.RECIPE_JUDGES, number))
            for number in range(JUDGES)
        ]
        judged = [judges.evaluation(self.evaluator.task, val) for judges in found]
        mean = Evaluation(*(float(np.mean([getattr(one, f.name) for one in judged])) for f in fields(Evaluation)))
        return {"cost": self.objective.cost(mean), **self.objective.shares(mean)}
