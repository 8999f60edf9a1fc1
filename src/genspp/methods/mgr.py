"""MGR: several generators at several speeds teach one predictor.

Liu et al. 2023, "MGR: Multi-generator Based Rationalization" (https://aclanthology.org/2023.acl-long.715).
Generator 1 of 3 is the one that validation and inference use; the others are companions. Unlike in the released code
of the comparison, the predictor's norm is trained too (discrepancies D7).
"""

from typing import Any

import torch
from torch import Tensor, nn

from genspp.methods.gradient import GradientRationalizer, Session
from genspp.methods.networks import Batch, Generator, encoder
from genspp.methods.training import adam, descend
from genspp.model.spp import Shape

GENERATORS = 3


class MGR(GradientRationalizer):
    """Three generators, the k-th at k times the learning rate, and a predictor at a third of it.

    See `GradientRationalizer` for the settings.
    """

    def _companions(self, shape: Shape) -> nn.ModuleDict:
        others = [Generator(encoder(shape), shape) for _ in range(GENERATORS - 1)]
        return nn.ModuleDict({"generators": nn.ModuleList(others)})

    def _optimizers(self, settings: dict[str, Any], companions: nn.ModuleDict) -> tuple[torch.optim.Adam, ...]:
        rate = settings["learning_rate"]
        groups = [{"params": list(self.model_.predictor.parameters()), "lr": rate / GENERATORS}]
        for number, generator in enumerate(self._generators(companions), start=1):
            groups.append({"params": list(generator.parameters()), "lr": number * rate})
        return (adam(groups, rate),)

    def _update(self, session: Session, batch: Batch) -> Tensor:
        """Train on the sum, over the generators, of the loss behind each."""
        masks = [session.sample(g(batch), batch) for g in self._generators(session.companions)]
        repeated = batch.repeated(GENERATORS)
        logits = self.model_.predictor(repeated, torch.stack(masks, -1).flatten(1))
        loss = GENERATORS * session.losses.task(logits, repeated.labels)  # the mean over all texts, times three
        for mask in masks:
            loss = loss + session.losses.omega(mask, batch)
        return descend(loss, *session.optimizers)

    def _generators(self, companions: nn.ModuleDict) -> list[nn.Module]:
        return [self.model_.generator, *companions["generators"]]  # type: ignore[misc]
