import numpy as np
import pytest

from genspp.data.sources import toy
from genspp.evaluation.references import random_highlights, score_matching, score_random, string_matching


@pytest.fixture(scope="module")
def strings():
    return toy.toy("toy", size=2000).train


def test_random_highlights_are_distinct_tokens_and_repeatable():
    masks = random_highlights([20, 3, 1], 3, seed=1)
    assert [mask.sum() for mask in masks] == [3, 3, 1]
    assert [len(mask) for mask in masks] == [20, 3, 1]
    assert all((a == b).all() for a, b in zip(masks, random_highlights([20, 3, 1], 3, seed=1), strict=True))
    share = np.mean([random_highlights([5], 2, seed)[0] for seed in range(2000)], axis=0)
    np.testing.assert_allclose(share, 0.4, atol=0.05)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_random_highlights_on_toy_have_their_analytic_score(strings, k):
    expected = 2 * (3 * k / 20) / (k + 3)
    scores = [score_random(strings, k, seed) for seed in range(5)]
    assert np.mean([score.hl_f1 for score in scores]) == pytest.approx(expected, abs=0.01)
    assert scores[0].clf_f1 is None
    assert (scores[0].selection_rate, scores[0].selection_size) == (pytest.approx(k / 20), k)


def test_string_matching_gives_class_and_span():
    labels, masks = string_matching(["xabax", "abcxx", "xxxxx"], toy.TRIPLES[0])
    assert labels == ["aba", "abc", "aba"]
    assert [mask.tolist() for mask in masks] == [[0, 1, 1, 1, 0], [1, 1, 1, 0, 0], [0] * 5]


def test_the_paper_s_triples_by_class_and_by_span(strings):
    scores = [score_matching(strings, triple) for triple in toy.TRIPLES]
    assert (scores[0].clf_f1, scores[0].hl_f1) == (1, 1)
    # The second triple names two classes wrongly and finds every span: the two scores are not one.
    assert (scores[1].clf_f1, scores[1].hl_f1) == (pytest.approx(1 / 3, abs=0.001), 1)
    assert scores[2].clf_f1 == pytest.approx(0.536, abs=0.03)
    assert 0.7 < scores[2].hl_f1 < 0.8
