"""What the paper says of its tables, beside made-up results."""

from pathlib import Path

import pytest

from experiment_tools import five_seeds, made_run, skewed, ten_seeds
from genspp.experiments import page, paper_claims
from genspp.experiments.board import Board
from genspp.experiments.findings import NOT_RUN

ROOT = Path(__file__).resolve().parents[1]
WHERE = ("hatexplain", "paper")


def board(*runs) -> Board:
    return Board([run for found in runs for run in found])


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        (14, 2, "+75.00 points of Hl-F1 against FR, the best other method. Over seeds the order holds"),
        (2, 14, "-75.00 points of Hl-F1 against FR, the best other method. Over seeds the order holds"),
    ],
)
def test_what_becomes_of_the_claim_under_fair_conditions_comes_with_its_tests(ours, theirs, said):
    runs = ten_seeds("genspp", hits=ours), five_seeds("fr", hits=theirs)
    found = paper_claims.fair_sentence(board(*runs), "hatexplain")
    assert said in found and "corrected" in found
    verdict = "That bears the claim out." if ours > theirs else "That contradicts the claim."
    assert found.endswith(verdict)
    assert paper_claims.fair_sentence(board(), "hatexplain") == "Under preset sound: not run yet."


def test_variance_is_that_over_seeds():
    steady = [made_run("fr", seed, hits=8, preset="paper") for seed in range(1, 6)]
    found = board(five_seeds("genspp", preset="paper"), steady, five_seeds("mcd", preset="paper"))
    assert paper_claims.variance_sentence(found, *WHERE) == (
        "Deviation of Hl-F1 over seeds: GenSPP 8.84, the others 0.00 (FR) to 8.84 (MCD); 1 of 2 vary less than GenSPP."
    )


def test_silence_is_told_class_by_class():
    quiet, loud = five_seeds("genspp", preset="paper"), five_seeds("fr", preset="paper")
    for run in quiet:  # the texts of the first class are left unmarked
        masks = run.content["predictions"]["masks"].split()
        run.content["predictions"]["masks"] = " ".join("0000" if i % 2 == 0 else mask for i, mask in enumerate(masks))
    assert paper_claims.silence_sentence(board(quiet), *WHERE) == (
        "GenSPP marks nothing in 100.0 % of the texts labelled no, 0.0 % of the texts labelled yes."
    )
    assert "; of the others FR leaves most of a class unmarked, 0.0 % of" in paper_claims.silence_sentence(
        board(quiet, loud), *WHERE
    )


def test_every_start_of_genspp_is_compared_with_the_best_other_one():
    clean = [made_run(name, 1, hits=8, preset="paper") for name in ("fr", "mcd", "genspp")]
    starts = [
        *(skewed("fr", seed, 4 + seed, variant="K=10", preset="paper") for seed in range(1, 6)),
        *(skewed("mcd", seed, seed, variant="K=10", preset="paper") for seed in range(1, 6)),
        *(skewed("genspp", seed, 11 + seed, variant="K=10", preset="paper", share=0.4) for seed in range(1, 6)),
        *(skewed("genspp", seed, seed, variant="K=10 G=150", preset="paper") for seed in range(1, 6)),
    ]
    said = paper_claims.skew_claim(board(clean, starts), *WHERE)
    assert said.startswith(
        "GenSPP, the first places tell 40.0 % of the labels: Hl-F1 87.50, the best other method from such a start "
        "43.75 (FR). Over seeds the order holds (p = 0.0079, corrected 0.032)"
    )
    assert "GenSPP, G = 150, the first places tell 90.0 % of the labels: Hl-F1 18.75" in said
    assert paper_claims.skew_claim(board(clean), *WHERE) == NOT_RUN


def test_what_differs_in_the_appendix_is_named():
    runs = [made_run("fr", seed, hits=16, preset="paper", variant="alpha=0.10", benchmark="alpha") for seed in (1, 2)]
    said = paper_claims.alpha_differences(board(runs), *WHERE)
    assert "FR, α = 0.10: " in said and "Hl-F1 100.00 (the paper 22.52)" in said
    starts = [skewed("fr", 1, 16, variant="K=15", preset="paper")]
    said = paper_claims.skew_differences(board(starts), *WHERE)
    assert "FR, K = 15: " in said and "Hl-F1 100.00 (the paper 8.21)" in said


def test_times_stand_beside_the_published_ones():
    runs = [made_run("genspp", 1, preset="paper", seconds=120.0), made_run("rnp", 1, preset="paper")]
    assert paper_claims.cost_sentence(board(runs), *WHERE) == (
        "HateXplain, minutes per run here, and in the paper: GenSPP 2.0 (78.0)."
    )


def test_string_matching_stands_beside_the_published_scores():
    runs = [made_run("matching", 1, hits=16, right=16, data="toy", preset="trivial", variant="abc baa aba")]
    assert paper_claims.matching_sentence(board(runs)) == (
        "abc, baa, aba: Clf-F1 100.00 (the paper 33.33), Hl-F1 100.00."
    )


def test_what_has_not_been_run_is_said_to_be_so():
    sentences = [
        paper_claims.variance_sentence,
        paper_claims.silence_sentence,
        paper_claims.skew_claim,
        paper_claims.alpha_differences,
        paper_claims.skew_differences,
        paper_claims.cost_sentence,
    ]
    assert {sentence(board(), *WHERE) for sentence in sentences} == {NOT_RUN}
    assert paper_claims.matching_sentence(board()) == paper_claims.gold_sentence({}) == NOT_RUN


def test_the_page_goes_through_all_tables_and_figures(tmp_path):
    text = page.render_page(ROOT / page.PAPER, tmp_path)
    for part in ("Table 1", "Table 2", "Figure 1", "Figure 2", "Tables 3 to 5", "Tables 6 and 7", "Table 8", "Table 9"):
        assert f"\n## {part}: " in text
    assert "genspp benchmark paper --data" in text
