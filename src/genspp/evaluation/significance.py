"""Is one method better than another? Each test answers its own question.

`rank_sum` compares runs: would other seeds turn the order round? It is the exact Wilcoxon rank-sum
(Mann-Whitney) test. Runs of two methods are not pairs, so the signed-rank test does not apply; on five seeds
that one cannot get below p = 0.0625 anyway, so the published "Wilcoxon <= 0.01" cannot be it.

`paired_bootstrap` compares examples: would another test set turn the order round? Both methods are scored on
the same resampled texts.

`mean_interval` is for pairs of runs that share their seed, few of them: where may the mean difference lie?

Who asks several questions finds something sooner or later: `holm` corrects for their number.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genspp.errors import DataError
from genspp.streams import Purpose, stream

Floats = npt.NDArray[np.float64]

EXACT_WORK = 300_000_000  # additions, about a second; beyond it (some 150 runs) the distribution is sampled
CONFIDENCE = 0.95  # of an interval of a mean
SAMPLES = 100_000  # random deals, by the thousand
CHUNK = 4_000_000  # draws of the bootstrap held in memory at once


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """What a paired bootstrap found: statistic of a minus statistic of b, its interval, a two-sided p."""

    difference: float
    low: float
    high: float
    p: float
    resamples: int


def mean_interval(differences: Sequence[float]) -> tuple[float, float]:
    """Return the mean of paired differences and half the width of its confidence interval, by Student's t.

    >>> [round(value, 3) for value in mean_interval([1.0, 2.0, 3.0])]
    [2.0, 2.484]
    """
    from scipy.stats import t  # takes its time, and most that import this module need no interval

    values = _runs(differences, "only")
    if len(values) < 2:
        return float(values.mean()), math.inf
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()), float(t.ppf((1 + CONFIDENCE) / 2, len(values) - 1)) * error


def rank_sum(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the exact two-sided p of the rank-sum test of two groups of runs.

    p is the share of all ways to deal the pooled values into groups of these sizes whose rank sum lies at
    least as far from its expectation as the one seen. Tied values share their mean rank, and the distribution
    is that of those very ranks: exact with ties too.

    >>> round(rank_sum([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]), 5)
    0.00794
    """
    small, large = sorted((_runs(a, "first"), _runs(b, "second")), key=len)
    ranks = _doubled_ranks(np.concatenate([small, large]))
    size, total = len(small), int(ranks.sum())
    # the expectation is size * total / len(ranks): multiplied by len(ranks), all that is compared is integer
    seen = abs(int(ranks[:size].sum()) * len(ranks) - size * total)
    if len(ranks) * size * total > EXACT_WORK:
        return _sampled(ranks, size, seen)
    ways = _ways(ranks, size)
    distance = np.abs(np.arange(total + 1) * len(ranks) - size * total)
    return min(1.0, float(ways[distance >= seen].sum() / ways.sum()))


def smallest_p(runs_a: int, runs_b: int) -> float:
    """Return the smallest p that `rank_sum` can give for so many runs: complete separation, no ties."""
    return min(1.0, 2 / math.comb(runs_a + runs_b, runs_a))


def holm(ps: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number by Holm's method, in the order given.

    The least is multiplied by how many there are, the next by one less and so on; none may get below one that was
    less before. Whatever the tests have to do with each other, the chance that any true null hypothesis is rejected
    at a level stays below that level.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    corrected, most = [0.0] * len(ps), 0.0
    for rank, i in enumerate(order):
        most = max(most, min(1.0, (len(ps) - rank) * ps[i]))
        corrected[i] = most
    return corrected


def paired_bootstrap(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    statistic: Callable[[Floats], Floats],
    *,
    resamples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Bootstrap:
    """Compare two methods on resampled test texts, as `paired_bootstraps` compares one with several."""
    (found,) = paired_bootstraps(a, [b], statistic, resamples=resamples, seed=seed, confidence=confidence)
    return found


def paired_bootstraps(
    a: npt.ArrayLike,
    others: Sequence[npt.ArrayLike],
    statistic: Callable[[Floats], Floats],
    *,
    resamples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> list[Bootstrap]:
    """Compare a method with others on resampled test texts, the same resamples for all.

    a, others: (texts, ...) counts of every text, the same texts in the same order: `metrics.highlight_counts` for
    Hl-F1, `metrics.class_counts` for Clf-F1; for a mean, the values with a column of ones beside them.
    statistic: from sums over texts, (resamples, ...), to one value per resample: `metrics.f1` for Hl-F1,
    `metrics.macro_f1` for Clf-F1.
    With several runs per method, put them on the second axis, (texts, runs, ...): what the statistic leaves of
    further axes is averaged, and methods need not have the same number of runs.

    The interval is the percentile interval. p is twice the smaller share of resamples on either side of zero,
    so the two say the same; one resample more is counted at zero, so that p is never 0.
    """
    first, *rest = (np.asarray(counts, dtype=np.float64) for counts in (a, *others))
    texts = len(first)
    for other in rest:
        if texts != len(other) or not texts:
            raise DataError(
                f"a paired bootstrap needs the same texts on both sides, at least one; got {texts}, {len(other)}"
            )
    random = stream(seed, Purpose.BOOTSTRAP)

    def differences(weights: Floats) -> Floats:
        scores = [_mean(statistic(_weigh(weights, counts))) for counts in (first, *rest)]
        return np.stack([scores[0] - other for other in scores[1:]])

    step = max(1, CHUNK // texts)
    sizes = [min(step, resamples - start) for start in range(0, resamples, step)]
    drawn = np.concatenate([differences(_weights(random, size, texts)) for size in sizes], axis=1)
    return [
        _bootstrap(float(seen), draws, confidence)
        for seen, draws in zip(differences(np.ones((1, texts)))[:, 0], drawn, strict=True)
    ]


def _bootstrap(seen: float, drawn: Floats, confidence: float) -> Bootstrap:
    """Return what the differences in all resamples say of the one seen."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    beyond = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    return Bootstrap(
        difference=seen,
        low=float(low),
        high=float(high),
        p=min(1.0, 2 * (beyond + 1) / (len(drawn) + 1)),
        resamples=len(drawn),
    )


def _runs(values: Sequence[float], which: str) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not len(array) or not np.isfinite(array).all():
        raise DataError(f"the {which} group of runs must be a list of at least one finite number, got {list(values)!r}")
    return array


def _doubled_ranks(values: Floats) -> npt.NDArray[np.int64]:
    """Return twice the rank of every value, ties sharing their mean rank: integers even then."""
    _, group, size = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(size)
    return np.asarray((2 * last - size + 1)[group], dtype=np.int64)


def _ways(ranks: npt.NDArray[np.int64], size: int) -> Floats:
    """Return, for every sum, in how many ways `size` of the ranks add up to it, (sum of all ranks + 1,).

    Taking the ranks one by one: the ways with it are those without it, one rank fewer, its value less. The
    counts are floats, for they outgrow integers; all are positive, so nothing is lost by cancellation.
    """
    ways = np.zeros((size + 1, int(ranks.sum()) + 1))
    ways[0, 0] = 1
    for rank in ranks:
        for chosen in range(size, 0, -1):  # downwards: no rank is taken twice
            ways[chosen, rank:] += ways[chosen - 1, : ways.shape[1] - rank]
    return np.asarray(ways[size])


def _sampled(ranks: npt.NDArray[np.int64], size: int, seen: int) -> float:
    """Estimate p from random deals, from a fixed seed so that a report can be repeated."""
    random = stream(0, Purpose.BOOTSTRAP, len(ranks))
    expected = size * int(ranks.sum())
    hits = 0
    for _ in range(SAMPLES // 1000):
        deals = random.permuted(np.tile(ranks, (1000, 1)), axis=1)[:, :size].sum(axis=1)
        hits += int((np.abs(deals * len(ranks) - expected) >= seen).sum())
    return (hits + 1) / (SAMPLES + 1)


def _weights(random: np.random.Generator, size: int, texts: int) -> Floats:
    """Return how often each text occurs in each of `size` resamples, (size, texts)."""
    drawn = random.integers(texts, size=(size, texts)) + texts * np.arange(size)[:, None]
    return np.bincount(drawn.ravel(), minlength=size * texts).reshape(size, texts).astype(np.float64)


def _weigh(weights: Floats, counts: Floats) -> Floats:
    """Return the sums over texts in each resample, (resamples, ...)."""
    return (weights @ counts.reshape(len(counts), -1)).reshape(len(weights), *counts.shape[1:])


def _mean(values: Floats) -> Floats:
    """Average whatever follows the resamples (the runs of a method)."""
    return np.asarray(values.reshape(len(values), -1).mean(axis=1))
