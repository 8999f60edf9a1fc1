"""MCD: the generator looks for what leaves the full-text prediction as it is, not for what predicts the label.

Liu et al. 2023, "D-Separation for Causal Self-Explanation" (NeurIPS;
https://github.com/jugechengzi/Rationalization-MCD). One predictor reads both the highlight and the full text; it has
no norm. Every batch makes two updates.
"""

from typing import Any

import numpy as np

from genspp.methods.adam import Adam
from genspp.methods.fast_math import Floats, kernel
from genspp.methods.base import METHODS
from genspp.methods.gradient import GradientRationalizer, Session
from genspp.methods.losses import Tally
from genspp.methods.networks import Batch, Generator, Predictor, encoder
from genspp.model.spp import Shape


@kernel
def divergence(full: Floats, rationale: Floats, gradient: Floats) -> float:
    """Return the mean over texts of KL(p_full || p_rationale), and fill in the gradient of the second's logits."""
    loss = 0.0
    for i in range(len(full)):
        p, q = full[i] - full[i].max(), rationale[i] - rationale[i].max()
        p, q = p - np.log(np.exp(p).sum()), q - np.log(np.exp(q).sum())
        loss += (np.exp(p) * (p - q)).sum() / len(full)
        gradient[i] = (np.exp(q) - np.exp(p)) / len(full)
    return loss


@METHODS.register("mcd")
class MCD(GradientRationalizer):
    """Cross-entropy for the predictor, KL(full text || highlight) for the generator. See `GradientRationalizer`."""

    title = "MCD"

    def _modules(self, shape: Shape) -> tuple[Generator, Predictor]:
        return Generator(encoder(shape), shape), self._full_text_predictor(shape)

    def _full_text_predictor(self, shape: Shape) -> Predictor:
        return Predictor(encoder(shape, norm=False), shape)

    def _optimizers(self, settings: dict[str, Any], companions: Any) -> tuple[Adam, ...]:
        parts = (self.model_.generator, self.model_.predictor)
        return tuple(Adam([(part.parameters(), settings["learning_rate"])]) for part in parts)

    def _update(self, session: Session, batch: Batch) -> float:
        """Fit the predictor, then match the generator; return the sum of both losses."""
        return self._fit(session, batch) + self._match(session, batch)

    def _fit(self, session: Session, batch: Batch) -> float:
        """Train the predictor on highlights and full texts; the generator gets the regularisers only."""
        highlight, reading = session.highlight, session.reading
        for optimizer in session.optimizers:
            optimizer.clear()
        choosing, predictor = session.optimizers
        mask, d_mask, loss = highlight.draw(choosing.weights, batch, session.noise)
        highlight.back(choosing.weights, d_mask, choosing.gradient)
        for seen in (mask, None):
            loss += reading.fit(predictor.weights, batch, seen, predictor.gradient)[0]
        for optimizer in session.optimizers:
            optimizer.step()
        return loss

    def _match(self, session: Session, batch: Batch) -> float:
        """Train the generator, with a fresh mask, towards what the predictor says of the full text."""
        highlight, reading = session.highlight, session.reading
        choosing, predictor = session.optimizers
        choosing.clear()
        mask, d_mask, loss = highlight.draw(choosing.weights, batch, session.noise)
        full, logits = (reading.logits(predictor.weights, batch, seen) for seen in (None, mask))
        d_logits, unused = np.empty_like(logits), np.zeros_like(predictor.weights)
        loss += divergence(full, logits, d_logits)
        highlight.back(choosing.weights, d_mask + reading.back(predictor.weights, d_logits, unused), choosing.gradient)
        choosing.step()
        return loss

    def _measure(self, session: Session, batch: Batch, tally: Tally) -> None:
        """Count a validation batch: label and regularisers as always, and the divergence at a mask of its own."""
        predictor, choices = self.model_.predictor, self.model_.generator(batch)
        first, second = (session.evaluation_mask(choices, batch) for _ in range(2))
        logits = predictor(batch, first)
        matched = predictor(batch, second) if session.sampled else logits
        mean = divergence(predictor(batch).numpy(), matched.numpy(), np.empty(matched.shape, np.float32))
        tally.add(logits, second, batch, mean * len(batch))
