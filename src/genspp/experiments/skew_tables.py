"""The table of locked-in starts: a row per method, start and level, ours beside the paper's."""

from collections.abc import Iterator
from typing import NamedTuple

from genspp.experiments.board import Board, metric_cell, over_seeds
from genspp.experiments.escape import RECOVERED, Way, clean, way_out
from genspp.experiments.names import data_title, method_title, methods
from genspp.experiments.paper_tables import METRICS, SEEDS, Cells, run_notes
from genspp.experiments.results import Result
from genspp.experiments.skew import BOTH_WAYS, LEVELS, epochs_of, published, starts
from genspp.report.result_table import Cell, Column, ResultTable, Row

_SHOWN = {metric: METRICS[metric] for metric in ("clf_f1", "hl_f1", "selection_rate")}
COLUMNS = (
    *(Column(name, column.better, group=column.name) for column in _SHOWN.values() for name in ("ours", "paper")),
    Column("Hl-F1, clean start"),
    Column("Recovered"),
    Column("Steps to it", digits=0),
    *(Column(name, digits=1, group="Labels told by the first places") for name in ("at the start", "in the end")),
    SEEDS,
)
_NOTES = (
    f"Recovered: runs whose Hl-F1 is at least {RECOVERED:.0%} of the mean from a clean start. Steps to it: epochs, or "
    "generations of GenSPP, until such a run was there for the first time, the skew phase not counted.",
    "Labels told by the first places, in percent: texts in which, of the first tokens, one per class, that of the "
    "label is selected and no other; at the start on validation rows, by the generator that was skewed, in the end on "
    "test rows.",
    "Copies: GenSPP's whole first population are copies of the skewed generator, with noise of deviation σ; the paper "
    "does not say which it had. Otherwise one individual is skewed. Both ways: GenSPP's generator reads in both "
    "directions, as those of all other methods do.",
)


class Line(NamedTuple):
    """A row: a method's runs from one start."""

    name: str
    method: str
    variant: str
    runs: list[Result]
    way: Way | None


def lines(board: Board, data: str, preset: str, epochs: int) -> Iterator[Line]:
    """Return the rows of a level that have runs of ours or published figures."""
    for method in methods():
        for start in starts(method, preset):
            if start.variant == BOTH_WAYS or epochs_of(start.variant) != epochs:
                continue
            runs = board.find(data, preset, method, start.variant)
            if runs or published(data, method, start.variant):
                way = way_out(runs, clean(board, data, preset, method, start.variant))
                yield Line(title(method, start.variant), method, start.variant, runs, way)


def title(method: str, variant: str) -> str:
    """Return what a start is called, but for its level."""
    words = []
    for word in variant.split()[1:]:
        name, _, value = word.partition("=")
        words.append({"sigma": f"copies, σ = {value}", BOTH_WAYS: "both ways"}.get(name, f"{name} = {value}"))
    return ", ".join([method_title(method), *words])


def skew_table(board: Board, data: str, preset: str) -> ResultTable | None:
    """Return the table of a data set and preset; None where nothing has been run."""
    rows, found = [], list[Line]()
    for epochs in LEVELS:
        level = list(lines(board, data, preset, epochs))
        rows += [Row(f"{line.name}, K = {epochs}", _cells(data, line), rule=line is level[0]) for line in level]
        found += level
    if not any(line.runs for line in found):
        return None
    # More generations are a start of their own here, and no run that was cut short.
    runs = [run for line in found for run in line.runs if "G=" not in run.variant]
    idle = [f"{100 * line.way.idle:.1f} %" for line in found if line.way is not None][:1]
    told = [("", f"Without regard to the words the first places can tell {share} of the labels.") for share in idle]
    notes = (*run_notes(data, runs), *(("", note) for note in _NOTES), *told)
    return ResultTable(f"{data_title(data)}, preset {preset}: starts that are locked in", COLUMNS, tuple(rows), notes)


def _cells(data: str, line: Line) -> Cells:
    theirs, way, pairs = published(data, line.method, line.variant), line.way, list[Cell | None]()
    for metric in _SHOWN:
        figure = theirs.metrics()[metric] if theirs else None
        pairs += [metric_cell(line.runs, metric), Cell(figure.mean, figure.std) if figure else None]
    seeds = Cell(len(line.runs)) if line.runs else None
    if way is None:
        return (*pairs, *[None] * 5, seeds)
    steps = over_seeds(way.steps) if way.steps else None
    recovered, told = f"{way.recovered} of {way.runs}", (Cell(100 * way.told), Cell(100 * way.left))
    return (*pairs, Cell(way.before), recovered, steps, *told, seeds)
