"""What templates of pages may call: tables, sentences and figures, all made from result files.

A figure is shown where the results that it is drawn from are there; else the page says which command makes them.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from genspp.evaluation.significance import CONFIDENCE
from genspp.experiments import (
    ablation_tables,
    claim,
    cluster_tables,
    findings,
    paper_claims,
    reliability,
    skew_drawings,
    skew_findings,
    sparsity_tables,
)
from genspp.experiments.ablation_tables import ablation_table
from genspp.experiments.audit_table import audit_sentence, audit_table
from genspp.experiments.board import Board
from genspp.experiments.names import data_form, data_title
from genspp.experiments.paper_tables import main_table, table1
from genspp.experiments.results import GRIDS, read_results
from genspp.experiments.samples import FILE as SAMPLES
from genspp.experiments.samples import samples_table
from genspp.experiments.scale import FILE as SCALE
from genspp.experiments.scale import scale_table
from genspp.experiments.side_tables import beside_table, cost_table, others_table, vectors_table
from genspp.experiments.skew import LEVELS
from genspp.experiments.skew_tables import skew_table
from genspp.experiments.sparsity_tables import alpha_table
from genspp.experiments.truncation import FILE as TRUNCATION
from genspp.experiments.untrained import untrained_file
from genspp.report.result_table import ResultTable

TABLES: dict[str, Callable[[Board, str, str], ResultTable | None]] = {
    "table1": table1,
    "beside": beside_table,
    "audit": audit_table,
    "alpha": alpha_table,
    "cost": cost_table,
    "ablation": ablation_table,
    "skew": skew_table,
}
ABLATED = ("toy", "hatexplain", "tweets", "intents")  # what docs/ablation.md shows


def grid_of(table: str) -> str:
    """Return the benchmark whose runs a table is made of."""
    return table if table in GRIDS else "table1"


def read_facts(path: Path) -> dict[str, Any]:
    """Read a file of figures; empty where there is none yet."""
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return facts


def calls(board: Board, results: Path, up: str) -> dict[str, Any]:
    """Return all that templates may call, by name.

    board: the results of the folder `results`. up: how a page writes the way to the folder above docs/.
    """
    facts = read_facts(results / "figures/figures.json")

    def image(name: str, caption: str) -> str:
        return f"![{caption}]({up}results/figures/{name}.png)"

    def figure(name: str, caption: str) -> str:
        missing = "*Not drawn yet: `genspp benchmark figures --data hatexplain:FOLDER`.*"
        return image(name, caption) if name in facts else missing

    return {
        "figure": figure,
        "facts": facts,
        "title": data_title,
        "grids": board.grids("table1"),
        **_tables(board, results),
        **_sentences(board, results, facts),
        **_sparsity(board, results, image),
        **_ablation(board, image),
        **_skew(board, image),
        "reliability": reliability.calls(results, read_facts),
        **_cluster(read_facts(results / cluster_tables.FILE), image),
    }


def _tables(board: Board, results: Path) -> dict[str, Callable[..., str]]:
    def shown(table: ResultTable | None, arguments: str) -> str:
        return table.to_markdown().strip() if table is not None else f"*Not run yet: `genspp benchmark {arguments}`.*"

    def make(name: str, table: Callable[[Board, str, str], ResultTable | None]) -> Callable[[str, str], str]:
        return lambda data, preset: shown(
            table(board, data, preset), f"{grid_of(name)} --data {data_form(data)} --preset {preset}"
        )

    def vectors(folder: str, data: str, preset: str) -> str:
        table = vectors_table(board, Board(read_results(results / folder)), data, preset)
        arguments = f"--data {data_form(data)} --vectors FILE --preset {preset} --out results/{folder}"
        return shown(table, f"table1 {arguments}")

    def scale() -> str:
        table = scale_table(read_facts(results / SCALE))
        return table.to_markdown().strip() if table is not None else "*Not run yet: `make scale`.*"

    def samples() -> str:
        table = samples_table(read_facts(results / SAMPLES))
        return table.to_markdown().strip() if table is not None else "*Not run yet: `make samples`.*"

    def main(preset: str) -> str:
        return shown(main_table(board, preset), f"table1 --preset {preset}")

    def others(preset: str) -> str:
        return shown(others_table(board, preset), f"table1 --data toy-contaminated,mine.csv --preset {preset}")

    tables = {name: make(name, table) for name, table in TABLES.items()}
    return {**tables, "main": main, "others": others, "vectors": vectors, "scale": scale, "samples": samples}


def _sentences(board: Board, results: Path, facts: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Callable[[Board, str, str], str]] = {
        "claim": claim.claim_sentence,
        "claim_details": claim.claim_details,
        "audited": audit_sentence,
        "difference": findings.difference_sentence,
        "alpha_difference": paper_claims.alpha_differences,
        "skew_difference": paper_claims.skew_differences,
        "origin": findings.origin_sentence,
        "variance": paper_claims.variance_sentence,
        "silence": paper_claims.silence_sentence,
        "skew_claim": paper_claims.skew_claim,
        "minutes": paper_claims.cost_sentence,
    }
    return {
        **{name: _of(sentence, board) for name, sentence in told.items()},
        "span": lambda data, preset, metric: findings.span_sentence(board, data, preset, metric),
        "fair": lambda data: paper_claims.fair_sentence(board, data),
        "matching": lambda: paper_claims.matching_sentence(board),
        "gold": lambda: paper_claims.gold_sentence(facts.get("hatexplain-highlights", {})),
        "truncation": lambda: findings.truncation_sentence(read_facts(results / TRUNCATION)),
        "population_speed": lambda: findings.population_sentence(read_facts(results / "bench.json")),
        "gradient_speed": lambda: findings.gradient_sentence(read_facts(results / "bench-gradient.json")),
    }


def _of(sentence: Callable[[Board, str, str], str], board: Board) -> Callable[[str, str], str]:
    return lambda data, preset: sentence(board, data, preset)


def _sparsity(board: Board, results: Path, image: Callable[[str, str], str]) -> dict[str, Any]:
    def rates(data: str, preset: str) -> str:
        if not (results / untrained_file(data, preset)).exists():
            return f"*Not drawn yet: `genspp benchmark alpha --data {data_form(data)} --preset {preset}`.*"
        return image(sparsity_tables.figure_name(data, preset), "Precision, recall and Hl-F1 by how much is selected")

    return {
        "rates": rates,
        "matched": lambda data, preset: sparsity_tables.matched_sentences(board, results, data, preset),
    }


def _ablation(board: Board, image: Callable[[str, str], str]) -> dict[str, Any]:
    def curves(data: str) -> str:
        if not ablation_tables.find(board, data):
            return ""
        return image(ablation_tables.figure_name(data), "What each variant had found when")

    return {
        "ablated": ABLATED,
        "confidence": round(100 * CONFIDENCE),
        "measures": ablation_tables.MEASURES,
        "worth": lambda measure: ablation_tables.ingredient_table(board, measure, ABLATED).to_markdown().strip(),
        "curves": curves,
    }


def _skew(board: Board, image: Callable[[str, str], str]) -> dict[str, Any]:
    def figures(data: str, preset: str) -> str:
        captions = "Hl-F1 while training goes on", "Where tokens are selected at the start and in the end"
        if not skew_drawings.shown(board, data, preset):
            return ""
        pairs = zip(skew_drawings.figure_names(data, preset), captions, strict=True)
        return "\n\n".join(image(name, caption) for name, caption in pairs)

    return {
        "levels": tuple(LEVELS),
        "escape": lambda data, preset, epochs: skew_findings.level_sentences(board, data, preset, epochs),
        "gradient_step": lambda data: skew_findings.gradient_sentence(board, data),
        "skew_figures": figures,
    }


def _cluster(content: dict[str, Any], image: Callable[[str, str], str]) -> dict[str, Any]:
    caption = "Time of a generation by machines, and of a training by rows"
    return {
        "ray_costs": lambda: cluster_tables.costs_sentence(content),
        "ray_check": lambda: cluster_tables.check_table(content),
        "ray_stops": lambda: cluster_tables.stop_sentences(content),
        "ray_figure": lambda: image(cluster_tables.FIGURE, caption) if content else cluster_tables.MISSING,
        "ray_training": lambda: cluster_tables.training_table(content),
        "ray_memory": lambda: cluster_tables.memory_sentence(content),
        "ray_gain": cluster_tables.gain_sentence,
        "ray_origin": lambda: cluster_tables.origin_sentence(content),
    }
