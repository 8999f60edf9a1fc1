"""A table of results, in Markdown for the documentation and in LaTeX (booktabs) for a paper."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import numpy as np

from genspp.errors import DataError

MISSING = "–"
_ARROWS = {"up": " ↑", "down": " ↓", None: ""}


@dataclass(frozen=True, slots=True)
class Cell:
    """A mean and, where there are several runs, its deviation; `marks` refer to the table's notes."""

    mean: float
    std: float | None = None
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """A column: the better direction (`None`: nothing is best), decimals, the heading it stands under."""

    name: str
    better: Literal["up", "down"] | None = None
    digits: int = 2
    group: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A row: a number, a word, or `None` (missing) per column.

    ranked: whether the row competes for the best (a reference row does not). rule: draw a line above it.
    """

    name: str
    cells: tuple[Cell | str | None, ...]
    ranked: bool = True
    rule: bool = False


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A table. notes: (mark, text) pairs; the mark is what cells refer to, or empty for a general remark."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[tuple[str, str], ...] = ()
    corner: str = "Model"

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                expected = f"{len(self.columns)} cells, one for each column"
                raise DataError(f"row {row.name!r} must have {expected}, got {len(row.cells)}")

    def best(self) -> list[set[int]]:
        """Return, for every column, the rows to set in bold.

        Compared as printed, so that two equal figures are both best; nobody is where there is no competitor.
        """
        return [self._best(i, column) for i, column in enumerate(self.columns)]

    def _best(self, i: int, column: Column) -> set[int]:
        means = {}
        for j, row in enumerate(self.rows):
            cell = row.cells[i]
            if row.ranked and isinstance(cell, Cell) and math.isfinite(cell.mean):
                means[j] = round(cell.mean, column.digits)
        if column.better is None or len(means) < 2:
            return set()
        best = max(means.values()) if column.better == "up" else min(means.values())
        return {j for j, mean in means.items() if mean == best}

    def to_markdown(self) -> str:
        """Return the table in GitHub's Markdown, columns padded so that the source can be read too."""
        best = self.best()
        head = [escape_markdown(self.corner), *(_markdown_heading(column) for column in self.columns)]
        body = [
            [
                escape_markdown(row.name),
                *(
                    _markdown_cell(cell, column, j in best[i])
                    for i, (cell, column) in enumerate(zip(row.cells, self.columns, strict=True))
                ),
            ]
            for j, row in enumerate(self.rows)
        ]
        widths = [max(3, *(len(line[i]) for line in [head, *body])) for i in range(len(head))]
        rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
        lines = [_markdown_line(line, widths) for line in [head, rule, *body]]
        title = [f"**{escape_markdown(self.title)}**", ""] if self.title else []
        notes = [
            f"- {_markdown_marks((mark,)) + ' ' if mark else ''}{escape_markdown(text)}" for mark, text in self.notes
        ]
        return "\n".join([*title, *lines, *(["", *notes] if notes else [])]) + "\n"

    def to_latex(self, label: str = "") -> str:
        """Return a LaTeX table environment; it needs the package booktabs."""
        best = self.best()
        lines = [r"\begin{table*}[tb]", r"\centering", r"\small"]
        lines += [r"\begin{tabular}{l" + "r" * len(self.columns) + "}", r"\toprule", *self._latex_groups()]
        head = [
            escape_latex(self.corner),
            *(escape_latex(column.name + _ARROWS[column.better]) for column in self.columns),
        ]
        lines += [_latex_line(head), r"\midrule"]
        for j, row in enumerate(self.rows):
            if row.rule and j:
                lines.append(r"\midrule")
            pairs = enumerate(zip(row.cells, self.columns, strict=True))
            cells = [_latex_cell(cell, column, j in best[i]) for i, (cell, column) in pairs]
            lines.append(_latex_line([escape_latex(row.name), *cells]))
        lines += [r"\bottomrule", r"\end{tabular}"]
        notes = " ".join(f"{_latex_marks((mark,)) if mark else ''}{escape_latex(text)}" for mark, text in self.notes)
        caption = escape_latex(self.title) + (rf" {{\footnotesize {notes}}}" if notes else "")
        lines += [rf"\caption{{{caption}}}"] if caption else []
        lines += [rf"\label{{{label}}}"] if label else []
        return "\n".join([*lines, r"\end{table*}"]) + "\n"

    def _latex_groups(self) -> list[str]:
        """Return the line of headings above the columns and its rules; nothing where no column has one."""
        if not any(column.group for column in self.columns):
            return []
        cells, rules, start = [""], [], 2
        for name, members in groupby(column.group for column in self.columns):
            width = len(list(members))
            cells.append(rf"\multicolumn{{{width}}}{{c}}{{{escape_latex(name)}}}")
            if name:
                rules.append(rf"\cmidrule(lr){{{start}-{start + width - 1}}}")
            start += width
        return [_latex_line(cells), " ".join(rules)]


def mean_std(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the population deviation (ddof 0, as in the paper)."""
    array = np.asarray(values, dtype=np.float64)
    if not len(array) or not np.isfinite(array).all():
        raise DataError(f"a mean needs at least one number, all of them finite; got {list(values)!r}")
    return float(array.mean()), float(array.std())


def summarise(values: Sequence[float | None], scale: float = 1.0, marks: tuple[str, ...] = ()) -> Cell | None:
    """Return the cell of several runs, times `scale` (100 for percent); missing if none or one is missing."""
    known = [scale * value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return Cell(*mean_std(known), marks=marks)


# ---- Markdown


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows as it is, inside a table too."""
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    plain = re.sub(r"([\\`*_\[\]{}|~$])", r"\\\1", plain)
    # at the start of a line these would make a heading or a list
    return re.sub(r"^(\d*)([#+=]|-(?!\d)|(?<=\d)[.)](?=\s|$))", r"\1\\\2", plain)


def _markdown_heading(column: Column) -> str:
    name = f"{column.group}: {column.name}" if column.group else column.name
    return escape_markdown(name + _ARROWS[column.better])


def _markdown_marks(marks: tuple[str, ...]) -> str:
    return f"<sup>{escape_markdown(','.join(marks))}</sup>" if marks else ""


def _markdown_cell(cell: Cell | str | None, column: Column, best: bool) -> str:
    if isinstance(cell, str):
        return escape_markdown(cell)
    mean, std = _numbers(cell, column)
    shown = mean if std is None else f"{mean} ± {std}"
    marks = cell.marks if cell is not None else ()
    return (f"**{shown}**" if best else shown) + _markdown_marks(marks)


def _markdown_line(cells: list[str], widths: list[int]) -> str:
    first, *rest = (
        cell.rjust(width) if i else cell.ljust(width) for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "| " + " | ".join([first, *rest]) + " |"


# ---- LaTeX

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
    **{"–": "--", "—": "---", "“": "``", "”": "''", "−": "$-$", "±": r"$\pm$", "×": r"$\times$"},
    **{
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
        "≤": r"$\le$",
        "≥": r"$\ge$",
        "†": r"\dag{}",
        "‡": r"\ddag{}",
    },
    **{
        "α": r"$\alpha$",
        "ε": r"$\epsilon$",
        "λ": r"$\lambda$",
        "σ": r"$\sigma$",
        "τ": r"$\tau$",
        "Ω": r"$\Omega$",
    },
}


def escape_latex(text: str) -> str:
    """Return text that LaTeX prints as it is; the Greek letters and signs of our tables become commands."""
    return "".join(_LATEX.get(letter, letter) for letter in " ".join(text.split()))


def _latex_marks(marks: tuple[str, ...]) -> str:
    return rf"\textsuperscript{{{escape_latex(','.join(marks))}}}" if marks else ""


def _latex_cell(cell: Cell | str | None, column: Column, best: bool) -> str:
    if isinstance(cell, str):
        return escape_latex(cell)
    mean, std = _numbers(cell, column)
    if cell is None or mean == MISSING:
        return escape_latex(MISSING)
    number = rf"\mathbf{{{mean}}}" if best else mean
    shown = number if std is None else rf"{number}_{{\pm {std}}}"
    return f"${shown}$" + _latex_marks(cell.marks)


def _latex_line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _numbers(cell: Cell | None, column: Column) -> tuple[str, str | None]:
    """Return mean and deviation as printed; what is missing or not a number is a dash."""
    if cell is None or not math.isfinite(cell.mean):
        return MISSING, None
    std = None if cell.std is None or not math.isfinite(cell.std) else f"{cell.std:.{column.digits}f}"
    return f"{cell.mean:.{column.digits}f}", std
