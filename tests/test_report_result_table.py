import pytest

from genspp.errors import DataError
from genspp.report.result_table import (
    Cell,
    Column,
    ResultTable,
    Row,
    escape_latex,
    escape_markdown,
    mean_std,
    summarise,
)

COLUMNS = (Column("Hl-F1", "up"), Column("R", "down", digits=1))


def table(**changes):
    rows = (
        Row("FR", (Cell(54.07, 4.02), Cell(14.8, 0.24))),
        Row("G-RAT", (Cell(76.02, 0.64, marks=("a",)), None), rule=True),
        Row("full text", (Cell(99.0), Cell(1.0)), ranked=False),
        Row("MCD", (Cell(float("nan")), Cell(11.52, 0.49))),
    )
    return ResultTable(**{"title": "Toy, 5 % of it", "columns": COLUMNS, "rows": rows} | changes)


def test_best_follows_the_direction_and_leaves_out_reference_rows():
    assert table().best() == [{1}, {3}]
    assert table(columns=(Column("Hl-F1", "down"), Column("R"))).best() == [{0}, set()]


def test_equal_as_printed_are_both_best_and_a_single_one_is_not():
    rows = (Row("a", (Cell(1.004), Cell(2))), Row("b", (Cell(1.001), None)))
    assert ResultTable("", COLUMNS, rows).best() == [{0, 1}, set()]


def test_markdown():
    note = (("a", "rank-sum, p < 0.01"), ("", "five seeds"))
    assert table(notes=note).to_markdown() == (
        "**Toy, 5 % of it**\n"
        "\n"
        "| Model     |                      Hl-F1 ↑ |            R ↓ |\n"
        "| --------- | ---------------------------: | -------------: |\n"
        "| FR        |                 54.07 ± 4.02 |     14.8 ± 0.2 |\n"
        "| G-RAT     | **76.02 ± 0.64**<sup>a</sup> |              – |\n"
        "| full text |                        99.00 |            1.0 |\n"
        "| MCD       |                            – | **11.5 ± 0.5** |\n"
        "\n"
        "- <sup>a</sup> rank-sum, p &lt; 0.01\n"
        "- five seeds\n"
    )


def test_latex():
    latex = table(notes=(("a", "rank-sum, p < 0.01"),)).to_latex("tab:toy")
    assert latex == (
        "\\begin{table*}[tb]\n\\centering\n\\small\n\\begin{tabular}{lrr}\n\\toprule\n"
        "Model & Hl-F1 $\\uparrow$ & R $\\downarrow$ \\\\\n\\midrule\n"
        "FR & $54.07_{\\pm 4.02}$ & $14.8_{\\pm 0.2}$ \\\\\n\\midrule\n"
        "G-RAT & $\\mathbf{76.02}_{\\pm 0.64}$\\textsuperscript{a} & -- \\\\\n"
        "full text & $99.00$ & $1.0$ \\\\\n"
        "MCD & -- & $\\mathbf{11.5}_{\\pm 0.5}$ \\\\\n"
        "\\bottomrule\n\\end{tabular}\n"
        "\\caption{Toy, 5 \\% of it {\\footnotesize \\textsuperscript{a}rank-sum, p \\textless{} 0.01}}\n"
        "\\label{tab:toy}\n\\end{table*}\n"
    )


def test_latex_groups_leave_a_gap_over_columns_without_one():
    columns = (
        Column("seconds"),
        Column("F1", group="Toy"),
        Column("R", group="Toy"),
        Column("F1", group="Hate"),
    )
    latex = ResultTable("", columns, (Row("FR", (None,) * 4),)).to_latex()
    assert "\\multicolumn{1}{c}{} & \\multicolumn{2}{c}{Toy} & \\multicolumn{1}{c}{Hate}" in latex
    assert "\\cmidrule(lr){3-4} \\cmidrule(lr){5-5}" in latex


def test_a_row_of_the_wrong_length_is_named():
    with pytest.raises(DataError, match=r"row 'FR' must have 2 cells, one for each column, got 1"):
        ResultTable("", COLUMNS, (Row("FR", (None,)),))


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("a_b*c|d`e`", "a\\_b\\*c\\|d\\`e\\`"),
        ("<b>&lt;", "&lt;b&gt;&amp;lt;"),
        ("[x](y) $z$ \\", "\\[x\\](y) \\$z\\$ \\\\"),
        ("two\nlines", "two lines"),
        ("# no heading", "\\# no heading"),
        ("1. no list", "1\\. no list"),
        ("- no list", "\\- no list"),
        ("-0.5", "-0.5"),
        ("12.5", "12.5"),
    ],
)
def test_markdown_escapes(text, markdown):
    assert escape_markdown(text) == markdown


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("a_b & 5% #1 $x {y}", "a\\_b \\& 5\\% \\#1 \\$x \\{y\\}"),
        ("\\input{~/x^2}", "\\textbackslash{}input\\{\\textasciitilde{}/x\\textasciicircum{}2\\}"),
        ("α = 0.10 ± 1, p ≤ 0.01", "$\\alpha$ = 0.10 $\\pm$ 1, p $\\le$ 0.01"),
    ],
)
def test_latex_escapes(text, latex):
    assert escape_latex(text) == latex


def test_words_in_cells_are_escaped():
    words = ResultTable("", (Column("note"),), (Row("x_y", ("50 % | a_b",)),))
    assert "50 % \\| a\\_b" in words.to_markdown()
    assert "x\\_y & 50 \\% \\textbar{} a\\_b" in words.to_latex()


def test_the_deviation_is_that_of_the_population():
    assert mean_std([1.0, 3.0]) == (2.0, 1.0)
    assert mean_std([5.0]) == (5.0, 0.0)
    for bad in ([], [1.0, float("nan")]):
        with pytest.raises(DataError, match="at least one number"):
            mean_std(bad)


def test_summarise():
    assert summarise([0.1, 0.3], 100, ("a",)) == Cell(pytest.approx(20.0), pytest.approx(10.0), ("a",))
    assert summarise([]) is None
    assert summarise([0.1, None]) is None
