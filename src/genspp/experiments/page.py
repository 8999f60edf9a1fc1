"""Pages of docs/, each made from its template there and the result files: `python -m genspp.experiments.page`.

A template has prose on how things were done; figures, and who is ahead, are filled in. What has not been run is said
to be so.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2

from genspp.errors import GenSPPError
from genspp.experiments import ablation_tables, findings, skew_drawings, skew_findings
from genspp.experiments.ablation import VARIANTS
from genspp.experiments.ablation_tables import ablation_table
from genspp.experiments.audit_table import audit_sentence, audit_table
from genspp.experiments.board import Board
from genspp.experiments.claim import claim_paragraph
from genspp.experiments.names import data_form, data_title
from genspp.experiments.paper_tables import alpha_table, genspp_table, table1
from genspp.experiments.results import GRIDS, read_results
from genspp.experiments.side_tables import cost_table, highlights_table, vectors_table
from genspp.experiments.skew import LEVELS
from genspp.experiments.skew_tables import skew_table
from genspp.experiments.truncation import FILE as TRUNCATION
from genspp.files import write_text
from genspp.report.result_table import ResultTable

TEMPLATE, ABLATION = Path("docs/results.template.md"), Path("docs/ablation.template.md")
SKEW = Path("docs/skew.template.md")
TEMPLATES = (TEMPLATE, ABLATION, SKEW)
TABLES: dict[str, Callable[[Board, str, str], ResultTable | None]] = {
    "table1": table1,
    "audit": audit_table,
    "alpha": alpha_table,
    "cost": cost_table,
    "ablation": ablation_table,
    "skew": skew_table,
}
# What draws the figures of a benchmark from its results, into a folder.
FIGURES: dict[str, Callable[[Board, Path], list[Path]]] = {
    "ablation": ablation_tables.draw_curves,
    "skew": skew_drawings.draw_skew,
}
ABLATED = ("toy", "hatexplain", "tweets")  # what docs/ablation.md shows


def write_tables(folder: Path, names: tuple[str, ...] = tuple(TABLES)) -> list[str]:
    """Write the tables of all results of a folder, in Markdown and LaTeX; return the Markdown of each."""
    board = Board(read_results(folder))
    written = []
    for name in names:
        for data, preset in board.grids(_grid(name)):
            table = TABLES[name](board, data, preset)
            if table is not None:
                label = f"{name}-{data}-{preset}"
                write_text(folder / "tables" / f"{label}.md", table.to_markdown())
                write_text(folder / "tables" / f"{label}.tex", table.to_latex(f"tab:{label}"))
                written.append(table.to_markdown())
    return written


def _grid(table: str) -> str:
    """Return the benchmark whose runs a table is made of."""
    return table if table in GRIDS else "table1"


def read_facts(path: Path) -> dict[str, Any]:
    """Read a file of figures; empty where there is none yet."""
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return facts


def render_page(template: Path, results: Path) -> str:
    """Return the page that a template and the results make."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False)
    page = environment.from_string(template.read_text(encoding="utf-8"))
    facts = read_facts(results / "figures/figures.json")

    def figure(name: str, caption: str) -> str:
        if name not in facts:
            return "*Not drawn yet: `genspp benchmark figures --data hatexplain:FOLDER`.*"
        return f"![{caption}](../results/figures/{name}.png)"

    board = Board(read_results(results))
    calls = {**_tables(board, results), **_sentences(board, results), **_ablation(board), **_skew(board)}
    return page.render(figure=figure, facts=facts, **calls)


def _tables(board: Board, results: Path) -> dict[str, Callable[..., str]]:
    """Return what the template calls for tables."""

    def shown(table: ResultTable | None, arguments: str) -> str:
        return table.to_markdown().strip() if table is not None else f"*Not run yet: `genspp benchmark {arguments}`.*"

    def make(name: str, table: Callable[[Board, str, str], ResultTable | None]) -> Callable[[str, str], str]:
        return lambda data, preset: shown(
            table(board, data, preset), f"{_grid(name)} --data {data_form(data)} --preset {preset}"
        )

    def genspp(data: str) -> str:
        return shown(genspp_table(board, data), f"table1 --methods genspp --data {data_form(data)}")

    def vectors(folder: str, data: str, preset: str) -> str:
        table = vectors_table(board, Board(read_results(results / folder)), data, preset)
        arguments = f"--data {data_form(data)} --vectors FILE --preset {preset} --out results/{folder}"
        return shown(table, f"table1 {arguments}")

    made = {name: make(name, table) for name, table in {**TABLES, "highlights": highlights_table}.items()}
    return {**made, "genspp": genspp, "vectors": vectors}


def _sentences(board: Board, results: Path) -> dict[str, Any]:
    """Return what the template calls for sentences."""
    return {
        "grids": board.grids("table1"),
        "title": data_title,
        "claim": lambda data, preset: claim_paragraph(board, data, preset),
        "audited": lambda data, preset: audit_sentence(board, data, preset),
        "difference": lambda data, preset: findings.difference_sentence(board, data, preset),
        "origin": lambda data, preset: findings.origin_sentence(board, data, preset),
        "span": lambda data, preset, metric: findings.span_sentence(board, data, preset, metric),
        "truncation": lambda: findings.truncation_sentence(read_facts(results / TRUNCATION)),
        "population_speed": lambda: findings.population_sentence(read_facts(results / "bench.json")),
        "gradient_speed": lambda: findings.gradient_sentence(read_facts(results / "bench-gradient.json")),
    }


def _ablation(board: Board) -> dict[str, Any]:
    """Return what the template of the ablation calls for."""

    def curves(data: str) -> str:
        if not ablation_tables.find(board, data):
            return ""
        return f"![What each variant had found when](../results/figures/{ablation_tables.figure_name(data)}.png)"

    return {
        "ablated": ABLATED,
        "deviations": ablation_tables.DEVIATIONS,
        "ingredients": [(name, variant.ingredient) for name, variant in VARIANTS.items() if variant.ingredient],
        "ingredient": lambda variant, data: ablation_tables.difference_sentence(board, variant, data),
        "curves": curves,
    }


def _skew(board: Board) -> dict[str, Any]:
    """Return what the template of the locked-in starts calls for."""

    def figures(data: str, preset: str) -> str:
        captions = "Hl-F1 while training goes on", "Where tokens are selected at the start and in the end"
        if not skew_drawings.shown(board, data, preset):
            return ""
        pairs = zip(captions, skew_drawings.figure_names(data, preset), strict=True)
        return "\n\n".join(f"![{caption}](../results/figures/{name}.png)" for caption, name in pairs)

    return {
        "levels": tuple(LEVELS),
        "escape": lambda data, preset, epochs: skew_findings.level_sentences(board, data, preset, epochs),
        "gradient_step": lambda data: skew_findings.gradient_sentence(board, data),
        "skew_figures": figures,
    }


def page_of(template: Path) -> Path:
    """Return the page that a template is for."""
    return template.with_name(template.name.replace(".template", ""))


def write_pages(root: Path = Path(), results: Path = Path("results")) -> None:
    """Write all pages, below `root`."""
    for template in TEMPLATES:
        write_text(root / page_of(template), render_page(root / template, root / results))


def main() -> int:
    """Write the tables, the curves and the pages again from the result files."""
    results = Path("results")
    try:
        write_tables(results)
        board = Board(read_results(results))
        for draw in FIGURES.values():
            draw(board, results / "figures")
        write_pages()
    except (GenSPPError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
