"""Pages of docs/, each made from its template there and the result files: `python -m genspp.experiments.page`.

A template has prose on how things were done; figures, and who is ahead, are filled in. What has not been run is said
to be so.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import jinja2

from genspp.errors import GenSPPError
from genspp.experiments import ablation_tables, cluster_tables, skew_drawings, sparsity_tables
from genspp.experiments.board import Board
from genspp.experiments.results import read_results
from genspp.experiments.telling import TABLES, calls, grid_of, read_facts
from genspp.files import write_text

DOCS = Path("docs")
RESULTS, PAPER = DOCS / "results.template.md", DOCS / "paper.template.md"
ABLATION, SKEW = DOCS / "ablation.template.md", DOCS / "skew.template.md"
CLUSTER = DOCS / "cluster.template.md"
RELIABILITY = DOCS / "reliability.template.md"
DETAILS = ("comparison", "audits", "sparsity", "vectors", "cost", "differences")
TEMPLATES = (
    RESULTS,
    PAPER,
    ABLATION,
    SKEW,
    CLUSTER,
    RELIABILITY,
    *(DOCS / "results" / f"{name}.template.md" for name in DETAILS),
)
# What draws the figures of a benchmark from its results, into a folder.
FIGURES: dict[str, Callable[[Board, Path], list[Path]]] = {
    "alpha": sparsity_tables.draw_sweep,
    "ablation": ablation_tables.draw_curves,
    "skew": skew_drawings.draw_skew,
}


def write_tables(folder: Path, names: tuple[str, ...] = tuple(TABLES)) -> list[str]:
    """Write the tables of all results of a folder, in Markdown and LaTeX; return the Markdown of each."""
    board = Board(read_results(folder))
    written = []
    for name in names:
        for data, preset in board.grids(grid_of(name)):
            table = TABLES[name](board, data, preset)
            if table is not None:
                label = f"{name}-{data}-{preset}"
                write_text(folder / "tables" / f"{label}.md", table.to_markdown())
                write_text(folder / "tables" / f"{label}.tex", table.to_latex(f"tab:{label}"))
                written.append(table.to_markdown())
    return written


def render_page(template: Path, results: Path, board: Board | None = None) -> str:
    """Return the page that a template and the results make. board: these results, if they have been read already."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False)
    page = environment.from_string(template.read_text(encoding="utf-8"))
    folders = template.parent.parts[::-1].index(DOCS.name) + 1  # from the page up to the folder that docs/ is in
    return page.render(calls(board or Board(read_results(results)), results, "../" * folders))


def page_of(template: Path) -> Path:
    """Return the page that a template is for."""
    return template.with_name(template.name.replace(".template", ""))


def write_pages(root: Path = Path(), results: Path = Path("results")) -> None:
    """Write all pages, below `root`."""
    board = Board(read_results(root / results))
    for template in TEMPLATES:
        write_text(root / page_of(template), render_page(root / template, root / results, board))


def main() -> int:
    """Write the tables, the figures and the pages again from the result files."""
    results = Path("results")
    try:
        write_tables(results)
        board = Board(read_results(results))
        for draw in FIGURES.values():
            draw(board, results / "figures")
        cluster_tables.draw_scaling(read_facts(results / cluster_tables.FILE), results / "figures")
        write_pages()
    except (GenSPPError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
