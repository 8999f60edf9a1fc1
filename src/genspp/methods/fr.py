"""FR: generator and predictor fold into one encoder, so that neither can leave the other behind.

Liu et al. 2022, "FR: Folded Rationalization with a Unified Encoder" (https://arxiv.org/abs/2209.08285).
"""

from typing import ClassVar

from genspp.methods.base import METHODS
from genspp.methods.gradient import GradientRationalizer
from genspp.model.networks import Generator, Predictor, Shape


@METHODS.register("fr")
class FR(GradientRationalizer):
    """RNP with one encoder and norm for both; only the two linear layers differ."""

    title: ClassVar[str] = "FR"

    def _modules(self, shape: Shape) -> tuple[Generator, Predictor]:
        shared = self._encoder(shape)
        return self._generator(shared), self._predictor(shared, shape)
