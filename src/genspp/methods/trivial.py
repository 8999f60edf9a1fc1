"""Two baselines that learn nothing: random highlights, and string matching on Toy (methods.md, section 7).

Both are scored by the package's own metrics. The paper's figures for string matching, called highlight F1 there, are
class scores (discrepancies D13): both kinds are returned here, each under its own name.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genspp.data import toy
from genspp.data.corpus import Corpus
from genspp.evaluation import metrics
from genspp.population.evaluator import stream

Masks = list[npt.NDArray[np.int8]]

_RANDOM_HIGHLIGHTS = 20  # the purpose of the random stream


@dataclass(frozen=True, slots=True)
class TrivialScores:
    """Fractions, as everywhere; `clf_f1` is None where nothing is classified, `hl_f1` where there is no gold."""

    clf_f1: float | None
    hl_f1: float | None
    selection_rate: float
    selection_size: float


def random_highlights(lengths: Sequence[int], k: int, seed: int) -> Masks:
    """Select in every text `k` distinct tokens uniformly, all of them where there are no more."""
    random = stream(seed, _RANDOM_HIGHLIGHTS)
    masks = []
    for length in lengths:
        mask = np.zeros(length, np.int8)
        mask[random.permutation(length)[:k]] = 1
        masks.append(mask)
    return masks


def score_random(corpus: Corpus, k: int, seed: int) -> TrivialScores:
    """Score random highlights of `k` tokens; there is no classifier."""
    return _score(corpus, random_highlights([len(document.tokens) for document in corpus], k, seed), None)


def expected_random_hl_f1(corpus: Corpus, k: int) -> float | None:
    """Return the mean Hl-F1 of random highlights over all seeds, exactly; None where no text has gold.

    How many tokens are selected and how many are gold does not depend on the draw, so only the hits are averaged.
    """
    hits = selected = gold = 0.0
    for document in corpus:
        if document.highlight is not None:
            length, wanted = len(document.tokens), sum(document.highlight)
            chosen = min(k, length)
            hits += chosen * wanted / length
            selected += chosen
            gold += wanted
    return 2 * hits / (selected + gold) if selected else None


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
