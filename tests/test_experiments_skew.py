"""Locked-in starts as a benchmark: which runs there are, what is measured of them, what table and page say."""

import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from conftest import DECIDING, sentences
from experiment_tools import made_run, skewed
from genspp.experiments import benchmark, page, paper, skew_drawings
from genspp.experiments.board import Board
from genspp.experiments.escape import profile, told, way_out
from genspp.experiments.grid import Effort, expand
from genspp.experiments.progress import Progress
from genspp.experiments.results import Predictions, Result, read_results, write_result
from genspp.experiments.skew import LEVELS, LOCKED, MAIN, published, starts
from genspp.experiments.skew_drawings import draw_skew, figure_names
from genspp.experiments.skew_findings import gradient_sentence, level_sentences
from genspp.experiments.skew_tables import skew_table
from genspp.experiments.trial import finish
from genspp.methods import METHODS
from genspp.population import evaluator

ROOT = Path(__file__).resolve().parents[1]
TINY = {"hidden": 2, "max_epochs": 3, "generations": 2, "population": 2, "min_steps": 0}


# ---- starts


def test_every_published_row_is_a_start_of_ours():
    found = {(m, s.variant): published("toy", m, s.variant) for m in METHODS for s in starts(m, "paper")}
    rows = [row for row in found.values() if row is not None]
    assert {id(row) for row in rows} == {id(row) for (data, _, _), row in paper.SKEW.items() if data == "toy"}
    assert found["genspp", "K=10 sigma=0.05"] is found["genspp", "K=10 sigma=0.10"]
    assert found["genspp", "K=10 bigru"] is None


def test_settings_of_starts():
    paper_starts = {start.variant: start for start in starts("genspp", "paper")}
    assert paper_starts["K=10"].settings == {"skew_epochs": 10}
    assert paper_starts["K=10 G=150"].settings == {"skew_epochs": 10, "generations": 150}
    assert paper_starts["K=10 bigru sigma=0.05"].settings == {"skew_epochs": 10, "cell": "bigru", "skew_sigma": 0.05}
    assert paper_starts["bigru"].settings == {"cell": "bigru"}
    assert not any("bigru" in start.variant for start in starts("genspp", "sound"))
    assert {start.settings["skew_epochs"] for start in starts("fr", "sound")} == set(LEVELS)
    assert list(starts("wordlist", "sound")) == []
    for preset in ("sound", "paper"):
        for start in starts("genspp", preset):
            METHODS["genspp"](preset=preset, **start.settings).settings()  # none is refused


def test_runs_of_the_benchmark():
    trials = expand("skew", sources=["toy"], methods=["fr", "wordlist"], preset="paper")
    seeds: dict[str, int] = {}
    for trial in trials:
        seeds[trial.variant] = seeds.get(trial.variant, 0) + 1
    assert seeds == {"": 5, **{f"K={epochs}": most for epochs, most in LEVELS.items()}}
    assert {trial.benchmark for trial in trials if not trial.variant} == {"table1"}
    assert trials[5].file == Path("skew/toy-paper-fr-K5-seed1.json")
    assert trials[5].command() == "genspp benchmark skew --data toy --methods fr --seeds 1 --preset paper"
    assert max(trial.seed for trial in expand("skew", sources=["toy"], methods=["fr"], seeds=1)) == 1


# ---- what is measured


def given(masks: list[str], labels: list[int]) -> Predictions:
    ids = tuple(map(str, range(len(masks))))
    return Predictions(("a", "b"), ids, tuple(labels), tuple(labels), tuple(masks), (), ())


def test_what_the_first_places_tell():
    # Right: 10 for the first class and 01 for the second, whatever follows; of a text of one token the first place.
    masks, labels = ["1011", "0100", "1100", "0000", "1", "0"], [0, 1, 0, 1, 0, 1]
    assert told(given(masks, labels)) == pytest.approx(4 / 6)
    shares = profile(given(masks, labels))
    assert np.array(shares).shape == (2, 10)
    assert shares[0][:4] == pytest.approx([1, 1 / 2, 1 / 2, 1 / 2])
    assert shares[1][:4] == pytest.approx([0, 1 / 2, 0, 0])


def test_the_way_out_is_measured_against_the_clean_start():
    clean = [made_run("fr", seed, hits=8) for seed in (1, 2)]  # Hl-F1 0.5
    runs = [skewed("fr", 1, 8, curve=(0.1, 0.3, 0.46, 0.5)), skewed("fr", 2, 7, curve=(0.1, 0.1, 0.44, 0.44))]
    way = way_out(runs, clean)
    assert way is not None
    assert (way.before, way.after) == pytest.approx((50, 50 * 7.5 / 8))
    assert (way.recovered, way.runs, way.steps) == (1, 2, [3])
    assert (way.told, way.idle) == pytest.approx((0.9, 0.5))
    assert way.locked_in and not way_out([skewed("fr", 1, 8, share=0.55)], clean).locked_in
    assert way_out(runs, []) is None and way_out([], clean) is None


# ---- sentences, table, figures


def board(*runs: Result) -> Board:
    return Board([*runs, made_run("genspp", 1, hits=12), made_run("fr", 1, hits=8)])


@pytest.mark.parametrize(
    ("hits", "share", "answer"),
    [
        ((12, 12), 0.9, "HateXplain: no. With gradient (preset sound): 2 of 2 runs recover"),
        ((12, 2), 0.9, "HateXplain: in 1 of 2 runs. With gradient (preset sound): 1 of 2 runs recover"),
        ((2, 2), 0.9, "HateXplain: yes. With gradient (preset sound): 0 of 2 runs recover"),
        ((12, 12), 0.5, "HateXplain: undecided, for no start under preset sound was locked in. With gradient"),
    ],
)
def test_the_question_is_answered_by_the_results(hits, share, answer):
    runs = [skewed("genspp", seed, found, share=share) for seed, found in enumerate(hits, start=1)]
    assert gradient_sentence(board(*runs), "hatexplain").startswith(answer)
    assert "crossover" not in gradient_sentence(board(*runs), "hatexplain")  # of which nothing was run
    clean = made_run("genspp", 1, hits=12, preset="paper", variant="bigru", benchmark="skew")
    bare = skewed("genspp", 1, 3, share=0.8, preset="paper", variant=f"K={LOCKED} bigru")
    assert "alone (preset paper, both ways): 0 of 1 runs recover" in gradient_sentence(
        board(*runs, clean, bare), "hatexplain"
    )


def test_without_runs_nothing_is_said():
    assert gradient_sentence(board(), "hatexplain") == "HateXplain: not run yet."
    assert level_sentences(board(), "hatexplain", "sound", MAIN) == "K = 10: not run yet."
    assert skew_table(board(), "hatexplain", "sound") is None


def test_who_recovers_follows_the_results():
    runs = (
        skewed("fr", 1, 8, curve=(0.1, 0.5), variant="K=10"),
        skewed("genspp", 1, 4, variant="K=10 sigma=0.05", share=0.4),
    )
    said = level_sentences(board(*runs), "hatexplain", "sound", MAIN)
    assert "tell 40.0 % (GenSPP, copies, σ = 0.05) to 90.0 % (FR) of the labels" in said
    assert (
        "above that: FR. Recovered in all runs: FR (Hl-F1 50.0, from a clean start 50.0, first there after 2 ep" in said
    )
    assert said.endswith("Recovered in none: GenSPP, copies, σ = 0.05 (Hl-F1 25.0, from a clean start 75.0).")


def test_the_table_has_ours_beside_the_paper_s():
    table = skew_table(board(skewed("fr", 1, 8, variant="K=10")), "hatexplain", "sound")
    assert table is not None
    rows = {row.name: row.cells for row in table.rows}
    assert len(rows) == len(table.rows)
    cells = rows["FR, K = 10"]
    assert (cells[2].mean, cells[3].mean, cells[6].mean, cells[7]) == (50, 7.22, 50, "1 of 1")
    assert rows["GenSPP, copies, σ = 0.05, K = 10"][2:4] == (None, rows["GenSPP, copies, σ = 0.10, K = 10"][3])


def test_the_figures_work_with_what_there_is(tmp_path):
    looked_at = {"progress": Progress((1, 2), (1, 2), (0.2, 0.2), (0.1, 0.4)).to_json()}
    clean = [made_run("fr", 1, hits=8), made_run("fr", 2, hits=8, more=looked_at)]  # one of an older version
    for runs in ([skewed("fr", 1, 8, variant="K=10")], [skewed("genspp", 1, 8), skewed("fr", 1, 8, curve=(0.1, 0.2))]):
        drawn = draw_skew(Board([*clean, *runs]), tmp_path)
        assert [path.stem for path in drawn] == list(figure_names("hatexplain", "sound"))
        assert all(path.stat().st_size > 10_000 for path in drawn)
    assert draw_skew(Board(clean), tmp_path) == []
    (band,), (end,) = (list(skew_drawings._clean(Board(runs), "hatexplain", "sound")) for runs in (clean, clean[:1]))
    assert band.looked_at and band.values.shape[0] == 1 and band.values[0, -1] == pytest.approx(40)
    assert not end.looked_at and set(end.values.ravel()) == {50.0}


# ---- from end to end


async def run_here(trials, *, runs, out, workers, overview, process):
    """Do what the pool does, in this process: starting one takes longer than such a run."""
    for trial in trials:
        finish(trial, runs, out)
    return []


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """FR and GenSPP from all starts of the main level, on ninety sentences."""
    folder, (texts, labels) = tmp_path_factory.mktemp("skew"), sentences(90)
    deciding = {word for words in DECIDING.values() for word in words}
    rows = [
        {"text": text, "label": label, "highlight": [int(word in deciding) for word in text.split()]}
        for text, label in zip(texts, labels, strict=True)
    ]
    (folder / "topics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.MonkeyPatch.context() as patch, (folder / "lines.txt").open("w") as lines:
        patch.setattr(benchmark, "run_all", run_here)
        patch.setattr(evaluator, "_READER_STEPS", 8)
        for preset in ("sound", "paper"):
            failures = benchmark.run_grid(
                "skew",
                sources=[str(folder / "topics.jsonl")],
                methods=["fr", "genspp"],
                preset=preset,
                seeds=1,
                effort=Effort("micro", TINY),
                out=folder / "results",
                runs=folder / "runs",
                console=Console(file=lines),
            )
            assert failures == []
    return folder, read_results(folder / "results/micro")


def test_every_start_has_its_run_and_says_how_far_it_was_skewed(ran):
    _, results = ran
    found = {(run.preset, run.method, run.variant) for run in results}
    assert found == {
        (preset, method, variant)
        for preset in ("sound", "paper")
        for method in ("fr", "genspp")
        for variant in ("", *(start.variant for start in starts(method, preset, quick=True)))
    }
    for run in results:
        if run.variant in ("", "bigru"):
            assert "skew" not in run.content
        else:
            assert 0 <= run.skew["skew_val"] <= 1 and len(run.skew["skew_selected"]) == 3


def test_progress_is_that_of_the_generators_of_the_run(ran):
    folder, results = ran
    for run in results:
        progress, log = run.progress(), folder / "runs/micro" / run.benchmark
        assert progress is not None and progress.steps[-1] == run.training["steps"]
        name = next(path for path in log.iterdir() if path.is_dir() and _is(path, run))
        lines = [json.loads(line) for line in (name / "log.jsonl").read_text().splitlines()]
        if run.method == "genspp":
            kept = len(lines)
        else:  # the epoch with the least validation loss is kept
            kept = 1 + min(range(len(lines)), key=lambda epoch: lines[epoch]["val_loss"])
        assert progress.hl_f1[progress.steps.index(kept)] == pytest.approx(run.metrics["hl_f1"], abs=1e-5)
        assert progress.selection_rate[progress.steps.index(kept)] == pytest.approx(
            run.metrics["selection_rate"], abs=1e-5
        )


def _is(path: Path, run: Result) -> bool:
    variant = run.variant.replace("=", "").replace(" ", "-")
    return path.name == "-".join(filter(None, [run.data, run.preset, run.method, variant, f"seed{run.seed}"]))


def test_no_test_row_is_seen_before_training_is_over(ran):
    """The folder keeps generators; what they are worth on test rows is nowhere in log or checkpoint."""
    folder, _ = ran
    for log in folder.glob("runs/micro/*/*/log.jsonl"):
        assert "hl_f1" not in log.read_text()
        assert len(list((log.parent / "best").iterdir())) == len(log.read_text().splitlines())


def test_figures_and_page_are_made_of_the_results(ran, tmp_path):
    _, results = ran
    for run in results:
        content = {**run.content, "run": {**run.content["run"], "data": "toy"}}
        write_result(tmp_path / run.benchmark / f"{run.preset}-{run.method}-{run.variant}.json", content)
    drawn = draw_skew(Board(read_results(tmp_path)), tmp_path / "figures")
    assert [path.stem for path in drawn] == [*figure_names("toy", "sound"), *figure_names("toy", "paper")]
    assert all(path.stat().st_size > 10_000 for path in drawn)
    text = page.render_page(ROOT / page.SKEW, tmp_path)
    assert "skew-places-toy-paper.png" in text and "skew-hatexplain" not in text
    assert (
        "- HateXplain: not run yet." in text
        and "`genspp benchmark skew --data hatexplain:FOLDER --preset sound`" in text
    )
    assert "GenSPP, both ways, copies, σ = 0.05, K = 10" in text
