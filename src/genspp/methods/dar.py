"""DAR: a predictor that was trained on full texts, and then frozen, judges the highlight too.

Liu et al. 2023, "Enhancing the Rationale-Input Alignment for Self-explaining Rationalization"
(https://arxiv.org/abs/2312.04103). RNP with one more term: CE(f(z)) + lambda CE(f_x(z)) + Omega, where f_x has seen
whole texts only, so a highlight that f and the generator agree upon as a code means nothing to it.
"""

from typing import Any, ClassVar

from torch import nn

from genspp.methods.base import METHODS
from genspp.methods.gradient import GradientRationalizer, Session
from genspp.methods.players import Reader, Tally
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

    def _players(self, session: Session) -> None:
        super()._players(session)
        judge = Reader(self.full_text_, Adam([(self.full_text_, 0.0)]), session.table, frozen=True)
        session.readers.append(judge)

    def _update(self, session: Session, batch: Batch) -> float:
        """Train on a batch and return its loss."""
        (optimizer,), chooser, (reader, judge) = session.optimizers, session.choosers[0], session.readers
        weight: float = session.settings["lambda_a"]
        optimizer.clear()
        mask = chooser.draw(batch, session.noise)
        omega, d_omega = session.losses.omega(batch, mask.numbers)
        task, d_task = reader.fit(batch, mask.numbers)
        aligned, d_aligned = judge.fit(batch, mask.numbers)
        chooser.learn_from(batch, mask.back(d_task + weight * d_aligned + d_omega))
        optimizer.step()
        return task + weight * aligned + omega

    def _measure(self, session: Session, batch: Batch, tally: Tally) -> None:
        """Count a validation batch: what training minimises, with the likelier mask."""
        mask, (reader, judge) = session.evaluation_mask(batch), session.readers
        aligned, _ = judge.task(batch, judge.look(batch, mask))
        tally.add(reader, reader.look(batch, mask), mask, batch, session.settings["lambda_a"] * aligned * batch.texts)
