"""Masks: how a generator's logits become a highlight that gradients go through. Registered by name, one class each."""

from typing import ClassVar, Protocol

import numpy as np

from genspp.kernels.losses import draw_mask
from genspp.kernels.memory import Floats, floats
from genspp.model.passes import Batch
from genspp.registry import Registry

MASKS: "Registry[type[Mask]]" = Registry("mask", "genspp.methods")


class Mask(Protocol):
    """A mask of one batch, drawn from logits (outputs, places, WIDTH)."""

    outputs: ClassVar[int] = 2  # how many logits a token has
    numbers: Floats  # the mask, (places, WIDTH)

    def __init__(self, logits: Floats, batch: Batch, noise: np.random.Generator) -> None: ...

    def back(self, d_mask: Floats) -> Floats:
        """Return the gradient of the logits, given that of the mask."""
        ...


@MASKS.register("gumbel")
class GumbelMask:
    """Straight-through Gumbel-softmax at temperature 1: 0 or 1 forwards, the slope of the chance backwards.

    Only the difference of the two logits' noises matters, and that is logistic: one number per token.
    """

    outputs: ClassVar[int] = 2

    def __init__(self, logits: Floats, batch: Batch, noise: np.random.Generator) -> None:
        self._batch = batch
        self.numbers, self._slopes, uniform = floats(batch.cells), floats(batch.cells), floats(batch.cells)
        uniform[: batch.cells] = self._uniform(batch.cells, noise)
        self._draw(logits[batch.cells :] - logits[: -batch.cells], uniform)

    def _draw(self, margins: Floats, uniform: Floats) -> None:
        """Fill in the mask and its slopes in the margins."""
        batch = self._batch
        draw_mask(batch.places, margins, uniform, batch.counted, self.numbers, self._slopes)

    def _uniform(self, cells: int, noise: np.random.Generator) -> Floats | float:
        """Return the uniform numbers whose logits are the noise."""
        return noise.random(cells, dtype=np.float32)

    def back(self, d_mask: Floats) -> Floats:
        """Return the gradient of the logits: that of sigma(margin + noise)."""
        cells, gradient = self._batch.cells, floats(2 * self._batch.cells)
        slopes = (d_mask * self._slopes)[:cells]
        gradient[:cells], gradient[cells : 2 * cells] = -slopes, slopes
        return gradient


@MASKS.register("threshold")
class ThresholdMask(GumbelMask):
    """Straight through as well, but without noise: 1 where selecting a token is preferred to dropping it."""

    def _uniform(self, cells: int, noise: np.random.Generator) -> Floats | float:
        return 0.5
