"""One run of a benchmark, from its description to its result file; as a program, in a process of its own.

The program reads the description from standard input and writes its progress to standard output, one
JSON object per line. When its standard input ends it ends too: it does not outlive the grid that started it.
"""

import dataclasses
import json
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from genspp.app.configure import Data, configure
from genspp.app.runs import Run
from genspp.data.corpus import Splits
from genspp.errors import GenSPPError, RunError
from genspp.experiments.ablation import settings_of
from genspp.experiments.curves import FollowedRun, curve_of
from genspp.experiments.grid import Trial
from genspp.experiments.names import REFERENCES, can_be_skewed, family
from genspp.experiments.progress import progress_of
from genspp.experiments.recipe import Recipe
from genspp.experiments.results import Predictions, code_version, machine, peak_memory_mb, write_result
from genspp.model.rationale import Rationale

Progress = Callable[[dict[str, Any], int], None]


def finish(trial: Trial, runs: Path, out: Path, splits: Splits | None = None, progress: Progress | None = None) -> None:
    """Take a run from where it stands to its result file below `out`, which is written last."""
    content = _reference(trial, splits) if trial.method in REFERENCES else _trained(trial, runs, progress)
    head = {"run": trial.key(), "command": trial.command(), "asked": trial.asked()}
    origin = {"code": code_version(), "machine": machine()}
    write_result(out / trial.file, {**head, **origin, **content})


# ---- methods that are trained


class _Clock:
    """Measures training alone, over interruptions too.

    The log has the seconds of every step, whichever session it was made in; what comes before the first step
    (a threshold to be found, code to be compiled) and after the last one (a predictor trained anew) is
    measured here.
    """

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._before = 0.0
        self._last = self._started = time.time()
        self._steps = 0

    def say(self, what: str) -> None:
        """Take nothing: a table of many runs has no room for it."""

    def __call__(self, line: dict[str, Any], total: int, left: float | None = None) -> None:
        self._last = time.time()
        if not self._steps:
            self._before = max(0.0, self._last - self._started - float(line.get("seconds", 0.0)))
        self._steps += 1
        if self._progress is not None:
            self._progress(line, total)

    def seconds(self, logged: float, model_folder: Path) -> float:
        """Return all the time that training took; it ended when the model was written."""
        ended = (model_folder / "manifest.json").stat().st_mtime
        return self._before + logged + max(0.0, ended - self._last)


def _trained(trial: Trial, runs: Path, progress: Progress | None) -> dict[str, Any]:
    from genspp.app.audit import audit_folder
    from genspp.app.train import proceed

    config, data = configure(trial.source, trial.method, preset=trial.preset, seed=trial.seed, **trial.settings)
    run = _open(runs / trial.folder, config, FollowedRun if can_be_skewed(trial.method) else Run)
    clock = _Clock(progress)
    outcome = proceed(run, data, clock)
    lines, logged = run.lines(), run.logged_seconds()
    training = {
        "seconds": round(clock.seconds(logged, run.model_folder), 2),
        "unit": next(iter(lines[0])),
        "steps": len(lines),
        "seconds_per_step": round(logged / len(lines), 4),
        "parameters": _parameters(run),
        "peak_memory_mb": peak_memory_mb(),
    }
    settings = dict(run.config["settings"])
    settings["vectors"] = Path(settings["vectors"]).name  # of a file; another name stays what it is
    labels = [str(rationale.label) for rationale in outcome.rationales]
    predictions = Predictions.of(data.splits.test, labels, [rationale.mask for rationale in outcome.rationales])
    return {
        "settings": settings,
        "data": _data(trial, run.config["data"], settings["vectors"]),
        "metrics": {**outcome.metrics, **_function_words(trial, outcome.rationales)},
        "training": training,
        "predictions": predictions.to_json(),
        # Audits are shown of the main comparison.
        **({"audit": audit_folder(run.folder).figures()} if trial.benchmark == "table1" else {}),
        **(_followed(trial, run, data) if isinstance(run, FollowedRun) else {}),
    }


def _function_words(trial: Trial, rationales: Sequence[Rationale]) -> dict[str, float | None]:
    """Return the share of function words among the marked tokens; Toy has letters, and no words."""
    from genspp.evaluation.function_words import function_share

    return {} if family(trial.data) == "toy" else {"function_words": function_share(rationales)}


def _followed(trial: Trial, run: FollowedRun, data: Data) -> dict[str, Any]:
    """Return what training had found when, and how far its start was skewed if it was."""
    if trial.benchmark == "ablation":
        return {"curve": _curve(trial, run, data)}
    told = {name: value for name, value in run.lines()[0].items() if name.startswith("skew")}
    return {"progress": progress_of(run, data).to_json(), **({"skew": told} if told else {})}


def _curve(trial: Trial, run: FollowedRun, data: Data) -> dict[str, str]:
    """Return what the search had found when, as the full recipe judges it."""
    changed = settings_of(trial.variant, trial.data)
    full = {name: value for name, value in run.config["settings"].items() if name not in changed}
    with Recipe.of(full, data) as recipe:
        return curve_of(run, data, recipe.judge).to_json()


def _open(folder: Path, config: dict[str, Any], kind: type[Run]) -> Run:
    """Open the run where it was left, or start it."""
    if not (folder / "config.json").exists():
        return kind.create(folder, config)
    run = kind.open(folder)
    if run.config["settings"] != json.loads(json.dumps(config["settings"])):
        raise RunError(f"{folder} was started with other settings; remove that folder, and run the benchmark again.")
    return run


def _data(trial: Trial, data: dict[str, Any], vectors: str) -> dict[str, Any]:
    found = {"name": trial.data, "fingerprint": data["fingerprint"], "rows": data["rows"], "vectors": vectors}
    if "vectors_sha256" in data:
        found["vectors_sha256"] = data["vectors_sha256"]
    return found


def _parameters(run: Run) -> dict[str, int]:
    """Return how many parameters networks have: in all, and by part where no part shares any with another."""
    from genspp.app.predict import open_model

    model, _ = open_model(run.folder)
    parts = {name: sum(weight.numel() for weight in part.parameters()) for name, part in model.model_.named_children()}
    total = getattr(model, "parameter_count", sum(parts.values()))  # counts what is discarded after training, too
    return {"all": total, **(parts if sum(parts.values()) == total else {})}


# ---- rows that need no training


def _reference(trial: Trial, splits: Splits | None) -> dict[str, Any]:
    from genspp.data.sources import load_source
    from genspp.evaluation.references import score_matching, score_random

    splits = splits or load_source(trial.source)
    if trial.method == "random":
        scores = score_random(splits.test, trial.settings["k"], trial.seed)
    else:
        scores = score_matching(splits.test, trial.settings["triple"])
    return {
        "settings": trial.asked(),
        "data": {"name": trial.data, "fingerprint": splits.fingerprint(), "rows": splits.rows, "vectors": None},
        "metrics": {**dataclasses.asdict(scores), "full_text_clf_f1": None, "texts": len(splits.test)},
        "training": {},
        "predictions": {},  # nobody is tested against these rows, and they are drawn again in a moment
    }


# ---- the program


def _leash() -> None:
    """End this process when the one that started it is gone."""
    while os.read(0, 1):  # not through sys.stdin, whose lock the end of the program would wait for
        pass
    os._exit(1)


def _tell(line: dict[str, Any], total: int) -> None:
    from genspp.report.terminal import describe

    unit, step = next(iter(line.items()))
    said = {"unit": unit, "done": int(step) + 1, "total": total, "text": describe(line)}
    print(json.dumps(said), flush=True)


def main() -> int:
    """Run the trial that standard input describes; an error of ours is one sentence on standard error."""
    import torch

    torch.set_num_threads(1)
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    task = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_leash, daemon=True).start()
    try:
        finish(Trial(**task["trial"]), Path(task["runs"]), Path(task["out"]), progress=_tell)
    except GenSPPError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
