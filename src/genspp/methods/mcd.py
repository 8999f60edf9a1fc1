"""MCD: the generator looks for what leaves the full-text prediction as it is, not for what predicts the label.

Liu et al. 2023, "D-Separation for Causal Self-Explanation" (NeurIPS;
https://github.com/jugechengzi/Rationalization-MCD). One predictor reads both the highlight and the full text; it has
no norm. Every batch makes two updates.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from genspp.methods.adam import Adam, descend
from genspp.methods.gradient import GradientRationalizer, Session
from genspp.methods.losses import Tally
from genspp.methods.networks import Batch, Generator, Predictor, encoder
from genspp.model.spp import Shape


class MCD(GradientRationalizer):
    """Cross-entropy for the predictor, KL(full text || highlight) for the generator. See `GradientRationalizer`."""

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
        mask = session.sample(self.model_.generator(batch), batch)
        both, masks = batch.repeated(2), torch.stack([mask.detach(), torch.ones_like(mask)], -1).flatten(1)
        task = 2 * session.losses.task(self.model_.predictor(both, masks), both.labels)  # a mean over both, times two
        return descend(task + session.losses.omega(mask, batch), *session.optimizers)

    def _match(self, session: Session, batch: Batch) -> float:
        """Train the generator, with a fresh mask, towards what the predictor says of the full text."""
        generator, predictor = self.model_.generator, self.model_.predictor
        predictor.requires_grad_(False)
        mask = session.sample(generator(batch), batch)
        divergence = full_text_divergence(predictor(batch), predictor(batch, mask)) / len(batch)
        loss = descend(divergence + session.losses.omega(mask, batch), session.optimizers[0])
        predictor.requires_grad_(True)
        return loss

    def _measure(self, session: Session, batch: Batch, tally: Tally) -> None:
        """Count a validation batch: label and regularisers as always, and the divergence at a mask of its own."""
        predictor, choices = self.model_.predictor, self.model_.generator(batch)
        first, second = (session.evaluation_mask(choices, batch) for _ in range(2))
        logits = predictor(batch, first)
        matched = predictor(batch, second) if session.sampled else logits
        tally.add(logits, second, batch, full_text_divergence(predictor(batch), matched))


def full_text_divergence(full: Tensor, rationale: Tensor) -> Tensor:
    """Return KL(p_full || p_rationale) from logits, (texts, classes), summed over texts."""
    return F.kl_div(rationale.log_softmax(1), full.log_softmax(1), reduction="sum", log_target=True)
