"""The published figures, held against each other and against what we compute ourselves."""

from itertools import product

import pytest

from genspp.data.sources import toy
from genspp.evaluation.references import score_matching
from genspp.evaluation.significance import smallest_p
from genspp.experiments import paper
from genspp.experiments.paper import Published

METHODS = sorted({method for _, method, _ in paper.BENCHMARK})
DATA = sorted({data for data, _, _ in paper.BENCHMARK})
BASELINES = [method for method in METHODS if method != "genspp"]


def test_every_method_has_its_row_in_every_table():
    assert {(data, method) for data, method, _ in paper.BENCHMARK} == set(product(DATA, METHODS)) == set(paper.COST)
    for data in DATA:
        swept = {(method, variant) for found, method, variant in paper.ALPHA if found == data}
        assert swept == set(product(BASELINES, [f"alpha={alpha:.2f}" for alpha in paper.alphas(data)]))


def test_a_row_is_read_by_its_columns():
    rows = paper._read("fr - 1±0.1 2±0.2 3±0.3 4±0.4 | -")
    assert rows["toy", "fr", ""].metrics() == {
        "clf_f1": Published(1, 0.1),
        "hl_f1": Published(2, 0.2),
        "selection_rate": Published(3, 0.3),
        "selection_size": Published(4, 0.4),
    }
    assert ("hatexplain", "fr", "") not in rows


def test_the_tables_agree_where_they_print_the_same_run():
    for (data, method, _), row in paper.BENCHMARK.items():
        if method != "genspp":
            assert paper.ALPHA[data, method, f"alpha={paper.ALPHA_LEVEL[data]:.2f}"] == row


def test_the_claimed_margins_follow_from_the_table():
    for data, margin in [("toy", 10.3), ("hatexplain", 6.5)]:
        hl_f1 = {method: paper.BENCHMARK[data, method, ""].hl_f1.mean for method in METHODS}
        assert hl_f1["genspp"] - max(hl_f1[method] for method in BASELINES) == pytest.approx(margin, abs=0.051)


def test_size_is_a_fifth_of_the_rate_on_toy():
    for table in (paper.BENCHMARK, paper.ALPHA):
        for (data, method, _), row in table.items():
            if data == "toy":  # every string has 20 characters; both are rounded
                assert row.selection_size.mean == pytest.approx(row.selection_rate.mean / 5, abs=0.006 + 1e-9)
                if method != "genspp":
                    assert row.selection_size.std == pytest.approx(row.selection_rate.std / 5, abs=0.006 + 1e-9)


def test_stars_point_at_rows_and_could_be_a_rank_sum_test():
    assert set(paper.BENCHMARK) >= paper.STARRED
    assert smallest_p(5, 5) <= 0.01


def test_five_seeds_take_about_five_times_as_long_as_one():
    for cost in paper.COST.values():
        assert cost.total_minutes == pytest.approx(5 * cost.minutes.mean, rel=0.1)


def test_string_matching_is_a_score_of_classes():
    strings = toy.toy("toy", size=2000).train
    for triple, published in paper.STRING_MATCHING.items():
        scores = score_matching(strings, triple)
        assert 100 * scores.clf_f1 == pytest.approx(published, abs=3)
    assert 100 * scores.hl_f1 != pytest.approx(published, abs=10)
