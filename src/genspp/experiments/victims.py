"""The commands that are killed (see `torture`): what is typed, at first and to go on, and what comes of it."""

import csv
import json
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from genspp.app.runs import read_checkpoint
from genspp.errors import GenSPPError
from genspp.experiments.grid import QUICK
from genspp.experiments.scale import Case, made_texts
from genspp.experiments.victim import Process
from genspp.files import hold
from genspp.methods import METHODS
from genspp.model.folder import load_folder

WAIT = 900.0  # seconds, beyond which a command hangs
_DATA = Case("rows to train on", 90, 8, 3)
_GRID = ("rnp", "fr", "random")  # the methods of the grid
_TIMES = ("seconds", "seconds_per_step", "peak_memory_mb")


class WrongError(Exception):
    """What ought not to have happened, in a few words."""


@dataclass(frozen=True)
class Victim:
    """A command that is killed.

    name: what it is counted under. arguments: what is typed, by the folder of a life, at first and after a kill.
    made: what came of it, without times, by the same folder. prepare: lays out what must be there before.
    """

    name: str
    arguments: Callable[[Path], list[str]]
    made: Callable[[Path], Any]
    prepare: Callable[[Path], object] = lambda folder: None


# ---- processes


def finish(process: Process, seconds: float = WAIT) -> tuple[int, str]:
    """Return how a process ended and what it said; one that does not end is ended."""
    ended = process.wait(seconds)
    if ended is None:
        process.send(signal.SIGKILL)
        process.wait(WAIT)
        raise WrongError("it did not end")
    return ended


def succeed(folder: Path, arguments: Sequence[str]) -> Process:
    """Run a command, which must end well."""
    process = Process(folder, arguments)
    code, said = finish(process)
    if code:
        raise WrongError(f"it ended with code {code}: {said.strip()[-300:]}")
    return process


# ---- what is there


def whole(folder: Path) -> None:
    """See to it that all files are whole; a log's last line may be cut off."""
    for path in (path for path in folder.rglob("[!.]*") if path.is_file()):
        try:
            if path.name == "manifest.json":
                load_folder(path.parent)
            elif path.suffix == ".json":
                json.loads(path.read_bytes())
            elif path.suffix == ".html" and not path.read_text(encoding="utf-8").rstrip().endswith("</html>"):
                raise ValueError
            elif path.name == "checkpoint.safetensors":
                read_checkpoint(path)
        except (ValueError, GenSPPError) as error:
            raise WrongError(f"{path.name} is half written ({error})") from None


def free(folder: Path) -> None:
    """See to it that no process holds any folder."""
    for place in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        try:
            hold(place)
        except BlockingIOError:
            raise WrongError(f"a lock was left on {place.name}") from None


def left(folder: Path) -> set[str]:
    """Return the names of all files, hidden ones too."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def differ(made: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Say what of a result is another than it ought to be, if anything is."""
    other = sorted(name for name in made.keys() | expected.keys() if made.get(name) != expected.get(name))
    if other:
        raise WrongError(f"the result is another one: {', '.join(other)}")


def run_made(folder: Path) -> dict[str, Any]:
    """Return what a run folder holds, without times."""
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    names = ("config.json", "metrics.json", "predictions.jsonl")
    state = read_checkpoint(folder / "checkpoint.safetensors")
    return {
        **{name: (folder / name).read_bytes() for name in names},
        **{path.name: path.read_bytes() for path in (folder / "model").iterdir() if path.suffix != ".safetensors"},
        "weights": {name: value.tobytes() for name, value in load_folder(folder / "model").weights.items()},
        "log": [{name: value for name, value in line.items() if name != "seconds"} for line in lines],
        "state": {name: v.tobytes() if isinstance(v, np.ndarray) else v for name, v in state.items()},
    }


def grid_made(folder: Path) -> dict[str, Any]:
    """Return what a benchmark leaves, without times."""
    found: dict[str, Any] = {"files": sorted(left(folder / "results"))}
    for path in sorted((folder / "results" / QUICK.name / "table1").glob("*.json")):
        content = {name: value for name, value in json.loads(path.read_bytes()).items() if name != "code"}
        for part in ("training", "progress"):
            content[part] = {name: value for name, value in content.get(part, {}).items() if name not in _TIMES}
        found[path.name] = content
        runs = folder / "runs" / "benchmark" / QUICK.name / "table1" / path.stem
        found[f"run {path.stem}"] = run_made(runs) if runs.is_dir() else None
    return found


# ---- the commands


def quick_settings(method: str) -> list[str]:
    """Return what to type for the least training that a method can have."""
    settings = {**QUICK.of(method), "workers": 1, "hidden": 8}
    return [part for name, value in settings.items() for part in ("--set", f"{name}={json.dumps(value)}")]


def train_arguments(data: Path, method: str) -> Callable[[Path], list[str]]:
    """Return what to type to train, and to go on."""

    def arguments(folder: Path) -> list[str]:
        if (folder / "run" / "config.json").exists():
            return ["resume", "run"]
        return ["train", str(data), "--method", method, "--out", "run", "--examples", "0", *quick_settings(method)]

    return arguments


def training(data: Path, method: str) -> Victim:
    """Return the training by one method."""
    return Victim(
        f"train, {METHODS[method].title}", train_arguments(data, method), lambda folder: run_made(folder / "run")
    )


def others(data: Path, trained: Path) -> list[Victim]:
    """Return the commands that are no training. trained: the folder of a run, and of another one's model."""

    def old(folder: Path) -> None:
        shutil.copytree(trained / "other", folder / "model")
        (folder / "labelled.csv").write_text("an older file\n")

    def copy(folder: Path) -> None:
        shutil.copytree(trained / "run", folder / "run")
        (folder / "run" / "report.html").unlink()

    def bytes_of(*names: str) -> Callable[[Path], dict[str, bytes]]:
        return lambda folder: {name: (folder / name).read_bytes() for name in names}

    grid = [
        "benchmark",
        "table1",
        "--quick",
        "--seeds",
        "1",
        "--data",
        str(data),
        "--methods",
        ",".join(_GRID),
    ]
    model = str(trained / "run" / "model")
    return [
        Victim("save", lambda _: ["save", model, "model"], lambda folder: _model(folder / "model"), old),
        Victim(
            "predict", lambda _: ["predict", model, str(data), "--out", "labelled.csv"], bytes_of("labelled.csv"), old
        ),
        Victim("report", lambda _: ["report", "run"], bytes_of("run/report.html", "run/audit.json"), copy),
        Victim("benchmark", lambda _: grid, grid_made),
    ]


def _model(folder: Path) -> dict[str, Any]:
    weights = {name: value.tobytes() for name, value in load_folder(folder).weights.items()}
    return {"weights": weights, **{path.name: path.read_bytes() for path in folder.glob("*.json")}}


def write_data(path: Path) -> Path:
    """Write the rows that everything is trained on."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "label"), *made_texts(_DATA)])
    return path
