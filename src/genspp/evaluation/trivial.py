"""The scores of the two baselines that learn nothing, by the package's own metrics.

The paper's figures for string matching, called highlight F1 there, are class scores: both kinds are returned here, each
under its own name.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from genspp.data.corpus import Corpus
from genspp.evaluation import metrics
from genspp.methods.trivial import Masks, random_highlights, string_matching


@dataclass(frozen=True, slots=True)
class TrivialScores:
    """Fractions, as everywhere; `clf_f1` is None where nothing is classified, `hl_f1` where there is no gold."""

    clf_f1: float | None
    hl_f1: float | None
    selection_rate: float
    selection_size: float


def score_random(corpus: Corpus, k: int, seed: int) -> TrivialScores:
    """Score random highlights of `k` tokens; there is no classifier."""
    return _score(corpus, random_highlights([len(document.tokens) for document in corpus], k, seed), None)


def score_matching(corpus: Corpus, triple: Sequence[str]) -> TrivialScores:
    """Score string matching on Toy: `clf_f1` is what the paper prints, `hl_f1` that of the matched spans."""
    labels, masks = string_matching([document.text for document in corpus], triple)
    return _score(corpus, masks, labels)


def _score(corpus: Corpus, masks: Masks, labels: list[str] | None) -> TrivialScores:
    return TrivialScores(
        clf_f1=None if labels is None else metrics.clf_f1(corpus.labels, labels),
        hl_f1=metrics.hl_f1(masks, corpus.highlights),
        selection_rate=metrics.selection_rate(masks),
        selection_size=metrics.selection_size(masks),
    )
