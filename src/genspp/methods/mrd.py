"""MRD: what the highlight leaves must no longer say what the full text says.

Liu et al. 2024, "Is the MMI Criterion Necessary for Interpretability? Degenerating Non-causal Features to Plain Noise for
Self-Rationalization" (NeurIPS; https://github.com/jugechengzi/Rationalization-MRD). MCD mirrored: the generator makes
KL(full text || rest) large. A predictor that reads highlights and full texts judges both; in the released code it is
trained on the rest in place of the highlight.
"""

from typing import ClassVar

from genspp.kernels.memory import Floats
from genspp.methods.base import METHODS
from genspp.methods.mcd import MCD
from genspp.model.passes import Batch


@METHODS.register("mrd")
class MRD(MCD):
    """Cross-entropy trains the predictor, -KL(full text || rest) the generator."""

    title: ClassVar[str] = "MRD"
    sign: ClassVar[int] = -1

    def _compared(self, batch: Batch, mask: Floats) -> Floats:
        return batch.rest(mask)
