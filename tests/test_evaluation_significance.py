from itertools import combinations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, rankdata

from genspp.errors import DataError
from genspp.evaluation import metrics, significance
from genspp.evaluation.significance import holm, paired_bootstrap, paired_bootstraps, rank_sum, smallest_p


def enumerated(a, b):
    """The same test by going through every deal."""
    ranks = rankdata([*a, *b])
    expected = len(a) * ranks.mean()
    sums = np.array([ranks[list(chosen)].sum() for chosen in combinations(range(len(ranks)), len(a))])
    return np.mean(np.abs(sums - expected) >= abs(ranks[: len(a)].sum() - expected) - 1e-9)


# ---- rank sum


@pytest.mark.parametrize(("m", "n"), [(1, 4), (3, 3), (5, 5), (5, 10), (10, 10), (4, 30)])
def test_rank_sum_equals_scipy_without_ties(m, n):
    stream = np.random.default_rng(m + n)
    for shift in (0.0, 0.5, 3.0):
        a, b = stream.normal(size=m) + shift, stream.normal(size=n)
        assert rank_sum(a, b) == pytest.approx(mannwhitneyu(a, b, method="exact").pvalue)


@pytest.mark.parametrize("seed", range(10))
def test_rank_sum_equals_enumeration_with_ties(seed):
    stream = np.random.default_rng(seed)
    a, b = stream.integers(0, 4, size=5), stream.integers(1, 5, size=4 + seed % 3)
    assert rank_sum(a, b) == pytest.approx(enumerated(a, b))
    assert rank_sum(b, a) == pytest.approx(rank_sum(a, b))


def test_known_values():
    assert rank_sum([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]) == pytest.approx(2 / 252)  # 0.00794
    assert rank_sum([1, 2, 3], [4, 5, 6]) == pytest.approx(0.1)
    assert rank_sum([7, 7, 7], [7, 7]) == 1.0
    assert rank_sum([1], [2]) == 1.0


def test_smallest_p_is_that_of_complete_separation():
    for m, n in [(1, 1), (3, 3), (5, 5), (5, 10)]:
        assert smallest_p(m, n) == pytest.approx(rank_sum(range(m), range(m, m + n)))


def test_a_large_sample_is_sampled_and_close_to_exact(monkeypatch):
    stream = np.random.default_rng(0)
    a, b = stream.normal(size=12), stream.normal(size=15) + 0.8
    exact = rank_sum(a, b)
    monkeypatch.setattr(significance, "EXACT_WORK", 0)
    sampled = rank_sum(a, b)
    assert sampled != exact
    assert sampled == pytest.approx(exact, abs=0.004)
    assert rank_sum(a, b) == sampled


def test_runs_that_are_no_numbers_are_refused():
    with pytest.raises(DataError, match="second group"):
        rank_sum([1.0], [])
    with pytest.raises(DataError, match="first group"):
        rank_sum([1.0, float("nan")], [1.0])


# ---- many questions


def test_holm_multiplies_by_what_is_left_and_keeps_the_order():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.03, 0.02]) == pytest.approx([0.04, 0.04])  # 0.03 stays, but may not get below its better
    assert holm([0.9, 0.6]) == [1.0, 1.0]
    assert holm([0.02]) == [0.02]
    assert holm([]) == []


def test_holm_seldom_finds_anything_where_nothing_is():
    stream = np.random.default_rng(6)
    found = [min(holm(stream.random(20))) < 0.05 for _ in range(2000)]
    assert np.mean(found) == pytest.approx(0.05, abs=0.02)


# ---- paired bootstrap


def mean_of(sums):
    return sums[..., 0] / sums[..., 1]


def with_ones(values):
    return np.column_stack([values, np.ones(len(values))])


def test_interval_and_p_of_a_mean_are_those_of_the_normal_approximation():
    stream = np.random.default_rng(1)
    b = stream.normal(size=400)
    gain = stream.normal(0.1, 1.0, size=400)
    result = paired_bootstrap(with_ones(b + gain), with_ones(b), mean_of)
    error = gain.std() / np.sqrt(400)
    assert result.difference == pytest.approx(gain.mean())
    assert result.low == pytest.approx(gain.mean() - 1.96 * error, abs=0.006)
    assert result.high == pytest.approx(gain.mean() + 1.96 * error, abs=0.006)
    assert (result.p < 0.05) == (result.low > 0)


def test_p_is_calibrated_when_there_is_no_difference():
    stream = np.random.default_rng(2)
    p = []
    for _ in range(200):
        a, b = with_ones(stream.normal(size=60)), with_ones(stream.normal(size=60))
        p.append(paired_bootstrap(a, b, mean_of, resamples=400).p)
    assert 0.01 <= np.mean(np.array(p) < 0.05) <= 0.10
    assert 0.40 <= np.mean(np.array(p) < 0.50) <= 0.60


def test_hl_f1_difference_of_two_models():
    stream = np.random.default_rng(3)
    gold = [(stream.random(20) < 0.15).astype(np.uint8) for _ in range(300)]

    def noisy(rate):
        return [np.where(stream.random(20) < rate, 1 - truth, truth) for truth in gold]

    good, bad = noisy(0.02), noisy(0.2)
    a, b = metrics.highlight_counts(good, gold), metrics.highlight_counts(bad, gold)
    result = paired_bootstrap(a, b, metrics.f1)
    assert result.difference == pytest.approx(metrics.hl_f1(good, gold) - metrics.hl_f1(bad, gold))
    assert result.low < result.difference < result.high
    assert result.low > 0
    assert result.p == pytest.approx(2 / 10_001)
    back = paired_bootstrap(b, a, metrics.f1)
    assert (back.difference, back.low, back.high) == pytest.approx((-result.difference, -result.high, -result.low))


def test_clf_f1_difference_and_several_runs():
    stream = np.random.default_rng(4)
    classes = ["x", "y", "z"]
    labels = list(stream.choice(classes, size=200))

    def run(right):
        return [label if stream.random() < right else str(stream.choice(classes)) for label in labels]

    runs_a, runs_b = [run(0.6) for _ in range(3)], [run(0.5) for _ in range(2)]
    a = np.stack([metrics.class_counts(labels, predicted, classes) for predicted in runs_a], axis=1)
    b = np.stack([metrics.class_counts(labels, predicted, classes) for predicted in runs_b], axis=1)
    assert a.shape == (200, 3, 3, 3)
    expected = np.mean([metrics.clf_f1(labels, predicted) for predicted in runs_a]) - np.mean(
        [metrics.clf_f1(labels, predicted) for predicted in runs_b]
    )
    assert paired_bootstrap(a, b, metrics.macro_f1, resamples=100).difference == pytest.approx(expected)


def test_a_model_against_itself():
    counts = np.array([[1, 0, 1], [0, 2, 0], [3, 0, 0]])
    result = paired_bootstrap(counts, counts, metrics.f1, resamples=500)
    assert (result.difference, result.low, result.high, result.p) == (0.0, 0.0, 0.0, 1.0)


def test_the_seed_decides_and_chunks_do_not_matter(monkeypatch):
    stream = np.random.default_rng(5)
    a, b = with_ones(stream.normal(size=50)), with_ones(stream.normal(size=50))
    whole = paired_bootstrap(a, b, mean_of, resamples=999)
    assert paired_bootstrap(a, b, mean_of, resamples=999, seed=1) != whole
    monkeypatch.setattr(significance, "CHUNK", 500)
    chunked = paired_bootstrap(a, b, mean_of, resamples=999)
    assert (chunked.low, chunked.high, chunked.p) == pytest.approx((whole.low, whole.high, whole.p))


def test_one_against_several_is_one_against_each():
    stream = np.random.default_rng(7)
    a, b, c = (with_ones(stream.normal(size=40)) for _ in range(3))
    both = paired_bootstraps(a, [b, c], mean_of, resamples=500)
    assert both == [paired_bootstrap(a, other, mean_of, resamples=500) for other in (b, c)]


def test_unequal_texts_are_refused():
    with pytest.raises(DataError, match="same texts"):
        paired_bootstrap(np.ones((3, 3)), np.ones((4, 3)), metrics.f1)
