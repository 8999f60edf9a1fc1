"""Is GenSPP better than another method? Asked of seeds and of test texts, and corrected for asking so often.

GenSPP is compared with every other method of a table, in Hl-F1 and in Clf-F1. What is looked at most is the best other
method, and that is chosen after all of them were seen; so all of these comparisons count, by Holm's method.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from genspp.evaluation.metrics import Counts, f1, macro_f1
from genspp.evaluation.significance import Bootstrap, holm, paired_bootstraps, rank_sum, smallest_p
from genspp.experiments.board import Board
from genspp.experiments.names import OURS, method_title
from genspp.experiments.results import Predictions, Result

LEVEL = 0.05  # a corrected p below it is called significant
_TESTS: dict[str, tuple[str, Callable[[Predictions], Counts], Callable[[npt.NDArray[Any]], npt.NDArray[Any]]]] = {
    "clf_f1": ("Clf-F1", Predictions.class_counts, macro_f1),
    "hl_f1": ("Hl-F1", Predictions.highlight_counts, f1),
}
Runs = Mapping[str, Sequence[Result]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """GenSPP against another method, means over runs in percent.

    seeds_p: of the exact rank-sum test over runs. texts: the paired bootstrap over `test_texts` test texts; None where
    the runs were not tested on the same ones, or not all of these have gold. corrected: both ps by Holm, over the
    `family` comparisons that were made together; least_p: what the first cannot be less than, however far apart.
    """

    metric: str
    rival: str
    ours: float
    theirs: float
    runs: tuple[int, int]
    seeds_p: float
    texts: Bootstrap | None
    test_texts: int
    corrected: tuple[float, float | None]
    least_p: float
    family: int

    @property
    def over_seeds(self) -> bool:
        """Whether other seeds would hardly turn the order round."""
        return self.corrected[0] < LEVEL

    @property
    def over_texts(self) -> bool:
        """Whether other test texts would hardly turn the order round."""
        return self.corrected[1] is not None and self.corrected[1] < LEVEL

    @property
    def too_few_seeds(self) -> bool:
        """Whether the order would hold were it the only question, and no runs, however far apart, could show it."""
        return self.seeds_p < LEVEL <= self.least_p

    def note(self) -> str:
        """Return all of it in words, as a note below a table."""
        if self.texts is None or self.corrected[1] is None:
            texts = "No paired bootstrap: the runs were not tested on the same texts, or not all have gold."
        else:
            texts = (
                f"Paired bootstrap over the {self.test_texts:,} test texts, runs averaged "
                f"({self.texts.resamples:,} resamples): 95 % interval "
                f"{100 * self.texts.low:+.2f} to {100 * self.texts.high:+.2f}, p = {self.texts.p:.4f}, corrected "
                f"{self.corrected[1]:.4f}."
            )
        return (
            f"{self.metric} of {method_title(OURS)} against {method_title(self.rival)}, the best other method here: "
            f"{self.ours - self.theirs:+.2f}. Exact rank-sum test over {self.runs[0]} and {self.runs[1]} seeds: "
            f"p = {self.seeds_p:.4f}, corrected {self.corrected[0]:.4f} (it cannot be less than {self.least_p:.4f}). "
            f"{texts}"
        )

    def correction(self) -> str:
        """Say what p was corrected for, if for anything."""
        if self.family == 1:
            return "It is the only comparison, so p needs no correction."
        return (
            f"Corrected: by Holm's method, for the {self.family} comparisons of {method_title(OURS)} with the other "
            "methods here, in Hl-F1 and in Clf-F1."
        )


class Comparisons(dict[tuple[str, str], Comparison]):
    """The comparisons of a table, by metric (clf_f1 or hl_f1) and other method."""

    def with_the_best(self, metric: str) -> Comparison | None:
        """Return that with the other method of the best mean; None where there are not two methods."""
        found = [comparison for (about, _), comparison in self.items() if about == metric]
        return max(found, key=lambda comparison: comparison.theirs, default=None)


@lru_cache(maxsize=64)  # a table, its notes and several sentences are made of the same comparisons
def in_table(board: Board, data: str, preset: str) -> Comparisons:
    """Return the comparisons of the main table of a data set and preset."""
    return compare(board.methods(data, preset))


def compare(runs: Runs) -> Comparisons:
    """Compare GenSPP with every other method, by its runs; methods need not have as many."""
    pairs = [
        (metric, rival)
        for metric in _TESTS
        for rival in runs
        if rival != OURS and _scores(runs.get(OURS, ()), metric) and _scores(runs[rival], metric)
    ]
    scores = [[_scores(runs[method], metric) for method in (OURS, rival)] for metric, rival in pairs]
    sizes = [(len(ours), len(theirs)) for ours, theirs in scores]
    seeds = [rank_sum(ours, theirs) for ours, theirs in scores]
    texts = {metric: _bootstraps(runs, metric) for metric in dict(pairs)}
    found = [texts[metric].get(rival) for metric, rival in pairs]
    over_seeds = holm(seeds)
    # Ties in groups of unequal size may bring p below that of complete separation without any.
    least = holm([min(p, smallest_p(*size)) for p, size in zip(seeds, sizes, strict=True)])
    over_texts = iter(holm([one.p for one in found if one is not None]))
    return Comparisons(
        {
            (metric, rival): Comparison(
                metric=_TESTS[metric][0],
                rival=rival,
                ours=float(np.mean(scores[i][0])),
                theirs=float(np.mean(scores[i][1])),
                runs=sizes[i],
                seeds_p=seeds[i],
                texts=found[i],
                test_texts=runs[OURS][0].metrics["texts"],
                corrected=(over_seeds[i], None if found[i] is None else next(over_texts)),
                least_p=least[i],
                family=len(pairs),
            )
            for i, (metric, rival) in enumerate(pairs)
        }
    )


def _scores(runs: Sequence[Result], metric: str) -> list[float]:
    return [100 * run.metrics[metric] for run in runs if run.metrics[metric] is not None]


def _bootstraps(runs: Runs, metric: str) -> dict[str, Bootstrap]:
    """Return the paired bootstraps against all methods that were tested on the same texts as GenSPP."""
    _, counts, statistic = _TESTS[metric]
    given = {method: [run.predictions() for run in found] for method, found in runs.items() if found}
    first = given[OURS][0]
    if metric == "hl_f1" and not first.gold:
        return {}
    same = [
        method
        for method, found in given.items()
        if all(one.ids == first.ids and one.labels == first.labels for one in found)
    ]
    if OURS not in same or same == [OURS]:
        return {}
    stacked = {method: np.stack([counts(one) for one in given[method]], axis=1) for method in same}
    ours = stacked.pop(OURS)
    return dict(zip(stacked, paired_bootstraps(ours, list(stacked.values()), statistic), strict=True))
