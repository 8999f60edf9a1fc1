"""MCD: the generator looks for what leaves the full-text prediction as it is, not for what predicts the label.

Liu et al. 2023, "D-Separation for Causal Self-Explanation" (NeurIPS;
https://github.com/jugechengzi/Rationalization-MCD). One predictor reads both the highlight and the full text; it has
no norm. Every batch makes two updates.
"""

from typing import Any, ClassVar

import numpy as np

from genspp.kernels.losses import divergence
from genspp.kernels.memory import Floats
from genspp.methods.base import METHODS
from genspp.methods.gradient import GradientRationalizer, Session
from genspp.methods.in_training import GeneratorInTraining, PredictorInTraining, Tally
from genspp.methods.masks import MASKS
from genspp.model.networks import Generator, Predictor, Shape
from genspp.model.optimizer import Adam
from genspp.model.passes import Batch


@METHODS.register("mcd")
class MCD(GradientRationalizer):
    """Cross-entropy trains the predictor, KL(full text || highlight) the generator."""

    title: ClassVar[str] = "MCD"
    sign: ClassVar[int] = 1  # of the divergence in the generator's loss, and of what is compared where the mask grows

    def _modules(self, shape: Shape) -> tuple[Generator, Predictor]:
        return self._generator(self._encoder(shape)), self._full_text_predictor(shape)

    def _full_text_predictor(self, shape: Shape) -> Predictor:
        return self._predictor(self._encoder(shape, norm=False), shape)

    def _fitted(self, batch: Batch, mask: Floats) -> tuple[Floats, ...]:
        """Return what the predictor is trained on, as masks."""
        return mask, batch.real

    def _compared(self, batch: Batch, mask: Floats) -> Floats:
        """Return what the full text is compared with, as a mask."""
        return mask

    def _optimizers(self, settings: dict[str, Any], companions: Any) -> tuple[Adam, ...]:
        parts = (self.model_.generator, self.model_.predictor)
        return tuple(Adam([(part, settings["learning_rate"])]) for part in parts)

    def _in_training(self, session: Session) -> None:
        choosing, reading = session.optimizers
        session.generators = [GeneratorInTraining(self.model_.generator, choosing, session.table, MASKS[self.mask])]
        session.predictors = [PredictorInTraining(self.model_.predictor, reading, session.table)]

    def _update(self, session: Session, batch: Batch) -> float:
        """Fit the predictor, then match the generator; return the sum of both losses."""
        return self._fit(session, batch) + self._match(session, batch)

    def _fit(self, session: Session, batch: Batch) -> float:
        """Train the predictor on highlights and full texts; the generator gets the regularisers only."""
        generator, predictor = session.generators[0], session.predictors[0]
        for optimizer in session.optimizers:
            optimizer.clear()
        mask = generator.draw(batch, session.noise)
        loss, d_omega = session.losses.omega(batch, mask.numbers)
        generator.learn_from(batch, mask.back(d_omega))
        for seen in self._fitted(batch, mask.numbers):
            loss += predictor.fit(batch, seen, asked=False)[0]
        for optimizer in session.optimizers:
            optimizer.step()
        return loss

    def _match(self, session: Session, batch: Batch) -> float:
        """Train the generator, with a fresh mask, by what the predictor says of the full text."""
        generator, predictor = session.generators[0], session.predictors[0]
        mask = generator.draw(batch, session.noise)
        loss, d_omega = session.losses.omega(batch, mask.numbers)
        full, seen = predictor.look(batch, batch.real), self._compared(batch, mask.numbers)
        found, d_logits = _divergence(predictor, full, predictor.logits(batch, seen), batch)
        # What the predictor would learn is cleared before its next step. Sign times sign is 1: so d_mask is as it is.
        d_mask = predictor.learn_from(batch, d_logits)
        generator.optimizer.clear()
        generator.learn_from(batch, mask.back(d_mask + d_omega))
        generator.optimizer.step()
        return loss + self.sign * found

    def _measure(self, session: Session, batch: Batch, tally: Tally) -> None:
        """Count a validation batch: label and regularisers as always, and the divergence at a mask of its own."""
        predictor, first = session.predictors[0], session.evaluation_mask(batch)
        second = session.evaluation_mask(batch) if session.settings["eval_mask"] == "sample" else first
        full, matched = predictor.look(batch, batch.real), predictor.look(batch, self._compared(batch, second))
        found, _ = _divergence(predictor, full, matched, batch)
        tally.add(predictor, predictor.look(batch, first), second, batch, self.sign * found * batch.texts)


def _divergence(predictor: PredictorInTraining, full: Floats, other: Floats, batch: Batch) -> tuple[float, Floats]:
    """Return the mean over texts of KL(full || other), and the gradient of the second's logits."""
    unused, gradient, classes = np.zeros_like(full), np.zeros_like(full), predictor.network.sizes.outputs
    return divergence(batch.groups, classes, full, other, batch.shares, unused, gradient), gradient
