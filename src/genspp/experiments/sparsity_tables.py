"""What a sweep of sparsity says: a table per data set, who is ahead where methods select as much, and a figure."""

from pathlib import Path

from genspp.experiments.board import Board, metric_cell
from genspp.experiments.findings import NOT_RUN
from genspp.experiments.highlight_curves import Curve, method_curves, untrained_curves
from genspp.experiments.names import OURS, data_title, declares, family, method_title, methods
from genspp.experiments.paper_tables import PAIRED, SEEDS, Cells, general_notes, mark_notes, paired_cells, published
from genspp.experiments.results import Result
from genspp.experiments.sparsity import levels, settings_of, variant_of
from genspp.experiments.untrained import read_untrained
from genspp.report.rate_figure import RateLine, rate_figure
from genspp.report.result_table import Cell, Column, ResultTable, Row

PANELS = {"precision": "Precision", "recall": "Recall", "hl_f1": "Hl-F1"}
_BESIDE = ("wordlist_hl_f1", "random_hl_f1")
COLUMNS = (
    *PAIRED[:-1],
    *(Column(name, digits=1, group="Hl-F1 at this R") for name in ("GenSPP", "word list", "random")),
    SEEDS,
)
_NOTES = (
    "Hl-F1 at this R: that of GenSPP on the straight line between its own settings on either side, a dash where it has "
    "none that selects as much or as little; that of a word list and of random tokens that mark as much as each run.",
    "Settings of GenSPP, under preset sound: weight multiplies the price of all that a highlight lacks (completeness, "
    "insufficiency). Under preset paper: the threshold that the loss has to be below.",
)


def alpha_table(board: Board, data: str, preset: str) -> ResultTable | None:
    """Return the sweep of a data set, level by level, and GenSPP's settings below; None where nothing has been run."""
    if (data, preset) not in board.grids("alpha"):
        return None
    ours, kind = method_curves(board, data, preset).get(OURS), family(data)
    rows: list[Row] = []
    everything: list[Result] = []
    for alpha in levels(kind):
        first = len(rows)
        for method in (method for method in methods() if declares(method, "alpha")):
            runs = board.find(data, preset, method, variant_of(alpha, kind))
            theirs = published(data, method, f"alpha={alpha:.2f}")
            if runs or theirs:
                name = f"{method_title(method)}, α = {alpha:.2f}"
                rows.append(Row(name, _cells(runs, theirs, ours), rule=len(rows) == first))
                everything += runs
    for variant, _ in settings_of(OURS, kind, preset):
        runs, theirs = board.find(data, preset, OURS, variant), None if variant else published(data, OURS)
        if runs or theirs:
            rows.append(Row(_setting(variant), _cells(runs, theirs), rule=not variant))
            everything += runs
    notes = (*general_notes(data, everything), *(("", note) for note in _NOTES), *mark_notes(rows))
    return ResultTable(f"{data_title(data)}, preset {preset}: levels of sparsity", COLUMNS, tuple(rows), notes)


def _setting(variant: str) -> str:
    return ", ".join([method_title(OURS), *([variant.replace("=", " = ")] if variant else [])])


def _cells(runs: list[Result], theirs: list[Cell] | None, ours: Curve | None = None) -> Cells:
    *pairs, seeds = paired_cells(runs, theirs)
    rate = metric_cell(runs, "selection_rate")
    matched = ours.at(rate.mean / 100) if ours is not None and rate is not None else None
    beside = [None if (cell := metric_cell(runs, name)) is None else Cell(cell.mean) for name in _BESIDE]
    return (*pairs, None if matched is None else Cell(100 * matched), *beside, seeds)


# ---- who is ahead where methods select as much


def matched_sentences(board: Board, results: Path, data: str, preset: str) -> list[str]:
    """Say, for every setting of GenSPP, who is ahead among the curves that pass where it is."""
    curves, untrained = method_curves(board, data, preset), untrained_curves(read_untrained(results, data, preset))
    ours = curves.pop(OURS, None)
    if ours is None or (data, preset) not in board.grids("alpha"):
        return [NOT_RUN]
    return [_matched(point.setting, point.rate, point.hl_f1, curves, untrained) for point in ours.points]


def _matched(setting: str, rate: float, own: float, curves: dict[str, Curve], untrained: dict[str, Curve]) -> str:
    found = {curve.name: value for curve in curves.values() if (value := curve.at(rate)) is not None}
    order = sorted(found, key=lambda name: -found[name])
    name, score = method_title(OURS), f"{100 * own:.1f}"
    if not order:
        said = f"no other method's curve passes there; {name} has an Hl-F1 of {score}"
    elif own >= found[order[0]]:
        passing = "the only other curve that passes" if len(order) == 1 else f"the best of {len(order)} that pass"
        said = (
            f"{name} has the best Hl-F1, {score}, before {order[0]} with {100 * found[order[0]]:.1f}, {passing} there"
        )
    else:
        better = [f"{other} ({100 * found[other]:.1f})" for other in order if found[other] > own]
        said = f"{name} has an Hl-F1 of {score}, behind {', '.join(better)}; {len(order)} other curves pass there"
    # A word list has a word or has it not: between two lengths there is none.
    scores = {curve.name.lower(): curve.nearest(rate) for curve in untrained.values()}
    beside = [f"{name} {100 * value:.1f}" for name, value in scores.items() if value is not None]
    where = f"R = {100 * rate:.1f} % ({_setting(setting)})"
    return f"{where}: {said}" + (f"; {', '.join(beside)}." if beside else ".")


# ---- the figure


def figure_name(data: str, preset: str) -> str:
    """Return what the figure of a data set and preset is called."""
    return f"sparsity-{data}-{preset}"


def draw_sweep(board: Board, folder: Path) -> list[Path]:
    """Draw precision, recall and Hl-F1 against R, for all data sets whose untrained highlights were measured."""
    drawn = []
    for data, preset in board.grids("table1"):
        facts, curves = read_untrained(folder.parent, data, preset), method_curves(board, data, preset)
        if not facts or not curves:
            continue
        lines = [_line(curve) for curve in curves.values()]
        lines += [_line(curve, reference=True) for curve in untrained_curves(facts).values()]
        drawn.append(folder / f"{figure_name(data, preset)}.png")
        title = f"{data_title(data)}, preset {preset}: agreement with the gold highlights, by how much is selected"
        rate_figure(drawn[-1], title, lines, 100 * facts["gold_rate"])
    return drawn


def _line(curve: Curve, reference: bool = False) -> RateLine:
    values = {title: [100 * getattr(point, name) for point in curve.points] for name, title in PANELS.items()}
    return RateLine(curve.name, [100 * point.rate for point in curve.points], values, reference)
