"""What earlier versions wrote, as this one would have: their models go on saying what they said."""

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]

# What settings that came with format 3 were before there were any; and those that have gone since, of searches only.
_BEFORE_3 = {"label_columns": False, "skip_gaps": False}
_GENSPP_BEFORE_3 = {
    "search": "genetic",
    "objective": "paper",
    "start": "random",
    "cell": "gru",
    "readers": False,
    "predictors": 1,
    "beliefs": False,
}
_BEFORE_5 = {"regression": False, "commonness": 0.0}  # of methods whose highlights are judged
_JUDGED = ("genspp", "wordlist")
_GONE = ("penalise_empty", "bred")
_WORDS, _WORDS_BEFORE_4 = "words", "signs"  # what the tokenizer `words` was before a repeated sign was one token


def from_format_1(config: Mapping[str, Any], weights: Arrays) -> tuple[dict[str, Any], Arrays]:
    """Return what 0.1.0 wrote as this version would have: other names of methods and of GenSPP's weights."""
    config = {**config, "method": str(config.get("method")).lower(), "vectors": {"kind": config.get("vectors")}}
    if config["method"] == "genspp":
        weights = {
            name.replace("generator.gru.", "generator.encoder.gru.")
            .replace("predictor.gru.", "predictor.encoder.gru.")
            .replace("full_text.gru.", "full_text.encoder.gru."): array
            for name, array in weights.items()
        }
    return config, weights


def completed(method: str, settings: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return the settings of an older format's model as this version would have written them: it predicts as it did."""
    before: dict[str, Any] = _BEFORE_5 if method in _JUDGED else {}
    if number < 3:
        before = before | _BEFORE_3 | (_GENSPP_BEFORE_3 if method == "genspp" else {})
    found = before | {name: value for name, value in settings.items() if name not in _GONE}
    return found | ({"tokenizer": _WORDS_BEFORE_4} if number < 4 and found.get("tokenizer") == _WORDS else {})
