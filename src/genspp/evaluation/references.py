"""References that learn nothing: random highlights, and string matching on Toy.

The paper's figures for string matching, called highlight F1 there, are class scores: both kinds are returned here, each
under its own name.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from genspp.data.corpus import Corpus
from genspp.data.sources import toy
from genspp.evaluation import metrics
from genspp.evaluation.word_list import Masks, highest, split
from genspp.streams import Purpose, stream


@dataclass(frozen=True, slots=True)
class ReferenceScores:
    """Fractions, as everywhere; `clf_f1` is None where nothing is classified, `hl_f1` where there is no gold."""

    clf_f1: float | None
    hl_f1: float | None
    selection_rate: float
    selection_size: float


def random_highlights(lengths: Sequence[int], k: int, seed: int) -> Masks:
    """Select in every text `k` distinct tokens uniformly, all of them where there are no more."""
    random = stream(seed, Purpose.RANDOM_HIGHLIGHTS)
    masks = []
    for length in lengths:
        mask = np.zeros(length, np.int8)
        mask[random.permutation(length)[:k]] = 1
        masks.append(mask)
    return masks


def random_tokens(lengths: Sequence[int], rate: float, seed: int) -> Masks:
    """Select tokens uniformly among those of all texts, so many that R comes as near to `rate` as possible."""
    return highest(split(stream(seed, Purpose.RANDOM_TOKENS).random(sum(lengths)), lengths), rate)


def string_matching(texts: Sequence[str], triple: Sequence[str]) -> tuple[list[str], Masks]:
    """Return the class of every Toy string by the first pattern of the triple that occurs, and where it occurs."""
    labels, masks = [], []
    for text in texts:
        mask = np.zeros(len(text), np.int8)
        found = toy.match(text, triple)
        if found is not None:
            mask[found[1][0] : found[1][1]] = 1
        labels.append(toy.CLASSES[toy.matching_prediction(text, triple)])
        masks.append(mask)
    return labels, masks


def score_random(corpus: Corpus, k: int, seed: int) -> ReferenceScores:
    """Score random highlights of `k` tokens; there is no classifier."""
    return _score(corpus, random_highlights([len(document.tokens) for document in corpus], k, seed), None)


def score_matching(corpus: Corpus, triple: Sequence[str]) -> ReferenceScores:
    """Score string matching on Toy: `clf_f1` is what the paper prints, `hl_f1` that of the matched spans."""
    labels, masks = string_matching([document.text for document in corpus], triple)
    return _score(corpus, masks, labels)


def _score(corpus: Corpus, masks: Masks, labels: list[str] | None) -> ReferenceScores:
    return ReferenceScores(
        clf_f1=None if labels is None else metrics.clf_f1(corpus.labels, labels),
        hl_f1=metrics.hl_f1(masks, corpus.highlights),
        selection_rate=metrics.selection_rate(masks),
        selection_size=metrics.selection_size(masks),
    )
