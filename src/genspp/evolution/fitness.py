"""The objective of the search (paper, eq. 7 and 8): select little, but stay able to classify."""

import math
from dataclasses import dataclass

from genspp.population.evaluator import Evaluation

_EPSILON = 1e-8  # eq. 8: keeps the fitness of a perfect individual finite


def combined_loss(*costs: float) -> float:
    """Return h~ = 1 - sqrt((1 - cost)(1 - cost)...), eq. 7, costs capped at 1: 0 is perfect, 1 is as bad as it gets."""
    return 1 - math.sqrt(math.prod(1 - min(cost, 1) for cost in costs))


@dataclass(frozen=True, slots=True)
class Objective:
    """How an evaluation becomes a fitness.

    threshold: l + epsilon; an individual is feasible if its task loss is below it. loss_scale: what the
    cross-entropy is divided by (1 in the paper; ln C makes chance level 1 whatever the number of classes).
    graded_failures: rank the infeasible by their loss, all below the feasible; otherwise all of them get h~ = 1,
    as the released code does (the paper prints h~ = 0 there, which would make failures the fittest).
    """

    threshold: float
    loss_scale: float = 1.0
    graded_failures: bool = True

    def loss(self, evaluation: Evaluation) -> float:
        """Return the task loss on the objective's own scale."""
        return evaluation.task_loss / self.loss_scale

    def costs(self, evaluation: Evaluation) -> tuple[float, ...]:
        """Return the terms of eq. 7, L_t and Omega; a further term is one more here."""
        return (
            self.loss(evaluation),
            evaluation.selection_rate,
        )

    def feasible(self, evaluation: Evaluation) -> bool:
        """Tell whether the highlight still lets a predictor do its task; NaN never does."""
        return self.loss(evaluation) < self.threshold

    def fitness(self, evaluation: Evaluation) -> float:
        """Return h = 1 / (h~ + epsilon), eq. 8; 0 where a term is not a finite number."""
        costs = self.costs(evaluation)
        if not all(map(math.isfinite, costs)):
            return 0.0
        if self.feasible(evaluation):
            return 1 / (combined_loss(*costs) + _EPSILON)
        return 1 / (1 + _EPSILON + self.loss(evaluation)) if self.graded_failures else 1 / (1 + _EPSILON)
