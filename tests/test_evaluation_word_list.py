"""The word list by hand: scores, thresholds, ties, words that are not known."""

import numpy as np
import pytest

from genspp.data.word_weights import WordWeights
from genspp.evaluation.metrics import selection_rate
from genspp.evaluation.word_list import highest, token_scores

WEIGHTS = WordWeights(("bad", "good", "so"), np.array([[3.0, -2.0, -1.0], [-4.0, 2.0, 2.0], [0.1, -0.3, 0.2]]))
TEXTS = [["so", "good", "new"], ["bad"]]


def lists(arrays):
    return [array.tolist() for array in arrays]


@pytest.mark.parametrize(
    ("evidence_for", "scores"),
    [
        (None, [[0.2, 2.0, -np.inf], [3.0]]),
        ([0], [[0.1, -4.0, -np.inf], [3.0]]),
        ([1, 2], [[0.2, 2.0, -np.inf], [-1.0]]),
    ],
)
def test_a_score_is_the_highest_weight_over_the_classes_that_are_wanted(evidence_for, scores):
    assert lists(token_scores(WEIGHTS, TEXTS, evidence_for)) == scores


def test_of_two_classes_it_is_the_absolute_value():
    weights = WordWeights(("bad", "good"), np.array([[1.5, -1.5], [-2.5, 2.5]]))
    assert lists(token_scores(weights, [["bad", "good"]])) == [[1.5, 2.5]]


def test_r_comes_as_near_as_it_can():
    scores = [
        np.array([5.0, 1.0, 4.0, 0.0]),
        np.array([3.0, 2.0]),
    ]  # a token counts 1/8, or 1/4
    rates = {0.0: 0, 0.06: 0, 0.07: 1 / 8, 0.3: 1 / 4, 0.4: 1 / 2, 0.7: 3 / 4, 1.0: 1}
    for rate, reached in rates.items():
        assert selection_rate(highest(scores, rate)) == pytest.approx(reached)
    assert lists(highest(scores, 0.5)) == [[1, 0, 1, 0], [1, 0]]
    assert lists(highest(scores, 0.0625)) == [[0, 0, 0, 0], [0, 0]]  # equally near: the one that selects less


def test_equal_scores_go_together_and_unknown_words_are_never_selected():
    scores = [np.array([2.0, 1.0, 1.0, -np.inf])]
    assert lists(highest(scores, 0.3)) == [[1, 0, 0, 0]]
    assert lists(highest(scores, 0.5)) == [[1, 0, 0, 0]]
    assert lists(highest(scores, 0.6)) == lists(highest(scores, 1.0)) == [[1, 1, 1, 0]]
    assert lists(highest([np.array([-np.inf]), np.array([-np.inf, -np.inf])], 0.5)) == [[0], [0, 0]]
