"""The paper's tables and figures, from the grid of runs to the page that shows them.

    results/table1/*.json, results/alpha/*.json   one small file a finished run (see `results`)
    results/tables/*.md, *.tex                    made from those files alone
    results/vectors-100d/table1/*.json            the same, of runs with other word vectors (--out results/vectors-100d)
    results/figures/*.png, figures.json           the two figures, and the numbers in them
    results/truncation.json                       see `truncation`
    docs/results.md                               made from docs/results.template.md and all of these

`python -m genspp.experiments.benchmark docs` writes the last one again.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jinja2
from rich.console import Console

from genspp.data.corpus import Splits
from genspp.data.sources import load_source
from genspp.errors import DataError, GenSPPError, SettingsError
from genspp.experiments.grid import (
    FULL,
    QUICK,
    TRIVIAL,
    Effort,
    Trial,
    data_name,
    expand,
    expected_seconds,
    longest_first,
)
from genspp.experiments.pool import Failure, Overview, run_all
from genspp.experiments.results import Result, read_result, read_results
from genspp.experiments.tables import (
    Board,
    alpha_table,
    cost_table,
    genspp_table,
    highlights_table,
    table1,
    vectors_table,
)
from genspp.experiments.trial import finish
from genspp.experiments.truncation import FILE as TRUNCATION
from genspp.files import write_json, write_text
from genspp.report.tables import Table

GRIDS = ("table1", "alpha")
NAMES = (*GRIDS, "cost", "figures")
RUNS = Path("runs/benchmark")
TEMPLATE, PAGE = Path("docs/results.template.md"), Path("docs/results.md")
TABLES: dict[str, Callable[[Board, str, str], Table | None]] = {
    "table1": table1,
    "alpha": alpha_table,
    "cost": cost_table,
}


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
            seeds=(1 if quick else 5) if seeds is None else seeds,
            vectors=vectors,
            effort=effort,
            out=out,
            workers=workers,
            console=console,
        )
    tables = write_tables(out / effort.name, (name,))
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
    """Run what is missing of `table1` or `alpha`, write the tables, and return the runs that failed."""
    console = console or Console(stderr=True, highlight=False)
    if vectors is not None and not vectors.is_file():
        raise DataError(f"there is no file {vectors}; give the vectors' file with --vectors.")
    grid = expand(
        benchmark, sources=sources, methods=methods, preset=preset, seeds=seeds, vectors=vectors, effort=effort
    )
    missing = [trial for trial in grid if not _finished(trial, out)]
    data = {source: load_source(source) for source in dict.fromkeys(trial.source for trial in missing)}
    for trial in missing:
        if trial.method in TRIVIAL:
            finish(trial, runs, out, data[trial.source])
    taken = _seconds(read_results(out / effort.name))
    trained = longest_first([trial for trial in missing if trial.method not in TRIVIAL], taken)
    console.print(f"{len(grid)} runs, {len(grid) - len(trained)} of them finished", soft_wrap=True)
    workers = workers or os.cpu_count() or 1
    expected = [(trial, expected_seconds(trial, taken)) for trial in trained]
    with Overview(console, expected, len(grid) - len(trained), workers) as overview:
        failures = asyncio.run(run_all(trained, runs=runs, out=out, workers=workers, overview=overview))
    write_tables(out / effort.name)
    return failures


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


# ---- tables and figures


def write_tables(folder: Path, names: Sequence[str] = tuple(TABLES)) -> list[str]:
    """Write the tables of all results of a folder, in Markdown and LaTeX; return the Markdown of each."""
    board = Board(read_results(folder))
    written = []
    for name in names:
        for data, preset in board.grids("alpha" if name == "alpha" else "table1"):
            table = TABLES[name](board, data, preset)
            if table is not None:
                label = f"{name}-{data}-{preset}"
                write_text(folder / "tables" / f"{label}.md", table.to_markdown())
                write_text(folder / "tables" / f"{label}.tex", table.to_latex(f"tab:{label}"))
                written.append(table.to_markdown())
    return written


def draw_figures(out: Path, sources: Sequence[str] = ()) -> list[Path]:
    """Draw the loss landscape and, where a HateXplain source is named, its contiguous gold highlights."""
    from genspp.report.figures import contiguous_histogram, loss_landscape

    folder = out / "figures"
    landscape = folder / "loss-landscape.png"
    facts = _facts(folder / "figures.json")
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


def _facts(path: Path) -> dict[str, Any]:
    """Read a file of figures; empty where there is none yet."""
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return facts


# ---- the page


def render_docs(template: Path, results: Path) -> str:
    """Return the page of results: the template's prose with tables and figures from the result files.

    What has not been run is said to be so.
    """
    board = Board(read_results(results))
    facts = _facts(results / "figures/figures.json")
    cut = _facts(results / TRUNCATION)
    tables = {**TABLES, "highlights": highlights_table}

    def shown(table: Table | None, command: str) -> str:
        return table.to_markdown().strip() if table is not None else f"*Not run yet: `{command}`.*"

    def source(data: str) -> str:
        return "hatexplain:FOLDER --vectors FILE" if data == "hatexplain" else data

    def make(name: str) -> Callable[[str, str], str]:
        grid = "alpha" if name == "alpha" else "table1"
        return lambda data, preset: shown(
            tables[name](board, data, preset), f"genspp benchmark {grid} --data {source(data)} --preset {preset}"
        )

    def genspp(data: str) -> str:
        command = f"genspp benchmark table1 --methods genspp --data {source(data)}"
        return shown(genspp_table(board, data), command)

    def vectors(folder: str, data: str, preset: str) -> str:
        table = vectors_table(board, Board(read_results(results / folder)), data, preset)
        command = f"genspp benchmark table1 --data {source(data)} --preset {preset} --out results/{folder}"
        return shown(table, command)

    def span(data: str, preset: str, method: str, metric: str) -> str:
        found = [100 * run.metrics[metric] for run in board.find(data, preset, method)]
        return f"{min(found):.1f} to {max(found):.1f}" if found else "not run yet"

    def truncated(preset: str, score: str) -> str:
        found = [run[score] for name, run in cut["runs"].items() if name.startswith(f"{preset}-")]
        return f"{100 * sum(found) / len(found):.2f}"

    def figure(name: str, caption: str) -> str:
        if name not in facts:
            return "*Not drawn yet: `genspp benchmark figures --data hatexplain:FOLDER`.*"
        return f"![{caption}](../results/figures/{name}.png)"

    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False)
    page = environment.from_string(template.read_text(encoding="utf-8"))
    return page.render(
        **{name: make(name) for name in tables},
        genspp=genspp,
        vectors=vectors,
        figure=figure,
        facts=facts,
        span=span,
        truncated=truncated,
        cut=cut,
        bench=_facts(results / "bench.json"),
        gradient=_facts(results / "bench-gradient.json"),
    )


def write_docs(root: Path = Path(), results: Path = Path("results")) -> None:
    """Write docs/results.md below `root`."""
    write_text(root / PAGE, render_docs(root / TEMPLATE, root / results))


def main(arguments: Sequence[str]) -> int:
    """Write the tables and the page again from the result files."""
    if list(arguments) != ["docs"]:
        print("usage: python -m genspp.experiments.benchmark docs", file=sys.stderr)
        return 2
    try:
        write_tables(Path("results"))
        write_docs()
    except (GenSPPError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
