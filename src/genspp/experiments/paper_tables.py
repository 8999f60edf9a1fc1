"""The paper's tables from result files alone, ours and the published figures side by side.

Means and population deviations over the seeds that there are; nothing is typed in.
"""

from collections.abc import Sequence
from typing import Any

from genspp.experiments import paper
from genspp.experiments.board import Board, metric_cell
from genspp.experiments.compare import in_table
from genspp.experiments.grid import NO_PRESET
from genspp.experiments.names import OURS, REFERENCES, data_title, method_title, methods
from genspp.experiments.results import Result
from genspp.report.result_table import Cell, Column, ResultTable, Row

METRICS = {
    "clf_f1": Column("Clf-F1", "up"),
    "hl_f1": Column("Hl-F1", "up"),
    "selection_rate": Column("R"),
    "selection_size": Column("S"),
}
SEEDS = Column("Seeds", digits=0)
PAIRED = (
    *(Column(name, column.better, group=column.name) for column in METRICS.values() for name in ("ours", "paper")),
    SEEDS,
)
_MAIN = ("clf_f1", "hl_f1", "selection_rate")
TESTED = {"clf_f1": "a", "hl_f1": "b"}  # the marks of GenSPP's cells
VECTORS = {
    "corpus": "made from the training texts",
    "glove.6B.25d-pca.hatexplain.txt": "GloVe 6B projected on 25 dimensions",
    "glove.6B.100d.hatexplain.txt": "GloVe 6B, 100 dimensions",
}
_UNITS = "Clf-F1, Hl-F1 and R in percent, S in tokens; mean ± population deviation over seeds."
_STARRED = (
    "The paper: significant at 0.01 by a Wilcoxon test over five seeds. Its signed-rank form cannot get below 0.0625 "
    "with five seeds; its rank-sum form can (0.0079)."
)
_MATCHING = "Printed as Hl-F1 in the paper; it is the macro F1 of the classes."
_PUBLISHED_VECTORS = {"hatexplain": "GloVe Twitter 27B, 25 dimensions"}

Note = tuple[str, str]
Cells = tuple[Cell | str | None, ...]


def table1(board: Board, data: str, preset: str) -> ResultTable | None:
    """Return the main comparison on one data set; None where nothing has been run."""
    runs = {method: found for method, found in board.methods(data, preset).items() if found or published(data, method)}
    everything = [run for found in runs.values() for run in found]
    if not everything:
        return None
    tests = {metric: in_table(board, data, preset).with_the_best(metric) for metric in TESTED}
    notes = [(TESTED[metric], found.note()) for metric, found in tests.items() if found is not None]
    notes += [("", found.correction()) for found in tests.values() if found is not None][:1]
    marks = {metric: TESTED[metric] for metric, found in tests.items() if found is not None}
    rows = [
        Row(method_title(method), paired_cells(found, published(data, method), marks if method == OURS else {}))
        for method, found in runs.items()
    ]
    rows += _reference_rows(board, data)
    title = f"{data_title(data)}, preset {preset}: ours and the paper's"
    return ResultTable(title, PAIRED, tuple(rows), (*general_notes(data, everything), *notes, *mark_notes(rows)))


def main_table(board: Board, preset: str) -> ResultTable | None:
    """Return the comparison on the paper's data sets side by side, ours alone; None where nothing has been run."""
    data_sets = [data for data, found in board.grids("table1") if found == preset and is_published(data)]
    runs = {method: [board.find(data, preset, method) for data in data_sets] for method in methods()}
    rows = [
        Row(method_title(method), (*(metric_cell(one, name) for one in found for name in _MAIN), _seeds(found)))
        for method, found in runs.items()
        if any(found)
    ]
    if not rows:
        return None
    columns = [
        Column(METRICS[name].name, METRICS[name].better, group=data_title(data)) for data in data_sets for name in _MAIN
    ]
    notes = [("", "In percent; mean ± population deviation over seeds.")]
    for data in data_sets:
        notes += run_notes(data, [run for one in board.methods(data, preset).values() for run in one])
    return ResultTable(f"All methods, preset {preset}", (*columns, Column("Seeds")), tuple(rows), tuple(notes))


def is_published(data: str) -> bool:
    """Tell whether the paper has figures on a data set."""
    return any(data == known for known, _, _ in paper.BENCHMARK)


def _seeds(found: Sequence[Sequence[Result]]) -> str:
    """Return how many runs there are on every data set: one number where it is the same on all."""
    numbers = [str(len(runs)) for runs in found]
    return numbers[0] if len(set(numbers)) == 1 else " / ".join(numbers)


# ---- what the tables share


def published(data: str, method: str, variant: str = "") -> list[Cell] | None:
    """Return the paper's figures of a row; None where it has none."""
    key = (data, method, variant)
    scores = paper.ALPHA.get(key) if variant else paper.BENCHMARK.get(key)
    if scores is None:
        return None
    return [
        Cell(figure.mean, figure.std, ("*",) if metric == "hl_f1" and key in paper.STARRED else ())
        for metric, figure in scores.metrics().items()
    ]


def paired_cells(
    runs: Sequence[Result], theirs: Sequence[Cell | None] | None, marks: dict[str, str] | None = None
) -> Cells:
    """Return the cells of the columns `PAIRED`. marks: of our cells, by metric."""
    marks = marks or {}
    ours = [metric_cell(runs, metric, (marks[metric],) if metric in marks else ()) for metric in METRICS]
    pairs = zip(ours, theirs or [None] * len(METRICS), strict=True)
    seeds = Cell(len(runs)) if runs else None
    return (*(cell for pair in pairs for cell in pair), seeds)


def _reference_rows(board: Board, data: str) -> list[Row]:
    rows: list[Row] = []
    for variant in board.variants(data, "random"):
        name = f"{REFERENCES['random']}, {variant.replace('=', ' = ')}"
        rows.append(Row(name, paired_cells(board.find(data, NO_PRESET, "random", variant), None), False, not rows))
    triples = {" ".join(triple): figure for triple, figure in paper.STRING_MATCHING.items()}
    for variant in (variant for variant in triples if variant in board.variants(data, "matching")):
        theirs: list[Cell | None] = [None] * len(METRICS)
        if is_published(data):
            theirs[0] = Cell(triples[variant], marks=("c",))
        name = f"{REFERENCES['matching']}, {variant.replace(' ', ', ')}"
        cells = paired_cells(board.find(data, NO_PRESET, "matching", variant), theirs)
        rows.append(Row(name, cells, False, not rows))
    return rows


def general_notes(data: str, runs: Sequence[Result]) -> list[Note]:
    """Return the notes on units, vectors and shortened runs."""
    return [("", _UNITS), *run_notes(data, runs)]


def run_notes(data: str, runs: Sequence[Result]) -> list[Note]:
    """Return the notes on vectors and shortened runs."""
    notes: list[Note] = []
    vectors = sorted({str(run.content["data"]["vectors"]) for run in runs})
    if data in _PUBLISHED_VECTORS and vectors:
        shown = "; ".join(f"{VECTORS[name]} ({name})" if name in VECTORS else name for name in vectors)
        notes.append(("", f"Word vectors of ours: {shown}. The paper's: {_PUBLISHED_VECTORS[data]}."))
    efforts = _reduced(runs)
    if efforts:
        notes.append(("", f"These are runs with {efforts}: they show that it works, not how well."))
    return notes


def mark_notes(rows: Sequence[Row]) -> list[Note]:
    """Return the notes that published figures refer to."""
    used = {mark for row in rows for cell in row.cells if isinstance(cell, Cell) for mark in cell.marks}
    return [(mark, text) for mark, text in (("*", _STARRED), ("c", _MATCHING)) if mark in used]


def _reduced(runs: Sequence[Result]) -> str:
    """Return the settings by which runs were shortened, in words; empty for full runs."""
    short: dict[str, Any] = {}
    for run in runs:
        asked = run.content["asked"]
        short |= {name: asked[name] for name in ("generations", "population", "max_epochs") if name in asked}
    return ", ".join(f"{name} = {value}" for name, value in sorted(short.items()))
