"""The paper's tables from result files alone, ours and the published figures side by side.

Means and population deviations over the seeds that there are; nothing is typed in.
"""

from collections.abc import Sequence
from typing import Any

from genspp.experiments import paper
from genspp.experiments.board import Board, metric_cell
from genspp.experiments.compare import against_the_best
from genspp.experiments.grid import NO_PRESET
from genspp.experiments.names import OURS, REFERENCES, data_title, declares, family, method_title, methods
from genspp.experiments.results import Result
from genspp.report.result_table import Cell, Column, ResultTable, Row
from genspp.settings import PRESETS

METRICS = {
    "clf_f1": Column("Clf-F1", "up"),
    "hl_f1": Column("Hl-F1", "up"),
    "selection_rate": Column("R"),
    "selection_size": Column("S"),
}
BESIDE = {  # what a run's Clf-F1 is read beside
    "full_text_clf_f1": Column("Full text"),
    "tfidf_clf_f1": Column("TF-IDF + LR"),
}
HIGHLIGHTERS = ("wordlist_hl_f1", "random_hl_f1", "all_hl_f1")  # what its Hl-F1 is read beside, in one column
REFERENCES_BESIDE = (*BESIDE.values(), Column("Word list / random / all"))
SEEDS = Column("Seeds", digits=0)
PAIRED = (
    *(Column(name, column.better, group=column.name) for column in METRICS.values() for name in ("ours", "paper")),
    *REFERENCES_BESIDE,
    SEEDS,
)
ALONE = (*(Column(column.name) for column in METRICS.values()), *REFERENCES_BESIDE, SEEDS)
TESTED = {"clf_f1": "a", "hl_f1": "b"}  # the marks of GenSPP's cells
PUBLISHED_SEEDS = 5
VECTORS = {
    "corpus": "made from the training texts",
    "glove.6B.25d-pca.hatexplain.txt": "GloVe 6B projected on 25 dimensions",
    "glove.6B.100d.hatexplain.txt": "GloVe 6B, 100 dimensions",
}
_UNITS = (
    "Clf-F1, Hl-F1 and R in percent, S in tokens; mean ± population deviation over seeds. "
    "Full text: Clf-F1 of a predictor of the same size that sees every token. "
    "TF-IDF + LR: Clf-F1 of logistic regression on all words. "
    "Word list / random / all: mean Hl-F1 of the words that say most for a class and of random tokens, both at each "
    "run's own R, and of all tokens. Runs made before these were measured have a dash."
)
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
    tests = {metric: against_the_best(runs, metric) for metric in TESTED}
    notes = [(TESTED[metric], found.note()) for metric, found in tests.items() if found is not None]
    marks = {metric: TESTED[metric] for metric, found in tests.items() if found is not None}
    rows = [
        Row(method_title(method), paired_cells(found, published(data, method), marks if method == OURS else {}))
        for method, found in runs.items()
    ]
    rows += _reference_rows(board, data)
    title = f"{data_title(data)}, preset {preset}: ours and the paper's"
    return ResultTable(title, PAIRED, tuple(rows), (*general_notes(data, everything), *notes, *_mark_notes(rows)))


def genspp_table(board: Board, data: str) -> ResultTable | None:
    """Return GenSPP under both presets above the published row; None where neither has been run."""
    runs = {preset: board.find(data, preset, OURS) for preset in PRESETS}
    if not any(runs.values()):
        return None
    rows = [Row(f"Preset {preset}", own_cells(found)) for preset, found in runs.items() if found]
    theirs = published(data, OURS)
    if theirs is not None:
        rows.append(Row("The paper", (*theirs, *[None] * len(REFERENCES_BESIDE), Cell(PUBLISHED_SEEDS)), rule=True))
    notes = general_notes(data, [run for found in runs.values() for run in found])
    title = f"{method_title(OURS)} on {data_title(data)}"
    return ResultTable(title, ALONE, tuple(rows), (*notes, *_mark_notes(rows)))


def alpha_table(board: Board, data: str, preset: str) -> ResultTable | None:
    """Return the sweep of the sparsity level, with GenSPP, which has none, for comparison at its own rate."""
    if (data, preset) not in board.grids("alpha"):
        return None
    swept = [method for method in methods() if declares(method, "alpha")]
    rows, runs = [], []
    for alpha in paper.alphas(family(data)):
        for method in swept:
            name = f"alpha={alpha:.2f}"
            found = board.find(data, preset, method, "" if alpha == paper.ALPHA_LEVEL[family(data)] else name)
            theirs = published(data, method, name)
            if found or theirs:
                cells = paired_cells(found, theirs)
                rows.append(Row(f"{method_title(method)}, α = {alpha:.2f}", cells, rule=method == swept[0]))
                runs += found
    ours = board.find(data, preset, OURS)
    rows.append(Row(method_title(OURS), paired_cells(ours, published(data, OURS)), rule=True))
    notes = (*general_notes(data, runs + ours), *_mark_notes(rows))
    return ResultTable(f"{data_title(data)}, preset {preset}: levels of sparsity", PAIRED, tuple(rows), notes)


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


def own_cells(runs: Sequence[Result]) -> Cells:
    """Return the cells of the columns `ALONE`."""
    return (*(metric_cell(runs, metric) for metric in METRICS), *_beside(runs), Cell(len(runs)))


def paired_cells(
    runs: Sequence[Result], theirs: Sequence[Cell | None] | None, marks: dict[str, str] | None = None
) -> Cells:
    """Return the cells of the columns `PAIRED`. marks: of our cells, by metric."""
    marks = marks or {}
    ours = [metric_cell(runs, metric, (marks[metric],) if metric in marks else ()) for metric in METRICS]
    pairs = zip(ours, theirs or [None] * len(METRICS), strict=True)
    seeds = Cell(len(runs)) if runs else None
    return (*(cell for pair in pairs for cell in pair), *_beside(runs), seeds)


def _beside(runs: Sequence[Result]) -> Cells:
    """Return the cells of the columns `REFERENCES_BESIDE`."""
    found = [metric_cell(runs, metric) for metric in HIGHLIGHTERS]
    known = [f"{cell.mean:.1f}" for cell in found if cell is not None]
    return (*(metric_cell(runs, metric) for metric in BESIDE), " / ".join(known) if len(known) == len(found) else None)


def _reference_rows(board: Board, data: str) -> list[Row]:
    rows: list[Row] = []
    for variant in board.variants(data, "random"):
        name = f"{REFERENCES['random']}, {variant.replace('=', ' = ')}"
        rows.append(Row(name, paired_cells(board.find(data, NO_PRESET, "random", variant), None), False, not rows))
    triples = {" ".join(triple): figure for triple, figure in paper.STRING_MATCHING.items()}
    for variant in (variant for variant in triples if variant in board.variants(data, "matching")):
        theirs: list[Cell | None] = [None] * len(METRICS)
        if any(data == key[0] for key in paper.BENCHMARK):
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


def _mark_notes(rows: Sequence[Row]) -> list[Note]:
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
