"""What a setting may be, and what the two presets make of those that were left at `None`.

One table for every method, so that a setting means the same and is checked the same wherever it occurs.
"""

import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from genspp.data.tokenize import NAMES as TOKENIZERS
from genspp.errors import SettingsError
from genspp.model.spp import CELLS

PRESETS = ("sound", "paper")
ENGINES = ("compiled", "sequential")
EVAL_MASKS = ("argmax", "sample")

Check = tuple[Callable[[Any], bool], str]


def _whole(least: int) -> Check:
    return (
        lambda v: isinstance(v, Integral) and not isinstance(v, bool) and int(v) >= least,
        f"a whole number of at least {least}",
    )


def _number(least: float, most: float = math.inf, *, open_ends: bool = False) -> Check:
    def check(value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
            return False
        number = float(value)
        return least < number < most if open_ends else least <= number <= most

    between = f"above {least:g}" if most == math.inf else f"between {least:g} and {most:g}"
    if most == math.inf and not open_ends:
        between = f"of at least {least:g}"
    return check, f"a number {between}"


def _one_of(*names: str) -> Check:
    return lambda v: v in names, "one of " + ", ".join(names)


def _optional(check: Check) -> Check:
    return lambda v: v is None or check[0](v), f"{check[1]}, or None"


_FLAG: Check = (lambda v: isinstance(v, bool), "True or False")
_ANY: Check = (lambda v: True, "anything")

CHECKS: dict[str, Check] = {
    "preset": _one_of(*PRESETS),
    "seed": _whole(0),
    "hidden": _optional(_whole(1)),
    "cell": _one_of(*CELLS),
    "vectors": _ANY,  # checked where they are read
    "vector_width": _optional(_whole(1)),
    "tokenizer": _one_of(*TOKENIZERS),
    "class_weight": (
        lambda v: v is None or v == "balanced" or isinstance(v, Mapping),
        "None, 'balanced', or a dictionary from label to weight",
    ),
    "validation_fraction": _number(0, 1, open_ends=True),
    "generations": _whole(0),
    "population": (lambda v: _whole(2)[0](v) and int(v) % 2 == 0, "an even number of at least 2"),
    "threshold": _optional(_number(0, open_ends=True)),
    "epsilon": _number(0),
    "normalise_loss": _FLAG,
    "graded_failures": _FLAG,
    "penalise_empty": _FLAG,
    "epochs": _whole(1),
    "min_steps": _whole(0),
    "batch_size": _whole(1),
    "learning_rate": _number(0, open_ends=True),
    "retrain": _FLAG,
    "retrain_learning_rate": _number(0, open_ends=True),
    "max_epochs": _whole(1),
    "patience": _whole(1),
    "mutation_sigma": _number(0, open_ends=True),
    "mutation_probability": _number(0, 1),
    "bias_sigma": _optional(_number(0)),
    "reevaluate_elites": _FLAG,
    "engine": _one_of(*ENGINES),
    "workers": _optional(_whole(1)),
    "alpha": _number(0, 1),
    "lambda_s": _number(0),
    "lambda_c": _number(0),
    "lambda_g": _number(0),
    "lambda_jsd": _number(0),
    "decay": _number(0),
    "pretrain_epochs": _whole(0),
    "sigma": _number(0),
    "eval_mask": _one_of(*EVAL_MASKS),
    "padding_in_losses": _FLAG,
    "stop_in_pretraining": _FLAG,
}


def resolve(params: Mapping[str, Any], presets: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Fill in the preset's values for what is `None`, and check all settings."""
    check_one("preset", params["preset"])
    preset = presets[params["preset"]]
    settings = {name: preset.get(name) if value is None else value for name, value in params.items()}
    # Numbers that come from numpy, as in a grid search, become plain ones, which can be saved.
    settings = {name: value.item() if isinstance(value, np.generic) else value for name, value in settings.items()}
    for name, value in settings.items():
        check_one(name, value)
    return settings


def default_hidden(classes: int) -> int:
    """Return how many hidden units a model gets where nobody says.

    The search finds its way among few weights much better than among many, so few it is while they suffice.
    """
    return 8 if classes <= 4 else 16


def check_one(name: str, value: Any) -> None:
    """Raise a sentence that names the setting if it is not what it may be."""
    allowed, description = CHECKS[name]
    if not allowed(value):
        raise SettingsError(f"{name} is {value!r}; it takes {description}.")
