"""What an update does with a generator and with a predictor, forward and back, without a graph.

What the compiled parts compute is said where they are defined (`fast_gru`, `fast_layers`, `losses`). They work on the
same few arrays at every step, which stay in the cache; a graph makes new ones.
"""

import numpy as np
import torch

from genspp.methods.fast_layers import Layout, TextPass, TokenPass
from genspp.methods.fast_math import Floats
from genspp.methods.losses import Losses, cross_entropy, draw, logistic_noise, regularise
from genspp.methods.networks import Batch


class Highlight:
    """A generator's way: logits, a drawn mask, its regularisers; and back."""

    def __init__(self, layout: Layout, losses: Losses) -> None:
        self._losses, self._pass = losses, TokenPass(layout)

    def draw(self, weights: Floats, batch: Batch, noise: torch.Generator) -> tuple[Floats, Floats, float]:
        """Return a drawn mask, (tokens, texts), the gradient of its regularisers, and these."""
        scales = self._losses.scales(batch)
        logits = self._pass.forward(weights, batch.vectors.numpy(), batch.active)
        logistic = logistic_noise(logits.shape[1:], noise).numpy()
        mask, self._slopes, d_mask = (np.empty_like(logistic) for _ in range(3))
        draw(logits, logistic, scales.counted, mask, self._slopes)
        return mask, d_mask, regularise(mask, scales, d_mask)

    def back(self, weights: Floats, d_mask: Floats, d_weights: Floats) -> None:
        """Add to the gradient of the weights."""
        slopes = d_mask * self._slopes
        self._pass.back(weights, np.stack([-slopes, slopes]), d_weights, last=True)


class Reading:
    """A predictor's way: logits, task loss; and back."""

    def __init__(self, layout: Layout, losses: Losses) -> None:
        self._class_weights, self._pass = losses.class_weights.numpy(), TextPass(layout)

    def logits(self, weights: Floats, batch: Batch, mask: Floats | None) -> Floats:
        """Return the logits, (texts, classes), at a mask (tokens, texts); None: every token."""
        return self._pass.forward(weights, batch.vectors.numpy(), mask, batch.active)

    def back(self, weights: Floats, d_logits: Floats, d_weights: Floats) -> Floats:
        """Add to the gradient of the weights, and return that of the mask."""
        return self._pass.back(weights, d_logits, d_weights, last=True)

    def fit(self, weights: Floats, batch: Batch, mask: Floats | None, d_weights: Floats) -> tuple[float, Floats]:
        """Return the task loss and the gradient of the mask, and add to the gradient of the weights."""
        logits = self.logits(weights, batch, mask)
        d_logits = np.empty_like(logits)
        loss = cross_entropy(logits, batch.labels.numpy(), self._class_weights, d_logits)
        return loss, self.back(weights, d_logits, d_weights)
