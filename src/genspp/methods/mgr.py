"""MGR: several generators at several speeds teach one predictor.

Liu et al. 2023, "MGR: Multi-generator Based Rationalization" (https://aclanthology.org/2023.acl-long.715).
Generator 1 of 3 is the one that validation and inference use; the others are companions. Unlike in the released code
of the comparison, the predictor's norm is trained too (discrepancies D7).
"""

from typing import Any

from torch import nn

from genspp.methods.adam import Adam
from genspp.methods.base import METHODS
from genspp.methods.gradient import GradientRationalizer
from genspp.methods.networks import Generator, encoder
from genspp.model.spp import Shape

GENERATORS = 3


@METHODS.register("mgr")
class MGR(GradientRationalizer):
    """Three generators, the k-th at k times the learning rate, and a predictor at a third of it.

    See `GradientRationalizer` for the settings.
    """

    title = "MGR"

    def _companions(self, shape: Shape) -> nn.ModuleDict:
        others = [Generator(encoder(shape), shape) for _ in range(GENERATORS - 1)]
        return nn.ModuleDict({"generators": nn.ModuleList(others)})

    def _optimizers(self, settings: dict[str, Any], companions: nn.ModuleDict) -> tuple[Adam, ...]:
        rate = settings["learning_rate"]
        groups = [(self.model_.predictor.parameters(), rate / GENERATORS)]
        groups += [(g.parameters(), number * rate) for number, g in enumerate(self._generators(companions), start=1)]
        return (Adam(groups),)

    def _generators(self, companions: nn.ModuleDict) -> list[Generator]:
        return [self.model_.generator, *companions["generators"]]  # type: ignore[misc]
