"""Is GenSPP better than the best other method of a column? Asked twice, of seeds and of test texts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from genspp.evaluation.metrics import Counts, f1, macro_f1
from genspp.evaluation.significance import paired_bootstrap, rank_sum, smallest_p
from genspp.experiments.grid import METHOD_NAMES
from genspp.experiments.results import Predictions, Result

OURS = "genspp"
_TESTS: dict[str, tuple[str, Callable[[Predictions], Counts], Callable[[npt.NDArray[Any]], npt.NDArray[Any]]]] = {
    "clf_f1": ("Clf-F1", Predictions.class_counts, macro_f1),
    "hl_f1": ("Hl-F1", Predictions.highlight_counts, f1),
}


def against_the_best(runs: Mapping[str, Sequence[Result]], metric: str) -> str | None:
    """Return a sentence on GenSPP against the other method with the best mean; None where there are not two.

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
    difference = float(np.mean(ours)) - rivals[rival]
    least = smallest_p(len(ours), len(theirs))
    return (
        f"{name} of GenSPP against {METHOD_NAMES[rival]}, the best other method here: {difference:+.2f}. "
        f"Exact rank-sum test over {len(ours)} and {len(theirs)} seeds: p = {rank_sum(ours, theirs):.4f} "
        f"(it cannot be less than {least:.4f}). {_bootstrap(runs[OURS], runs[rival], counts, statistic)}"
    )


def _bootstrap(
    ours: Sequence[Result],
    theirs: Sequence[Result],
    counts: Callable[[Predictions], Counts],
    statistic: Callable[[npt.NDArray[Any]], npt.NDArray[Any]],
) -> str:
    sides = [[run.predictions() for run in runs] for runs in (ours, theirs)]
    first = sides[0][0]
    if any(other.ids != first.ids or other.labels != first.labels for side in sides for other in side):
        return "No paired bootstrap: the runs were not tested on the same texts."
    a, b = (np.stack([counts(each) for each in side], axis=1) for side in sides)
    found = paired_bootstrap(a, b, statistic)
    return (
        f"Paired bootstrap over the {len(first.ids):,} test texts, runs averaged ({found.resamples:,} resamples): "
        f"95 % interval {100 * found.low:+.2f} to {100 * found.high:+.2f}, p = {found.p:.4f}."
    )
