"""FRESH: no game. A predictor of full texts is asked what it looked at, and a fresh predictor learns from that alone.

Jain et al. 2020, "Learning to Faithfully Rationalize by Construction" (ACL; https://github.com/successar/FRESH). The
highlight of a text is the share alpha of its tokens, rounded up, that are most salient to a full-text predictor, by
|gradient x input|. That predictor is the model's generator: it is asked again whenever a text is explained. It reads
zero vectors in place of unselected tokens, as nothing is unselected in a full text.
"""

from typing import Any, ClassVar

import torch
from torch import nn

from genspp.kernels.memory import Floats
from genspp.methods.base import METHODS
from genspp.methods.gradient import GradientRationalizer, Session
from genspp.methods.in_training import PredictorInTraining, Tally
from genspp.methods.skew import NEVER_SKEWED
from genspp.model.networks import Pair, Predictor, Saliency, Shape
from genspp.model.optimizer import Adam
from genspp.model.passes import Batch, Network
from genspp.model.weights import draw, form_of, kernel_weights, load_flat
from genspp.settings import Setting, one_of
from genspp.streams import Purpose, seed_of, stream


@METHODS.register("fresh")
class FRESH(GradientRationalizer):
    """A predictor trained behind the tokens that are most salient to one of full texts."""

    title: ClassVar[str] = "FRESH"
    full_text_first: ClassVar[bool] = True
    own: ClassVar[dict[str, Setting]] = {
        "skew_epochs": NEVER_SKEWED,
        "eval_mask": Setting("argmax", one_of("argmax"), "how a token is chosen: among the most salient"),
    }

    def _full_text_predictor(self, shape: Shape) -> Predictor:
        return Predictor(self._encoder(shape), shape.classes)

    def _networks(self, settings: dict[str, Any], inputs: int, classes: int) -> tuple[nn.Module, nn.Module]:
        shape, seed = Shape(inputs, settings["hidden"], classes), settings["seed"]
        predictor, full_text = self._predictor(self._encoder(shape), shape), self._full_text_predictor(shape)
        load_flat(predictor, draw(stream(seed, Purpose.WEIGHTS), predictor))
        load_flat(full_text, draw(stream(seed_of(seed, Purpose.FULL_TEXT), Purpose.WEIGHTS), full_text))
        vectors = torch.from_numpy(self.vectors_.table)
        return Pair(vectors, Saliency(full_text), predictor, share=settings["alpha"]), full_text

    def _optimizers(self, settings: dict[str, Any], companions: nn.ModuleDict) -> tuple[Adam, ...]:
        return (Adam([(self.model_.predictor, settings["learning_rate"])]),)

    def _in_training(self, session: Session) -> None:
        session.predictors = [PredictorInTraining(self.model_.predictor, session.optimizers[0], session.table)]
        self._asked = Network(form_of(self.full_text_), session.table), kernel_weights(self.full_text_)

    def _highlight(self, session: Session, batch: Batch) -> Floats:
        """Return the most salient tokens of every text."""
        network, weights = self._asked
        return batch.highest(network.saliency(batch, weights), session.settings["alpha"])

    def _update(self, session: Session, batch: Batch) -> float:
        """Train the predictor on a batch and return its loss."""
        (optimizer,), (predictor,) = session.optimizers, session.predictors
        optimizer.clear()
        loss, _ = predictor.fit(batch, self._highlight(session, batch), asked=False)
        optimizer.step()
        return loss

    def _measure(self, session: Session, batch: Batch, tally: Tally) -> None:
        """Count a validation batch; its highlights are given, so what they cost is constant."""
        predictor, mask = session.predictors[0], self._highlight(session, batch)
        tally.add(predictor, predictor.look(batch, mask), mask, batch)
