"""FR: generator and predictor fold into one encoder, so that neither can leave the other behind.

Liu et al. 2022, "FR: Folded Rationalization with a Unified Encoder" (https://arxiv.org/abs/2209.08285).
"""

from genspp.methods.base import METHODS
from genspp.methods.gradient import GradientRationalizer
from genspp.methods.networks import Generator, Predictor, encoder
from genspp.model.spp import Shape


@METHODS.register("fr")
class FR(GradientRationalizer):
    """RNP with one shared encoder and norm; only the two linear layers differ. See `GradientRationalizer`."""

    title = "FR"

    def _modules(self, shape: Shape) -> tuple[Generator, Predictor]:
        shared = encoder(shape)
        return Generator(shared, shape), Predictor(shared, shape)
