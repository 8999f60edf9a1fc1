"""The references beside a run's figures: by hand, without gold, and what they may not know."""

from dataclasses import replace

import numpy as np
import pytest

from conftest import DECIDING, sentences
from genspp.data.corpus import Splits, as_corpus
from genspp.evaluation import beside
from genspp.evaluation.metrics import selection_rate


def corpus(rows, seed):
    """Return sentences in which the gold highlight is the word that decides."""
    texts, labels = sentences(rows, seed)
    made = as_corpus(texts, "words", labels)
    gold = {word for words in DECIDING.values() for word in words}
    marked = tuple(replace(one, highlight=tuple(int(token in gold) for token in one.tokens)) for one in made)
    return replace(made, documents=marked)


@pytest.fixture(scope="module")
def splits():
    return Splits(corpus(120, 0), corpus(60, 1), corpus(60, 2))


def changed(splits, part, **changes):
    """Return the splits with one part's documents changed. changes: from field to function of a document."""
    documents = tuple(
        replace(one, **{name: make(one) for name, make in changes.items()}) for one in getattr(splits, part)
    )
    return replace(splits, **{part: replace(getattr(splits, part), documents=documents)})


def gold_rate(splits):
    return selection_rate(splits.test.highlights)


def test_where_words_decide_the_references_find_them(splits):
    found = beside.references(splits, gold_rate(splits), seed=1)
    assert set(found) == set(beside.FIGURES)
    assert found["tfidf_clf_f1"] == 1
    assert found["guessing_clf_f1"] == pytest.approx(1 / 3)
    assert found["wordlist_hl_f1"] == 1
    tokens = sum(len(one.tokens) for one in splits.test)
    assert found["all_hl_f1"] == pytest.approx(2 * 60 / (tokens + 60))  # one gold token in every text
    assert found["random_hl_f1"] < 0.4


def test_at_a_lower_r_the_word_list_finds_less(splits):
    half = beside.references(splits, gold_rate(splits) / 2, seed=1)
    assert 0.5 < half["wordlist_hl_f1"] < 0.8  # all that is selected is gold, about half of the gold is selected


def test_evidence_is_for_the_classes_that_are_wanted(splits):
    keys = splits.test.keys("words")
    rate = gold_rate(splits) / 3
    masks = beside.reference_masks(splits.train, keys, 1.0, rate, 1, ["food"])["wordlist_hl_f1"]
    chosen = {key for text, mask in zip(keys, masks, strict=True) for key, flag in zip(text, mask, strict=True) if flag}
    assert chosen == set(DECIDING["food"])


def test_random_tokens_have_the_run_s_r_and_belong_to_the_seed(splits):
    keys = splits.test.keys("words")
    drawn = [beside.reference_masks(splits.train, keys, 1.0, 0.25, seed)["random_hl_f1"] for seed in (1, 1, 2)]
    assert selection_rate(drawn[0]) == pytest.approx(0.25, abs=0.005)
    flat = [np.concatenate(masks) for masks in drawn]
    np.testing.assert_array_equal(flat[0], flat[1])
    assert (flat[0] != flat[2]).any()


@pytest.mark.parametrize(
    ("part", "changes"),
    [
        ("test", {"label": lambda _: "food"}),
        ("test", {"highlight": lambda one: (1,) * len(one.tokens)}),
        ("val", {"highlight": lambda one: (1,) * len(one.tokens)}),
        ("train", {"highlight": lambda one: (1,) * len(one.tokens)}),
    ],
)
def test_no_gold_highlight_and_no_test_label_changes_what_is_given(splits, part, changes, monkeypatch):
    given = []
    monkeypatch.setattr(beside, "clf_f1", lambda _, predicted, __: given.append(predicted) or 0.5)
    monkeypatch.setattr(beside, "hl_f1", lambda masks, _: given.append([mask.tolist() for mask in masks]) or 0.5)
    beside.references(splits, 0.2, seed=1)
    before = given.copy()
    given.clear()
    beside.references(changed(splits, part, **changes), 0.2, seed=1)
    assert len(given) == 4
    assert given == before


def test_without_gold_highlights_there_is_nothing_to_compare_highlights_with(splits):
    found = beside.references(changed(splits, "test", highlight=lambda _: None), 0.2, seed=1)
    assert found["tfidf_clf_f1"] == 1
    assert {found[name] for name in ("wordlist_hl_f1", "random_hl_f1", "all_hl_f1")} == {None}


def test_guessing_by_hand():
    assert beside.guessing_clf_f1(["a"] * 9 + ["b"], ["a"] * 90 + ["b"] * 10) == pytest.approx(1 / 2)
    # a: p = 1/4, q = 3/4 -> 3/8; b: p = 3/4, q = 1/4 -> 3/8
    assert beside.guessing_clf_f1(["a", "a", "a", "b"], ["a", "b", "b", "b"]) == pytest.approx(3 / 8)
    assert beside.guessing_clf_f1(["a", "b"], ["a"]) == pytest.approx(1 / 3)


def figures(clf_f1, plain=0.73, guessing=0.5, rate=0.2):
    return {"clf_f1": clf_f1, "selection_rate": rate, "tfidf_clf_f1": plain, "guessing_clf_f1": guessing}


def test_more_than_three_points_below_tf_idf_is_warned_of():
    assert beside.warnings(figures(0.70)) == []
    (sentence,) = beside.warnings(figures(0.69))
    assert sentence.startswith("Clf-F1 is 4.0 points below that of TF-IDF and logistic regression (73.00 %)")


def test_near_chance_is_warned_of():
    assert beside.warnings(figures(0.53, plain=0.55)) == []
    for clf_f1 in (0.52, 1 / 3):  # as drawn labels, and as always the same one
        (sentence,) = beside.warnings(figures(clf_f1, plain=clf_f1))
        assert sentence.startswith("Clf-F1 is near chance, for guessing labels by their frequency has 50.00 %")


def test_where_nearly_all_is_marked_that_is_warned_of():
    assert beside.warnings(figures(0.8, rate=0.9)) == []
    (sentence,) = beside.warnings(figures(0.8, rate=0.99))
    assert sentence.startswith("Nearly all words are marked")


def test_together_is_all_of_it():
    own = {"clf_f1": 0.5, "selection_rate": 0.1}
    metrics = beside.together(own, {"tfidf_clf_f1": 0.9, "guessing_clf_f1": 0.49})
    assert list(metrics) == ["clf_f1", "selection_rate", "tfidf_clf_f1", "guessing_clf_f1", "warnings"]
    assert len(metrics["warnings"]) == 2
