"""HardKuma: gates that are 0, 1 or in between, and a rate that is held instead of paid for.

Bastings et al. 2019, "Interpretable Neural Predictions with Differentiable Binary Variables" (ACL;
https://github.com/bastings/interpretable_predictions). The gate of a token is drawn from a Kumaraswamy distribution
that is stretched beyond 0 and 1 and cut off there; gradients go through the draw. The loss is CE(f(z)) + multiplier
(rate - alpha), where the rate is the expected share of gates above 0 and the Lagrange multiplier grows while a moving
average of rate - alpha is above 0, and shrinks below. At evaluation a token is selected if its gate is likelier above
one half than below. Where scatter has a weight, that of the other methods stays, on the drawn gates.
"""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from genspp.kernels.gates import draw_hard_gates, gate_rate
from genspp.kernels.losses import exponentials
from genspp.kernels.memory import Floats, floats
from genspp.methods.base import METHODS
from genspp.methods.gradient import GradientRationalizer, Session
from genspp.methods.masks import MASKS
from genspp.methods.skew import NEVER_SKEWED
from genspp.model.networks import Encoder, GatedGenerator, Generator
from genspp.model.passes import Batch
from genspp.settings import Setting, number, one_of

_REMEMBERED = 0.99  # of the moving average, per update
_LEAST, _MOST = 1e-12, 5.0  # that the multiplier can be


@MASKS.register("kumaraswamy")
class HardGates:
    """Gates that are drawn from rectified Kumaraswamy distributions."""

    outputs: ClassVar[int] = 2

    def __init__(self, logits: Floats, batch: Batch, noise: np.random.Generator) -> None:
        self._cells, uniform = batch.cells, floats(batch.cells)
        self.numbers, self._slopes = floats(batch.cells), floats(2 * batch.cells)
        uniform[: batch.cells] = noise.random(batch.cells, dtype=np.float32)
        draw_hard_gates(batch.places, logits, batch.cells, uniform, batch.counted, self.numbers, self._slopes)

    def back(self, d_mask: Floats) -> Floats:
        """Return the gradient of the logits."""
        gradient = floats(2 * self._cells)
        gradient[: 2 * self._cells] = np.tile(d_mask[: self._cells], 2) * self._slopes[: 2 * self._cells]
        return gradient


@METHODS.register("hardkuma")
class HardKuma(GradientRationalizer):
    """Rectified Kumaraswamy gates whose expected rate a Lagrange multiplier holds at alpha."""

    title: ClassVar[str] = "HardKuma"
    mask: ClassVar[str] = "kumaraswamy"
    own: ClassVar[dict[str, Setting]] = {
        "skew_epochs": NEVER_SKEWED,
        "lambda_s": Setting(1.0, number(0), "the weight of missing alpha in the validation loss"),
        "lambda_0": Setting(1e-4, number(0, open_ends=True), "the multiplier of rate - alpha at the start"),
        "eta": Setting(0.01, number(0), "how fast the multiplier follows rate - alpha"),
        "eval_mask": Setting("argmax", one_of("argmax"), "how a token is chosen at evaluation: gates above one half"),
    }

    def _generator(self, encoder: Encoder) -> Generator:
        return GatedGenerator(encoder, HardGates.outputs)

    def _in_training(self, session: Session) -> None:
        super()._in_training(session)
        session.memory = {"multiplier": session.settings["lambda_0"], "excess": 0.0}

    def _update(self, session: Session, batch: Batch) -> float:
        """Train on a batch and return its loss."""
        (optimizer,), generator, predictor = session.optimizers, session.generators[0], session.predictors[0]
        optimizer.clear()
        mask = generator.draw(batch, session.noise)
        scatter, d_scatter = replace(session.losses, lambda_s=0.0).omega(batch, mask.numbers)
        task, d_task = predictor.task(batch, predictor.logits(batch, mask.numbers, soft=True))
        d_mask = predictor.learn_from(batch, d_task) + d_scatter
        rate, d_rate = _rate(session, batch, generator.logits)
        multiplier, excess = _hold(session, rate - session.losses.alpha)
        generator.learn_from(batch, mask.back(d_mask) + np.float32(multiplier) * d_rate)
        optimizer.step()
        return task + scatter + multiplier * excess


def _rate(session: Session, batch: Batch, logits: Floats) -> tuple[float, Floats]:
    """Return the expected share of gates above 0, a mark weighted with its cost, and its gradient in the logits."""
    gradient, first, share = floats(2 * batch.cells), batch.layout.first, 1 / batch.tokens
    costs = session.losses.costs(batch)
    return gate_rate(batch.groups, first, batch.counted, costs, logits, batch.cells, share, gradient), gradient


def _hold(session: Session, excess: float) -> tuple[float, float]:
    """Move the average excess of the rate and, after it, the multiplier; return them."""
    memory = session.memory
    memory["excess"] = _REMEMBERED * memory["excess"] + (1 - _REMEMBERED) * excess
    growth = float(exponentials(np.array([session.settings["eta"] * memory["excess"]]))[0])
    memory["multiplier"] = min(max(memory["multiplier"] * growth, _LEAST), _MOST)
    return memory["multiplier"], memory["excess"]
