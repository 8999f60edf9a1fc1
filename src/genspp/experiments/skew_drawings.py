"""The two figures of locked-in starts, from result files alone."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from genspp.experiments.board import Board
from genspp.experiments.escape import profile
from genspp.experiments.names import OURS, can_be_skewed, data_title, methods
from genspp.experiments.results import Result
from genspp.experiments.skew import BOTH_WAYS, LOCKED, MAIN, SIGMAS
from genspp.experiments.skew_tables import Line, lines, title
from genspp.report.skew_figures import Band, Selection, progress_figure, selection_figure

_SHARES = np.linspace(0, 1, 41)  # of training


def figure_names(data: str, preset: str) -> tuple[str, str]:
    """Return what the two figures of a data set and preset are called."""
    return f"skew-{data}-{preset}", f"skew-places-{data}-{preset}"


def draw_skew(board: Board, folder: Path) -> list[Path]:
    """Draw, for every data set and preset, Hl-F1 against progress, and where one seed selects before and after."""
    drawn = []
    for data, preset in board.grids("skew"):
        levels = shown(board, data, preset)
        if not levels:
            continue
        where, (progress, places) = f"{data_title(data)}, preset {preset}", figure_names(data, preset)
        panels = {"Clean start\nas training usually begins": list(_clean(board, data, preset))}
        for epochs, found in levels.items():
            start = f"Skewed start\ntaught to code the label for {epochs} epochs"
            panels[start] = [_band(line.name, line.runs) for line in found]
        drawn += [folder / f"{progress}.png", folder / f"{places}.png"]
        what = f"{where}: do highlights find the words? Line: mean over seeds; band: from the least seed to the best"
        progress_figure(drawn[-2], what, panels)
        most, last = max(levels.items(), key=lambda level: level[0])
        what = (
            f"{where}, skewed for {most} epochs, one seed: which places are selected, by class\n"
            "A bright diagonal is the code that the start was taught; evidence may stand anywhere"
        )
        selection_figure(drawn[-1], what, [_selection(line) for line in last])
    return drawn


def shown(board: Board, data: str, preset: str) -> dict[int, list[Line]]:
    """Return the rows that figures show, by level: all methods' that read both ways, with the lesser noise."""
    levels = {epochs: list(lines(board, data, preset, epochs)) for epochs in (MAIN, LOCKED)}
    return {epochs: found for epochs, level in levels.items() if (found := list(filter(_alike, level)))}


def _alike(line: Line) -> bool:
    words = line.variant.split()
    one_way = line.method == OURS and any(run.preset == "paper" for run in line.runs) and BOTH_WAYS not in words
    return bool(line.runs) and not one_way and f"sigma={SIGMAS[1]:.2f}" not in words


def _clean(board: Board, data: str, preset: str) -> Iterator[Band]:
    for method in methods():
        variant = BOTH_WAYS if method == OURS and preset == "paper" else ""
        runs = board.find(data, preset, method, variant)
        if runs and can_be_skewed(method):
            yield _band(title(method, f"K=0 {variant}"), runs)


def _band(name: str, runs: Sequence[Result]) -> Band:
    """Return the Hl-F1 after shares of training, of the runs that were looked at; if none was, the end all along."""
    found = [progress for run in runs if (progress := run.progress()) is not None]
    if found:
        return Band(name, 100 * _SHARES, np.array([100 * progress.at(_SHARES) for progress in found]))
    ends = np.array([[100 * run.metrics["hl_f1"]] for run in runs])
    return Band(name, 100 * _SHARES, np.repeat(ends, len(_SHARES), axis=1), looked_at=False)


def _selection(line: Line) -> Selection:
    given = line.runs[0].predictions()
    return Selection(line.name, given.classes, line.runs[0].skew["skew_selected"], profile(given))
