"""Tables beside the paper's main ones: cost, what the highlights hold, other word vectors."""

from collections.abc import Sequence

import numpy as np

from genspp.experiments import paper
from genspp.experiments.board import Board, over_seeds
from genspp.experiments.names import OURS, data_title, method_title
from genspp.experiments.paper_tables import ALONE, VECTORS, Cells, general_notes, own_cells
from genspp.experiments.results import Result
from genspp.report.result_table import Cell, Column, ResultTable, Row

HIGHLIGHTS = (Column("Precision"), Column("Recall"), Column("Runs with a silent class"), Column("Seeds", digits=0))
SILENT = 0.9
COST = (
    *(Column(name, group="Minutes per run") for name in ("ours", "paper")),
    *(Column(name, group="Minutes, all seeds") for name in ("ours", "paper")),
    Column("Steps", digits=1),
    Column("Seconds per step", digits=2),
    *(Column(name, digits=0, group="Parameters") for name in ("ours", "paper")),
    Column("Peak memory, MB", digits=0),
    Column("Seeds", digits=0),
)


def highlights_table(board: Board, data: str, preset: str) -> ResultTable | None:
    """Return what Hl-F1 is made of, and in how many runs a class is known by having no highlight; None if not run."""
    runs = {method: found for method, found in board.methods(data, preset).items() if found}
    if not runs:
        return None
    notes = (
        ("", "Precision and recall of the selected tokens against the gold ones, in percent, over all test texts."),
        ("", f"A class is silent where more than {SILENT:.0%} of its test texts have no highlight at all."),
    )
    rows = tuple(Row(method_title(method), _highlight_cells(found)) for method, found in runs.items())
    return ResultTable(f"{data_title(data)}, preset {preset}: what the highlights hold", HIGHLIGHTS, rows, notes)


def _highlight_cells(runs: Sequence[Result]) -> Cells:
    hits, extra, missed = np.stack([run.predictions().highlight_counts().sum(0) for run in runs], axis=1)
    return (
        over_seeds((hits / np.maximum(hits + extra, 1)).tolist(), 100.0),
        over_seeds((hits / np.maximum(hits + missed, 1)).tolist(), 100.0),
        f"{sum(max(run.predictions().silence()) > SILENT for run in runs)} of {len(runs)}",
        Cell(len(runs)),
    )


def vectors_table(board: Board, other: Board, data: str, preset: str) -> ResultTable | None:
    """Return runs with other word vectors below the main table's at the same seeds; None where there are none."""
    rows, runs = [], []
    for method, others in other.methods(data, preset).items():
        seeds = {run.seed for run in others}
        pair = [run for run in board.find(data, preset, method) if run.seed in seeds], others
        for found in (found for found in pair if found and others):
            vectors = str(found[0].content["data"]["vectors"])
            name = f"{method_title(method)}, {VECTORS.get(vectors, vectors)}"
            rows.append(Row(name, own_cells(found), rule=found is pair[0]))
            runs += found
    if not rows:
        return None
    title = f"{data_title(data)}, preset {preset}: other word vectors"
    return ResultTable(title, ALONE, tuple(rows), tuple(general_notes(data, runs)))


def cost_table(board: Board, data: str, preset: str) -> ResultTable | None:
    """Return time, size and memory of the runs of table1 beside the published ones."""
    runs = {
        method: found for method, found in board.methods(data, preset).items() if found or (data, method) in paper.COST
    }
    everything = [run for found in runs.values() for run in found]
    if not everything:
        return None
    rows = tuple(Row(method_title(method), _cost(data, method, found)) for method, found in runs.items())
    notes = (
        ("", f"Ours: training alone, each run on one core, several runs at once, on {_machines(everything)}."),
        (
            "",
            "The paper: one NVIDIA 3060Ti; five seeds. Its memory figures follow from the parameters and are left out.",
        ),
        ("", "A step is a generation of GenSPP (the first population counts as one) or an epoch of the others."),
        ("", "Parameters of GenSPP: predictor, as the paper counts, + generator."),
        ("", "Peak memory is that of the whole process: Python, torch and the data with it."),
    )
    return ResultTable(f"{data_title(data)}, preset {preset}: cost", COST, rows, notes)


def _cost(data: str, method: str, runs: Sequence[Result]) -> Cells:
    theirs = paper.COST.get((data, method))
    minutes = [run.training["seconds"] / 60 for run in runs]
    return (
        over_seeds(minutes),
        None if theirs is None else Cell(theirs.minutes.mean, theirs.minutes.std),
        Cell(sum(minutes)) if runs else None,
        None if theirs is None else Cell(theirs.total_minutes),
        over_seeds([run.training["steps"] for run in runs]),
        over_seeds([run.training["seconds_per_step"] for run in runs]),
        _parameters(method, runs[0].training["parameters"]) if runs else None,
        None if theirs is None else Cell(theirs.parameters),
        over_seeds([run.training["peak_memory_mb"] for run in runs]),
        Cell(len(runs)) if runs else None,
    )


def _parameters(method: str, parts: dict[str, int]) -> Cell | str:
    return f"{parts['predictor']} + {parts['generator']}" if method == OURS else Cell(parts["all"])


def _machines(runs: Sequence[Result]) -> str:
    machines = [run.content["machine"] for run in runs]
    return " and ".join(sorted({f"{one['cpu']} ({one['cores']} cores)" for one in machines}))
