"""How fast are the gradient methods? `make bench-gradient`.

Epochs of every gradient method, training and validation, and in between, in the same run, epochs of the same method by
torch's own modules: so the ratios hold on a noisy machine. On Toy, and on random texts as many and as long as
HateXplain's. One core, one thread; seconds are the processor's, in which other processes count little. Both compute
the same, whatever the presets' defaults are: predictors read zero vectors in place of unselected tokens, vectors have
no label columns, marks cost the same in all classes, sizes are the paper's. And one whole run of FR, as `genspp train
toy --method fr --seed 1` does it.
"""

import argparse
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from genspp.app.configure import configure
from genspp.app.runs import Run
from genspp.app.train import proceed
from genspp.data.encode import Encoded, encode
from genspp.data.vectors import UNKNOWN, Vectors
from genspp.experiments.population_bench import random_task
from genspp.experiments.results import code_version, machine
from genspp.experiments.torch_systems import TORCH_METHODS
from genspp.experiments.torch_texts import PaddedTexts
from genspp.files import write_json
from genspp.methods import METHODS
from genspp.methods.gradient import GradientRationalizer
from genspp.methods.recorder import Forgetful
from genspp.model.networks import one_thread
from genspp.population.evaluator import Task
from genspp.streams import epoch_order

ROUNDS = 2  # of some epochs of ours, and then one of torch's
EPOCHS = 4  # of ours in a round
TURNS = 3  # of two methods that are measured in turn
# Epochs count from where a method has done what comes first: here, training G-RAT's guider alone.
_BEGUN: dict[str, dict[str, Any]] = {"grat": {"pretrain_epochs": 0}}
# What both compute: torch's modules have no predictors that skip gaps, nor marks that cost more in some classes.
_COMMON: dict[str, Any] = {"skip_gaps": False, "label_columns": False, "evidence_for": None}


@dataclass(frozen=True)
class Texts:
    """Texts as lists of tokens, and their labels."""

    tokens: list[list[str]]
    labels: list[Any]


@dataclass(frozen=True)
class Case:
    """Data to measure on. family: whose settings the methods take. vectors: those of the words, or what they are."""

    train: Texts
    val: Texts
    family: str
    vectors: Vectors | str


def toy_case() -> Case:
    """Return the Toy data."""
    splits = configure("toy", "fr")[1].splits
    train, val = (Texts(part.keys(splits.tokenizer), list(part.labels)) for part in (splits.train, splits.val))
    return Case(train, val, "toy", "onehot")


def random_case(task: Task) -> Case:
    """Return the texts of a task of random words."""
    words = tuple(str(row) for row in range(2, len(task.vectors)))

    def texts(data: Encoded) -> Texts:
        rows = zip(data.starts, data.starts[1:], strict=False)
        return Texts([[str(row) for row in data.ids[start:end]] for start, end in rows], data.labels.tolist())

    return Case(texts(task.train), texts(task.val), "hatexplain", Vectors(words, task.vectors, "random"))


class TorchEpochs:
    """Epochs of a method by torch, which start where a model stands."""

    def __init__(self, name: str, model: GradientRationalizer, case: Case) -> None:
        companions, classes = model._companions(model._shape()), model.classes_
        weights = np.ones(len(classes), np.float32)
        self._method = TORCH_METHODS[name](
            model.model_, companions, model.full_text_, model.settings(len(classes)), weights
        )
        self._train, self._val = (_padded(part, model) for part in (case.train, case.val))
        self.seconds = list[float]()
        self._method.epoch(self._train, self._val, np.arange(2))  # what torch does once, it does now

    def run(self) -> None:
        """Run an epoch and note its time."""
        started = process_time()
        self._method.epoch(self._train, self._val, epoch_order(0, len(self.seconds), len(self._train)))
        self.seconds.append(process_time() - started)


def _padded(texts: Texts, model: GradientRationalizer) -> PaddedTexts:
    labels, vectors = np.searchsorted(model.classes_, texts.labels), model.vectors_
    return PaddedTexts(encode(texts.tokens, vectors.index, UNKNOWN, labels.astype(np.int32)), vectors.table)


class Clock(Forgetful):
    """A recorder that takes the time of a model's epochs, and after every round of them of one by torch."""

    def __init__(self, name: str, model: GradientRationalizer, case: Case, *, alone: bool) -> None:
        self._about, self._alone = (name, model, case), alone or name not in TORCH_METHODS
        self.seconds, self.torch = list[float](), list[float]()

    def restore(self) -> None:
        """Start: the model has its networks, and its full-text predictor is trained."""
        self._other = None if self._alone else TorchEpochs(*self._about)
        self._started = process_time()

    def record(self, line: dict[str, Any], state: dict[str, Any], total: int) -> None:
        """Note the time of an epoch; the first, in which code is compiled, does not count."""
        if line["epoch"] > 0:
            self.seconds.append(process_time() - self._started)
            if self._other is not None and line["epoch"] % EPOCHS == 0:
                self._other.run()
                self.torch = self._other.seconds
        self._started = process_time()


def measure(name: str, case: Case, rounds: int = ROUNDS, *, alone: bool = False) -> dict[str, float]:
    """Return the seconds per epoch of a method, by us and, unless it is measured alone, by torch, and their ratio."""
    epochs = {"max_epochs": 1 + rounds * EPOCHS, "patience": 1 + rounds * EPOCHS}
    settings = METHODS[name].settings_on(case.family, "paper") | _COMMON | _BEGUN.get(name, {}) | epochs
    model: Any = METHODS[name](**settings | {"vectors": case.vectors})
    clock = Clock(name, model, case, alone=alone)
    validation = case.val.tokens, case.val.labels
    model.fit(case.train.tokens, case.train.labels, validation=validation, recorder=clock)
    found = {"seconds": round(median(clock.seconds), 4)}
    if clock.torch:
        found |= {"torch": round(median(clock.torch), 3)}
        found |= {"ratio": round(median(clock.torch) / median(clock.seconds), 1)}
    return found


def quotient(name: str, other: str, case: Case) -> float:
    """Return how many times as long as an epoch of another method one of this takes; measured in turn."""
    pairs = [[measure(kind, case, 1, alone=True)["seconds"] for kind in (name, other)] for _ in range(TURNS)]
    return round(median(a / b for a, b in pairs), 2)


def whole_run() -> dict[str, float]:
    """Return the epochs and the seconds of a whole run of FR, from loading the data to its metrics."""
    started = perf_counter()
    config, data = configure("toy", "fr", seed=1)
    with tempfile.TemporaryDirectory() as folder:
        run = Run.create(Path(folder) / "run", config)
        proceed(run, data)
        epochs = len((run.folder / "log.jsonl").read_text(encoding="utf-8").splitlines())
    return {"epochs": epochs, "seconds": round(perf_counter() - started, 1)}


def bench() -> dict[str, Any]:
    """Measure and return everything that goes into results/bench-gradient.json."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    names = [name for name, kind in METHODS.items() if issubclass(kind, GradientRationalizer)]
    cases = {"toy": toy_case(), "hatexplain": random_case(random_task())}
    with one_thread():
        epochs = {case: {name: measure(name, data) for name in names} for case, data in cases.items()}
        longer = {case: quotient("grat", "fr", data) for case, data in cases.items()}
    return {
        "command": "make bench-gradient",
        "code": code_version(),
        "machine": machine(),
        "epochs_measured": {"ours": ROUNDS * EPOCHS, "torch": ROUNDS},
        "epoch": epochs,
        "grat_over_fr": longer,
        "whole_run_of_fr": whole_run(),
    }


def show(content: dict[str, Any], console: Console) -> None:
    """Print the table."""
    table = Table("seconds per epoch, one core", "", "ours", "torch", "ratio")
    for case, methods in content["epoch"].items():
        for name, found in methods.items():
            torch_s = f"{found['torch']:.2f}" if "torch" in found else "-"
            table.add_row(case, name, f"{found['seconds']:.3f}", torch_s, str(found.get("ratio", "-")))
    console.print(table)
    longer = ", ".join(f"{ratio} on {case}" for case, ratio in content["grat_over_fr"].items())
    console.print(f"An epoch of G-RAT takes so many times one of FR: {longer}.")
    run = content["whole_run_of_fr"]
    console.print(f"A whole run of FR on Toy: {run['epochs']} epochs, {run['seconds']} s.")


def main() -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser(prog="python -m genspp.experiments.gradient_bench", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/bench-gradient.json"))
    arguments = parser.parse_args()
    content = bench()
    show(content, Console(highlight=False))
    write_json(arguments.out, content)


if __name__ == "__main__":
    main()
