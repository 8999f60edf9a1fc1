"""What the paper says of its tables, beside our runs, in sentences: does it hold under its settings, and fairly?

The main claim has its own module (`claim`). Every figure here comes from result files, the published ones from `paper`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from genspp.experiments import paper
from genspp.experiments.board import Board, metric_cell, over_seeds
from genspp.experiments.claim import verdict
from genspp.experiments.compare import compare, in_table
from genspp.experiments.findings import NOT_RUN, differences, order_sentence
from genspp.experiments.grid import NO_PRESET
from genspp.experiments.names import OURS, data_title, family, method_title, methods
from genspp.experiments.paper_tables import published
from genspp.experiments.skew import LEVELS, MAIN
from genspp.experiments.skew import published as published_start
from genspp.experiments.skew_tables import lines
from genspp.experiments.sparsity import variant_of
from genspp.report.result_table import Cell

FAIR = "sound"


def fair_sentence(board: Board, data: str) -> str:
    """Say whether the main claim holds where all methods have the same conditions, with both tests."""
    found = in_table(board, data, FAIR).with_the_best("hl_f1")
    if found is None:
        return f"Under preset {FAIR}: {NOT_RUN.lower()}"
    return (
        f"Under preset {FAIR}, where all methods have the same conditions, {method_title(OURS)} has "
        f"{found.ours - found.theirs:+.2f} points of Hl-F1 against {method_title(found.rival)}, the best other method. "
        f"{order_sentence(found)} {verdict(found)}"
    )


def variance_sentence(board: Board, data: str, preset: str) -> str:
    """Say how much Hl-F1 varies over seeds, GenSPP's beside the others'."""
    cells = {method: metric_cell(runs, "hl_f1") for method, runs in board.methods(data, preset).items()}
    spread = {method: cell.std for method, cell in cells.items() if cell is not None and cell.std is not None}
    ours = spread.pop(OURS, None)
    if ours is None or not spread:
        return NOT_RUN
    order = sorted(spread, key=lambda method: spread[method])
    less = sum(spread[method] < ours for method in order)
    ends = " to ".join(f"{spread[method]:.2f} ({method_title(method)})" for method in (order[0], order[-1]))
    return (
        f"Deviation of Hl-F1 over seeds: {method_title(OURS)} {ours:.2f}, the others {ends}; {less} of {len(order)} "
        f"vary less than {method_title(OURS)}."
    )


def silence_sentence(board: Board, data: str, preset: str) -> str:
    """Say how many texts of every class GenSPP leaves without a highlight, and with which other method it is most."""
    shares = {
        method: np.mean([run.predictions().silence() for run in runs], axis=0)
        for method, runs in board.methods(data, preset).items()
        if runs
    }
    if OURS not in shares:
        return NOT_RUN
    given = board.find(data, preset, OURS)[0].predictions()
    classes = [given.classes[label] for label in sorted(set(given.labels))]
    pairs = zip(classes, shares.pop(OURS), strict=True)
    said = f"{method_title(OURS)} marks nothing in " + ", ".join(_texts(name, share) for name, share in pairs)
    if not shares:
        return f"{said}."
    most = max(shares, key=lambda method: float(shares[method].max()))
    left = _texts(classes[int(shares[most].argmax())], float(shares[most].max()))
    return f"{said}; of the others {method_title(most)} leaves most of a class unmarked, {left}."


def _texts(label: str, share: float) -> str:
    return f"{100 * share:.1f} % of the texts labelled {label}"


def skew_claim(board: Board, data: str, preset: str) -> str:
    """Compare every start of GenSPP at the main level with the best other method from the same level."""
    found = [line for line in lines(board, data, preset, MAIN) if line.runs]
    others = {line.method: line.runs for line in found if line.method != OURS}
    said = []
    for line in (line for line in found if line.method == OURS):
        best = compare({OURS: line.runs, **others}).with_the_best("hl_f1")
        if best is not None:
            told = "" if line.way is None else f", the first places tell {100 * line.way.told:.1f} % of the labels"
            said.append(
                f"{line.name}{told}: Hl-F1 {best.ours:.2f}, the best other method from such a start "
                f"{best.theirs:.2f} ({method_title(best.rival)}). {order_sentence(best)}"
            )
    return " ".join(said) or NOT_RUN


def alpha_differences(board: Board, data: str, preset: str) -> str:
    """Name the figures of the sweep that are far from the published ones."""
    kind = family(data)
    return differences(
        (
            f"{method_title(method)}, α = {alpha:.2f}",
            board.find(data, preset, method, variant_of(alpha, kind)),
            published(data, method, f"alpha={alpha:.2f}") if variant_of(alpha, kind) else None,  # else in table 1
        )
        for alpha in paper.alphas(kind)
        for method in methods()
    )


def skew_differences(board: Board, data: str, preset: str) -> str:
    """Name the figures of locked-in starts that are far from the published ones."""
    rows = []
    for line in (line for epochs in LEVELS for line in lines(board, data, preset, epochs)):
        theirs = published_start(data, line.method, line.variant)
        cells = None if theirs is None else [Cell(one.mean, one.std) for one in theirs.metrics().values()]
        rows.append((f"{line.name}, {line.variant.split()[0].replace('=', ' = ')}", line.runs, cells))
    return differences(rows)


def cost_sentence(board: Board, data: str, preset: str) -> str:
    """Say how long runs take here and in the paper, GenSPP's beside the others'."""
    taken = {
        method: cell.mean
        for method, runs in board.methods(data, preset).items()
        if (cell := over_seeds([run.training["seconds"] / 60 for run in runs])) is not None
    }
    theirs = {method: cost.minutes.mean for (where, method), cost in paper.COST.items() if where == data}
    pairs = [(name, taken[name], theirs[name]) for name in methods() if name in taken and name in theirs]
    if not pairs:
        return NOT_RUN
    shown = ", ".join(f"{method_title(name)} {here:.1f} ({there:.1f})" for name, here, there in pairs)
    return f"{data_title(data)}, minutes per run here, and in the paper: {shown}."


def matching_sentence(board: Board) -> str:
    """Give the scores of string matching on Toy beside the published ones."""
    said = []
    for triple, figure in paper.STRING_MATCHING.items():
        for run in board.find("toy", NO_PRESET, "matching", " ".join(triple)):
            clf_f1, hl_f1 = (100 * run.metrics[metric] for metric in ("clf_f1", "hl_f1"))
            said.append(f"{', '.join(triple)}: Clf-F1 {clf_f1:.2f} (the paper {figure:.2f}), Hl-F1 {hl_f1:.2f}")
    return f"{'; '.join(said)}." if said else NOT_RUN


def gold_sentence(facts: Mapping[str, Any]) -> str:
    """Give size and share of HateXplain's gold highlights beside the published ones. facts: those of its figure."""
    if not paper.GOLD.keys() <= facts.keys():
        return NOT_RUN
    (size, share), theirs = ([facts[name] for name in paper.GOLD], list(paper.GOLD.values()))
    return (
        f"Gold tokens of a training post: {size[0]:.2f} ± {size[1]:.2f} (the paper {theirs[0].mean:.2f} ± "
        f"{theirs[0].std:.2f}); their share: {share[0]:.2f} ± {share[1]:.2f} ({theirs[1].mean:.2f} ± "
        f"{theirs[1].std:.2f})."
    )
