"""The share of the marked tokens that are function words or punctuation."""

from genspp.data.corpus import as_corpus
from genspp.evaluation.function_words import function_share
from genspp.model.rationale import Rationale


def rationale(tokens, mask):
    return Rationale(as_corpus([tokens]).documents[0], "x", {"x": 1.0}, mask)


def test_stop_words_and_punctuation_count_and_only_where_they_are_marked():
    first = rationale(["The", "refund", "is", "late", "!!"], [1, 1, 0, 1, 1])
    second = rationale(["a", "42"], [0, 1])
    assert function_share([first, second]) == 2 / 5


def test_nothing_marked_has_no_share():
    assert function_share([rationale(["the"], [0])]) is None
