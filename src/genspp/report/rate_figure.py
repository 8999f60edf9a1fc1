"""The figure of highlights against how much is selected.

matplotlib, which takes its time, is imported where something is drawn.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class RateLine(NamedTuple):
    """A line of every panel. rates, values (by panel): in percent. reference: drawn in grey, without its points."""

    name: str
    rates: Sequence[float]
    values: Mapping[str, Sequence[float]]
    reference: bool = False


def rate_figure(path: Path, title: str, lines: Sequence[RateLine], gold: float | None = None) -> None:
    """Draw a panel per quantity, the share of selected tokens across: a line per method, a point per setting.

    The first line is drawn thicker. gold: the share of tokens that are gold, in percent, as an upright line.
    """
    from matplotlib.figure import Figure

    from genspp.report.figures import INK, MUTED, legend, looks, save

    panels = list(dict.fromkeys(name for line in lines for name in line.values))
    colours = looks(line.name for line in lines if not line.reference)
    greys = dict(zip([line.name for line in lines if line.reference], ("--", ":"), strict=False))
    trained = [rate for line in lines if not line.reference for rate in line.rates]
    most = 1.15 * max([*trained, gold or 0.0])
    figure = Figure(figsize=(4.2 * len(panels), 5.2), layout="constrained")
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        for line in lines:
            if line.reference:
                look = {"color": MUTED, "linestyle": greys[line.name], "linewidth": 1.6, "zorder": 2}
            else:
                colour, style = colours[line.name]
                thick = line is lines[0]
                look = {"color": colour, "linestyle": style, "marker": "o", "markersize": 5 if thick else 3.5}
                look |= {"linewidth": 2.4 if thick else 1.2, "zorder": 4 if thick else 3}
            axes.plot(line.rates, line.values[panel], label=line.name, **look)
        if gold is not None:
            axes.axvline(gold, color=MUTED, linewidth=0.8, alpha=0.6)
            beside = {"xytext": (3, 0), "textcoords": "offset points", "va": "bottom"}
            axes.annotate("gold", (gold, 1), fontsize=8, color=MUTED, **beside)
        axes.set_title(f"{panel}, %", fontsize=11, color=INK, loc="left")
        axes.set_xlabel("R: tokens selected, %", color=INK)
        axes.set(xlim=(0, most), ylim=(0, 102))
        axes.tick_params(colors=MUTED)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        axes.grid(axis="y", color=MUTED, alpha=0.2)
    legend(figure)
    figure.suptitle(title, fontsize=11, color=INK, x=0.01, ha="left")
    save(figure, path)
