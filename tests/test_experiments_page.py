import json
import re
from pathlib import Path

import pytest

from experiment_tools import five_seeds
from genspp.experiments import page, paper
from genspp.experiments.board import Board
from genspp.experiments.results import Result, read_results, write_result
from genspp.settings import PRESETS

ROOT = Path(__file__).resolve().parents[1]


def committed() -> list[Result]:
    return read_results(ROOT / "results") + read_results(ROOT / "results/vectors-100d")


@pytest.fixture
def results(tmp_path):
    runs = five_seeds("genspp", hits=14) + five_seeds("fr", hits=2)
    for run in [*runs, *five_seeds("fr", variant="alpha=0.10", benchmark="alpha")]:
        name = f"{run.data}-{run.preset}-{run.method}{run.variant}-seed{run.seed}.json"
        write_result(tmp_path / run.benchmark / name, run.content)
    return tmp_path


def test_tables_are_written(results):
    tables = page.TABLES.keys() - {"ablation", "skew"}  # of which nothing is there
    assert len(page.write_tables(results)) == len(tables)
    names = {path.name for path in (results / "tables").iterdir()}
    assert names == {f"{name}-hatexplain-sound.{kind}" for name in tables for kind in ("md", "tex")}


def test_the_page_says_whose_code_made_the_runs(results):
    text = page.render_page(ROOT / "docs/results/comparison.template.md", results)
    assert "Code of these runs, by commit: 0123456 (GenSPP, FR)." in text


def test_who_is_ahead_follows_the_results(results):
    ahead = page.render_page(ROOT / page.RESULTS, results)
    assert "**HateXplain.** GenSPP has the best mean Hl-F1, 87.50, before FR with 12.50." in ahead
    assert "**87.50 ± 8.84** |" in ahead
    for path in (results / "table1").iterdir():
        content = json.loads(path.read_text())
        content["metrics"]["hl_f1"] = 1 - content["metrics"]["hl_f1"]
        path.write_text(json.dumps(content))
    behind = page.render_page(ROOT / page.RESULTS, results)
    assert "**HateXplain.** FR has the best mean Hl-F1, 87.50; GenSPP has 12.50." in behind
    assert "GenSPP has the best mean Hl-F1" not in behind


@pytest.mark.parametrize("template", page.TEMPLATES, ids=str)
def test_a_template_itself_states_no_figure(template):
    text = (ROOT / template).read_text(encoding="utf-8")
    prose = re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "", text, flags=re.DOTALL)
    assert not re.search(r"\d\.\d|\d %|p = ", prose)
    assert not re.search(
        r"\b(ahead|lead|leads|outperforms|beats|higher|lower|worse)\b", re.sub("who is ahead", "", prose)
    )


@pytest.mark.parametrize("template", page.TEMPLATES, ids=str)
def test_a_page_says_what_is_missing(template, tmp_path):
    text = page.render_page(ROOT / template, tmp_path)
    assert re.search("not run yet|not drawn yet|nothing has been run yet", text, re.IGNORECASE)
    assert "{{" not in text and "None" not in text and "nan" not in text.split()


def test_what_is_missing_comes_with_its_command(tmp_path):
    text = page.render_page(ROOT / page.PAPER, tmp_path)
    assert "Not run yet: `genspp benchmark table1 --data toy --preset paper`" in text
    assert "Not drawn yet: `genspp benchmark figures --data hatexplain:FOLDER`" in text


def test_every_template_has_its_page_and_is_known():
    assert {path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.template.md")} == set(page.TEMPLATES)


def test_the_main_page_is_about_two_screens_and_names_the_others():
    text = (ROOT / page.page_of(page.RESULTS)).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 100
    for template in page.TEMPLATES:
        if template != page.RESULTS:
            assert f"]({page.page_of(template).relative_to('docs')})" in text


@pytest.fixture(scope="module")
def board():
    return Board(read_results(ROOT / "results"))


@pytest.mark.parametrize("template", page.TEMPLATES, ids=str)
def test_a_page_is_what_the_result_files_give(template, board):
    place = page.page_of(template)
    text = (ROOT / place).read_text(encoding="utf-8")
    rendered = page.render_page(ROOT / template, ROOT / "results", board)
    assert text == rendered, f"{place} is out of date; run `make results`"


def test_every_published_row_has_five_committed_runs_of_ours():
    seeds: dict[tuple[str, str, str], set[int]] = {}
    for run in read_results(ROOT / "results"):
        if not run.variant:
            seeds.setdefault((run.data, run.method, run.preset), set()).add(run.seed)
    for data, method, _ in paper.BENCHMARK:
        for preset in PRESETS:
            assert {1, 2, 3, 4, 5} <= seeds.get((data, method, preset), set()), (data, method, preset)


def test_committed_runs_have_the_published_number_of_parameters():
    for run in read_results(ROOT / "results"):
        published = paper.COST.get((run.data, run.method))
        if published is not None and run.preset == "paper":  # sound has other sizes and wider vectors
            part = "predictor" if run.method == "genspp" else "all"
            assert run.training["parameters"][part] == published.parameters


def test_committed_results_hold_no_text_and_no_path():
    runs = committed()
    assert len(runs) > 100
    for run in runs:
        content = {name: value for name, value in run.content.items() if name != "predictions"}
        assert not re.search(r'[" :=]/\w', json.dumps(content))
        assert set(run.content["predictions"]) <= {"classes", "ids", "labels", "predicted", "masks", "hits", "gold"}
