"""RNP: the generator and the predictor that every other method starts from.

Lei, Barzilay & Jaakkola 2016, "Rationalizing Neural Predictions" (https://aclanthology.org/D16-1011), with the
re-parameterised masks of its successors in place of REINFORCE. Two separate encoders, each with a norm of its own.
"""

from typing import ClassVar

from genspp.methods.base import METHODS
from genspp.methods.gradient import GradientRationalizer


@METHODS.register("rnp")
class RNP(GradientRationalizer):
    """Generator and predictor, one loss, one optimizer: what every other gradient method starts from."""

    title: ClassVar[str] = "RNP"
