"""MGR: several generators at several speeds teach one predictor.

Liu et al. 2023, "MGR: Multi-generator Based Rationalization" (https://aclanthology.org/2023.acl-long.715).
Generator 1 of 3 is the one that validation and inference use; the others are companions. Unlike in the released code
of the comparison, which leaves the predictor's norm out of the optimizer, that norm is trained too.
"""

from typing import Any, ClassVar

from torch import nn

from genspp.methods.base import METHODS
from genspp.methods.gradient import GradientRationalizer, Session
from genspp.methods.in_training import GeneratorInTraining
from genspp.methods.masks import MASKS
from genspp.model.networks import Generator, Shape
from genspp.model.optimizer import Adam

GENERATORS = 3


@METHODS.register("mgr")
class MGR(GradientRationalizer):
    """Three generators, the k-th at k times the learning rate, and a predictor at a third of it."""

    title: ClassVar[str] = "MGR"

    def _companions(self, shape: Shape) -> nn.ModuleDict:
        others = [self._generator(self._encoder(shape)) for _ in range(GENERATORS - 1)]
        return nn.ModuleDict({"generators": nn.ModuleList(others)})

    def _optimizers(self, settings: dict[str, Any], companions: nn.ModuleDict) -> tuple[Adam, ...]:
        rate = settings["learning_rate"]
        groups: list[tuple[nn.Module, float]] = [(self.model_.predictor, rate / GENERATORS)]
        return (Adam(groups + [(g, k * rate) for k, g in enumerate(self._generators(companions), start=1)]),)

    def _in_training(self, session: Session) -> None:
        super()._in_training(session)
        session.generators = [
            GeneratorInTraining(generator, session.optimizers[0], session.table, MASKS[self.mask])
            for generator in self._generators(session.companions)
        ]

    def _generators(self, companions: nn.ModuleDict) -> list[Generator]:
        return [self.model_.generator, *companions["generators"]]  # type: ignore[misc]
