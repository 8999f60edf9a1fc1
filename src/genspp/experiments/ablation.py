"""An ablation of preset `sound`: GenSPP as it is, and with one ingredient of its recipe taken out at a time.

A variant that searches in another way stops by the number of evaluations: that of the full recipe at the same seed,
rounded up to whole generations.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from genspp.experiments.names import OURS, family
from genspp.methods import METHODS

FULL_RECIPE, PAPERS = "full", "paper-operators"
# What of preset `paper` makes up the paper's fitness and operators; vectors, sizes and budgets stay those of `sound`.
_PAPERS_OWN = (
    *("objective", "epsilon", "threshold", "normalise_loss"),
    *("search", "start", "readers", "skip_gaps", "beliefs", "commonness", "regression"),
)


@dataclass(frozen=True, slots=True)
class Variant:
    """The recipe without an ingredient. title: in tables. ingredient: what is missing. settings: by which it is.

    equal: whether it gets as many evaluations as the full recipe used.
    """

    title: str
    ingredient: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    equal: bool = False


VARIANTS = {
    FULL_RECIPE: Variant("Full recipe"),
    "gaps": Variant("Predictor sees gaps", "A predictor that skips gaps", {"skip_gaps": False}),
    "no-adversary": Variant("No adversary", "The adversary", {"completeness": 0.0}),
    "no-readers": Variant("No readers", "Judges that start from readers", {"readers": False}),
    "labels": Variant("Labels, not beliefs", "Judges measured against beliefs", {"beliefs": False}),
    "one-predictor": Variant("One predictor", "Committees of final and full-text predictors", {"predictors": 1}),
    "no-regression": Variant("No regression", "A regression beside the final predictors", {"regression": False}),
    "even-words": Variant("All words count the same", "Marks on common words that count more", {"commonness": 0.0}),
    "no-gradient": Variant("No gradient", "Children that climb by gradient", {"search": "genetic"}, equal=True),
    "random-start": Variant("Random start", "First generators that know the task", {"start": "random"}),
    "no-columns": Variant("No label columns", "Vectors that know the labels", {"label_columns": False}),
    PAPERS: Variant("Paper's fitness and operators", "All but the vectors", equal=True),
}


def settings_of(variant: str, data: str) -> dict[str, Any]:
    """Return what a variant sets on a data set, but for its generations."""
    if variant != PAPERS:
        return dict(VARIANTS[variant].settings)
    kind = METHODS[OURS]
    on_source = kind.settings_on(family(data), "paper")
    return {name: on_source.get(name, kind.declared[name].of("paper")) for name in _PAPERS_OWN}


def variants_on(data: str, population: int, spent: int | None) -> dict[str, dict[str, Any]]:
    """Return what every variant sets on a data set, those left out that would be the full recipe there.

    spent: the evaluations of the full recipe; None: not known yet, and what must have as many is left out.
    """
    usual, found = METHODS[OURS].settings_on(family(data), "sound").items(), {}
    for name, variant in VARIANTS.items():
        settings = settings_of(name, data)
        if settings and settings.items() <= usual:
            continue
        if not variant.equal:
            found[name] = settings
        elif spent is not None:
            found[name] = settings | {"generations": equal_generations(spent, population)}
    return found


def equal_generations(evaluations: int, population: int) -> int:
    """Return after how many generations, the first population not counted, as many were judged, or just more."""
    return max(0, math.ceil(evaluations / population) - 1)
