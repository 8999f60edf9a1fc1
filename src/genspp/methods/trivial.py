"""Two baselines that learn nothing: random highlights, and string matching on Toy."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from genspp.data.corpus import Corpus
from genspp.data.sources import toy
from genspp.population.evaluator import stream

Masks = list[npt.NDArray[np.int8]]

_RANDOM_HIGHLIGHTS = 20  # the purpose of the random stream


def random_highlights(lengths: Sequence[int], k: int, seed: int) -> Masks:
    """Select in every text `k` distinct tokens uniformly, all of them where there are no more."""
    random = stream(seed, _RANDOM_HIGHLIGHTS)
    masks = []
    for length in lengths:
        mask = np.zeros(length, np.int8)
        mask[random.permutation(length)[:k]] = 1
        masks.append(mask)
    return masks


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
