"""The ablation, on ninety sentences in which single words decide."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from conftest import DECIDING, sentences
from experiment_tools import made_run
from genspp.app.configure import configure
from genspp.app.runs import Run
from genspp.app.train import proceed
from genspp.errors import SettingsError
from genspp.evaluation.metrics import selection_rate
from genspp.experiments import ablation_tables, benchmark, page
from genspp.experiments.ablation import PAPERS, VARIANTS, equal_generations, settings_of, variants_on
from genspp.experiments.ablation_tables import MEASURES, ablation_table, draw_curves, ingredient_table
from genspp.experiments.board import Board
from genspp.experiments.curves import Curve, FollowedRun, mean_curve
from genspp.experiments.grid import Effort, expand
from genspp.experiments.recipe import Recipe
from genspp.experiments.results import read_results
from genspp.experiments.trial import finish
from genspp.methods import GenSPP
from genspp.population import evaluator

ROOT = Path(__file__).resolve().parents[1]
TINY = {"hidden": 2, "max_epochs": 1, "generations": 2, "population": 2, "min_steps": 0}


@pytest.fixture(scope="module", autouse=True)
def short_readings():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluator, "_READER_STEPS", 8)
        yield


def write_sentences(path: Path, *, gold: bool = True) -> Path:
    texts, labels = sentences(90)
    deciding = {word for words in DECIDING.values() for word in words}
    with path.open("w", encoding="utf-8") as file:
        for text, label in zip(texts, labels, strict=True):
            marked = [int(word in deciding) for word in text.split()]
            file.write(json.dumps({"text": text, "label": label} | ({"highlight": marked} if gold else {})) + "\n")
    return path


async def run_here(trials, *, runs, out, workers, overview, process):
    """Do what the pool does, in this process: starting one takes longer than such a run."""
    for trial in trials:
        finish(trial, runs, out)
    return []


def run_grid(name, folder: Path, **arguments):
    with pytest.MonkeyPatch.context() as patch, (folder / "lines.txt").open("w") as lines:
        patch.setattr(benchmark, "run_all", run_here)
        places = {"out": folder / "results", "runs": folder / "runs", "console": Console(file=lines)}
        assert benchmark.run_grid(name, effort=Effort("micro", TINY), **places, **arguments) == []
    return read_results(folder / "results/micro")


@pytest.fixture(scope="module")
def ablated(tmp_path_factory):
    """A finished tiny ablation on somebody's own file."""
    folder = tmp_path_factory.mktemp("ablation")
    source = str(write_sentences(folder / "topics.jsonl"))
    return folder, source, run_grid("ablation", folder, sources=[source], seeds=1)


# ---- variants


def test_every_variant_leaves_out_what_it_is_called_by():
    found = variants_on("hatexplain", population=6, spent=180)
    assert list(found) == list(VARIANTS)
    assert found == {
        "full": {},
        "gaps": {"skip_gaps": False},
        "no-adversary": {"completeness": 0.0},
        "no-readers": {"readers": False},
        "labels": {"beliefs": False},
        "one-predictor": {"predictors": 1},
        "no-regression": {"regression": False},
        "even-words": {"commonness": 0.0},
        "no-gradient": {"search": "genetic", "generations": 29},
        "random-start": {"start": "random"},
        "no-columns": {"label_columns": False},
        PAPERS: {
            "objective": "paper",
            "epsilon": 0.05,
            "threshold": 0.6,
            "normalise_loss": False,
            "search": "genetic",
            "start": "random",
            "readers": False,
            "skip_gaps": False,
            "beliefs": False,
            "commonness": 0.0,
            "regression": False,
            "generations": 29,
        },
    }
    for settings in found.values():
        usual, changed = GenSPP().settings(), GenSPP(**settings).settings()
        assert {name for name in usual if usual[name] != changed[name]} == settings.keys()


def test_what_a_data_set_does_not_have_is_not_taken_out_of_it():
    assert "no-columns" not in variants_on("toy", 6, 180) and "no-columns" in variants_on("tweets", 6, 180)
    assert settings_of(PAPERS, "toy")["threshold"] == 0.1 and settings_of(PAPERS, "tweets")["threshold"] is None


def test_runs_of_an_ablation():
    trials = expand("ablation", sources=["toy", "/a/tweets.jsonl"], seeds=2, spent={("tweets", 2): 181})
    names = [trial.name for trial in trials]
    assert len(set(names)) == len(names) == 8 + 8 + 9 + 11
    assert "tweets-sound-genspp-no-gradient-seed2" in names and "tweets-sound-genspp-no-gradient-seed1" not in names
    last = trials[-1]
    assert last.settings["generations"] == 30 and last.file.parent == Path("ablation")
    command = "genspp benchmark ablation --data tweets.jsonl --methods genspp --seeds 2 --preset sound"
    assert last.command() == command
    for wrong in ({"preset": "paper"}, {"methods": ["fr"]}):
        with pytest.raises(SettingsError, match="an ablation is of genspp under preset sound"):
            expand("ablation", sources=["toy"], **wrong)


def test_equal_evaluations_are_rounded_up_to_a_generation():
    for spent in range(1, 60):
        for population in (2, 4, 6):
            judged = population * (1 + equal_generations(spent, population))
            assert spent <= judged < spent + population


# ---- a whole ablation


def test_every_variant_is_run_with_its_settings(ablated):
    _, _, results = ablated
    assert sorted(run.variant for run in results) == sorted(VARIANTS)
    for run in results:
        own = variants_on("topics", 2, 100)[run.variant]
        own.pop("generations", None)
        assert own.items() <= run.content["settings"].items()
        assert run.content["data"]["name"] == "topics"


def test_equal_evaluations_hold(ablated):
    spent = {run.variant: run.curve().evaluations[-1] for run in ablated[2]}
    assert spent["full"] == 4 + 3 + 3  # the first population is twice as large; the best is judged again
    for variant in ("no-gradient", PAPERS):
        assert spent["full"] <= spent[variant] < spent["full"] + 2


def test_the_last_point_of_a_curve_is_the_final_model(ablated):
    for run in ablated[2]:
        curve = run.curve()
        assert len(curve.evaluations) == run.training["steps"]
        assert curve.hl_f1[-1] == pytest.approx(run.metrics["hl_f1"], abs=1e-5)
        assert all(map(math.isfinite, (*curve.cost, *curve.own_cost)))
        # Such a small judge may find nothing in the full text; then nobody has a share of it, at no point of a curve.
        assert len(set(map(math.isfinite, curve.left_over))) == 1
        assert list(curve.evaluations) == sorted(set(curve.evaluations))
    full = next(run for run in ablated[2] if run.variant == "full")
    assert 0 < full.curve().cost[-1] == pytest.approx(full.curve().own_cost[-1], rel=0.5)


def test_results_of_an_ablation_hold_no_text_and_no_path(ablated):
    folder, _, _ = ablated
    for path in (folder / "results").rglob("*.*"):
        content = path.read_bytes().decode("utf-8", "replace")
        assert str(folder) not in content and not re.search(r'[" :=]/\w', content)
        words = (*DECIDING["food"], *DECIDING["sport"])
        assert not any(re.search(rf"\b{word}\b", content) for word in words)


def test_a_finished_ablation_is_not_run_again(ablated):
    folder, source, _ = ablated
    before = {path: path.stat().st_mtime_ns for path in (folder / "results/micro/ablation").iterdir()}
    run_grid("ablation", folder, sources=[source], seeds=1)
    assert {path: path.stat().st_mtime_ns for path in (folder / "results/micro/ablation").iterdir()} == before


def test_table_and_figure_of_an_ablation(ablated, tmp_path):
    board = Board(ablated[2])
    table = ablation_table(board, "topics", "sound")
    assert [row.name for row in table.rows] == [variant.title for variant in VARIANTS.values()]
    assert "generations = 2, hidden" not in table.to_markdown() and "runs with generations = 2" in table.to_markdown()
    left_over = [
        row.cells[3] for row in table.rows
    ]  # nobody finds less than nothing; blind judges find no share at all
    assert all(cell is None or cell.mean >= 0 for cell in left_over)
    (figure,) = draw_curves(board, tmp_path)
    assert figure.name == "ablation-topics.png" and figure.stat().st_size > 10_000
    assert (ablated[0] / "results/micro/tables/ablation-topics-sound.md").exists()


# ---- following a search


class Killer:
    """Whoever listens, and ends everything after a generation."""

    def __init__(self, stop):
        self.stop = stop

    def say(self, what):
        pass

    def __call__(self, line, total, left):
        if line["generation"] == self.stop:
            raise KeyboardInterrupt


def follow(kind, folder, config, data, stop=None):
    run = kind.create(folder, config)
    try:
        proceed(run, data, Killer(stop))
    except KeyboardInterrupt:
        proceed(kind.open(folder), data)
    return kind.open(folder)


def test_following_a_search_changes_nothing_and_survives_a_kill(tmp_path):
    source = str(write_sentences(tmp_path / "topics.jsonl"))
    config, data = configure(source, seed=1, workers=1, **{**TINY, "generations": 3})
    plain = follow(Run, tmp_path / "plain", config, data)
    followed = follow(FollowedRun, tmp_path / "followed", config, data)
    killed = follow(FollowedRun, tmp_path / "killed", config, data, stop=1)
    assert (plain.folder / "predictions.jsonl").read_text() == (followed.folder / "predictions.jsonl").read_text()
    lines = followed.lines()
    assert [line["generation"] for line in lines] == [0, 1, 2, 3] == [line["generation"] for line in killed.lines()]
    assert [followed.best(line) for line in lines] == [killed.best(line) for line in lines]


def test_the_recipe_judges_highlights_of_others(tmp_path):
    source = str(write_sentences(tmp_path / "topics.jsonl"))
    settings = {**TINY, "hidden": 8, "min_steps": 300, "max_epochs": 200, "commonness": 0.0}
    config, data = configure(source, seed=1, workers=1, **settings)
    parts = (data.splits.train, data.splits.val)
    gold = [np.concatenate([np.asarray(marked, np.uint8) for marked in part.highlights]) for part in parts]
    everything, none = [np.ones_like(mask) for mask in gold], [np.zeros_like(mask) for mask in gold]
    with Recipe.of(config["settings"], data) as recipe:
        whole, best, nothing = (recipe.judge(*masks) for masks in (everything, gold, none))
        again = recipe.judge(*gold)
    assert again == best
    assert whole["cost"] > 0.99 and whole["left_over"] < 0.05  # all marked: nothing is left, and R is 1
    assert nothing["cost"] > 1 and nothing["left_over"] > 0.5
    assert best["cost"] < min(whole["cost"], nothing["cost"])
    assert best["cost"] >= selection_rate([mask for mask in data.splits.val.highlights if mask is not None])


def test_curves_are_written_and_averaged():
    short = Curve((2.0, 4.0), (1.0, 0.5), (1.0, 0.5), (0.0, 0.1), (0.5, 0.25), (math.nan, math.nan))
    long = Curve((4.0, 6.0, 8.0), (math.inf, 1.0, 0.5), (3.0, 2.0, 1.0), (0.0,) * 3, (1.0,) * 3, (math.nan,) * 3)
    again = Curve.from_json(json.loads(json.dumps(long.to_json())))
    assert again.own_cost == long.own_cost and all(map(math.isnan, again.hl_f1))
    assert mean_curve([short, long], "cost") == ([4.0, 6.0, 8.0], [1.75, 1.25, 0.75])


# ---- what ingredients are worth


def ablation_run(variant, seed, hits, cost, data="tweets"):
    run = made_run("genspp", seed, hits=hits, variant=variant, benchmark="ablation", data=data)
    columns = {"evaluations": "12 19", "own_cost": "1 0.5", "left_over": "0.5 0.25", "selection_rate": "0.5 0.25"}
    run.content["curve"] = {**columns, "cost": f"1 {cost}", "hl_f1": "0.1 0.2"}
    return run


@pytest.fixture
def board():
    runs = []
    for seed, step in ((1, 0), (2, 1), (3, 2)):
        runs.append(ablation_run("full", seed, 12, 0.3))
        runs.append(ablation_run("no-adversary", seed, 4 + step, 0.4 + step / 100))
        runs.append(ablation_run("no-readers", seed, 11 + step, 0.2))
    runs.append(ablation_run("gaps", 1, 12, 0.3))
    return Board(runs)


def worth(board, title, variant, data):
    measure = next(measure for measure in MEASURES if measure.title == title)
    table = ingredient_table(board, measure, ["toy", "tweets"])
    row = next(row for row in table.rows if row.name == VARIANTS[variant].ingredient)
    return row.cells[["toy", "tweets"].index(data)]


def test_what_helps_is_said_to_help(board):
    assert worth(board, "Clf-F1", "no-adversary", "tweets") == "0.00 ± 0.00"
    assert worth(board, "Hl-F1", "no-adversary", "tweets") == "43.75 ± 15.53, helps"
    assert worth(board, "Cost", "no-adversary", "tweets") == "-0.110 ± 0.025, helps"
    assert worth(board, "Hl-F1", "no-readers", "tweets") == "0.00 ± 15.53"
    assert worth(board, "Cost", "no-readers", "tweets") == "0.100 ± 0.000, hurts"
    assert worth(board, "Hl-F1", "gaps", "tweets") == "0.00 (seeds: 1)"
    assert worth(board, "Hl-F1", "random-start", "tweets") == "not run"
    assert worth(board, "Hl-F1", "no-columns", "toy") is None


def test_without_gold_nothing_is_said_of_it(board):
    for run in board.results:
        run.content["metrics"]["hl_f1"] = None
    assert worth(board, "Hl-F1", "no-adversary", "tweets") is None


def test_the_page_of_the_ablation_follows_the_results(board, monkeypatch, tmp_path):
    monkeypatch.setattr(page, "read_results", lambda folder: board.results)
    text = page.render_page(ROOT / page.ABLATION, tmp_path)
    assert re.search(r"\| The adversary +\| +not run \| +not run \| +0.00 ± 0.00 \|", text)
    assert "ablation-tweets.png" in text and "ablation-toy.png" not in text
    assert "Not run yet: `genspp benchmark ablation --data hatexplain:FOLDER --preset sound`" in text
    assert ablation_tables.figure_name("tweets") == "ablation-tweets"


# ---- table1 with people's own files


def test_table1_on_a_file_without_gold_highlights(tmp_path):
    source = str(write_sentences(tmp_path / "topics.jsonl", gold=False))
    results = run_grid("table1", tmp_path, sources=[source], methods=["genspp", "wordlist", "random"], seeds=1)
    assert {run.metrics["hl_f1"] for run in results} == {None}
    table = (tmp_path / "results/micro/tables/table1-topics-sound.md").read_text()
    row = next(line for line in table.splitlines() if line.startswith("| GenSPP"))
    assert [cell.strip() for cell in row.split("|")][4:6] == ["–", "–"]
    assert str(tmp_path) not in "".join(path.read_text() for path in (tmp_path / "results").rglob("*.*"))
