"""The word list: the words that say most for a class, marked wherever they occur.

What words say is learnt from the training texts; of the texts to be marked it is handed nothing but their words.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from genspp.data.word_weights import WordWeights

Kind = TypeVar("Kind", bound=np.generic)
Masks = list[npt.NDArray[np.int8]]
Scores = Sequence[npt.NDArray[np.float64]]


def token_scores(
    weights: WordWeights, keys: Sequence[Sequence[str]], evidence_for: Sequence[int] | None = None
) -> Scores:
    """Return what every token says for a class: its highest weight over the classes `evidence_for` (None: over all).

    Of two classes the weights sum to 0, so that the highest of both is the absolute value. A word that is not known is
    not on the list: minus infinity.
    """
    flat = [key for text in keys for key in text]
    wanted = weights.of(flat) if evidence_for is None else weights.of(flat)[:, list(evidence_for)]
    known = np.array([key in weights.index for key in flat])
    return split(np.where(known, wanted.max(axis=1), -np.inf), [len(text) for text in keys])


def highest(scores: Scores, rate: float) -> Masks:
    """Select the tokens above a threshold, the one by which R comes as near to `rate` as possible.

    R is the mean over texts of the share selected. Tokens of the same score are selected together or not at all, those
    of minus infinity never; of two thresholds that are equally near, the one that selects less.
    """
    lengths = [len(text) for text in scores]
    flat = np.concatenate(scores)
    share = np.repeat([1 / (max(length, 1) * len(lengths)) for length in lengths], lengths)
    levels, level = np.unique(-flat, return_inverse=True)  # the highest score comes first
    rates = np.cumsum(np.bincount(level, share))[np.isfinite(levels)]
    count = int(np.abs(np.concatenate([[0.0], rates]) - rate).argmin())
    return split((level < count).astype(np.int8), lengths)


def split(flat: npt.NDArray[Kind], lengths: Sequence[int]) -> list[npt.NDArray[Kind]]:
    """Return an array over all tokens as one array per text."""
    return np.split(flat, np.cumsum(lengths)[:-1])
