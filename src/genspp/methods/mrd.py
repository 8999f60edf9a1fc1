"""MRD: what the highlight leaves must no longer say what the full text says.

Liu et al. 2024, "Is the MMI Criterion Necessary for Interpretability?" (NeurIPS;
https://github.com/jugechengzi/Rationalization-MRD). MCD mirrored: the generator makes KL(full text || rest) large. The
predictor reads the rest too, or what it says of it would mean nothing and the divergence would grow without bound; the
released code trains it on the rest in place of the highlight, which it has to read in the end.
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

    def _fitted(self, batch: Batch, mask: Floats) -> tuple[Floats, ...]:
        return (*super()._fitted(batch, mask), batch.rest(mask))

    def _compared(self, batch: Batch, mask: Floats) -> Floats:
        return batch.rest(mask)
