"""What the runs from locked-in starts say: a table, sentences on who gets out, the answer to a question, two figures."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from genspp.experiments.board import Board, metric_cell, over_seeds
from genspp.experiments.escape import LOCKED_IN, RECOVERED, Way, clean, profile, way_out
from genspp.experiments.findings import NOT_RUN
from genspp.experiments.names import OURS, data_title, method_title, methods
from genspp.experiments.paper_tables import METRICS, SEEDS, Cells, general_notes
from genspp.experiments.results import Result
from genspp.experiments.skew import BOTH_WAYS, LEVELS, LOCKED, MAIN, SIGMAS, epochs_of, published, starts
from genspp.report.result_table import Cell, Column, ResultTable, Row
from genspp.report.skew_figures import Band, Selection, progress_figure, selection_figure

_SHOWN = ("clf_f1", "hl_f1", "selection_rate")
COLUMNS = (
    *(Column(name, METRICS[metric].better, group=METRICS[metric].name) for metric in _SHOWN for name in ("ours", "paper")),
    Column("Hl-F1, clean start"),
    Column("Recovered"),
    Column("Steps to it", digits=0),
    *(Column(name, digits=1, group="Labels told by the first places") for name in ("at the start", "in the end")),
    SEEDS,
)
_NOTES = (
    f"Recovered: runs whose Hl-F1 is at least {RECOVERED:.0%} of the mean from a clean start. Steps to it: epochs, or "
    "generations of GenSPP, until one that recovered was there first, the skew phase not counted; a dash where training was not looked at.",
    "Labels told by the first places, in percent: texts in which, of the first tokens, one per class, that of the label is "
    "selected and no other; at the start on validation rows, by the generator that was skewed, in the end on test rows.",
    "Copies: GenSPP's whole first population are copies of the skewed generator, with noise of deviation σ; the paper does not say "
    "which σ it had. Otherwise one individual of the first population is skewed. Both ways: GenSPP's generator reads in both directions, as those of "
    "all other methods do.",
)
_POINTS = np.linspace(0, 1, 41)  # shares of training in the figure


class Line(NamedTuple):
    """A row of the table: a method's runs from one start."""

    name: str
    method: str
    variant: str
    runs: list[Result]
    way: Way | None


def lines(board: Board, data: str, preset: str, epochs: int) -> Iterator[Line]:
    """Return the rows of a level that have runs of ours or published figures."""
    for method in methods():
        for start in starts(method, preset):
            if start.variant != BOTH_WAYS and epochs_of(start.variant) == epochs:
                runs = board.find(data, preset, method, start.variant)
                if runs or published(data, method, start.variant):
                    way = way_out(runs, clean(board, data, preset, method, start.variant))
                    yield Line(_title(method, start.variant), method, start.variant, runs, way)


def _title(method: str, variant: str) -> str:
    """Return what a start is called, but for its level."""
    words = []
    for word in variant.split()[1:]:
        name, _, value = word.partition("=")
        words.append({"sigma": f"copies, σ = {value}", BOTH_WAYS: "both ways"}.get(name, f"{name} = {value}"))
    return ", ".join([method_title(method), *words])


def skew_table(board: Board, data: str, preset: str) -> ResultTable | None:
    """Return a row per method, start and level; None where nothing has been run."""
    rows, runs = [], list[Result]()
    for epochs in LEVELS:
        for number, line in enumerate(lines(board, data, preset, epochs)):
            rows.append(Row(f"{line.name}, K = {epochs}", _cells(data, line), rule=number == 0))
            runs += line.runs
    if not runs:
        return None
    shortened = [run for run in runs if "G=" not in run.variant]
    idle = [line.way.idle for line in lines(board, data, preset, MAIN) if line.way is not None][:1]
    told = [("", f"Without regard to the words the first places can tell {100 * share:.1f} %.") for share in idle]
    notes = (*general_notes(data, shortened)[1:], *(("", note) for note in _NOTES), *told)
    return ResultTable(f"{data_title(data)}, preset {preset}: starts that are locked in", COLUMNS, tuple(rows), notes)


def _cells(data: str, line: Line) -> Cells:
    theirs, way, pairs = published(data, line.method, line.variant), line.way, list[Cell | None]()
    for metric in _SHOWN:
        figure = theirs.metrics()[metric] if theirs else None
        pairs += [metric_cell(line.runs, metric), Cell(figure.mean, figure.std) if figure else None]
    beside: Cells = (None,) * 5
    if way is not None:
        steps = over_seeds(way.steps) if way.steps else None
        share = Cell(100 * way.told), Cell(100 * way.left)
        beside = (Cell(way.before), f"{way.recovered} of {way.runs}", steps, *share)
    return (*pairs, *beside, Cell(len(line.runs)) if line.runs else None)


# ---- sentences


def start_sentence(board: Board, data: str, preset: str, epochs: int) -> str:
    """Say how far the starts of a level are locked in."""
    found = {line.name: line.way for line in lines(board, data, preset, epochs) if line.way is not None}
    if not found:
        return f"K = {epochs}: {NOT_RUN.lower()}"
    shares = sorted((100 * way.told, name) for name, way in found.items())
    idle = next(iter(found.values())).idle
    locked = [name for name, way in found.items() if way.locked_in]
    return (
        f"K = {epochs}: the first places of the starts tell {shares[0][0]:.1f} % ({shares[0][1]}) to {shares[-1][0]:.1f} % "
        f"({shares[-1][1]}) of the labels, where {100 * idle:.1f} % can be told without regard to the words. Locked in, by more than "
        f"{100 * LOCKED_IN:.0f} points above that: {'; '.join(locked) if locked else 'nobody'}."
    )


def recovery_sentence(board: Board, data: str, preset: str, epochs: int) -> str:
    """Say who recovers from the starts of a level, by how much and after how long."""
    groups: dict[str, list[str]] = {"in all runs": [], "in some": [], "in none": []}
    for line in lines(board, data, preset, epochs):
        if (way := line.way) is not None:
            group = "in all runs" if way.escaped else "in some" if way.recovered else "in none"
            groups[group].append(_told(line, way))
    parts = [f"{group}: {'; '.join(names)}" for group, names in groups.items() if names]
    return f"K = {epochs}. Recovered {'. Recovered '.join(parts)}." if parts else f"K = {epochs}: {NOT_RUN.lower()}"


def _told(line: Line, way: Way) -> str:
    part = f" in {way.recovered} of {way.runs} runs" if 0 < way.recovered < way.runs else ""
    unit = "generations" if line.method == OURS else "epochs"
    after = f", there after {np.mean(way.steps):.0f} {unit}" if way.steps else ""
    return f"{line.name}{part} (Hl-F1 {way.after:.1f}, from a clean start {way.before:.1f}{after})"


def gradient_sentence(board: Board, data: str) -> str:
    """Answer whether a gradient step lets interlocking back in: GenSPP with and without, from locked-in starts."""
    where = data_title(data)
    guided, bare = (_ours(board, data, preset) for preset in ("sound", "paper"))
    if not guided:
        return f"{where}: {NOT_RUN.lower()}"
    locked = [way for way in guided if way.locked_in]
    if not locked:
        most = max(100 * way.told for way in guided)
        return (
            f"{where}: undecided. No start under preset sound was locked in (the first places tell {most:.1f} % of the labels at most). "
            f"{_tally('Gradient proposals', guided)}"
        )
    back, runs = sum(way.recovered for way in locked), sum(way.runs for way in locked)
    verdict = "no" if back == runs else "yes" if not back else f"in {runs - back} of {runs} runs"
    without = [way for way in bare if way.locked_in]
    beside = _tally("Without, by crossover and mutation alone (preset paper, both ways)", without) if without else ""
    return f"{where}: {verdict}. {_tally('With gradient proposals (preset sound)', locked)} {beside}".rstrip()


def _ours(board: Board, data: str, preset: str) -> list[Way]:
    """Return the ways out of all starts of GenSPP, with a generator that reads both ways."""
    found = [line for epochs in LEVELS for line in lines(board, data, preset, epochs) if line.method == OURS]
    alike = [line for line in found if preset == "sound" or BOTH_WAYS in line.variant.split()]
    return [line.way for line in alike if line.way is not None]


def _tally(who: str, ways: Sequence[Way]) -> str:
    runs = sum(way.runs for way in ways)

    def mean(name: str) -> float:
        return sum(float(getattr(way, name)) * way.runs for way in ways) / runs

    return (
        f"{who}: {sum(way.recovered for way in ways)} of {runs} runs recover, Hl-F1 {mean('after'):.1f} (from a clean start "
        f"{mean('before'):.1f}); the first places tell {100 * mean('told'):.1f} % of the labels at the start and "
        f"{100 * mean('left'):.1f} % in the end (from a clean start {100 * mean('usual'):.1f} %)."
    )


# ---- figures


def figure_names(data: str, preset: str) -> tuple[str, str]:
    """Return what the two figures of a data set and preset are called."""
    return f"skew-{data}-{preset}", f"skew-places-{data}-{preset}"


def draw_skew(board: Board, folder: Path) -> list[Path]:
    """Draw, for every data set and preset, Hl-F1 against progress, and where one seed selects before and after."""
    drawn = []
    for data, preset in board.grids("skew"):
        title = f"{data_title(data)}, preset {preset}"
        progress, places = (folder / f"{name}.png" for name in figure_names(data, preset))
        levels = [epochs for epochs in (MAIN, LOCKED) if any(line.runs for line in lines(board, data, preset, epochs))]
        panels = {"clean start": list(_clean_bands(board, data, preset))}
        panels |= {f"skewed for {epochs} epochs": list(_bands(board, data, preset, epochs)) for epochs in levels}
        progress_figure(progress, f"{title}: Hl-F1 on test texts while training goes on", panels)
        rows = list(_selections(board, data, preset, levels[-1])) if levels else []
        selection_figure(places, f"{title}: selected tokens, skewed for {levels[-1] if levels else 0} epochs", rows)
        drawn += [progress, places]
    return drawn


def _drawn(board: Board, data: str, preset: str, epochs: int) -> Iterator[Line]:
    """Return the rows of a level that figures show: of GenSPP those that are like the others."""
    for line in lines(board, data, preset, epochs):
        alike = line.method != OURS or preset == "sound" or BOTH_WAYS in line.variant.split()
        if line.runs and alike and f"sigma={SIGMAS[1]:.2f}" not in line.variant:
            yield line


def _bands(board: Board, data: str, preset: str, epochs: int) -> Iterator[Band]:
    for line in _drawn(board, data, preset, epochs):
        yield _band(line.name, line.runs)


def _clean_bands(board: Board, data: str, preset: str) -> Iterator[Band]:
    for method in methods():
        variant = BOTH_WAYS if method == OURS and preset == "paper" else ""
        runs = board.find(data, preset, method, variant)
        if runs and any(True for _ in starts(method, preset)):
            yield _band(_title(method, f"K=0 {variant}"), runs)


def _band(name: str, runs: Sequence[Result]) -> Band:
    """Return the Hl-F1 of runs after shares of their training; where one was not looked at, that of the end alone."""
    found = [run.progress() for run in runs]
    if any(one is None for one in found):
        ends = [[100 * run.metrics["hl_f1"]] * len(_POINTS) for run in runs]
        return Band(name, 100 * _POINTS, np.array(ends), looked_at=False)
    return Band(name, 100 * _POINTS, np.array([100 * one.at(_POINTS) for one in found if one is not None]))


def _selections(board: Board, data: str, preset: str, epochs: int) -> Iterator[Selection]:
    for line in _drawn(board, data, preset, epochs):
        given = line.runs[0].predictions()
        yield Selection(line.name, given.classes, line.runs[0].skew["skew_selected"], profile(given))
