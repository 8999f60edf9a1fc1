"""Guesses for words that training has not seen."""

import numpy as np
import pytest

from genspp.data.subwords import Subwords, ngrams
from genspp.data.vectors import Vectors, onehot

WORDS = ("payment", "refund", "parcel", "parcels", "login")


def some_vectors(kind: str = "corpus") -> Vectors:
    return Vectors(WORDS, np.arange(21, dtype=np.float32).reshape(7, 3), kind)


def test_ngrams_know_where_a_word_begins_and_ends():
    assert ngrams("ab") == {"<ab", "ab>", "<ab>"}
    assert ngrams("") == frozenset()


def test_the_most_alike_come_first():
    found = Subwords(WORDS).like("parcell")
    assert [WORDS[place] for place, _ in found] == ["parcel", "parcels"]
    assert Subwords(WORDS).like("zebra") == []


def test_a_guess_is_the_mean_of_the_words_like_it():
    vectors = some_vectors()
    extended = vectors.extended([["payments", "zebra"]])
    row = extended.table[extended.index["payments"]]
    np.testing.assert_allclose(row, vectors.table[vectors.index["payment"]])
    assert "zebra" not in extended.index
    np.testing.assert_array_equal(extended.table[: len(vectors.table)], vectors.table)


def test_a_guess_does_not_depend_on_what_else_was_asked_for():
    alone = some_vectors().extended([["parcelling"]])
    later = some_vectors().extended([["parcell", "logins"]]).extended([["parcelling"]])
    for word in ("parcelling",):
        np.testing.assert_array_equal(alone.table[alone.index[word]], later.table[later.index[word]])


def test_guesses_know_what_a_word_speaks_for():
    """Columns that know the labels are guessed like all others."""
    vectors = some_vectors()
    assert vectors.extended([["refunds"]]).table[-1, -1] == pytest.approx(vectors.table[vectors.index["refund"], -1])


def test_one_hot_words_are_not_guessed():
    vectors = onehot([["ab", "cd"]])
    assert vectors.extended([["abc"]]) is vectors
