"""Made-up result files, so that tables and sentences can be tested without training anything."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from conftest import DECIDING, FILLER, sentences
from genspp.evaluation.metrics import f1, macro_f1
from genspp.experiments.progress import Progress
from genspp.experiments.results import FORMAT, Predictions, Result
from genspp.experiments.skew import LOCKED

TEXTS = 16


def predictions(hits: int, right: int) -> Predictions:
    """Return what a run gave to 16 texts of four tokens, the first of which is gold in every one.

    hits: in how many texts that token is selected; in the others another one is. right: how many labels are.
    """
    labels = tuple(i % 2 for i in range(TEXTS))
    return Predictions(
        classes=("no", "yes"),
        ids=tuple(f"t{i}" for i in range(TEXTS)),
        labels=labels,
        predicted=tuple(label if i < right else 1 - label for i, label in enumerate(labels)),
        masks=tuple("1000" if i < hits else "0100" for i in range(TEXTS)),
        hits=tuple(int(i < hits) for i in range(TEXTS)),
        gold=(1,) * TEXTS,
    )


def made_run(method: str, seed: int, *, hits: int = 8, right: int = 8, **changes) -> Result:
    """Return a run. changes: of data, preset, variant, benchmark, vectors, selection_rate, seconds, parameters.

    beside: the references among its figures, audit: an `Audit`; files of older runs have neither. more: what else its
    file holds.
    """
    given = predictions(hits, right)
    key = {
        "benchmark": changes.get("benchmark", "table1"),
        "data": changes.get("data", "hatexplain"),
        "preset": changes.get("preset", "sound"),
        "method": method,
        "variant": changes.get("variant", ""),
        "seed": seed,
    }
    content = {
        "format": FORMAT,
        "run": key,
        "asked": {},
        "code": {"commit": changes.get("commit", "0123456789"), "modified": False},
        "machine": {"cpu": "an abacus", "cores": 2},
        "data": {"name": key["data"], "vectors": changes.get("vectors", "corpus"), "fingerprint": "x"},
        "metrics": {
            "clf_f1": float(macro_f1(given.class_counts().sum(0))),
            "hl_f1": float(f1(given.highlight_counts().sum(0))),
            "selection_rate": changes.get("selection_rate", 0.25),
            "selection_size": 1.0,
            "full_text_clf_f1": 0.9,
            "texts": TEXTS,
            **changes.get("beside", {}),
        },
        "training": {
            "seconds": changes.get("seconds", 60.0),
            "steps": 10,
            "seconds_per_step": 6.0,
            "parameters": changes.get("parameters", {"all": 30, "generator": 10, "predictor": 20}),
            "peak_memory_mb": 100.0,
        },
        "predictions": given.to_json(),
        **changes.get("more", {}),
    }
    if "audit" in changes:
        content["audit"] = changes["audit"].figures()
    return Result(**key, content=content)


def ten_seeds(method: str, *, hits: int = 8, right: int = 8, **changes) -> list[Result]:
    """Return runs of seeds 1 to 10: those of `five_seeds` twice over, a little better the second time: no ties."""
    first, later = (five_seeds(method, hits=hits, right=right, **changes) for _ in range(2))
    for run in later:
        run.content["metrics"] |= {name: run.metrics[name] + 1e-6 for name in ("clf_f1", "hl_f1")}
    return [*first, *(replace(run, seed=run.seed + 5) for run in later)]


def five_seeds(method: str, *, hits: int = 8, right: int = 8, **changes) -> list[Result]:
    """Return runs of seeds 1 to 5 around these hits and labels: two below, two above."""
    spread = (-2, -1, 0, 1, 2)
    return [
        made_run(method, seed, hits=hits + step, right=right + step, **changes)
        for seed, step in zip(range(1, 6), spread, strict=True)
    ]


def skewed(
    method: str, seed: int, hits: int, *, share: float = 0.9, curve: tuple[float, ...] = (), **changes
) -> Result:
    """Return a run from a start whose first places tell a share of the labels. hits: of 16 texts, as `made_run` has."""
    more: dict[str, Any] = {"skew": {"skew_train": share, "skew_val": share, "skew_selected": [[share] * 10] * 2}}
    if curve:
        steps = tuple(range(1, len(curve) + 1))
        more["progress"] = Progress(steps, steps, (0.2,) * len(curve), curve).to_json()
    variant = changes.pop("variant", f"K={LOCKED}")
    return made_run(method, seed, hits=hits, variant=variant, benchmark="skew", more=more, **changes)


def write_posts(folder: Path) -> Path:
    """Write 60 posts in which single words decide, in the official format."""
    stream = np.random.RandomState(0)
    posts, divisions = {}, {"train": [], "val": [], "test": []}
    for number in range(60):
        label, kind = ("offensive", "food") if number % 2 else ("normal", "sport")
        words = [*stream.choice(FILLER, 5), str(stream.choice(DECIDING[kind]))]
        posts[f"{number}_gab"] = {
            "post_id": f"{number}_gab",
            "annotators": [{"label": label, "target": []}] * 3,
            "rationales": [[0, 0, 0, 0, 0, 1]] * 3 if label == "offensive" else [],
            "post_tokens": [str(word) for word in words],
        }
        divisions["train" if number < 32 else "val" if number < 44 else "test"].append(f"{number}_gab")
    folder.mkdir()
    (folder / "dataset.json").write_text(json.dumps(posts))
    (folder / "post_id_divisions.json").write_text(json.dumps(divisions))
    return folder


def write_vectors(path: Path) -> Path:
    """Write vectors of the words that posts have."""
    stream = np.random.RandomState(1)
    words = sorted({*FILLER, *DECIDING["food"], *DECIDING["sport"]})
    path.write_text("".join(f"{word} {' '.join(f'{x:.3f}' for x in stream.normal(size=3))}\n" for word in words))
    return path


async def run_none(trials, *, runs, out, workers, overview, process):
    """Do nothing of what the pool of a benchmark does."""
    return []


def write_eraser(folder: Path) -> Path:
    """Write a folder in ERASER's form: 40 training texts and 20 of the other parts each, a word of each marked."""
    (folder / "docs").mkdir(parents=True)
    for part, rows in (("train", 40), ("val", 20), ("test", 20)):
        lines = []
        for number, (text, label) in enumerate(zip(*sentences(rows, seed=rows), strict=True)):
            name = f"{part}{number}"
            (folder / "docs" / name).write_text(text)
            piece = {"docid": name, "start_token": 0, "end_token": 1}
            row = {"annotation_id": name, "query": "", "classification": label, "evidences": [[piece]]}
            lines.append(json.dumps(row) + "\n")
        (folder / f"{part}.jsonl").write_text("".join(lines))
    return folder
