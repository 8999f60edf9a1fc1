"""GenSPP against all others: two tests, and the correction for their number."""

from dataclasses import replace

import pytest

from experiment_tools import five_seeds, made_run, ten_seeds
from genspp.evaluation.significance import holm, rank_sum, smallest_p
from genspp.experiments.board import Board
from genspp.experiments.compare import LEVEL, compare, in_table


def test_every_method_counts_in_both_metrics():
    runs = {"genspp": ten_seeds("genspp", hits=12), "fr": five_seeds("fr", hits=2), "mcd": ten_seeds("mcd", hits=8)}
    found = compare(runs)
    assert list(found) == [(metric, rival) for metric in ("clf_f1", "hl_f1") for rival in ("fr", "mcd")]
    assert {comparison.family for comparison in found.values()} == {4}
    ps = [comparison.seeds_p for comparison in found.values()]
    assert [comparison.corrected[0] for comparison in found.values()] == holm(ps)
    texts = [comparison.texts.p for comparison in found.values()]
    assert [comparison.corrected[1] for comparison in found.values()] == holm(texts)
    assert found.with_the_best("hl_f1").rival == "mcd"


def test_methods_need_not_have_as_many_seeds():
    ours, theirs = ten_seeds("genspp", hits=14), five_seeds("fr", hits=2)
    found = compare({"genspp": ours, "fr": theirs})["hl_f1", "fr"]
    scores = [[100 * run.metrics["hl_f1"] for run in side] for side in (ours, theirs)]
    assert found.runs == (10, 5)
    assert found.seeds_p == pytest.approx(rank_sum(*scores)) == pytest.approx(smallest_p(10, 5))
    assert (found.ours, found.theirs) == pytest.approx((87.5, 12.5), abs=1e-3)
    assert found.over_seeds and found.over_texts
    assert "Exact rank-sum test over 10 and 5 seeds" in found.note()


@pytest.mark.parametrize(("seeds", "enough"), [(five_seeds, False), (ten_seeds, True)])
def test_ten_seeds_can_show_what_five_cannot(seeds, enough):
    others = {name: five_seeds(name, hits=2) for name in ("fr", "mgr", "mcd", "grat", "rnp", "dar", "a2r")}
    found = compare({"genspp": seeds("genspp", hits=14), **others}).with_the_best("hl_f1")
    assert found.seeds_p < LEVEL
    assert found.over_seeds is enough
    assert found.too_few_seeds is not enough
    assert found.least_p == pytest.approx(14 * found.seeds_p)  # however far apart, that is the least


def test_ties_do_not_belie_what_the_least_is():
    twice = [replace(run, seed=seed) for seed, run in enumerate(2 * five_seeds("genspp", hits=14), start=1)]
    found = compare({"genspp": twice, "fr": five_seeds("fr", hits=2)})["hl_f1", "fr"]
    assert found.seeds_p < smallest_p(10, 5)
    assert found.least_p <= found.corrected[0]


def test_what_may_be_chance_anyway_does_not_lack_seeds():
    others = {name: five_seeds(name, hits=8) for name in ("fr", "mgr", "mcd", "grat")}
    found = compare({"genspp": five_seeds("genspp", hits=9), **others}).with_the_best("hl_f1")
    assert found.least_p > LEVEL and not found.too_few_seeds


def test_a_method_on_other_texts_has_no_bootstrap_and_the_rest_have():
    other = five_seeds("fr")
    for run in other:
        run.content["predictions"]["ids"] = run.content["predictions"]["ids"].replace("t", "u")
    found = compare({"genspp": five_seeds("genspp"), "fr": other, "mcd": five_seeds("mcd")})
    assert found["hl_f1", "fr"].texts is found["hl_f1", "fr"].corrected[1] is None
    assert found["hl_f1", "mcd"].texts is not None


def test_without_gold_highlights_only_labels_are_compared():
    runs = {name: [made_run(name, seed) for seed in (1, 2)] for name in ("genspp", "fr")}
    for run in [run for found in runs.values() for run in found]:
        run.content["metrics"]["hl_f1"] = None
        run.content["predictions"] |= {"hits": "", "gold": ""}
    assert list(compare(runs)) == [("clf_f1", "fr")]


def test_there_must_be_two():
    assert compare({}) == compare({"genspp": five_seeds("genspp")}) == compare({"fr": five_seeds("fr")}) == {}
    assert compare({"genspp": [], "fr": five_seeds("fr")}).with_the_best("hl_f1") is None


def test_a_table_is_compared_once():
    board = Board([*five_seeds("genspp"), *five_seeds("fr"), *five_seeds("fr", preset="paper")])
    assert in_table(board, "hatexplain", "sound") is in_table(board, "hatexplain", "sound")
    assert in_table(board, "hatexplain", "paper") == {}
    other = Board([replace(run, preset="paper") for run in board.results if run.preset == "sound"])
    assert len(in_table(other, "hatexplain", "paper")) == 2
