"""The model of time on many machines, and what the page says of it."""

import json
import re
from pathlib import Path

import pytest

from genspp.experiments import cluster_tables, page
from genspp.experiments.cluster_bench import ALONE, INDIVIDUALS, foreseen
from genspp.experiments.cluster_model import Costs, broadcast, generation, simulated, spread, stops, training
from genspp.experiments.scale import Case, made_texts

PLAIN = Costs(
    cores=2, task=0.0, round_trip=0.0, start=0.0, climb=(1.0,), evaluate=(2.0,), sent=0.0, data=0.0, network=1e9,
    readers=0.0, judge=0.0, full_text=0.0, read=0.0, words=0.0, memory=1e3, encoded=0.0, epoch=0.0, best=1e5, batch=64,
    searched=15_000,
)  # fmt: skip


def costs(**changes) -> Costs:
    return Costs(**{**PLAIN.to_json(), **changes})


def test_work_is_dealt_to_whoever_is_free():
    assert spread([3.0, 1.0, 1.0, 1.0], 1, PLAIN) == 6
    assert spread([3.0, 1.0, 1.0, 1.0], 2, PLAIN) == 3
    assert spread([1.0, 1.0, 1.0, 3.0], 2, PLAIN) == 4
    assert spread([1.0] * 4, 100, PLAIN) == 1
    slow = costs(task=0.5, round_trip=0.25)
    assert spread([1.0] * 4, 100, slow) == 4 * 0.5 + 1 + 0.25  # the last one is handed out after two seconds
    assert spread([0.0] * 4, 100, costs(sent=1e8), network=1e8) == 4


def test_a_generation_climbs_and_is_judged():
    assert generation(6, 1, PLAIN) == 6 * 1 + 7 * 2
    assert generation(6, 1_000, PLAIN) == 1 + 2


def test_a_search_stops_scaling_where_there_are_no_more_individuals_or_where_handing_out_takes_all_time():
    assert stops(6, PLAIN) == 4  # seven individuals on eight cores
    assert stops(1_000, PLAIN) > 100
    assert stops(10_000, costs(task=0.01)) < stops(10_000, PLAIN)


def test_what_all_need_is_passed_on():
    assert [broadcast(1.25e8, nodes, PLAIN) for nodes in (1, 2, 4, 1_000)] == [0, 1, 2, 10]
    assert broadcast(1e8, 2, costs(network=1e7)) == 10


def test_rows_beyond_those_of_a_search_are_no_matter_of_machines():
    dear = costs(read=1e-4, epoch=1e-5)
    few, many = (training(10**8, nodes, dear) for nodes in (10, 1_000))
    assert few == many and few["reading"] == 1e4
    assert few["final"] == pytest.approx(10**8 * 1e-5 * (1 + 2 * 4))  # one epoch to the best, three of patience
    assert training(10**8, 1, dear)["final"] == pytest.approx(10**8 * 1e-5 * (1 + 2 * 3 * 4))  # five on two cores
    assert training(10_000, 10, dear)["search"] == many["search"]


def test_pieces_that_wait_for_a_core_take_longer():
    assert foreseen({"workers": 2, "stretch": 1.0}, PLAIN) == generation(INDIVIDUALS, 2, PLAIN)
    assert foreseen({"workers": 4, "stretch": 2.0}, PLAIN) == 2 * generation(INDIVIDUALS, 4, PLAIN)


@pytest.fixture
def content():
    checked = [
        {"workers": 1, "measured": 10.0, "stretch": 1.0, "simulated": 11.0},
        {"workers": 2, "measured": 5.0, "stretch": 1.5, "simulated": 5.0},
    ]
    return {
        "machine": {"cpu": "an abacus"},
        "load": {"before": 0.1, "after": 1.2},
        "cluster_start": 3.0,
        "measured": json.loads(json.dumps(PLAIN.to_json())),
        "checked": checked,
        "simulated": simulated(PLAIN),
    }


def test_the_page_takes_its_figures_from_the_results(content, tmp_path):
    assert Costs.of(content["measured"]) == PLAIN
    (tmp_path / "ray.json").write_text(json.dumps(content))
    text = page.render_page(Path(__file__).parents[1] / page.CLUSTER, tmp_path)
    assert re.search(r"\| 1 worker +\| +10\.0 \| +1\.00 \| +11\.0 \| +10 \|", text)
    assert "- Population 6: up to 4 machines, 4 times as fast as one (3 s per generation): every individual" in text
    assert "2 cores (an abacus)" in text and "figures/ray-scaling.png" in text and "64 million short texts" in text
    (drawn,) = cluster_tables.draw_scaling(content, tmp_path)
    assert drawn.read_bytes().startswith(b"\x89PNG")


def test_what_was_not_measured_is_said_to_be_so(tmp_path):
    text = page.render_page(Path(__file__).parents[1] / page.CLUSTER, tmp_path)
    assert "*Not run yet: `make bench-ray`.*" in text
    assert cluster_tables.draw_scaling({}, tmp_path) == []


def test_rows_are_measured(tmp_path):
    file = tmp_path / "texts.csv"
    file.write_text(
        "\n".join(["text,label", *(f"{text},{label}" for text, label in made_texts(Case("few", 90, 8, 3)))])
    )
    found = ALONE["rows"](str(file))
    assert found["read"] > 0 and found["words"] > 0
