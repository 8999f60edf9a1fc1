"""Result files: all that a finished run leaves in the repository, one small JSON file each.

A file says what was run (and how to run it again), on which data, code and machine, what came of it, what an audit
found, and what the model gave to every test text. It holds no text and no local path: texts are known by their ids,
files by their names. The tests of significance need, for every text, the label given and the highlighted tokens that
are gold (`hits`), so the gold highlights themselves need not be copied.
"""

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import genspp
from genspp.app.runs import versions
from genspp.data.corpus import Corpus
from genspp.errors import DataError
from genspp.evaluation.answers import Audit
from genspp.evaluation.metrics import Counts, class_counts, highlight_counts, precision_recall
from genspp.experiments.curves import Curve
from genspp.experiments.progress import Progress
from genspp.files import write_text

FORMAT = 1
GRIDS = ("table1", "alpha", "ablation", "skew")  # the benchmarks that are made of runs
_PACKAGE = Path(genspp.__file__).parent


@dataclass(frozen=True)
class Predictions:
    """What a run gave to the test texts.

    label numbers count from 0 in the order of `classes`.
    hits: gold tokens among the selected ones, gold: gold tokens in all; both empty where there is no gold.
    """

    classes: tuple[str, ...]
    ids: tuple[str, ...]
    labels: tuple[int, ...]
    predicted: tuple[int, ...]
    masks: tuple[str, ...]
    hits: tuple[int, ...]
    gold: tuple[int, ...]

    @classmethod
    def of(cls, corpus: Corpus, predicted: Sequence[str], masks: Sequence[npt.ArrayLike]) -> "Predictions":
        """Collect them for a corpus."""
        classes = sorted({*corpus.labels, *predicted})
        number = {name: i for i, name in enumerate(classes)}
        annotated = all(highlight is not None for highlight in corpus.highlights)
        counts = highlight_counts(masks, corpus.highlights) if annotated else np.zeros((0, 3), np.int64)
        return cls(
            tuple(classes),
            tuple("_".join(document.id.split()) for document in corpus),  # a column of a file separates them by spaces
            tuple(number[name] for name in corpus.labels),
            tuple(number[name] for name in predicted),
            tuple("".join(str(int(value)) for value in np.asarray(mask)) for mask in masks),
            tuple(int(row[0]) for row in counts),
            tuple(int(row[0] + row[2]) for row in counts),
        )

    def to_json(self) -> dict[str, Any]:
        """Return it with every column as one string: one line of the file each."""
        columns = ("ids", "labels", "predicted", "masks", "hits", "gold")
        return {
            "classes": list(self.classes),
            **{name: " ".join(map(str, getattr(self, name))) for name in columns},
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "Predictions":
        """Read what `to_json` gave."""

        def numbers(name: str) -> tuple[int, ...]:
            return tuple(map(int, content[name].split()))

        return cls(
            tuple(content["classes"]),
            tuple(content["ids"].split()),
            numbers("labels"),
            numbers("predicted"),
            tuple(content["masks"].split()),
            numbers("hits"),
            numbers("gold"),
        )

    def class_counts(self) -> Counts:
        """Return (texts, classes, 3), as `metrics.class_counts` does."""
        names = [[self.classes[i] for i in column] for column in (self.labels, self.predicted)]
        return class_counts(names[0], names[1], self.classes)

    def highlight_counts(self) -> Counts:
        """Return (texts, 3), as `metrics.highlight_counts` does."""
        hits, gold = np.array(self.hits, np.int64), np.array(self.gold, np.int64)
        selected = np.array([mask.count("1") for mask in self.masks], np.int64)
        return np.stack([hits, selected - hits, gold - hits], axis=-1)

    def precision_recall(self) -> tuple[float, float]:
        """Return precision and recall of the selected tokens over all texts; 0 where there is nothing to divide by."""
        precision, recall = precision_recall(self.highlight_counts().sum(0))
        return precision or 0.0, recall or 0.0

    def silence(self) -> list[float]:
        """Return, for every class that occurs, the share of its texts that have no highlight."""
        labels, empty = np.array(self.labels), np.array(["1" not in mask for mask in self.masks])
        return [float(empty[labels == label].mean()) for label in np.unique(labels)]


@dataclass(frozen=True)
class Result:
    """A result file, read."""

    benchmark: str
    data: str
    preset: str
    method: str
    variant: str
    seed: int
    content: dict[str, Any]

    @property
    def metrics(self) -> dict[str, Any]:
        """The figures on the test texts, as in a run's metrics.json."""
        found: dict[str, Any] = self.content["metrics"]
        return found

    @property
    def training(self) -> dict[str, Any]:
        """Seconds, steps, parameters, memory; empty for what is not trained."""
        found: dict[str, Any] = self.content["training"]
        return found

    @property
    def audit(self) -> Audit | None:
        """What its highlights are worth; None for what is not trained, and in files of older runs."""
        figures = self.content.get("audit")
        return None if figures is None else Audit.of(figures)

    def predictions(self) -> Predictions:
        """What was given to the test texts."""
        return Predictions.from_json(self.content["predictions"])

    def curve(self) -> Curve:
        """What the search had found when; runs of an ablation have it."""
        return Curve.from_json(self.content["curve"])

    def progress(self) -> Progress | None:
        """How highlights changed in training; None in files that were made before that was looked at."""
        return Progress.from_json(self.content["progress"]) if "progress" in self.content else None

    @property
    def skew(self) -> dict[str, Any]:
        """What the log said of a start that was locked in."""
        found: dict[str, Any] = self.content["skew"]
        return found


def write_result(path: Path, content: dict[str, Any]) -> None:
    """Write a result file: one line per value, so that two can be compared."""
    write_text(path, json.dumps({"format": FORMAT, **content}, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_result(path: Path) -> Result:
    """Read a result file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise DataError(f"{path} has format {content['format']!r}, this version reads {FORMAT}; run it anew.")
        return Result(**content["run"], content=content)
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise DataError(f"{path} is not a result file ({error}); remove it, and run the benchmark again.") from None


def read_results(folder: Path) -> list[Result]:
    """Read all result files of a folder with one subfolder per benchmark; none where there is no such folder."""
    return [read_result(path) for name in GRIDS for path in sorted((folder / name).glob("*.json"))]


# ---- where a result comes from


@cache
def code_version() -> dict[str, Any]:
    """Return the commit that the package is at and whether its files differ from it; None outside of git."""
    if _git("ls-files", "--error-unmatch", "__init__.py") is None:  # an installed copy, maybe in another's repository
        return {"commit": None, "modified": None}
    return {"commit": _git("rev-parse", "--verify", "HEAD"), "modified": bool(_git("status", "--porcelain", "."))}


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=_PACKAGE, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


@cache
def machine() -> dict[str, Any]:
    """Return what times and the last digits of figures depend on."""
    return {"cpu": _cpu(), "cores": os.cpu_count(), "system": platform.system(), **versions()}


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def peak_memory_mb() -> float | None:
    """Return the most memory this process has held, in MB; None where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1e6 if platform.system() == "Darwin" else 1e3), 1)
