"""How many of the marked tokens could hardly be anybody's reason: function words and punctuation."""

from collections.abc import Sequence

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from genspp.model.rationale import Rationale


def function_share(rationales: Sequence[Rationale]) -> float | None:
    """Return the share of the marked tokens that are English stop words or have neither letter nor digit.

    None where nothing is marked. The list is scikit-learn's; clitics such as "n't" are no words of it.
    """
    marked = [
        token
        for rationale in rationales
        for token, chosen in zip(rationale.tokens, rationale.mask, strict=False)
        if chosen
    ]
    empty = sum(token.lower() in ENGLISH_STOP_WORDS or not any(map(str.isalnum, token)) for token in marked)
    return empty / len(marked) if marked else None
