"""docs/results.md, made from docs/results.template.md and the result files: `python -m genspp.experiments.page`.

The template has prose on how things were done; figures, and who is ahead, are filled in. What has not been run is said
to be so.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2

from genspp.errors import GenSPPError
from genspp.experiments import findings
from genspp.experiments.audit_table import audit_sentence, audit_table
from genspp.experiments.board import Board
from genspp.experiments.claim import claim_paragraph
from genspp.experiments.names import data_form, data_title
from genspp.experiments.paper_tables import alpha_table, genspp_table, table1
from genspp.experiments.results import read_results
from genspp.experiments.side_tables import cost_table, highlights_table, vectors_table
from genspp.experiments.truncation import FILE as TRUNCATION
from genspp.files import write_text
from genspp.report.result_table import ResultTable

TEMPLATE, PAGE = Path("docs/results.template.md"), Path("docs/results.md")
TABLES: dict[str, Callable[[Board, str, str], ResultTable | None]] = {
    "table1": table1,
    "audit": audit_table,
    "alpha": alpha_table,
    "cost": cost_table,
}


def write_tables(folder: Path, names: tuple[str, ...] = tuple(TABLES)) -> list[str]:
    """Write the tables of all results of a folder, in Markdown and LaTeX; return the Markdown of each."""
    board = Board(read_results(folder))
    written = []
    for name in names:
        for data, preset in board.grids("alpha" if name == "alpha" else "table1"):
            table = TABLES[name](board, data, preset)
            if table is not None:
                label = f"{name}-{data}-{preset}"
                write_text(folder / "tables" / f"{label}.md", table.to_markdown())
                write_text(folder / "tables" / f"{label}.tex", table.to_latex(f"tab:{label}"))
                written.append(table.to_markdown())
    return written


def read_facts(path: Path) -> dict[str, Any]:
    """Read a file of figures; empty where there is none yet."""
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return facts


def render_page(template: Path, results: Path) -> str:
    """Return the page of results."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False)
    page = environment.from_string(template.read_text(encoding="utf-8"))
    facts = read_facts(results / "figures/figures.json")

    def figure(name: str, caption: str) -> str:
        if name not in facts:
            return "*Not drawn yet: `genspp benchmark figures --data hatexplain:FOLDER`.*"
        return f"![{caption}](../results/figures/{name}.png)"

    board = Board(read_results(results))
    return page.render(figure=figure, facts=facts, **_tables(board, results), **_sentences(board, results))


def _tables(board: Board, results: Path) -> dict[str, Callable[..., str]]:
    """Return what the template calls for tables."""

    def shown(table: ResultTable | None, arguments: str) -> str:
        return table.to_markdown().strip() if table is not None else f"*Not run yet: `genspp benchmark {arguments}`.*"

    def make(name: str, table: Callable[[Board, str, str], ResultTable | None]) -> Callable[[str, str], str]:
        grid = "alpha" if name == "alpha" else "table1"
        return lambda data, preset: shown(
            table(board, data, preset), f"{grid} --data {data_form(data)} --preset {preset}"
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


def write_page(root: Path = Path(), results: Path = Path("results")) -> None:
    """Write docs/results.md below `root`."""
    write_text(root / PAGE, render_page(root / TEMPLATE, root / results))


def main() -> int:
    """Write the tables and the page again from the result files."""
    try:
        write_tables(Path("results"))
        write_page()
    except (GenSPPError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
