"""Two figures of training from a locked-in start: how highlights get better, and where they are before and after.

matplotlib, which takes its time, is imported where something is drawn.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Band(NamedTuple):
    """A method's line. shares: of training, in percent. values: (seeds, shares), in percent.

    looked_at: whether the values are those of the way; otherwise they are those of the end, all along.
    """

    name: str
    shares: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    looked_at: bool = True


class Selection(NamedTuple):
    """Of the texts of every class the share with the first, second... token selected, at the start and in the end."""

    name: str
    classes: Sequence[str]
    before: Sequence[Sequence[float]]
    after: Sequence[Sequence[float]]


def progress_figure(path: Path, title: str, panels: Mapping[str, Sequence[Band]]) -> None:
    """Draw a panel per start and a line per method: the mean over seeds, and a band from the least to the most.

    The first line is drawn thicker. A method has one colour in all panels. What was not looked at on its way is a thin
    dotted line at its end, and its name says so.
    """
    from matplotlib.figure import Figure

    from genspp.report.figures import INK, MUTED, legend, looks, save

    shown = looks(band.name for bands in panels.values() for band in bands)
    figure = Figure(figsize=(4.2 * len(panels), 5.2), layout="constrained")
    for axes, (start, bands) in zip(
        figure.subplots(1, len(panels), sharey=True, squeeze=False)[0], panels.items(), strict=True
    ):
        for band in bands:
            colour, style = shown[band.name]
            thick = 2.6 if band.name == next(iter(shown)) else 1.6
            style, width = (style, thick) if band.looked_at else (":", 0.9)
            name = band.name if band.looked_at else f"{band.name} (end only)"
            axes.plot(band.shares, band.values.mean(0), color=colour, linestyle=style, linewidth=width, label=name)
            if band.looked_at and len(band.values) > 1:
                axes.fill_between(
                    band.shares, band.values.min(0), band.values.max(0), color=colour, alpha=0.12, linewidth=0
                )
        axes.set_title(start, fontsize=11, color=INK, loc="left")
        axes.set_xlabel("training done, % of its epochs or generations", color=INK)
        axes.set(xlim=(0, 100), ylim=(0, 100))
        axes.tick_params(colors=MUTED)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        axes.grid(axis="y", color=MUTED, alpha=0.2)
    figure.axes[0].set_ylabel("Hl-F1: agreement with the gold highlights, %", color=INK)
    legend(figure)
    figure.suptitle(title, fontsize=11, color=INK, x=0.01, ha="left")
    save(figure, path)


def selection_figure(path: Path, title: str, rows: Sequence[Selection]) -> None:
    """Draw a row per method and two tables in each, at the start and in the end: classes down, places across.

    A diagonal is the code: the place of the selected token tells the class.
    """
    from matplotlib.figure import Figure

    from genspp.report.figures import INK, MUTED, save

    figure = Figure(figsize=(8.4, 1.4 + 0.95 * max(len(rows), 1)), layout="constrained")
    panels = figure.subplots(max(len(rows), 1), 2, squeeze=False)
    shown = None
    for (left, right), row in zip(panels, rows, strict=False):
        for axes, shares in ((left, row.before), (right, row.after)):
            table = np.array(shares)
            shown = axes.imshow(table, cmap="cividis", vmin=0, vmax=1, aspect="auto")
            axes.set_xticks(range(table.shape[1]), [str(place + 1) for place in range(table.shape[1])])
            axes.set_yticks(range(len(row.classes)), row.classes if axes is left else [""] * len(row.classes))
            axes.tick_params(colors=MUTED, length=0, labelsize=7, labelbottom=row is rows[-1])
            for spine in axes.spines.values():
                spine.set_visible(False)
        left.set_title(row.name, fontsize=9, color=INK, loc="left")
    panels[0][1].set_title("in the end", fontsize=9, color=MUTED, loc="right")
    panels[0][0].set_title("at the start", fontsize=9, color=MUTED, loc="right")
    for axes in panels[-1]:
        axes.set_xlabel("place of the token in the text", fontsize=9, color=INK)
    if shown is not None:
        bar = figure.colorbar(shown, ax=panels, pad=0.02, shrink=0.6)
        bar.set_label("share of texts", color=INK, fontsize=9)
        bar.ax.tick_params(colors=MUTED, labelsize=7)
        bar.outline.set_visible(False)  # type: ignore[operator]
    figure.suptitle(title, fontsize=10, color=INK, x=0.01, ha="left")
    save(figure, path)
