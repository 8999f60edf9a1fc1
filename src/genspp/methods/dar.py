"""DAR: a predictor that was trained on full texts, and then frozen, judges the highlight too.

Liu et al. 2023, "Enhancing the Rationale-Input Alignment for Self-explaining Rationalization"
(https://arxiv.org/abs/2312.04103). RNP with one more term: CE(f(z)) + lambda CE(f_x(z)) + Omega, where f_x has seen
whole texts only, so a highlight that f and the generator agree upon as a code means nothing to it.
"""

from typing import Any, ClassVar

from torch import nn

from genspp.methods.base import METHODS
from genspp.methods.gradient import GradientRationalizer, Session
from genspp.methods.in_training import PredictorInTraining, Tally
from genspp.model.optimizer import Adam
from genspp.model.passes import Batch
from genspp.settings import Setting, number


@METHODS.register("dar")
class DAR(GradientRationalizer):
    """RNP whose highlights a frozen full-text predictor must understand as well."""

    title: ClassVar[str] = "DAR"
    full_text_first: ClassVar[bool] = True
    own: ClassVar[dict[str, Setting]] = {
        "lambda_a": Setting(1.0, number(0), "the weight of what the full-text predictor makes of the highlight"),
    }

    def _optimizers(self, settings: dict[str, Any], companions: nn.ModuleDict) -> tuple[Adam, ...]:
        return (Adam([(self.model_, settings["learning_rate"])]),)

    def _in_training(self, session: Session) -> None:
        super()._in_training(session)
        judge = PredictorInTraining(self.full_text_, Adam([(self.full_text_, 0.0)]), session.table, frozen=True)
        session.predictors.append(judge)

    def _update(self, session: Session, batch: Batch) -> float:
        """Train on a batch and return its loss."""
        (optimizer,), generator, (predictor, judge) = session.optimizers, session.generators[0], session.predictors
        weight: float = session.settings["lambda_a"]
        optimizer.clear()
        mask = generator.draw(batch, session.noise)
        omega, d_omega = session.losses.omega(batch, mask.numbers)
        task, d_task = predictor.fit(batch, mask.numbers)
        aligned, d_aligned = judge.fit(batch, mask.numbers)
        generator.learn_from(batch, mask.back(d_task + weight * d_aligned + d_omega))
        optimizer.step()
        return task + weight * aligned + omega

    def _measure(self, session: Session, batch: Batch, tally: Tally) -> None:
        """Count a validation batch: what training minimises, with the likelier mask."""
        mask, (predictor, judge) = session.evaluation_mask(batch), session.predictors
        aligned, _ = judge.task(batch, judge.look(batch, mask))
        tally.add(
            predictor, predictor.look(batch, mask), mask, batch, session.settings["lambda_a"] * aligned * batch.texts
        )
