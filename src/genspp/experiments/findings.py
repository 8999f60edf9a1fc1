"""What the results say, in sentences: every figure, and who is ahead, comes from result files."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from genspp.experiments.board import Board, metric_cell, scale
from genspp.experiments.compare import Comparison
from genspp.experiments.names import OURS, data_title, method_title, methods
from genspp.experiments.paper_tables import METRICS, published
from genspp.experiments.results import Result
from genspp.report.result_table import Cell, mean_std
from genspp.settings import PRESETS

NOT_RUN = "Not run yet."


def lead_sentence(found: Comparison) -> str:
    """Say who has the best mean, GenSPP or another, and whether other seeds or texts might turn the order round."""
    ours, rival = method_title(OURS), method_title(found.rival)
    if round(found.ours, 2) == round(found.theirs, 2):
        order = f"{ours} and {rival} share the best mean {found.metric}, {found.ours:.2f}"
    elif found.ours > found.theirs:
        order = f"{ours} has the best mean {found.metric}, {found.ours:.2f}, before {rival} with {found.theirs:.2f}"
    else:
        order = f"{rival} has the best mean {found.metric}, {found.theirs:.2f}; {ours} has {found.ours:.2f}"
    return f"{order}. {order_sentence(found)}"


def order_sentence(found: Comparison) -> str:
    """Say whether other seeds and other test texts might turn the order of two methods round."""
    seeds = f"Over seeds the order {_standing(found.over_seeds)} ({_p(found.seeds_p, found.corrected[0])})"
    if found.too_few_seeds:
        seeds = (
            f"{found.runs[0]} and {found.runs[1]} seeds are too few for so many comparisons to show that the order "
            f"holds ({_p(found.seeds_p, found.corrected[0])}, which cannot get below {found.least_p:.2g})"
        )
    if found.texts is None or found.corrected[1] is None:
        return f"{seeds}; the two were not tested on the same texts."
    return f"{seeds}, over test texts it {_standing(found.over_texts)} ({_p(found.texts.p, found.corrected[1])})."


def _standing(holds: bool) -> str:
    return "holds" if holds else "may be chance"


def _p(plain: float, corrected: float) -> str:
    return f"p = {plain:.2g}, corrected {corrected:.2g}"


def origin_sentence(board: Board, data: str, preset: str) -> str:
    """Say which commits of the code made the runs of a table: rows of different ones differ in more than method."""
    makers: dict[str, dict[str, None]] = {}
    for method, runs in board.methods(data, preset).items():
        for run in runs:
            commit = run.content["code"]["commit"] or "unknown"
            makers.setdefault(commit[:7], {}).setdefault(method_title(method))
    if not makers:
        return NOT_RUN
    return "Code of these runs, by commit: " + "; ".join(f"{c} ({', '.join(by)})" for c, by in makers.items()) + "."


def selection_sentence(board: Board, data: str, preset: str) -> str:
    """Say how much GenSPP selects beside the others."""
    rates = {
        method: cell.mean
        for method, runs in board.methods(data, preset).items()
        if (cell := metric_cell(runs, "selection_rate")) is not None
    }
    ours = rates.pop(OURS, None)
    if ours is None or not rates:
        return NOT_RUN
    least, most = min(rates, key=lambda name: rates[name]), max(rates, key=lambda name: rates[name])
    return (
        f"{method_title(OURS)} selects {ours:.1f} % of the tokens, the others from {rates[least]:.1f} % "
        f"({method_title(least)}) to {rates[most]:.1f} % ({method_title(most)})."
    )


def difference_sentence(board: Board, data: str, preset: str) -> str:
    """Name every figure of the main table that is further from the published one than chance would have it."""
    return differences(
        (method_title(name), board.find(data, preset, name), published(data, name)) for name in methods()
    )


def differences(rows: Iterable[tuple[str, Sequence[Result], Sequence[Cell] | None]]) -> str:
    """Name every figure that is further from the published one than two deviations of their difference.

    rows: what a row is called, our runs, and the published figures in the order of `METRICS`, if there are any.
    """
    parts, compared = [], False
    for name, runs, theirs in rows:
        if theirs is None or not runs:
            continue
        compared = True
        beyond = []
        for (metric, column), figure in zip(METRICS.items(), theirs, strict=True):
            ours = metric_cell(runs, metric)
            if ours is not None and abs(ours.mean - figure.mean) > 2 * math.hypot(ours.std or 0, figure.std or 0):
                beyond.append(f"{column.name} {ours.mean:.2f} (the paper {figure.mean:.2f})")
        if beyond:
            parts.append(f"{name}: {', '.join(beyond)}")
    if not compared:
        return NOT_RUN
    if not parts:
        return "Nothing is further from the paper than two deviations of the difference."
    return f"Further from the paper than two deviations of the difference: {'; '.join(parts)}."


def span_sentence(board: Board, data: str, preset: str, metric: str) -> str:
    """Give the range of a metric over the single runs of every method."""
    parts = []
    for method, runs in board.methods(data, preset).items():
        values = [scale(metric) * run.metrics[metric] for run in runs if run.metrics[metric] is not None]
        if values:
            parts.append(f"{method_title(method)} {min(values):.1f} to {max(values):.1f}")
    return f"{METRICS[metric].name} of single runs: {', '.join(parts)}." if parts else NOT_RUN


def truncation_sentence(cut: Mapping[str, Any]) -> str:
    """Say what GenSPP's Hl-F1 would be on cut texts. cut: the content of results/truncation.json."""
    if not cut:
        return NOT_RUN
    parts = []
    for preset in PRESETS:
        runs = [run for name, run in cut["runs"].items() if name.startswith(f"{preset}-")]
        if runs:
            whole, short = (100 * mean_std([run[score] for run in runs])[0] for score in ("hl_f1", "hl_f1_cut"))
            parts.append(f"{short:.2f} instead of {whole:.2f} under preset {preset}")
    return (
        f"That leaves out {100 * cut['tokens_left_out']:.0f} % of the test tokens and "
        f"{100 * cut['gold_left_out']:.0f} % of the gold ones; "
        f"scored like that, our own highlights have a mean Hl-F1 of {' and '.join(parts)}."
    )


def population_sentence(bench: Mapping[str, Any]) -> str:
    """Say how long a generation takes. bench: the content of results/bench.json."""
    seconds = {case: engines["compiled"] for case, engines in bench.get("seconds_a_generation", {}).items()}
    if not seconds:
        return NOT_RUN
    shown = ", ".join(f"{value:.2f} s ({case.replace('_', ', ')})" for case, value in seconds.items())
    return f"A generation of {bench['individuals']} individuals on {bench['machine']['cores']} cores: {shown}."


def gradient_sentence(bench: Mapping[str, Any]) -> str:
    """Say how long an epoch of the gradient methods takes. bench: the content of results/bench-gradient.json."""
    sentences = []
    for case, found in bench.get("epoch", {}).items():
        shown = ", ".join(f"{method_title(n)} {found[n]['seconds']:.2f} s" for n in methods() if n in found)
        ratios = [one["ratio"] for one in found.values() if "ratio" in one]
        slower = f"; by torch's own modules {min(ratios)} to {max(ratios)} times as long" if ratios else ""
        sentences.append(f"An epoch on data of {data_title(case)}'s size, one core to itself: {shown}{slower}.")
    return " ".join(sentences) or NOT_RUN
