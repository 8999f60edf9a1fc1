"""What an ablation's result files say: a table per data set and per measure, and the curves."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from genspp.evaluation.significance import mean_interval
from genspp.experiments.ablation import FULL_RECIPE, VARIANTS, variants_on
from genspp.experiments.board import Board, metric_cell, over_seeds
from genspp.experiments.curves import Curve, mean_curve
from genspp.experiments.names import OURS, data_title
from genspp.experiments.paper_tables import METRICS, SEEDS, Cells, run_notes
from genspp.experiments.results import Result
from genspp.report.result_table import Cell, Column, ResultTable, Row

PRESET = "sound"
_SHOWN = ("clf_f1", "hl_f1", "selection_rate")
COLUMNS = (
    *(METRICS[metric] for metric in _SHOWN),
    Column("Left over", "down"),
    Column("Cost", "down", digits=3),
    Column("Evaluations", digits=0),
    Column("Seconds", digits=0),
    SEEDS,
)
_NOTES = (
    "Clf-F1, Hl-F1 and R on test rows, in percent; mean ± population deviation over seeds.",
    "Left over: the share of the full text's information that an adversary finds in the unselected tokens, in percent, "
    "0 where it does no better than chance. "
    "Cost: that of the full recipe. Both are judged afterwards on validation rows by the full recipe's judges, "
    "whatever recipe found the highlights.",
    "Evaluations: of generators in the search. Seconds: training on one core, several runs at once.",
)


class Measure(NamedTuple):
    """What ingredients are asked for.

    better: whether more (1) or less (-1) of it is. digits: of its differences.
    """

    title: str
    of: Callable[[Result], float | None]
    better: int
    digits: int = 2


def _percent(metric: str) -> Callable[[Result], float | None]:
    def of(run: Result) -> float | None:
        value = run.metrics.get(metric)
        return None if value is None else 100 * value

    return of


def _left_over(run: Result) -> float | None:
    """Return what an adversary finds of the full text's information, in percent; no less than nothing."""
    last = run.curve().left_over[-1]
    return max(100.0 * last, 0.0) if math.isfinite(last) else None


MEASURES = (
    Measure("Hl-F1", _percent("hl_f1"), 1),
    Measure("Clf-F1", _percent("clf_f1"), 1),
    Measure("Function words among the marked", _percent("function_words"), -1),
    Measure("Left over", _left_over, -1),
    Measure("Cost", lambda run: run.curve().cost[-1], -1, 3),
)
PANELS = {
    "cost": "cost, by the full recipe",
    "hl_f1": "Hl-F1 on test rows, %",
    "selection_rate": "R on validation rows, %",
}


def find(board: Board, data: str) -> dict[str, list[Result]]:
    """Return the runs of every variant that has any, by seed."""
    found = {name: board.find(data, PRESET, OURS, name) for name in VARIANTS}
    return {name: runs for name, runs in found.items() if runs}


def ablation_table(board: Board, data: str, preset: str) -> ResultTable | None:
    """Return a row per variant; None where nothing has been run."""
    runs = find(board, data)
    if not runs or preset != PRESET:
        return None
    rows = tuple(Row(VARIANTS[name].title, _cells(found)) for name, found in runs.items())
    asked = [run for name, found in runs.items() for run in found if not VARIANTS[name].equal]
    notes = (*(("", note) for note in _NOTES), *run_notes(data, asked))
    return ResultTable(f"{data_title(data)}: one ingredient taken out at a time", COLUMNS, rows, notes, "Variant")


def _cells(runs: Sequence[Result]) -> Cells:
    curves = [run.curve() for run in runs]
    return (
        *(metric_cell(runs, metric) for metric in _SHOWN),
        over_seeds([left for left in map(_left_over, runs) if left is not None]),
        over_seeds([curve.cost[-1] for curve in curves]),
        over_seeds([curve.evaluations[-1] for curve in curves]),
        over_seeds([run.training["seconds"] for run in runs]),
        Cell(len(runs)),
    )


def ingredient_table(board: Board, measure: Measure, data_sets: Sequence[str]) -> ResultTable:
    """Return by how much the full recipe differs from each variant at the same seeds, and whether that helps."""
    columns = tuple(Column(data_title(data)) for data in data_sets)
    variants = [(name, variant) for name, variant in VARIANTS.items() if variant.ingredient]
    rows = [
        Row(variant.ingredient, tuple(_difference(board, measure, name, data) for data in data_sets))
        for name, variant in variants
    ]
    return ResultTable(measure.title, columns, tuple(rows), corner="Ingredient")


def _difference(board: Board, measure: Measure, variant: str, data: str) -> str | None:
    """Return a cell of that table; None where the recipe has no such ingredient or the data no such measure."""
    if variant not in variants_on(data, population=2, spent=0):
        return None
    found = find(board, data)
    full = {run.seed: run for run in found.get(FULL_RECIPE, [])}
    pairs = [(full[run.seed], run) for run in found.get(variant, []) if run.seed in full]
    if not pairs:
        return "not run"
    values = [(measure.of(ours), measure.of(theirs)) for ours, theirs in pairs]
    differences = [ours - theirs for ours, theirs in values if ours is not None and theirs is not None]
    if not differences:
        return None
    mean, half = mean_interval(differences)
    interval = f" ± {half:.{measure.digits}f}" if len(differences) > 1 else ""
    mean = round(mean, measure.digits) + 0.0  # no -0.00
    seeds = "" if len(differences) == len(full) > 1 else f" (seeds: {len(differences)})"
    return f"{mean:.{measure.digits}f}{interval}{seeds}{_verdict(measure.better * mean, half)}"


def _verdict(gain: float, half: float) -> str:
    """Say whether an ingredient helps; nothing where that may be chance. half: what its mean gain may be off by."""
    if abs(gain) <= half:
        return ""
    return ", helps" if gain > 0 else ", hurts"


def figure_name(data: str) -> str:
    """Return what the figure of a data set is called."""
    return f"ablation-{data}"


def draw_curves(board: Board, folder: Path) -> list[Path]:
    """Draw what each variant's search had found when, a figure per data set."""
    from genspp.report.figures import Line, search_curves  # matplotlib takes its time, and tables do without

    def lines(curves: dict[str, list[Curve]], column: str) -> list[Line]:
        factor = 1.0 if column == "cost" else 100.0
        found = [(VARIANTS[name].title, *mean_curve(runs, column)) for name, runs in curves.items()]
        return [Line(title, evaluations, [factor * value for value in values]) for title, evaluations, values in found]

    drawn = []
    for data, _ in board.grids("ablation"):
        curves = {name: [run.curve() for run in runs] for name, runs in find(board, data).items()}
        panels = {title: lines(curves, column) for column, title in PANELS.items()}
        drawn.append(folder / f"{figure_name(data)}.png")
        search_curves(drawn[-1], f"{data_title(data)}: the best generator so far, mean over seeds", panels)
    return drawn
