"""The present inference behind the three calls that model/inference.py will have."""

from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from genspp.data.encode import Encoded, Mask
from genspp.model import inference


def select(pair: Any, data: Encoded) -> Mask:
    """Return the flat highlight of all texts."""
    return inference.select(pair.select, data)


def classify(pair: Any, data: Encoded, mask: Mask) -> npt.NDArray[np.float64]:
    """Return the class probabilities at a highlight, (texts, classes)."""
    return inference.classify(pair.classify, data, mask, pair.predictor.output.out_features)


def classify_full_text(pair: Any, predictor: Any, data: Encoded) -> npt.NDArray[np.float64]:
    """Return the class probabilities of a predictor that sees every token, (texts, classes)."""

    def logits(ids: Tensor, real: Tensor, mask: Tensor) -> Tensor:
        answer: Tensor = predictor.full_text(pair.vectors[ids], real)
        return answer

    return inference.classify(logits, data, np.ones(len(data.ids), np.uint8), predictor.output.out_features)
