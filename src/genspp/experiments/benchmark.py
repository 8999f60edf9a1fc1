"""The paper's tables and figures, from the grid of runs to the files that show them.

results/table1/*.json, alpha/, ablation/...   one small file per finished run (see `results`)
results/untrained/*.json                      word lists and random tokens at every R (see `untrained`)
results/tables/*.md, *.tex                    made from those files alone
results/vectors-100d/table1/*.json            the same, of runs with other word vectors (--out results/vectors-100d)
results/figures/*.png, figures.json           the paper's two figures, with the numbers in them, and those of benchmarks
results/truncation.json                       see `truncation`
docs/*.md, docs/results/*.md                  made from their templates and all of these (see `page`)
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console

from genspp.cluster import connect
from genspp.data.corpus import Corpus
from genspp.data.sources import load_source
from genspp.errors import DataError, SettingsError
from genspp.experiments import paper
from genspp.experiments.ablation import FULL_RECIPE
from genspp.experiments.board import Board
from genspp.experiments.grid import FULL, QUICK, Effort, Trial, expand, expected_seconds, longest_first
from genspp.experiments.names import REFERENCES, data_name, family
from genspp.experiments.on_ray import on_cluster
from genspp.experiments.page import FIGURES, write_tables
from genspp.experiments.pool import Failure, Overview, Process, own_process, run_all
from genspp.experiments.results import GRIDS, Result, read_result, read_results
from genspp.experiments.sparsity import levels
from genspp.experiments.telling import read_facts
from genspp.experiments.trial import finish
from genspp.experiments.untrained import untrained_file, write_untrained
from genspp.files import write_json
from genspp.report.result_table import mean_std
from genspp.report.terminal import duration
from genspp.settings import PRESETS

SEEDS = {"ablation": 3, "alpha": 3}
WHOLE = "paper"  # all of them, one after the other
WHOLE_GRIDS = ("table1", "alpha", "skew")
NAMES = (*GRIDS, "cost", "figures", WHOLE)
TABLES_OF = {"table1": ("table1", "beside", "audit"), WHOLE: ("table1", "alpha", "skew", "cost")}
RUNS = Path("runs/benchmark")


def benchmark(
    name: str,
    *,
    sources: Sequence[str] = ("toy",),
    methods: Sequence[str] | None = None,
    preset: str | None = None,
    seeds: int | None = None,
    vectors: Path | None = None,
    quick: bool = False,
    out: Path = Path("results"),
    workers: int | None = None,
    on: str | None = None,
    console: Console | None = None,
    printer: Callable[[str], None] = print,
) -> list[Failure]:
    """Do what `genspp benchmark NAME` does: run what is missing, then print the tables, or draw the figures.

    preset: sound by default; that of the whole paper is both. on: the cluster whose workers do the runs; None: here.
    """
    if name not in NAMES:
        raise SettingsError(f"the benchmark is {name!r}; choose one of {', '.join(NAMES)}.")
    effort = QUICK if quick else FULL
    folder, failures = out / effort.name, list[Failure]()
    given: dict[str, Any] = {"sources": sources, "methods": methods, "vectors": vectors, "effort": effort, "out": out}
    if on is not None:
        cluster = connect(on, workers)
        workers, given["process"] = workers or cluster.slots, on_cluster(cluster)
    if name == WHOLE:
        presets = tuple(PRESETS) if preset is None else (preset,)
        failures = run_paper(presets=presets, seeds=seeds, workers=workers, console=console, **given)
    elif name in GRIDS:
        failures = run_grid(
            name, preset=preset or "sound", seeds=_seeds(name, seeds, effort), workers=workers, console=console, **given
        )
    drawn = draw_figures(folder, sources) if name in (WHOLE, "figures") else []
    for grid in WHOLE_GRIDS if name == WHOLE else (name,):
        if grid in FIGURES:
            drawn += FIGURES[grid](Board(read_results(folder)), folder / "figures")
    tables = write_tables(folder, TABLES_OF.get(name, (name,))) if name != "figures" else []
    for shown in (*tables, *map(str, drawn)):
        printer(shown)
    if not tables and not drawn:
        printer(f"there are no results in {folder} yet; run `genspp benchmark table1` first.")
    return failures


def _seeds(name: str, seeds: int | None, effort: Effort) -> int:
    """Return how many seeds a benchmark has."""
    return seeds if seeds is not None else SEEDS.get(name, 5) if effort is FULL else 1


def run_paper(
    *,
    sources: Sequence[str],
    methods: Sequence[str] | None = None,
    presets: Sequence[str] = tuple(PRESETS),
    seeds: int | None = None,
    vectors: Path | None = None,
    effort: Effort = FULL,
    out: Path = Path("results"),
    runs: Path = RUNS,
    workers: int | None = None,
    process: Process = own_process,
    console: Console | None = None,
) -> list[Failure]:
    """Run what is missing of all grids of the paper, and say before each how much is left; return what failed.

    methods: those that the paper compares, by default.
    """
    console = console or Console(stderr=True, highlight=False)
    methods = methods or [*dict.fromkeys(method for _, method, _ in paper.BENCHMARK), *REFERENCES]
    given = {"methods": methods, "vectors": vectors, "effort": effort}
    grids: dict[tuple[str, str], tuple[dict[str, Any], list[Trial]]] = {}
    for name, preset in product(WHOLE_GRIDS, presets):
        swept = [source for source in sources if name != "alpha" or levels(family(data_name(source)))]
        if swept:
            own: dict[str, Any] = {"sources": swept, "preset": preset, "seeds": _seeds(name, seeds, effort), **given}
            grids[name, preset] = own, expand(name, **own)
    failures: list[Failure] = []
    for number, ((name, preset), (own, trials)) in enumerate(grids.items(), start=1):
        later = [trial for _, rest in list(grids.values())[number - 1 :] for trial in rest]
        here, all_in_all = (_what_is_left(found, out, effort, workers) for found in (trials, later))
        said = f"part {number} of {len(grids)}, {name} under preset {preset}: {here}; in all {all_in_all}"
        console.print(said, soft_wrap=True)
        failures += run_grid(name, out=out, runs=runs, workers=workers, process=process, console=console, **own)
    return failures


def _what_is_left(trials: Sequence[Trial], out: Path, effort: Effort, workers: int | None) -> str:
    """Say how many runs are left of some, each counted once, and about how long they take; quick ones do not tell."""
    missing = {trial.file: trial for trial in trials if not _finished(trial, out)}
    taken = _seconds(read_results(out / effort.name))
    seconds = sum(expected_seconds(trial, taken) for trial in missing.values()) / (workers or os.cpu_count() or 1)
    return f"{len(missing)} runs left" + (f", about {duration(seconds)}" if missing and effort is FULL else "")


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
    process: Process = own_process,
    console: Console | None = None,
) -> list[Failure]:
    """Run what is missing of a benchmark, write the tables, and return the runs that failed.

    process: does a run.
    """
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

    if benchmark == "alpha":
        _measure_untrained(sources, preset, out / effort.name)
    first = grid()
    if vectors is not None:
        taking = dict.fromkeys(data_name(trial.source) for trial in first if "vectors" in trial.settings)
        whose = ", ".join(taking) or "none of the data"
        console.print(f"{vectors.name} has the word vectors of {whose}", soft_wrap=True)
    failures = _run_missing(first, effort, runs, out, workers, process, console)
    # How many evaluations are as many as the full recipe's is known once that has run.
    later = [trial for trial in grid() if trial not in first]
    failures += _run_missing(later, effort, runs, out, workers, process, console) if later else []
    write_tables(out / effort.name)
    return failures


def _measure_untrained(sources: Sequence[str], preset: str, out: Path) -> None:
    """Measure what is not trained at every R, where that has not been done."""
    for source in sources:
        path = out / untrained_file(data_name(source), preset)
        if not path.exists():
            write_untrained(path, source, preset, load_source(source))


def _run_missing(
    grid: Sequence[Trial],
    effort: Effort,
    runs: Path,
    out: Path,
    workers: int | None,
    process: Process,
    console: Console,
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
        todo = run_all(trained, runs=runs, out=out, workers=workers, overview=overview, process=process)
        return asyncio.run(todo)


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
    if not trial.is_what(asked):
        raise SettingsError(
            f"{path} was made with {asked}, not with {trial.asked()}; move it away, or give another folder with --out."
        )
    return True


def _seconds(results: Sequence[Result]) -> dict[tuple[str, str, str], float]:
    """Return how long the runs of every kind took here."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for run in results:
        if run.training:
            found.setdefault((run.data, run.preset, run.method), []).append(run.training["seconds"])
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
        splits = load_source(source)
        masks = [mask for part in (splits.train, splits.val, splits.test) for mask in _gold(part)]
        counts = contiguous_histogram(histogram, masks, "Contiguous gold highlights in a HateXplain post")
        trained = _gold(splits.train)
        facts["hatexplain-highlights"] = {
            "posts": len(masks),
            "posts_by_highlights": [int(n) for n in counts],
            "selection_size": mean_std([float(mask.sum()) for mask in trained]),
            "selection_rate": mean_std([float(mask.mean()) for mask in trained]),
        }
        drawn.append(histogram)
    write_json(folder / "figures.json", facts)
    return drawn


def _gold(part: Corpus) -> list[npt.NDArray[Any]]:
    return [np.asarray(highlight) for highlight in part.highlights if highlight is not None]
