"""The figure of time against machines and against rows.

matplotlib, which takes its time, is imported where something is drawn.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Panel(NamedTuple):
    """Lines over one axis, both on logarithmic scales. ends: from a line's name to where it is marked, if it is."""

    title: str
    across: str
    upwards: str
    places: Sequence[float]
    lines: Mapping[str, Sequence[float]]
    ends: Mapping[str, float]


def scaling_figure(path: Path, title: str, panels: Sequence[Panel]) -> None:
    """Draw panels side by side, each with a legend of its own."""
    from matplotlib.figure import Figure

    from genspp.report.figures import INK, MUTED, looks, save

    figure = Figure(figsize=(5.2 * len(panels), 4.6), layout="constrained")
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        for name, (colour, style) in looks(panel.lines).items():
            axes.plot(panel.places, panel.lines[name], color=colour, linestyle=style, linewidth=1.8, label=name)
            if name in panel.ends:
                at = list(panel.places).index(panel.ends[name])
                axes.plot(panel.places[at], panel.lines[name][at], "o", color=colour, markersize=7)
        axes.set(xscale="log", yscale="log")
        axes.set_title(panel.title, fontsize=11, color=INK, loc="left")
        axes.set_xlabel(panel.across, color=INK)
        axes.set_ylabel(panel.upwards, color=INK)
        axes.tick_params(colors=MUTED)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        axes.grid(color=MUTED, alpha=0.2)
        axes.legend(frameon=False, fontsize=9)
    figure.suptitle(title, fontsize=11, color=INK, x=0.01, ha="left")
    save(figure, path)
