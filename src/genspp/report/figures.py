"""The paper's two figures, drawn anew, and curves of searches.

Drawn on figures of our own (no pyplot, no global state), so that they work in a thread, a test or a server,
and saved without dates or versions in the file: the same input gives the same bytes.
"""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from genspp.errors import DataError
from genspp.evaluation.metrics import count_runs
from genspp.evolution.fitness import combined_loss
from genspp.files import write_bytes

DPI = 150
POINTS = ((0.0, 1.0), (0.5, 0.5))  # (task loss, selection rate): equal for the sum, far apart for the fitness
INK, MUTED, BAR, POINT = "#222222", "#666666", "#0072B2", "#D55E00"  # Okabe and Ito's colour-blind safe set
COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")
STYLES = ("-", "--", ":")  # a further one when the colours begin anew


def looks(names: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return a colour and a style of line for every name, so that each looks the same in all panels."""
    turns = [(colour, style) for style in STYLES for colour in COLOURS]
    return dict(zip(dict.fromkeys(names), cycle(turns), strict=False))


def legend(figure: Figure) -> None:
    """Put one legend for all panels below them."""
    handles = {
        label: handle for axes in figure.axes for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=4, frameon=False, fontsize=9)


def loss_landscape(path: Path) -> dict[str, tuple[float, float]]:
    """Draw the fitness objective beside the plain average of its two terms (the paper's figure 1).

    The average stands for the sum L_t + Omega, halved so that both panels share one scale. Returns the values
    at the two marked points: {"fitness": (1.0, 0.5), "average": (0.5, 0.5)}.
    """
    surfaces: dict[str, tuple[Callable[..., Any], str]] = {
        "fitness": (
            np.vectorize(combined_loss, otypes=[np.float64]),
            "Fitness objective\n$1 - \\sqrt{(1 - \\Omega)\\,(1 - \\min(L_t, 1))}$",
        ),
        "average": (
            lambda task_loss, selection_rate: (task_loss + selection_rate) / 2,
            "Plain sum, halved\n$(L_t + \\Omega)\\,/\\,2$",
        ),
    }
    task, rate = np.meshgrid(np.linspace(0, 1, 151), np.linspace(0, 1, 151))
    figure = Figure(figsize=(9.6, 4.9), layout="compressed")
    panels = figure.subplots(1, 2, sharey=True)
    values: dict[str, tuple[float, float]] = {}
    for axes, (name, (surface, title)) in zip(panels, surfaces.items(), strict=True):
        filled = axes.contourf(task, rate, surface(task, rate), levels=np.linspace(0, 1, 11), cmap="cividis")
        first, second = (float(surface(*point)) for point in POINTS)
        values[name] = (first, second)
        _mark(axes, POINTS[0], first, marker="o", offset=(12, -16))
        _mark(axes, POINTS[1], second, marker="D", offset=(12, 8))
        axes.set_title(title, fontsize=11, color=INK, loc="left", pad=10)
        axes.set_xlabel("task loss $L_t$", color=INK)
        axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        axes.set_xticks(np.linspace(0, 1, 6), ["0", "0.2", "0.4", "0.6", "0.8", "1"])
        axes.tick_params(colors=MUTED)
        for spine in axes.spines.values():
            spine.set_visible(False)
    panels[0].set_ylabel("selection rate $\\Omega$", color=INK)
    bar = figure.colorbar(filled, ax=panels, ticks=np.linspace(0, 1, 6), pad=0.02)
    bar.set_label("cost (0 is perfect)", color=INK)
    bar.outline.set_visible(False)  # type: ignore[operator]
    bar.ax.tick_params(colors=MUTED)
    save(figure, path)
    return values


def contiguous_histogram(
    path: Path, masks: Sequence[npt.ArrayLike], title: str = "Contiguous highlights per text"
) -> npt.NDArray[np.int64]:
    """Draw how many texts have 0, 1, 2... contiguous highlights (maximal runs of selected tokens).

    Returns the number of texts for each number of highlights, (most highlights + 1,).
    """
    if not len(masks):
        raise DataError("there are no masks to draw; give at least one text")
    counts = np.bincount([count_runs(mask) for mask in masks]).astype(np.int64)
    figure = Figure(figsize=(max(4.5, 1.5 + 0.65 * len(counts)), 3.8), layout="constrained")
    axes = figure.subplots()
    bars = axes.bar(np.arange(len(counts)), counts, width=0.72, color=BAR)
    shares = [f"{count:,}\n{_percent(count / len(masks))}" if count else "" for count in counts]
    axes.bar_label(bars, shares, padding=3, fontsize=8, color=INK)
    axes.set_title(title, fontsize=11, color=INK, loc="left", pad=10)
    axes.set_xlabel("contiguous highlights in the text", color=INK)
    axes.set_ylabel("texts", color=INK)
    axes.set_xticks(np.arange(len(counts)))
    axes.set_ylim(0, 1.15 * counts.max())
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.tick_params(colors=MUTED, length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(MUTED)
    save(figure, path)
    return counts


class Line(NamedTuple):
    """A line of a panel, the same in name and colour in all panels."""

    name: str
    evaluations: Sequence[float]
    values: Sequence[float]


def search_curves(path: Path, title: str, panels: Mapping[str, Sequence[Line]]) -> None:
    """Draw what searches had found after so many evaluations: a panel per quantity, a line per search.

    The first line is drawn thicker. A panel in which nothing is a number says so.
    """
    figure = Figure(figsize=(4.0 * len(panels), 4.4), layout="constrained")
    for axes, (quantity, lines) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
        for line, colour in zip(lines, cycle(COLOURS), strict=False):
            axes.step(
                line.evaluations,
                line.values,
                where="post",
                color=colour,
                label=line.name,
                linewidth=2.4 if line is lines[0] else 1.3,
                zorder=3 if line is lines[0] else 2,
            )
        if not any(np.isfinite(line.values).any() for line in lines):
            axes.text(0.5, 0.5, "not measured", ha="center", transform=axes.transAxes, color=MUTED)
        axes.set_xscale("log")
        axes.set_title(quantity, fontsize=11, color=INK, loc="left")
        axes.set_xlabel("evaluations", color=INK)
        axes.tick_params(colors=MUTED)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    legend(figure)
    figure.suptitle(title, fontsize=11, color=INK, x=0.01, ha="left")
    save(figure, path)


def _mark(axes: Axes, point: tuple[float, float], value: float, *, marker: str, offset: tuple[int, int]) -> None:
    """Mark a point; its place and value stand beside it on white, legible on any colour of the surface."""
    axes.plot(
        *point,
        marker,
        color=POINT,
        markeredgecolor="white",
        markeredgewidth=1.5,
        markersize=11,
        clip_on=False,
        zorder=5,
    )
    axes.annotate(
        f"cost {value:.2f} at ({point[0]:.1f}, {point[1]:.1f})",
        point,
        xytext=offset,
        textcoords="offset points",
        ha="left",
        va="center",
        fontsize=10,
        color=INK,
        bbox={"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": "none", "alpha": 0.92},
    )


def _percent(share: float) -> str:
    return f"{share:.1%}" if share >= 0.0005 else "<0.1%"  # "0.0%" over a bar would say that nothing is there


def save(figure: Figure, path: Path) -> None:
    """Write the figure as PNG, whole or not at all."""
    FigureCanvasAgg(figure)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=DPI, metadata={"Software": None})
    write_bytes(path, content.getvalue())
