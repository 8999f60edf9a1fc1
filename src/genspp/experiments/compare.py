"""Is GenSPP better than the best other method of a column? Asked twice, of seeds and of test texts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from genspp.evaluation.metrics import Counts, f1, macro_f1
from genspp.evaluation.significance import Bootstrap, paired_bootstrap, rank_sum, smallest_p
from genspp.experiments.names import OURS, method_title
from genspp.experiments.results import Predictions, Result

LEVEL = 0.05  # a p below it is called significant
_TESTS: dict[str, tuple[str, Callable[[Predictions], Counts], Callable[[npt.NDArray[Any]], npt.NDArray[Any]]]] = {
    "clf_f1": ("Clf-F1", Predictions.class_counts, macro_f1),
    "hl_f1": ("Hl-F1", Predictions.highlight_counts, f1),
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """GenSPP against the other method with the best mean, in percent.

    seeds_p: of the exact rank-sum test over runs, which cannot be less than `least_p`. texts: the paired bootstrap over
    `test_texts` test texts; None where the runs were not tested on the same ones, or not all of these have gold.
    """

    metric: str
    rival: str
    ours: float
    theirs: float
    runs: tuple[int, int]
    seeds_p: float
    least_p: float
    texts: Bootstrap | None
    test_texts: int

    @property
    def over_seeds(self) -> bool:
        """Whether other seeds would hardly turn the order round."""
        return self.seeds_p < LEVEL

    @property
    def over_texts(self) -> bool:
        """Whether other test texts would hardly turn the order round."""
        return self.texts is not None and self.texts.p < LEVEL

    def note(self) -> str:
        """Return all of it in words, as a note below a table."""
        if self.texts is None:
            texts = "No paired bootstrap: the runs were not tested on the same texts, or not all have gold."
        else:
            texts = (
                f"Paired bootstrap over the {self.test_texts:,} test texts, runs averaged "
                f"({self.texts.resamples:,} resamples): 95 % interval "
                f"{100 * self.texts.low:+.2f} to {100 * self.texts.high:+.2f}, p = {self.texts.p:.4f}."
            )
        return (
            f"{self.metric} of {method_title(OURS)} against {method_title(self.rival)}, the best other method here: "
            f"{self.ours - self.theirs:+.2f}. Exact rank-sum test over {self.runs[0]} and {self.runs[1]} seeds: "
            f"p = {self.seeds_p:.4f} (it cannot be less than {self.least_p:.4f}). {texts}"
        )


def against_the_best(runs: Mapping[str, Sequence[Result]], metric: str) -> Comparison | None:
    """Compare GenSPP with the other method that has the best mean; None where there are not two.

    runs: from a method to its runs. metric: clf_f1 or hl_f1.
    """
    name, counts, statistic = _TESTS[metric]
    scores = {
        method: [100 * run.metrics[metric] for run in found if run.metrics[metric] is not None]
        for method, found in runs.items()
    }
    rivals = {method: float(np.mean(values)) for method, values in scores.items() if values and method != OURS}
    if not scores.get(OURS) or not rivals:
        return None
    rival = max(rivals, key=lambda method: rivals[method])
    ours, theirs = scores[OURS], scores[rival]
    return Comparison(
        metric=name,
        rival=rival,
        ours=float(np.mean(ours)),
        theirs=rivals[rival],
        runs=(len(ours), len(theirs)),
        seeds_p=rank_sum(ours, theirs),
        least_p=smallest_p(len(ours), len(theirs)),
        texts=_bootstrap(runs[OURS], runs[rival], counts, statistic),
        test_texts=len(runs[OURS][0].predictions().ids),
    )


def _bootstrap(
    ours: Sequence[Result],
    theirs: Sequence[Result],
    counts: Callable[[Predictions], Counts],
    statistic: Callable[[npt.NDArray[Any]], npt.NDArray[Any]],
) -> Bootstrap | None:
    sides = [[run.predictions() for run in runs] for runs in (ours, theirs)]
    first = sides[0][0]
    if any(other.ids != first.ids or other.labels != first.labels for side in sides for other in side):
        return None
    if counts is Predictions.highlight_counts and not first.gold:
        return None
    a, b = (np.stack([counts(each) for each in side], axis=1) for side in sides)
    return paired_bootstrap(a, b, statistic)
