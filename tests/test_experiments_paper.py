from collections import Counter

import pytest

from genspp.evaluation.significance import smallest_p
from genspp.experiments import paper
from genspp.experiments.paper import Published

METHODS = ["fr", "mgr", "mcd", "grat", "genspp"]
TABLES = {
    "benchmark": paper.BENCHMARK,
    "skew": paper.SKEW,
    "alpha": paper.ALPHA,
    "skew_epochs": paper.SKEW_EPOCHS,
}


@pytest.mark.parametrize(
    ("table", "toy", "hatexplain"),
    [("benchmark", 5, 5), ("skew", 7, 7), ("alpha", 8, 16), ("skew_epochs", 16, 16)],
)
def test_number_of_rows(table, toy, hatexplain):
    assert Counter(data for data, _, _ in TABLES[table]) == {"toy": toy, "hatexplain": hatexplain}
    assert {method for _, method, _ in TABLES[table]} <= set(METHODS) == set(paper.METHOD_NAMES)


def test_spot_checks():
    row = paper.BENCHMARK["hatexplain", "genspp", ""]
    assert row.metrics() == {
        "clf_f1": Published(69.71, 0.40),
        "hl_f1": Published(42.62, 0.73),
        "selection_rate": Published(6.51, 0.58),
        "selection_size": Published(0.75, 0.05),
    }
    assert paper.BENCHMARK["toy", "mgr", ""].hl_f1 == Published(50.34, 11.23)
    assert paper.SKEW["hatexplain", "mcd", "K=10"].hl_f1 == Published(13.88, 10.13)
    assert paper.SKEW["toy", "genspp", "sk"].hl_f1 == Published(63.45, 0.36)
    assert paper.ALPHA["hatexplain", "grat", "alpha=0.10"].hl_f1 == Published(40.40, 3.25)
    assert paper.ALPHA["hatexplain", "mcd", "alpha=0.16"].selection_size == Published(2.60, 0.07)
    assert paper.SKEW_EPOCHS["toy", "grat", "K=20"].clf_f1 == Published(66.95, 40.28)
    assert paper.COST["hatexplain", "mgr"].parameters == 17032
    assert paper.COST["toy", "genspp"].minutes == Published(36.0, None)


def test_the_tables_agree_where_they_print_the_same_run():
    for (data, method, _), row in paper.BENCHMARK.items():
        if method != "genspp":
            assert paper.ALPHA[data, method, f"alpha={paper.ALPHA_LEVEL[data]:.2f}"] == row
    for key, row in paper.SKEW.items():
        if key[1] != "genspp":
            assert paper.SKEW_EPOCHS[key] == row


def test_the_claimed_margins_follow_from_the_table():
    for data, margin in [("toy", 10.3), ("hatexplain", 6.5)]:
        hl_f1 = {method: paper.BENCHMARK[data, method, ""].hl_f1.mean for method in METHODS}
        best = max(value for method, value in hl_f1.items() if method != "genspp")
        assert hl_f1["genspp"] - best == pytest.approx(margin, abs=0.051)


def inconsistent(table):
    """Toy rows whose S is not a fifth of R, beyond the rounding of both."""
    return {
        key[1:]
        for key, row in table.items()
        if key[0] == "toy" and abs(row.selection_size.mean - row.selection_rate.mean / 5) > 0.005 + 0.001 + 1e-9
    }


def test_size_is_a_fifth_of_the_rate_on_toy_but_for_genspp_under_skew():
    assert inconsistent(paper.BENCHMARK) == inconsistent(paper.ALPHA) == inconsistent(paper.SKEW_EPOCHS) == set()
    assert inconsistent(paper.SKEW) == {("genspp", "G=100"), ("genspp", "G=150"), ("genspp", "sk")}


def test_deviations_of_size_follow_from_those_of_the_rate_for_every_baseline_on_toy():
    for table in TABLES.values():
        for (data, method, _), row in table.items():
            if data == "toy" and method != "genspp":
                assert row.selection_size.std == pytest.approx(row.selection_rate.std / 5, abs=0.006 + 1e-9)


def test_stars_point_at_rows():
    assert len(paper.STARRED) == 4
    assert all(key in TABLES[table] for table, key in paper.STARRED)
    assert smallest_p(5, 5) <= 0.01  # the rank-sum test could have given the star


def test_cost_and_settings_cover_every_method():
    keys = {(data, method) for data in paper.DATA_NAMES for method in METHODS}
    assert set(paper.COST) == set(paper.SETTINGS) == keys


def test_memory_is_the_parameter_count_in_disguise():
    for data, per_parameter in [("toy", 5.6e-6), ("hatexplain", 28.2e-3)]:
        for method in METHODS:
            cost = paper.COST[data, method]
            assert cost.memory_mb / cost.parameters == pytest.approx(per_parameter, rel=0.04)


def test_string_matching():
    assert paper.STRING_MATCHING == {
        ("aba", "baa", "abc"): 100.0,
        ("abc", "baa", "aba"): 33.33,
        ("ba", "aa", "bc"): 53.57,
    }
