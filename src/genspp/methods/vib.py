"""VIB: the mask of every token is kept near a prior, an information bottleneck between text and predictor.

Paranjape et al. 2020, "An Information Bottleneck Approach for Controlling Conciseness in Rationale Extraction" (EMNLP;
https://github.com/bhargaviparanjape/explainable_qa). CE(f(z)) + beta (mean over tokens of KL(Bernoulli(p) ||
Bernoulli(alpha))); the predictor reads relaxed (binary concrete) draws in training and, at evaluation, the alpha
likeliest tokens of a text. Where a mark counts more in some classes, their prior is so much lower. Where scatter has a
weight, that of the other methods stays.
"""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from genspp.kernels.gates import bernoulli_divergence, draw_concrete
from genspp.kernels.memory import Floats, floats
from genspp.methods.base import METHODS
from genspp.methods.gradient import GradientRationalizer, Session
from genspp.methods.in_training import Tally
from genspp.methods.masks import MASKS, GumbelMask
from genspp.methods.skew import NEVER_SKEWED
from genspp.model.passes import Batch
from genspp.settings import Setting, number, one_of

TEMPERATURE = 0.1  # with more of it, predictors rely on what highlights of 0 and 1 no longer show


@MASKS.register("concrete")
class ConcreteMask(GumbelMask):
    """A relaxed Gumbel mask: between 0 and 1, the nearer to either the lower the temperature."""

    def _draw(self, margins: Floats, uniform: Floats) -> None:
        batch = self._batch
        draw_concrete(batch.places, margins, uniform, batch.counted, TEMPERATURE, self.numbers, self._slopes)


@METHODS.register("vib")
class VIB(GradientRationalizer):
    """Relaxed masks whose divergence from a prior of alpha is part of the loss."""

    title: ClassVar[str] = "VIB"
    mask: ClassVar[str] = "concrete"
    share_of_each: ClassVar[bool] = True
    own: ClassVar[dict[str, Setting]] = {
        "skew_epochs": NEVER_SKEWED,
        "lambda_s": Setting(1.0, number(0), "beta: the weight of the divergence from a prior of alpha"),
        "eval_mask": Setting("argmax", one_of("argmax"), "how a token is chosen at evaluation: among the likeliest"),
    }

    def _update(self, session: Session, batch: Batch) -> float:
        """Train on a batch and return its loss."""
        (optimizer,), generator, predictor = session.optimizers, session.generators[0], session.predictors[0]
        beta, cells = session.settings["lambda_s"], batch.cells
        optimizer.clear()
        mask = generator.draw(batch, session.noise)
        scatter, d_scatter = replace(session.losses, lambda_s=0.0).omega(batch, mask.numbers)
        task, d_task = predictor.task(batch, predictor.logits(batch, mask.numbers, soft=True))
        d_logits = mask.back(predictor.learn_from(batch, d_task) + d_scatter)
        apart, d_margins = _apart(session, batch, generator.logits[cells:] - generator.logits[:-cells])
        d_logits[:cells] -= beta * d_margins[:cells]
        d_logits[cells : 2 * cells] += beta * d_margins[:cells]
        generator.learn_from(batch, d_logits)
        optimizer.step()
        return float(task + scatter + beta * apart)

    def _measure(self, session: Session, batch: Batch, tally: Tally) -> None:
        """Count a validation batch at the likeliest tokens, whose number is given: missing alpha is constant."""
        predictor, margins = session.predictors[0], session.generators[0].margins(batch)
        mask = batch.highest(margins, session.settings["alpha"])
        own = session.settings["lambda_s"] * _apart(session, batch, margins)[0]
        tally.add(predictor, predictor.look(batch, mask), mask, batch, own * batch.texts)


def _apart(session: Session, batch: Batch, margins: Floats) -> tuple[float, Floats]:
    """Return the mean over tokens of the divergence from the prior, and its gradient in the margins."""
    costs, gradient = session.losses.costs(batch), floats(batch.cells)
    priors = (session.losses.alpha / np.maximum(costs, 1)).astype(np.float32)  # there is no text where a mark costs 0
    first, share = batch.layout.first, 1 / batch.tokens
    return bernoulli_divergence(batch.groups, first, batch.counted, priors, margins, share, gradient), gradient
