"""A2R: a second predictor with soft attention over every token teaches the generator.

Yu et al. 2021, "Understanding Interlocking Dynamics of Cooperative Rationalization" (NeurIPS;
https://github.com/Gorov/Understanding_Interlocking). The hard predictor f_h reads the mask, the soft one f_s the
vectors times a, the softmax of the generator's margins over the tokens of a text. Both learn their task and to agree,
CE(f_h) + CE(f_s) + lambda (KL(p_s || p_h) + KL(p_h || p_s)); the generator learns from f_s, which has seen every token,
and from the regularisers of the mask, but not through f_h: a bad mask cannot lock it in. At test time f_h decides.
"""

from typing import ClassVar

import numpy as np
from torch import nn

from genspp.kernels.attention import token_softmax, token_softmax_back
from genspp.kernels.losses import divergence
from genspp.kernels.memory import Floats, floats
from genspp.methods.base import METHODS
from genspp.methods.gradient import GradientRationalizer, Session
from genspp.methods.in_training import PredictorInTraining, Tally
from genspp.model.networks import Predictor, Shape
from genspp.model.passes import Batch
from genspp.settings import Setting, number


@METHODS.register("a2r")
class A2R(GradientRationalizer):
    """A predictor with soft attention teaches the generator; the one behind the hard mask must agree with it."""

    title: ClassVar[str] = "A2R"
    mask: ClassVar[str] = "threshold"  # nothing is to be explored by drawing: the soft predictor sees every token
    own: ClassVar[dict[str, Setting]] = {
        "lambda_d": Setting(1.0, number(0), "the weight of the divergence of the two predictors"),
    }

    def _companions(self, shape: Shape) -> nn.ModuleDict:
        # It never skips: a token that it attends to a little is seen a little.
        return nn.ModuleDict({"soft": Predictor(self._encoder(shape), shape.classes)})

    def _in_training(self, session: Session) -> None:
        super()._in_training(session)
        session.predictors.append(PredictorInTraining(session.companions["soft"], session.optimizers[0], session.table))  # type: ignore[arg-type]

    def _update(self, session: Session, batch: Batch) -> float:
        """Train on a batch and return its loss."""
        (optimizer,), generator, (hard, soft) = session.optimizers, session.generators[0], session.predictors
        optimizer.clear()
        mask = generator.draw(batch, session.noise)
        omega, d_omega = session.losses.omega(batch, mask.numbers)
        attention = _attention(generator.logits, batch)
        logits = hard.logits(batch, mask.numbers), soft.logits(batch, attention, soft=True)
        (task, d_hard), (soft_task, d_soft) = hard.task(batch, logits[0]), soft.task(batch, logits[1])
        apart, d_apart = _apart(hard.network.sizes.outputs, *logits, batch)
        weight: float = session.settings["lambda_d"]
        hard.learn_from(batch, d_hard + weight * d_apart[0], asked=False)
        d_attention = soft.learn_from(batch, d_soft + weight * d_apart[1])
        d_logits = mask.back(d_omega)
        token_softmax_back(batch.groups, batch.layout.first, batch.cells, attention, d_attention, d_logits)
        generator.learn_from(batch, d_logits)
        optimizer.step()
        return task + soft_task + weight * apart + omega

    def _measure(self, session: Session, batch: Batch, tally: Tally) -> None:
        """Count a validation batch: what training minimises, with the likelier mask."""
        mask, (hard, soft) = session.evaluation_mask(batch), session.predictors
        attention = _attention(
            session.generators[0].network.tokens(batch, session.generators[0].weights, keep=False), batch
        )
        logits, soft_logits = hard.look(batch, mask), soft.look(batch, attention, soft=True)
        apart, _ = _apart(hard.network.sizes.outputs, logits, soft_logits, batch)
        own = soft.task(batch, soft_logits)[0] + session.settings["lambda_d"] * apart
        tally.add(hard, logits, mask, batch, own * batch.texts)


def _attention(logits: Floats, batch: Batch) -> Floats:
    """Return the softmax of the margins over the tokens of every text, (places, WIDTH)."""
    attention = floats(batch.cells)
    token_softmax(batch.groups, batch.layout.first, batch.cells, logits, batch.real, attention)
    return attention


def _apart(classes: int, p: Floats, q: Floats, batch: Batch) -> tuple[float, tuple[Floats, Floats]]:
    """Return the mean over texts of KL(p || q) + KL(q || p), and the gradients of both logits."""
    gradients = [np.zeros_like(p) for _ in range(4)]
    loss = divergence(batch.groups, classes, p, q, batch.shares, gradients[0], gradients[1])
    loss += divergence(batch.groups, classes, q, p, batch.shares, gradients[2], gradients[3])
    return loss, (gradients[0] + gradients[3], gradients[1] + gradients[2])
