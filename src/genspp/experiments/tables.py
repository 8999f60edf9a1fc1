"""The paper's tables from result files alone, ours and the published figures side by side.

Means and population deviations over the seeds that there are; nothing is typed in.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from genspp.experiments import paper
from genspp.experiments.compare import against_the_best
from genspp.experiments.grid import ALPHAS, DATA_NAMES, GRADIENT, METHOD_NAMES, NO_PRESET, PRESETS, family
from genspp.experiments.results import Result
from genspp.report.tables import Cell, Column, Row, Table, summarise

ORDER = ("rnp", "fr", "mgr", "mcd", "grat", "genspp")
METRICS = {
    "clf_f1": Column("Clf-F1", "up"),
    "hl_f1": Column("Hl-F1", "up"),
    "selection_rate": Column("R"),
    "selection_size": Column("S"),
}
PAIRED = (
    *(Column(name, column.better, group=column.name) for column in METRICS.values() for name in ("ours", "paper")),
    Column("Full text"),
    Column("Seeds", digits=0),
)
ALONE = (*(Column(column.name) for column in METRICS.values()), Column("Full text"), Column("Seeds", digits=0))
TESTED = {"clf_f1": "a", "hl_f1": "b"}  # the marks of GenSPP's cells
PUBLISHED_SEEDS = 5

_UNITS = (
    "Clf-F1, Hl-F1 and R in percent, S in tokens; mean ± population deviation over seeds. "
    "Full text: Clf-F1 of a predictor of the same size that sees every token."
)
_STARRED = (
    "The paper: significant at 0.01 by a Wilcoxon test over five seeds. Its signed-rank form cannot get below 0.0625 "
    "with five seeds; its rank-sum form can (0.0079)."
)
_MATCHING = "Printed as Hl-F1 in the paper; it is the macro F1 of the classes."
_VECTORS = {
    "corpus": "made from the training texts",
    "glove.6B.25d-pca.hatexplain.txt": "GloVe 6B projected on 25 dimensions",
    "glove.6B.100d.hatexplain.txt": "GloVe 6B, 100 dimensions",
}

Note = tuple[str, str]
Cells = list[Cell | str | None]


class Board:
    """Results, looked up by what they are."""

    def __init__(self, results: Sequence[Result]) -> None:
        self.results = sorted(results, key=lambda run: run.seed)

    def find(self, data: str, preset: str, method: str, variant: str = "") -> list[Result]:
        """Return the runs of one row, by seed."""
        wanted = (data, preset, method, variant)
        return [run for run in self.results if (run.data, run.preset, run.method, run.variant) == wanted]

    def methods(self, data: str, preset: str) -> dict[str, list[Result]]:
        """Return the runs of every method without variants, in the order of the tables."""
        return {method: self.find(data, preset, method) for method in ORDER}

    def grids(self, benchmark: str) -> list[tuple[str, str]]:
        """Return the data sets and presets that a benchmark has results of."""
        found = {(run.data, run.preset) for run in self.results if run.benchmark == benchmark}
        return [(data, preset) for data in DATA_NAMES for preset in PRESETS if (data, preset) in found]

    def variants(self, data: str, method: str) -> list[str]:
        """Return the variants of a row that needs no training."""
        wanted = (data, NO_PRESET, method)
        return sorted({run.variant for run in self.results if (run.data, run.preset, run.method) == wanted})


def table1(board: Board, data: str, preset: str) -> Table | None:
    """Return the main comparison on one data set; None where nothing has been run."""
    runs = board.methods(data, preset)
    if not any(runs.values()):
        return None
    tests = {metric: against_the_best(runs, metric) for metric in TESTED}
    marks = {metric: TESTED[metric] for metric, sentence in tests.items() if sentence is not None}
    rows = []
    for method, found in runs.items():
        theirs = published(data, method)
        rows.append(Row(METHOD_NAMES[method], _paired(found, theirs, marks if method == "genspp" else {})))
    rows += _trivial_rows(board, data)
    notes = _notes(data, [run for found in runs.values() for run in found])
    notes += [(marks[metric], str(tests[metric])) for metric in marks]
    title = f"{DATA_NAMES[data]}, preset {preset}: ours and the paper's"
    return Table(title, PAIRED, tuple(rows), (*notes, *_mark_notes(rows)))


def genspp_table(board: Board, data: str) -> Table | None:
    """Return GenSPP under both presets above the published row; None where neither has been run."""
    runs = {preset: board.find(data, preset, "genspp") for preset in ("sound", "paper")}
    if not any(runs.values()):
        return None
    rows = [
        Row(f"Preset {preset}", (*_ours(found), _cell(found, "full_text_clf_f1"), Cell(len(found))))
        for preset, found in runs.items()
        if found
    ]
    theirs = published(data, "genspp")
    if theirs is not None:
        rows.append(Row("The paper", (*theirs, None, Cell(PUBLISHED_SEEDS)), rule=True))
    notes = _notes(data, [run for found in runs.values() for run in found])
    return Table(f"GenSPP on {DATA_NAMES[data]}", ALONE, tuple(rows), (*notes, *_mark_notes(rows)))


HIGHLIGHTS = (Column("Precision"), Column("Recall"), Column("Runs with a silent class"), Column("Seeds", digits=0))
SILENT = 0.9


def highlights_table(board: Board, data: str, preset: str) -> Table | None:
    """Return what Hl-F1 is made of, and in how many runs a class is known by having no highlight; None if not run."""
    runs = {method: found for method, found in board.methods(data, preset).items() if found}
    if not runs:
        return None
    rows = []
    for method, found in runs.items():
        predictions = [run.predictions() for run in found]
        hits, extra, missed = np.stack([each.highlight_counts().sum(0) for each in predictions], axis=1)
        silent = sum(any(share > SILENT for share in each.silence()) for each in predictions)
        cells = (
            _over_seeds((hits / np.maximum(hits + extra, 1)).tolist(), 100.0),
            _over_seeds((hits / np.maximum(hits + missed, 1)).tolist(), 100.0),
            f"{silent} of {len(found)}",
            Cell(len(found)),
        )
        rows.append(Row(METHOD_NAMES[method], cells))
    notes: tuple[Note, ...] = (
        (
            "",
            "Precision and recall of the selected tokens against the gold ones, in percent, over all test texts.",
        ),
        ("", f"A class is silent where more than {SILENT:.0%} of its test texts have no highlight at all."),
    )
    return Table(f"{DATA_NAMES[data]}, preset {preset}: what the highlights hold", HIGHLIGHTS, tuple(rows), notes)


def vectors_table(board: Board, other: Board, data: str, preset: str) -> Table | None:
    """Return runs with other word vectors below the main table's at the same seeds; None where there are none."""
    rows, runs = [], []
    for method, others in other.methods(data, preset).items():
        seeds = {run.seed for run in others}
        pair = [run for run in board.find(data, preset, method) if run.seed in seeds], others
        for found in (found for found in pair if found and others):
            vectors = str(found[0].content["data"]["vectors"])
            cells = (*_ours(found), _cell(found, "full_text_clf_f1"), Cell(len(found)))
            rows.append(Row(f"{METHOD_NAMES[method]}, {_VECTORS.get(vectors, vectors)}", cells, rule=found is pair[0]))
            runs += found
    if not rows:
        return None
    return Table(
        f"{DATA_NAMES[data]}, preset {preset}: other word vectors", ALONE, tuple(rows), tuple(_notes(data, runs))
    )


def alpha_table(board: Board, data: str, preset: str) -> Table | None:
    """Return the sweep of the sparsity level, with GenSPP, which has none, for comparison at its own rate."""
    if (data, preset) not in board.grids("alpha"):
        return None
    rows, runs = [], []
    for alpha in ALPHAS[family(data)]:
        for method in (method for method in ORDER if method in GRADIENT):
            variant = "" if alpha == paper.ALPHA_LEVEL[family(data)] else f"alpha={alpha:.2f}"
            found = board.find(data, preset, method, variant)
            theirs = published(data, method, f"alpha={alpha:.2f}")
            name = f"{METHOD_NAMES[method]}, α = {alpha:.2f}"
            rows.append(Row(name, _paired(found, theirs), rule=method == ORDER[0]))
            runs += found
    ours = board.find(data, preset, "genspp")
    rows.append(Row("GenSPP", _paired(ours, published(data, "genspp")), rule=True))
    notes = (*_notes(data, runs + ours), *_mark_notes(rows))
    return Table(f"{DATA_NAMES[data]}, preset {preset}: levels of sparsity", PAIRED, tuple(rows), notes)


# ---- cost

COST = (
    *(Column(name, group="Minutes a run") for name in ("ours", "paper")),
    *(Column(name, group="Minutes, all seeds") for name in ("ours", "paper")),
    Column("Steps", digits=1),
    Column("Seconds a step", digits=2),
    *(Column(name, digits=0, group="Parameters") for name in ("ours", "paper")),
    Column("Peak memory, MB", digits=0),
    Column("Seeds", digits=0),
)


def cost_table(board: Board, data: str, preset: str) -> Table | None:
    """Return time, size and memory of the runs of table1 beside the published ones."""
    runs = board.methods(data, preset)
    if not any(runs.values()):
        return None
    rows = tuple(Row(METHOD_NAMES[method], tuple(_cost(data, method, found))) for method, found in runs.items())
    everything = [run for found in runs.values() for run in found]
    notes: list[Note] = [
        ("", f"Ours: training alone, each run on one core, several runs at once, on {_machines(everything)}."),
        (
            "",
            "The paper: one NVIDIA 3060Ti; five seeds. Its memory figures follow from the parameters and are left out.",
        ),
        ("", "A step is a generation of GenSPP (the first population counts as one) or an epoch of the others."),
        ("", "Parameters of GenSPP: predictor, as the paper counts, + generator."),
        ("", "Peak memory is that of the whole process: Python, torch and the data with it."),
    ]
    return Table(f"{DATA_NAMES[data]}, preset {preset}: cost", COST, rows, tuple(notes))


def _cost(data: str, method: str, runs: Sequence[Result]) -> Cells:
    theirs = paper.COST.get((data, method))
    minutes = [run.training["seconds"] / 60 for run in runs]
    return [
        _over_seeds(minutes),
        None if theirs is None else Cell(theirs.minutes.mean, theirs.minutes.std),
        Cell(sum(minutes)) if runs else None,
        None if theirs is None else Cell(theirs.total_minutes),
        _over_seeds([run.training["steps"] for run in runs]),
        _over_seeds([run.training["seconds_per_step"] for run in runs]),
        _parameters(method, runs[0].training["parameters"]) if runs else None,
        None if theirs is None else Cell(theirs.parameters),
        _over_seeds([run.training["peak_memory_mb"] for run in runs]),
        Cell(len(runs)) if runs else None,
    ]


def _parameters(method: str, parts: dict[str, int]) -> Cell | str:
    return f"{parts['predictor']} + {parts['generator']}" if method == "genspp" else Cell(parts["all"])


def _machines(runs: Sequence[Result]) -> str:
    machines = [run.content["machine"] for run in runs]
    return " and ".join(sorted({f"{one['cpu']} ({one['cores']} cores)" for one in machines}))


# ---- what the tables share


def published(data: str, method: str, variant: str = "") -> list[Cell] | None:
    """Return the paper's figures of a row; None where it has none."""
    key = (data, method, variant)
    scores = paper.ALPHA.get(key) if variant else paper.BENCHMARK.get(key)
    if scores is None:
        return None
    starred = {"hl_f1"} if ("benchmark", key) in paper.STARRED else set()
    return [
        Cell(figure.mean, figure.std, ("*",) if metric in starred else ())
        for metric, figure in scores.metrics().items()
    ]


def _paired(
    runs: Sequence[Result], theirs: Sequence[Cell | None] | None, marks: dict[str, str] | None = None
) -> tuple[Cell | str | None, ...]:
    """Return the cells of the columns `PAIRED`."""
    pairs = zip(_ours(runs, marks or {}), theirs or [None] * len(METRICS), strict=True)
    cells: Cells = [cell for pair in pairs for cell in pair]
    return (*cells, _cell(runs, "full_text_clf_f1"), Cell(len(runs)) if runs else None)


def _ours(runs: Sequence[Result], marks: dict[str, str] | None = None) -> list[Cell | None]:
    marks = marks or {}
    return [_cell(runs, metric, (marks[metric],) if metric in marks else ()) for metric in METRICS]


def _cell(runs: Sequence[Result], metric: str, marks: tuple[str, ...] = ()) -> Cell | None:
    scale = 1.0 if metric == "selection_size" else 100.0
    return _over_seeds([run.metrics[metric] for run in runs], scale, marks)


def _over_seeds(values: Sequence[float | None], scale: float = 1.0, marks: tuple[str, ...] = ()) -> Cell | None:
    """Return mean and deviation; of a single run the value alone, for one run deviates from nothing."""
    cell = summarise(values, scale, marks)
    return Cell(cell.mean, None, marks) if cell is not None and len(values) == 1 else cell


def _trivial_rows(board: Board, data: str) -> list[Row]:
    rows: list[Row] = []
    for variant in board.variants(data, "random"):
        name = f"Random highlights, {variant.replace('=', ' = ')}"
        rows.append(Row(name, _paired(board.find(data, NO_PRESET, "random", variant), None), False, not rows))
    triples = {" ".join(triple): figure for triple, figure in paper.STRING_MATCHING.items()}
    for variant in (variant for variant in triples if variant in board.variants(data, "matching")):
        theirs: list[Cell | None] = [None] * len(METRICS)
        if data == "toy":
            theirs[0] = Cell(triples[variant], marks=("c",))
        name = f"String matching, {variant.replace(' ', ', ')}"
        rows.append(Row(name, _paired(board.find(data, NO_PRESET, "matching", variant), theirs), False, not rows))
    return rows


def _notes(data: str, runs: Sequence[Result]) -> list[Note]:
    notes: list[Note] = [("", _UNITS)]
    vectors = sorted({str(run.content["data"]["vectors"]) for run in runs})
    if data == "hatexplain" and vectors:
        shown = "; ".join(f"{_VECTORS[name]} ({name})" if name in _VECTORS else name for name in vectors)
        notes.append(("", f"Word vectors of ours: {shown}. The paper's: GloVe Twitter 27B, 25 dimensions."))
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
