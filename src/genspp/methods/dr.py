"""DR: RNP whose predictor learns the more slowly the less it is shown.

Liu et al. 2023, "Decoupled Rationalization with Asymmetric Learning Rates" (KDD;
https://github.com/jugechengzi/Rationalization-DR). The predictor's learning rate is the generator's times the share of
tokens that the batch's mask selects, so that it does not fit a bad highlight before the generator finds a better one.
"""

from typing import ClassVar

import numpy as np

from genspp.methods.base import METHODS
from genspp.methods.gradient import Session
from genspp.methods.rnp import RNP
from genspp.model.passes import Batch


@METHODS.register("dr")
class DR(RNP):
    """RNP with a predictor that learns at the generator's rate times the share of selected tokens."""

    title: ClassVar[str] = "DR"

    def _update(self, session: Session, batch: Batch) -> float:
        """Train on a batch and return its loss."""
        (optimizer,), generator, predictor = session.optimizers, session.generators[0], session.predictors[0]
        optimizer.clear()
        mask = generator.draw(batch, session.noise)
        omega, d_omega = session.losses.omega(batch, mask.numbers)
        task, d_mask = predictor.fit(batch, mask.numbers)
        generator.learn_from(batch, mask.back(d_mask + d_omega))
        selected = (mask.numbers[: batch.cells] * batch.real[: batch.cells]).sum(dtype=np.float64)
        optimizer.set_rate(self.model_.predictor, session.settings["learning_rate"] * selected / batch.tokens)
        optimizer.step()
        return task + omega
