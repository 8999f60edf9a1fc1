"""The paper's tables and figures, from the grid of runs to the files that show them.

results/table1/*.json, alpha/, ablation/...   one small file per finished run (see `results`)
results/tables/*.md, *.tex                    made from those files alone
results/vectors-100d/table1/*.json            the same, of runs with other word vectors (--out results/vectors-100d)
results/figures/*.png, figures.json           the paper's two figures, with the numbers in them, and those of benchmarks
results/truncation.json                       see `truncation`
docs/results.md, ablation.md, skew.md         made from their templates and all of these (see `page`)
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from genspp.data.corpus import Splits
from genspp.data.sources import load_source
from genspp.errors import DataError, SettingsError
from genspp.experiments.ablation import FULL_RECIPE
from genspp.experiments.board import Board
from genspp.experiments.grid import FULL, QUICK, Effort, Trial, expand, expected_seconds, longest_first
from genspp.experiments.names import REFERENCES, data_name
from genspp.experiments.page import FIGURES, read_facts, write_tables
from genspp.experiments.pool import Failure, Overview, run_all
from genspp.experiments.results import GRIDS, Result, read_result, read_results
from genspp.experiments.trial import finish
from genspp.files import write_json

SEEDS = {"ablation": 3}
NAMES = (*GRIDS, "cost", "figures")
RUNS = Path("runs/benchmark")


def benchmark(
    name: str,
    *,
    sources: Sequence[str] = ("toy",),
    methods: Sequence[str] | None = None,
    preset: str = "sound",
    seeds: int | None = None,
    vectors: Path | None = None,
    quick: bool = False,
    out: Path = Path("results"),
    workers: int | None = None,
    console: Console | None = None,
    printer: Callable[[str], None] = print,
) -> list[Failure]:
    """Do what `genspp benchmark NAME` does: run what is missing, then print the tables, or draw the figures."""
    if name not in NAMES:
        raise SettingsError(f"the benchmark is {name!r}; choose one of {', '.join(NAMES)}.")
    effort = QUICK if quick else FULL
    failures: list[Failure] = []
    if name == "figures":
        for path in draw_figures(out, sources):
            printer(str(path))
        return failures
    if name in GRIDS:
        failures = run_grid(
            name,
            sources=sources,
            methods=methods,
            preset=preset,
            seeds=(1 if quick else SEEDS.get(name, 5)) if seeds is None else seeds,
            vectors=vectors,
            effort=effort,
            out=out,
            workers=workers,
            console=console,
        )
    if name in FIGURES:
        FIGURES[name](Board(read_results(out / effort.name)), out / effort.name / "figures")
    tables = write_tables(out / effort.name, ("table1", "audit") if name == "table1" else (name,))
    for table in tables:
        printer(table)
    if not tables:
        printer(f"there are no results in {out / effort.name} yet; run `genspp benchmark table1` first.")
    return failures


def run_grid(
    benchmark: str,
    *,
    sources: Sequence[str] = ("toy",),
    methods: Sequence[str] | None = None,
    preset: str = "sound",
    seeds: int = 5,
    vectors: Path | None = None,
    effort: Effort = FULL,
    out: Path = Path("results"),
    runs: Path = RUNS,
    workers: int | None = None,
    console: Console | None = None,
) -> list[Failure]:
    """Run what is missing of a benchmark, write the tables, and return the runs that failed."""
    console = console or Console(stderr=True, highlight=False)
    if vectors is not None and not vectors.is_file():
        raise DataError(f"there is no file {vectors}; give the vectors' file with --vectors.")

    def grid() -> list[Trial]:
        return expand(
            benchmark,
            sources=sources,
            methods=methods,
            preset=preset,
            seeds=seeds,
            vectors=vectors,
            effort=effort,
            spent=_spent(read_results(out / effort.name)),
        )

    first = grid()
    failures = _run_missing(first, effort, runs, out, workers, console)
    # How many evaluations are as many as the full recipe's is known once that has run.
    later = [trial for trial in grid() if trial not in first]
    failures += _run_missing(later, effort, runs, out, workers, console) if later else []
    write_tables(out / effort.name)
    return failures


def _run_missing(
    grid: Sequence[Trial], effort: Effort, runs: Path, out: Path, workers: int | None, console: Console
) -> list[Failure]:
    """Run the trials that have no result yet; return those that failed."""
    missing = [trial for trial in grid if not _finished(trial, out)]
    data = {source: load_source(source) for source in dict.fromkeys(trial.source for trial in missing)}
    for trial in missing:
        if trial.method in REFERENCES:
            finish(trial, runs, out, data[trial.source])
    taken = _seconds(read_results(out / effort.name))
    trained = longest_first([trial for trial in missing if trial.method not in REFERENCES], taken)
    console.print(f"{len(grid)} runs, {len(grid) - len(trained)} of them finished", soft_wrap=True)
    workers = workers or os.cpu_count() or 1
    expected = [(trial, expected_seconds(trial, taken)) for trial in trained]
    with Overview(console, expected, len(grid) - len(trained), workers) as overview:
        return asyncio.run(run_all(trained, runs=runs, out=out, workers=workers, overview=overview))


def _spent(results: Sequence[Result]) -> dict[tuple[str, int], int]:
    """Return how many evaluations the full recipe of an ablation had, by data and seed."""
    full = [run for run in results if (run.benchmark, run.variant) == ("ablation", FULL_RECIPE)]
    return {(run.data, run.seed): int(run.curve().evaluations[-1]) for run in full}


def _finished(trial: Trial, out: Path) -> bool:
    """Return whether a run has its result; one of other settings under the same name is an error."""
    path = out / trial.file
    if not path.exists():
        return False
    asked = read_result(path).content["asked"]
    if asked != trial.asked():
        raise SettingsError(
            f"{path} was made with {asked}, not with {trial.asked()}; move it away, or give another folder with --out."
        )
    return True


def _seconds(results: Sequence[Result]) -> dict[tuple[str, str], float]:
    """Return how long the runs of every kind took here."""
    found: dict[tuple[str, str], list[float]] = {}
    for run in results:
        if run.training:
            found.setdefault((run.data, run.method), []).append(run.training["seconds"])
    return {kind: sum(values) / len(values) for kind, values in found.items()}


# ---- figures


def draw_figures(out: Path, sources: Sequence[str] = ()) -> list[Path]:
    """Draw the loss landscape and, where a HateXplain source is named, its contiguous gold highlights."""
    from genspp.report.figures import contiguous_histogram, loss_landscape

    folder = out / "figures"
    landscape = folder / "loss-landscape.png"
    facts = read_facts(folder / "figures.json")
    facts["loss-landscape"] = {name: list(pair) for name, pair in loss_landscape(landscape).items()}
    drawn = [landscape]
    for source in (source for source in sources if data_name(source) == "hatexplain"):
        histogram = folder / "hatexplain-highlights.png"
        masks = _gold(load_source(source))
        counts = contiguous_histogram(histogram, masks, "Contiguous gold highlights in a HateXplain post")
        facts["hatexplain-highlights"] = {"posts": len(masks), "posts_by_highlights": [int(n) for n in counts]}
        drawn.append(histogram)
    write_json(folder / "figures.json", facts)
    return drawn


def _gold(splits: Splits) -> list[Any]:
    parts = (splits.train, splits.val, splits.test)
    return [highlight for part in parts for highlight in part.highlights if highlight is not None]
