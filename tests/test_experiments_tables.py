"""The tables and sentences, from made-up results."""

from dataclasses import replace

import pytest

from experiment_tools import TEXTS, five_seeds, made_run
from genspp.experiments import findings
from genspp.experiments.board import Board
from genspp.experiments.compare import compare, in_table
from genspp.experiments.paper_tables import main_table, table1
from genspp.experiments.results import Predictions
from genspp.experiments.side_tables import beside_table, cost_table, others_table, vectors_table


@pytest.fixture
def board():
    """GenSPP above FR in Hl-F1, below in Clf-F1, over seeds and texts alike."""
    ours = five_seeds("genspp", hits=14, right=3, selection_rate=0.1)
    return Board(ours + five_seeds("fr", hits=2, right=14))


def test_table1_shows_both_sides_and_both_tests(board):
    table = table1(board, "hatexplain", "sound")
    text = table.to_markdown()
    assert "**87.50 ± 8.84**<sup>b</sup>" in text
    assert "12.50 ± 8.84" in text
    assert "42.62 ± 0.73" in text and "31.15 ± 2.56" in text
    assert "Hl-F1 of GenSPP against FR, the best other method here: +75.00" in text
    assert "Exact rank-sum test over 5 and 5 seeds: p = 0.0079, corrected 0.0159 (it cannot be less than" in text
    assert text.count("Corrected: by Holm's method, for the 2 comparisons") == 1
    assert f"Paired bootstrap over the {TEXTS} test texts" in text
    assert "GloVe Twitter 27B" in text
    assert r"\mathbf{87.50}_{\pm 8.84}" in table.to_latex("tab:x")
    assert [row.name for row in table.rows[:2]] == ["GenSPP", "FR"]
    assert table1(Board([]), "toy", "sound") is None


def test_a_method_that_nobody_ran_or_published_has_no_row(board):
    assert "RNP" not in table1(board, "hatexplain", "sound").to_markdown()
    assert "RNP" in table1(Board([*board.results, made_run("rnp", 1)]), "hatexplain", "sound").to_markdown()


def test_references_stand_beside_the_runs_that_have_them():
    beside = {"tfidf_clf_f1": 0.74, "wordlist_hl_f1": 0.418, "random_hl_f1": 0.125, "all_hl_f1": 0.2}
    both = [*five_seeds("genspp", beside=beside)[:4], five_seeds("genspp")[4]]
    rows = {"RNP": five_seeds("rnp", beside=beside), "FR": five_seeds("fr"), "GenSPP": both}
    table = beside_table(Board([run for runs in rows.values() for run in runs]), "hatexplain", "sound")
    assert [column.name for column in table.columns[:5]] == ["full text", "TF-IDF + LR", "word list", "random", "all"]
    shown = {row.name: [None if cell is None else cell.mean for cell in row.cells[:5]] for row in table.rows}
    assert shown["RNP"] == pytest.approx([90, 74, 41.8, 12.5, 20])
    assert shown["FR"] == shown["GenSPP"] == [pytest.approx(90), None, None, None, None]  # not all runs have them


def test_the_main_table_has_all_data_sets_side_by_side(board):
    more = five_seeds("genspp", data="toy")[:3] + five_seeds("mcd", data="toy", preset="paper")
    table = main_table(Board([*board.results, *more]), "sound")
    assert [(column.group, column.name) for column in table.columns] == [
        *((data, name) for data in ("Toy", "HateXplain") for name in ("Clf-F1", "Hl-F1", "R")),
        ("", "Seeds"),
    ]
    ours, theirs = table.rows
    assert (ours.name, theirs.name) == ("GenSPP", "FR")
    assert (ours.cells[1].mean, ours.cells[4].mean, ours.cells[-1]) == (pytest.approx(43.75), 87.5, "3 / 5")
    assert theirs.cells[:3] == (None, None, None) and theirs.cells[-1] == "0 / 5"
    assert main_table(board, "sound").rows[0].cells[-1] == "5"
    assert main_table(board, "paper") is None


def test_data_that_the_paper_has_not_have_a_table_of_their_own(board):
    more = five_seeds("genspp", data="mine")[:3] + five_seeds("wordlist", data="mine")
    together = Board([*board.results, *more])
    assert main_table(together, "sound").rows == main_table(board, "sound").rows
    ours, theirs = others_table(together, "sound").rows
    assert (ours.name, theirs.name, ours.rule, theirs.rule) == ("mine: GenSPP", "mine: Word list", True, False)
    assert ours.cells[2].mean == pytest.approx(43.75) and ours.cells[-1].mean == 3
    assert others_table(board, "sound") is None


def test_cost(board):
    cost = cost_table(board, "hatexplain", "sound").to_markdown()
    assert "78.00" in cost and "17032" in cost and "20 + 10" in cost
    assert cost_table(board, "toy", "sound") is None


def test_what_the_highlights_hold():
    given = Predictions(
        ("a", "b"), tuple("pqrs"), (0, 0, 1, 1), (0, 0, 1, 1), ("110", "01", "00", "0"), (1, 1, 0, 0), (2, 1, 1, 0)
    )
    assert given.silence() == [0.0, 1.0]
    runs = five_seeds("fr")
    for run in runs[1:]:
        run.content["predictions"] = given.to_json()
    for run in runs:
        run.content["metrics"]["function_words"] = 0.125
    runs[0].content["predictions"] = replace(given, masks=("110", "01", "00", "1")).to_json()
    row = beside_table(Board(runs), "hatexplain", "sound").rows[0]
    assert row.name == "FR"
    assert row.cells[5].mean == pytest.approx(12.5)  # function words
    assert row.cells[6].mean == pytest.approx(100 * (4 * 2 / 3 + 2 / 4) / 5)
    assert row.cells[7].mean == pytest.approx(50)
    assert row.cells[8] == "4 of 5"
    assert beside_table(Board([]), "hatexplain", "sound") is None


def test_without_gold_highlights_there_is_neither_precision_nor_recall():
    runs = five_seeds("fr")
    for run in runs:
        run.content["metrics"]["hl_f1"] = None
    assert beside_table(Board(runs), "hatexplain", "sound").rows[0].cells[6:8] == (None, None)


def test_runs_with_other_vectors_are_compared_at_their_seeds(board):
    others = five_seeds("fr", hits=2, right=14, vectors="glove.6B.100d.hatexplain.txt")[:2]
    table = vectors_table(board, Board(others), "hatexplain", "sound")
    assert [row.name for row in table.rows] == ["FR, made from the training texts", "FR, GloVe 6B, 100 dimensions"]
    assert table.rows[0].cells[0] == table.rows[1].cells[0]  # seeds 1 and 2 of both
    assert [row.cells[-1].mean for row in table.rows] == [2, 2]
    assert vectors_table(board, Board([]), "hatexplain", "sound") is None


# ---- sentences


def lead(board: Board, metric: str = "hl_f1") -> str:
    return findings.lead_sentence(in_table(board, "hatexplain", "sound").with_the_best(metric))


def test_a_lead_that_holds_is_called_so(board):
    assert lead(board) == (
        "GenSPP has the best mean Hl-F1, 87.50, before FR with 12.50. "
        "Over seeds the order holds (p = 0.0079, corrected 0.016), "
        "over test texts it holds (p = 0.0002, corrected 0.0004)."
    )


def test_a_lead_over_texts_is_not_one_over_seeds():
    assert lead(Board(five_seeds("genspp", hits=9) + five_seeds("fr", hits=8))) == (
        "GenSPP has the best mean Hl-F1, 56.25, before FR with 50.00. "
        "Over seeds the order may be chance (p = 0.44, corrected 0.89), "
        "over test texts it holds (p = 0.005, corrected 0.01)."
    )


def test_a_lead_that_does_not_hold_is_not_called_so():
    theirs = five_seeds("fr", hits=8)
    for run in theirs:  # their hits are in other texts than ours
        given = run.predictions()
        run.content["predictions"] = replace(given, masks=given.masks[::-1], hits=given.hits[::-1]).to_json()
    sentence = lead(Board(five_seeds("genspp", hits=9) + theirs))
    assert "GenSPP has the best mean Hl-F1, 56.25, before FR with 50.00" in sentence
    assert "over test texts it may be chance" in sentence
    assert "holds" not in sentence


def test_who_is_behind_is_said_to_be(board):
    sentence = lead(board, "clf_f1")
    assert "FR has the best mean Clf-F1" in sentence and "; GenSPP has" in sentence
    same = Board(five_seeds("genspp") + five_seeds("fr"))
    assert "GenSPP and FR share the best mean Hl-F1, 50.00." in lead(same)


def test_runs_on_other_texts_are_not_paired():
    other = five_seeds("fr")
    for run in other:
        run.content["predictions"]["ids"] = run.content["predictions"]["ids"].replace("t", "u")
    found = compare({"genspp": five_seeds("genspp"), "fr": other}).with_the_best("hl_f1")
    assert found.texts is None and not found.over_texts
    assert "not tested on the same texts" in found.note()
    sentence = lead(Board(five_seeds("genspp", hits=9) + other))
    assert sentence.endswith("the two were not tested on the same texts.")


def test_how_much_is_selected(board):
    assert findings.selection_sentence(board, "hatexplain", "sound") == (
        "GenSPP selects 10.0 % of the tokens, the others from 25.0 % (FR) to 25.0 % (FR)."
    )


def test_what_differs_from_the_paper_is_named(board):
    sentence = findings.difference_sentence(board, "hatexplain", "sound")
    assert sentence.startswith("Further from the paper than two deviations of the difference: GenSPP: ")
    assert "Hl-F1 87.50 (the paper 42.62)" in sentence
    assert "FR: Clf-F1" not in sentence  # 87.50 ± 8.84 is within two deviations of 72.14 ± 1.12


def test_the_range_of_single_runs(board):
    assert findings.span_sentence(board, "hatexplain", "sound", "hl_f1") == (
        "Hl-F1 of single runs: GenSPP 75.0 to 100.0, FR 0.0 to 25.0."
    )


def test_what_has_not_been_run_is_said_to_be_so():
    empty = Board([])
    sentences = [
        findings.selection_sentence(empty, "toy", "sound"),
        findings.difference_sentence(empty, "toy", "sound"),
        findings.span_sentence(empty, "toy", "sound", "hl_f1"),
        findings.truncation_sentence({}),
        findings.population_sentence({}),
        findings.gradient_sentence({}),
    ]
    assert all("not run yet." in sentence.lower() for sentence in sentences)


def test_how_long_an_epoch_takes():
    epoch = {"fr": {"seconds": 0.1, "torch": 1.5, "ratio": 15.0}, "rnp": {"seconds": 0.2, "torch": 2.5, "ratio": 12.5}}
    assert findings.gradient_sentence({"epoch": {"toy": epoch}}) == (
        "An epoch on data of Toy's size, one core to itself: FR 0.10 s, RNP 0.20 s; "
        "by torch's own modules 12.5 to 15.0 times as long."
    )
