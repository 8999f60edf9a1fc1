"""MCD: the generator looks for what leaves the full-text prediction as it is, not for what predicts the label.

Liu et al. 2023, "D-Separation for Causal Self-Explanation" (NeurIPS;
https://github.com/jugechengzi/Rationalization-MCD). One predictor reads both the highlight and the full text; it has
no norm. Every batch makes two updates.
"""

from typing import Any

import numpy as np
from numba import njit
from torch import Tensor
from torch.nn import functional as F

from genspp.methods.adam import Adam
from genspp.methods.fast_gru import project
from genspp.methods.fast_layers import Layout
from genspp.methods.fast_math import OPTIONS, Floats
from genspp.methods.fast_step import Given, fit, highlight, highlight_back, read, read_back, rooms
from genspp.methods.gradient import GradientRationalizer, Session
from genspp.methods.losses import Scales, Tally, regularise
from genspp.methods.networks import Batch, Generator, Predictor, encoder
from genspp.model.spp import Shape


@njit(**OPTIONS)  # type: ignore[untyped-decorator]
def _fit(
    choosing: Floats,
    chooser: Layout,
    reading: Floats,
    reader: Layout,
    given: Given,
    noise: Floats,
    scales: Scales,
    space: Floats,
    d_choosing: Floats,
    d_reading: Floats,
) -> float:
    """Return task losses of highlight and full text and the regularisers; only these reach the generator."""
    own, other, d_states = rooms(space, chooser, reader, given)
    project(choosing, given.vectors, own.projected)
    project(reading, given.vectors, other.projected)
    mask, slopes = highlight(choosing, chooser, given, noise, scales.counted, own)
    d_mask, unused = np.empty_like(mask), np.zeros_like(mask)
    loss: float = regularise(mask, scales, d_mask)
    highlight_back(choosing, chooser, given, own, slopes, d_mask, d_states, d_choosing)
    for seen in (mask, np.ones_like(mask)):
        loss += fit(reading, reader, given, seen, other, d_states, unused, d_reading)
    return loss


@njit(**OPTIONS)  # type: ignore[untyped-decorator]
def _match(
    choosing: Floats,
    chooser: Layout,
    reading: Floats,
    reader: Layout,
    given: Given,
    noise: Floats,
    scales: Scales,
    space: Floats,
    d_choosing: Floats,
) -> float:
    """Return divergence and regularisers, and add to the gradient of the generator."""
    own, other, d_states = rooms(space, chooser, reader, given)
    project(choosing, given.vectors, own.projected)
    project(reading, given.vectors, other.projected)
    mask, slopes = highlight(choosing, chooser, given, noise, scales.counted, own)
    d_mask = np.empty_like(mask)
    loss: float = regularise(mask, scales, d_mask)
    full, _, _ = read(reading, reader, given, np.ones_like(mask), other)
    logits, highest, places = read(reading, reader, given, mask, other)
    d_logits = np.empty_like(logits)
    loss += _divergence(full, logits, d_logits)
    unused = np.zeros_like(reading)
    read_back(reading, reader, given, mask, other, highest, places, d_logits, d_states, d_mask, unused)
    highlight_back(choosing, chooser, given, own, slopes, d_mask, d_states, d_choosing)
    return loss


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _divergence(full: Floats, rationale: Floats, gradient: Floats) -> float:
    """Return the mean over texts of KL(p_full || p_rationale), and fill in the gradient of the second's logits."""
    loss = 0.0
    for i in range(len(full)):
        p, q = full[i] - full[i].max(), rationale[i] - rationale[i].max()
        p, q = p - np.log(np.exp(p).sum()), q - np.log(np.exp(q).sum())
        loss += (np.exp(p) * (p - q)).sum() / len(full)
        gradient[i] = (np.exp(q) - np.exp(p)) / len(full)
    return loss


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
        arguments, optimizers = self._prepare(session, batch), session.optimizers
        loss = _fit(*arguments, *(optimizer.gradient for optimizer in optimizers))
        for optimizer in optimizers:
            optimizer.step()
        return float(loss)

    def _match(self, session: Session, batch: Batch) -> float:
        """Train the generator, with a fresh mask, towards what the predictor says of the full text."""
        optimizer = session.optimizers[0]
        loss = _match(*self._prepare(session, batch), optimizer.gradient)
        optimizer.step()
        return float(loss)

    def _prepare(self, session: Session, batch: Batch) -> tuple[Any, ...]:
        """Return what both updates take before the gradients, and set these to zero."""
        losses, work, networks = session.losses, session.work, []
        for part, optimizer in zip((self.model_.generator, self.model_.predictor), session.optimizers, strict=True):
            optimizer.clear()
            networks += [optimizer.weights, part.layout]
        noise = losses.noise((batch.places, len(batch)), session.noise).numpy()
        space = work.space(batch, networks[1], networks[3])
        return *networks, work.given(batch), noise, losses.scales(batch), space

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
