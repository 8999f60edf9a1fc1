"""What a search strives for: few tokens, enough for a predictor, and nothing left to one that sees the rest."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from genspp.population.evaluator import Evaluation, Terms

_EPSILON = 1e-8  # eq. 8: keeps the fitness of a perfect individual finite
_LEAST_GAP = 1e-3  # nats; where the full text tells less, there is nothing to divide by
_DOUBT = 0.02  # of the full text's loss: where texts are open to doubt, two judges of one highlight differ by more
_MOST_FREE = 0.15  # of what the full text tells: where that is little, what may be lacking is less
_CHEAPEST = 0.35  # of the price of a nat, where texts tell as little, or less
_ALL = 0.06  # times the price of a nat: what all of the full text's information costs at least
_EVEN = 0.4  # what all of the full text's information costs a first generator that lacks it


def combined_loss(*costs: float) -> float:
    """Return h~ = 1 - sqrt((1 - cost)(1 - cost)...), eq. 7, costs capped at 1: 0 is perfect, 1 is as bad as it gets."""
    return 1 - math.sqrt(math.prod(1 - min(cost, 1) for cost in costs))


class Objective(ABC):
    """How an evaluation becomes a fitness."""

    @abstractmethod
    def cost(self, evaluation: Evaluation) -> float:
        """Return what is minimised; infinite or no number where a term is none."""

    @abstractmethod
    def feasible(self, evaluation: Evaluation) -> bool:
        """Tell whether the highlight still lets a predictor do its task; NaN never does."""

    @abstractmethod
    def shares(self, evaluation: Evaluation) -> dict[str, float]:
        """Return what a log says of an individual's highlights, beside its evaluation."""

    def fitness(self, evaluation: Evaluation) -> float:
        """Return h = 1 / (h~ + epsilon), eq. 8; 0 where the cost is not a finite number."""
        cost = self.cost(evaluation)
        return 1 / (cost + _EPSILON) if math.isfinite(cost) else 0.0


@dataclass(frozen=True, slots=True)
class PaperObjective(Objective):
    """Eq. 7 and 8 of the paper: select little, but stay able to classify.

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

    def cost(self, evaluation: Evaluation) -> float:
        """Return h~ of a feasible individual, at least 1 of another."""
        costs = self.loss(evaluation), evaluation.selection_rate
        if not all(map(math.isfinite, costs)):
            return math.inf
        if self.feasible(evaluation):
            return combined_loss(*costs)
        return 1 + (self.loss(evaluation) if self.graded_failures else 0)

    def feasible(self, evaluation: Evaluation) -> bool:
        """Tell whether the loss is below the threshold."""
        return self.loss(evaluation) < self.threshold

    def shares(self, evaluation: Evaluation) -> dict[str, float]:
        """Return nothing: the evaluation says it all."""
        return {}


@dataclass(frozen=True, slots=True)
class EvidenceObjective(Objective):
    """As small as possible, sufficient, complete: R + price max(0, loss - full - free) + completeness C.

    loss and full are nats per text, of the predictor behind the highlight and of one that sees the full text; price,
    what a nat costs, is insufficiency, less where texts tell less than one; free, what a highlight may lack, is
    epsilon, more where the full text leaves much open, less where it tells little. C, what is left over, is a share of
    the information that the full text gives: (chance - loss) / (chance - full), of the adversary behind the rest. These
    mean the same on every data set: a text's right label has its chance divided by e^(loss - full) where words are
    missing; and an adversary that knows as much as the full text has a share of 1.

    blind: nobody can tell what the full text gives, so the best is to leave nothing out.
    """

    chance: float
    full: float
    completeness: float
    insufficiency: float
    epsilon: float
    blind: bool = False

    @property
    def gap(self) -> float:
        """The information that the full text gives, nats per text; where it gives none, next to nothing."""
        return max(self.chance - self.full, _LEAST_GAP)

    @property
    def free(self) -> float:
        """What the predictor behind a highlight may lack at no cost, nats per text."""
        return min(self.epsilon + _DOUBT * max(0.0, self.full), _MOST_FREE * self.gap)

    @property
    def price(self) -> float:
        """What a nat costs that the predictor lacks: less where texts tell less than one, but some of it at least.

        Where texts tell very little it is dear again, or a highlight that lacks all would be cheaper than one of words.
        """
        return self.insufficiency * max(min(1.0, max(_CHEAPEST, self.gap)), _ALL / self.gap)

    @property
    def terms(self) -> Terms:
        """What a climb descends."""
        return Terms(self.price, self.completeness / self.gap, self.chance)

    @property
    def first_terms(self) -> Terms:
        """What a climb of a generator that knows nothing yet descends.

        All that the predictor might lack costs as little as all that an adversary might find. Were it dear from the
        start, a generator would select everything before it has learnt anything, and hardly come back.
        """
        return Terms(_EVEN / self.gap, self.completeness / self.gap, self.chance)

    def cost(self, evaluation: Evaluation) -> float:
        """Return the sum of the three terms."""
        losses = [evaluation.task_loss, *([evaluation.rest_loss] if self.completeness > 0 else [])]
        if not all(map(math.isfinite, losses)):
            return math.inf
        if self.blind:
            return 1 / (1 + evaluation.selection_rate)
        cost = evaluation.selection_rate
        cost += self.price * max(0.0, evaluation.task_loss - self.full - self.free)
        if self.completeness > 0:
            cost += self.completeness * max(0.0, self._share(evaluation.rest_loss))
        return cost

    def feasible(self, evaluation: Evaluation) -> bool:
        """Tell whether the predictor behind the highlight lacks no more than is free."""
        return evaluation.task_loss - self.full <= self.free

    def shares(self, evaluation: Evaluation) -> dict[str, float]:
        """Return the shares of the full text's information that predictor and, if there is one, adversary have.

        Where a judge finds none in the full text, there is nothing to have a share of.
        """
        if self.blind or self.chance - self.full < _LEAST_GAP:
            return {}
        found = {"sufficiency": self._share(evaluation.task_loss)}
        return found | ({"left_over": self._share(evaluation.rest_loss)} if self.completeness > 0 else {})

    def _share(self, loss: float) -> float:
        return (self.chance - loss) / self.gap
