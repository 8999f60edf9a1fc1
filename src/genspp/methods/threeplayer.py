"""3PLAYER: a third player looks for the label in what the highlight leaves, and the generator must leave it nothing.

Yu et al. 2019, "Rethinking Cooperative Rationalization: Introspective Extraction and Complement Control" (EMNLP;
https://github.com/Gorov/three_player_for_emnlp). RNP and a complement predictor f_c that learns to classify the rest.
The generator minimises CE(f(z)) + lambda max(0, h - (CE(f_c(rest)) - CE(f(z)))) + Omega: the rest must be worse than
the highlight by the margin h = ln(classes) - the loss of a full-text predictor on validation rows, which is by how much
a highlight that has everything is ahead of a rest that has nothing. Masks are straight-through Gumbel draws, as for the
other methods here, in place of the published REINFORCE.
"""

import math
from typing import ClassVar

from torch import nn

from genspp.methods.base import METHODS
from genspp.methods.gradient import GradientRationalizer, Session
from genspp.methods.in_training import PredictorInTraining, Tally
from genspp.model.networks import Shape
from genspp.model.passes import Batch
from genspp.settings import Setting, number


@METHODS.register("threeplayer")
class ThreePlayer(GradientRationalizer):
    """RNP whose generator also plays against a predictor of the tokens that are not selected."""

    title: ClassVar[str] = "3PLAYER"
    full_text_first: ClassVar[bool] = True
    own: ClassVar[dict[str, Setting]] = {
        "lambda_r": Setting(1.0, number(0), "the weight of what the rest still says"),
    }

    def _companions(self, shape: Shape) -> nn.ModuleDict:
        return nn.ModuleDict({"complement": self._predictor(self._encoder(shape), shape)})

    def _in_training(self, session: Session) -> None:
        super()._in_training(session)
        complement = PredictorInTraining(session.companions["complement"], session.optimizers[0], session.table)  # type: ignore[arg-type]
        session.predictors.append(complement)

    def _update(self, session: Session, batch: Batch) -> float:
        """Train all three on a batch and return the generator's loss."""
        (optimizer,), generator, (predictor, complement) = session.optimizers, session.generators[0], session.predictors
        weight: float = session.settings["lambda_r"]
        optimizer.clear()
        mask = generator.draw(batch, session.noise)
        omega, d_omega = session.losses.omega(batch, mask.numbers)
        task, d_task = predictor.fit(batch, mask.numbers)
        left, d_rest = complement.fit(batch, batch.rest(mask.numbers))
        missing = self._missing(session, task, left)
        d_mask = d_task + d_omega
        if missing > 0:  # the rest shrinks where the mask grows, and its loss is to rise: d_rest keeps its sign
            d_mask += weight * (d_task + d_rest)
        generator.learn_from(batch, mask.back(d_mask))
        optimizer.step()
        return task + weight * missing + omega

    def _measure(self, session: Session, batch: Batch, tally: Tally) -> None:
        """Count a validation batch: what the generator minimises, with the likelier mask."""
        mask, (predictor, complement) = session.evaluation_mask(batch), session.predictors
        logits, rest = predictor.look(batch, mask), complement.look(batch, batch.rest(mask))
        missing = self._missing(session, predictor.task(batch, logits)[0], complement.task(batch, rest)[0])
        tally.add(predictor, logits, mask, batch, session.settings["lambda_r"] * missing * batch.texts)

    def _missing(self, session: Session, task: float, left: float) -> float:
        """Return by how much the rest's loss is not yet ahead of the highlight's by the margin."""
        margin = math.log(len(self.classes_)) - session.full_text_loss
        return max(0.0, margin - (left - task))
