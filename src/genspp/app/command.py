"""What to type for a run: the command that its configuration is the outcome of."""

import json
from pathlib import Path
from shlex import quote
from typing import Any

from genspp.app.configure import estimator_of
from genspp.app.runs import Run
from genspp.data.sources import find_source
from genspp.data.vectors import NAMED
from genspp.methods.base import METHODS
from genspp.settings import parse


def train_command(run: Run, classes: int) -> str:
    """Return the command that trains the same model again, with names in the place of local paths."""
    where, method = run.config["data"], run.config["method"]
    kind, source = METHODS[method], find_source(where["source"])
    settings, early = estimator_of(run).settings(classes), run.metrics().get("stopped_early")
    minutes = None if run.config.get("minutes") is None else f"{run.config['minutes']:g}"
    if early is not None and early["step"] == "generation":  # what a clock, or a hand, has ended once a number repeats
        settings, minutes = {**settings, "generations": early["number"]}, None
    preset = {"preset": settings["preset"]}
    usual = kind(**kind.settings_on(source.family, settings["preset"]) | preset).settings(classes)
    own = {"method": method, **preset, "seed": settings["seed"]}
    files = {name: None if where[name] is None else Path(where[name]).name for name in ("val", "test")}
    asked = {**where["columns"], **files, "max_length": where["max_length"], "tokenizer": where["tokenizer"]}
    asked["minutes"] = minutes
    if where.get("on_bad_row") == "skip":
        asked["on_bad_row"] = "skip"
    words = ["genspp", "train", source.command]
    for name, value in {**own, **asked}.items():
        words += [] if value is None else [f"--{name.replace('_', '-')}", str(value)]
    for name in sorted(settings.keys() - own.keys() - {"tokenizer"}):
        if settings[name] != usual[name]:
            words += ["--set", f"{name}={_typed(name, settings[name])}"]
    return " ".join(quote(word) for word in [*words, "--out", run.folder.resolve().name])


def _typed(name: str, value: Any) -> str:
    """Return a value as `parse` reads it; of a file of vectors its name."""
    if name == "vectors" and value not in NAMED:
        value = Path(value).name
    return value if isinstance(value, str) and parse(value) == value else json.dumps(value, ensure_ascii=False)
