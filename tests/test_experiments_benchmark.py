"""The benchmark, on a data set of a few dozen harmless posts in HateXplain's format."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from conftest import DECIDING, interruptible
from experiment_tools import run_none, write_posts, write_vectors
from genspp import cli
from genspp.app.runs import Run, read_checkpoint, write_checkpoint
from genspp.data.corpus import Corpus
from genspp.data.sources import load_source
from genspp.errors import DataError, SettingsError
from genspp.evaluation.metrics import f1, macro_f1
from genspp.experiments import benchmark, page
from genspp.experiments.board import Board
from genspp.experiments.grid import Effort, Trial
from genspp.experiments.results import code_version, read_result, read_results
from genspp.experiments.trial import finish
from genspp.experiments.truncation import kept_tokens, truncation

ROOT = Path(__file__).resolve().parents[1]
TINY = {"hidden": 2, "max_epochs": 1, "generations": 1, "population": 2, "epochs": 1}
MICRO = Effort("micro", TINY)


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """A finished micro benchmark: two methods, and the rows that need no training."""
    folder = tmp_path_factory.mktemp("benchmark")
    arguments = {
        "sources": [f"hatexplain:{write_posts(folder / 'posts')}"],
        "methods": ["genspp", "fr", "random"],
        "seeds": 1,
        "vectors": write_vectors(folder / "tiny.txt"),
        "effort": MICRO,
        "out": folder / "results",
        "runs": folder / "runs",
    }
    with (folder / "lines.txt").open("w") as lines:
        failures = benchmark.run_grid("table1", **arguments, workers=2, console=Console(file=lines))
    assert failures == []
    return folder, arguments


# ---- running it


def test_every_run_leaves_its_result(grid):
    folder, _ = grid
    results = read_results(folder / "results" / "micro")
    assert len(results) == 2 + 2
    one = next(run for run in results if run.method == "fr")
    content = one.content
    assert content["settings"]["hidden"] == 2
    assert content["settings"]["vectors"] == content["data"]["vectors"] == "tiny.txt"
    assert content["data"]["rows"] == {"train": 32, "val": 12, "test": 16}
    assert {"tfidf_clf_f1", "wordlist_hl_f1", "random_hl_f1", "all_hl_f1", "warnings"} <= one.metrics.keys()
    assert one.audit.model_clf_f1 == pytest.approx(one.metrics["clf_f1"], rel=1e-5)
    written = json.loads((folder / "runs/micro/table1/hatexplain-sound-fr-seed1/audit.json").read_text())
    assert content["audit"]["rest"]["rest_clf_f1"] == pytest.approx(written["rest"]["rest_clf_f1"], rel=1e-5)
    assert "verdict" not in content["audit"]["rest"]
    assert all((run.audit is None) == (run.method == "random") for run in results)
    assert one.training["unit"] == "epoch"
    assert one.training["steps"] == 1
    assert one.training["seconds"] >= one.training["seconds_per_step"]
    assert one.training["parameters"]["all"] > 0
    assert content["machine"]["cpu"]
    assert content["code"] == code_version()
    genspp = next(run for run in results if run.method == "genspp").training
    assert (genspp["unit"], genspp["steps"]) == ("generation", 2)
    assert genspp["parameters"]["all"] == genspp["parameters"]["generator"] + genspp["parameters"]["predictor"]
    assert "[4/4]" in (folder / "lines.txt").read_text()


def test_predictions_give_the_same_figures(grid):
    folder, _ = grid
    for run in read_results(folder / "results" / "micro"):
        if run.method == "random":
            assert run.content["predictions"] == {}
            continue
        found = run.predictions()
        assert len(found.ids) == len(found.masks) == run.metrics["texts"] == 16
        assert float(f1(found.highlight_counts().sum(0))) == pytest.approx(run.metrics["hl_f1"])
        assert float(macro_f1(found.class_counts().sum(0))) == pytest.approx(run.metrics["clf_f1"])


def test_results_hold_no_text_and_no_path(grid):
    folder, _ = grid
    for path in (folder / "results").rglob("*.*"):
        content = path.read_text(encoding="utf-8")
        assert str(folder) not in content
        assert not re.search(r'[" :=]/\w', content)
        for word in (*DECIDING["food"], *DECIDING["sport"]):
            assert not re.search(rf"\b{word}\b", content)


def test_a_finished_run_is_not_run_again(grid):
    folder, arguments = grid
    files = sorted((folder / "results").rglob("*.json"))
    before = {path: path.stat().st_mtime_ns for path in files}
    gone = folder / "results/micro/table1/hatexplain-sound-fr-seed1.json"
    metrics = read_result(gone).metrics
    gone.unlink()
    assert benchmark.run_grid("table1", **arguments) == []
    after = {path: path.stat().st_mtime_ns for path in sorted((folder / "results").rglob("*.json"))}
    assert {path for path in files if before[path] != after[path]} == {gone}
    assert read_result(gone).metrics == metrics


def test_it_is_said_which_data_take_the_file_of_vectors(grid, tmp_path, monkeypatch):
    _, arguments = grid
    monkeypatch.setattr(benchmark, "run_all", run_none)
    own = {"methods": ["fr"], "out": tmp_path, "console": Console(file=(said := io.StringIO()))}
    benchmark.run_grid("table1", **{**arguments, **own, "sources": ["toy", *arguments["sources"]]})
    assert "tiny.txt has the word vectors of hatexplain\n" in said.getvalue()


def test_a_result_of_other_settings_is_not_taken_for_this_one(grid):
    folder, arguments = grid
    other = write_vectors(folder / "other.txt")
    with pytest.raises(SettingsError, match=r"tiny\.txt.*other\.txt"):
        benchmark.run_grid("table1", **{**arguments, "vectors": other})
    with pytest.raises(DataError, match="nowhere"):
        benchmark.run_grid("table1", **{**arguments, "vectors": folder / "nowhere"})


def test_a_failing_run_is_named_and_the_rest_is_finished(grid, tmp_path, monkeypatch):
    _, arguments = grid
    bad = Effort("bad", {**TINY, "alpha": -1})  # only the gradient methods have it
    arguments = {**arguments, "methods": ["fr", "genspp"], "seeds": 1, "effort": bad, "out": tmp_path / "results"}
    arguments["runs"] = tmp_path / "runs"
    failures = benchmark.run_grid("table1", **arguments, workers=2)
    assert [failure.trial.method for failure in failures] == ["fr"]
    assert "alpha is -1" in failures[0].reason
    assert "alpha is -1" in failures[0].file.read_text()
    assert [run.method for run in read_results(tmp_path / "results" / "bad")] == ["genspp"]
    assert [path.name for path in (tmp_path / "runs/bad/table1").glob("*.txt")] == [failures[0].file.name]

    monkeypatch.setattr(benchmark, "run_grid", lambda *_, **__: failures)
    shown = CliRunner().invoke(cli.app, ["benchmark", "table1", "--out", str(tmp_path / "none")])
    assert shown.exit_code == 1
    assert "hatexplain-sound-fr-seed1" in shown.output


def test_stopping_and_going_on(grid, tmp_path):
    """Ctrl-C ends the grid and its runs; the same command goes on from the last finished step."""
    _, arguments = grid
    long = {"hidden": 2, "max_epochs": 100_000, "patience": 100_000}
    script = (
        "import sys\nfrom pathlib import Path\nfrom genspp.experiments import benchmark\n"
        "from genspp.experiments.grid import Effort\n"
        f"benchmark.run_grid('table1', sources={arguments['sources']!r}, methods=['fr'], seeds=1, workers=1,\n"
        f"    effort=Effort('long', {long!r}), out=Path(sys.argv[1]), runs=Path(sys.argv[2]))\n"
    )
    out, runs = tmp_path / "results", tmp_path / "runs"
    command = [sys.executable, "-c", script, str(out), str(runs)]
    log = runs / "long/table1/hatexplain-sound-fr-seed1/log.jsonl"
    stopped = 0
    for sign in (signal.SIGKILL, signal.SIGINT):  # the runs go with their grid, however it ends
        process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=interruptible
        )
        try:
            _wait(lambda before=stopped: log.exists() and log.read_text().count("\n") > before + 3)
        except AssertionError:
            process.kill()
            raise
        os.kill(process.pid, sign)
        _, errors = process.communicate(timeout=60)
        time.sleep(0.5)
        stopped = log.read_text().count("\n")
        time.sleep(0.5)
        assert log.read_text().count("\n") == stopped
    assert "KeyboardInterrupt" in errors
    assert not list(out.rglob("*.json"))
    assert not list(runs.rglob("*.error.txt"))  # it was stopped, it did not fail

    config = log.with_name("config.json")
    written = json.loads(config.read_text())
    written["settings"]["max_epochs"] = stopped + 2  # so that it comes to an end
    config.write_text(json.dumps(written))
    checkpoint = log.with_name("checkpoint.safetensors")  # it says which configuration it is of
    state = read_checkpoint(checkpoint) | {"config": Run.open(log.parent)._digest()}
    write_checkpoint(checkpoint, state)
    settings = {**long, "max_epochs": stopped + 2, "workers": 1}  # one core each is what a grid gives its runs
    trial = Trial("table1", arguments["sources"][0], "fr", "sound", 1, "", settings, "long")
    seen = []
    finish(trial, runs, out, progress=lambda line, total: seen.append(line["epoch"]))
    assert seen[0] >= stopped - 1
    assert read_result(out / trial.file).training["steps"] == stopped + 2


def _wait(condition, seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


# ---- what needs no training


def test_rows_without_training_on_toy(tmp_path):
    arguments = {"sources": ["toy"], "methods": ["random", "matching"], "seeds": 2, "out": tmp_path}
    assert benchmark.run_grid("table1", **arguments, runs=tmp_path / "runs") == []
    board = Board(read_results(tmp_path))
    clf = {
        v: board.find("toy", "trivial", "matching", v)[0].metrics["clf_f1"] for v in board.variants("toy", "matching")
    }
    assert clf["aba baa abc"] == 1.0
    assert clf["abc baa aba"] == pytest.approx(1 / 3, abs=0.01)
    for size, expected in ((2, 0.12), (3, 0.15), (4, 0.171)):
        for run in board.find("toy", "trivial", "random", f"k={size}"):
            assert run.metrics["hl_f1"] == pytest.approx(expected, abs=0.02)
            assert run.metrics["selection_size"] == size


def test_a_cut_text_ends_before_its_first_unknown_word(grid, tmp_path):
    folder, arguments = grid
    splits = load_source(arguments["sources"][0])
    known = {token for part in (splits.train, splits.val) for document in part for token in document.tokens}
    assert all(token in known for document in splits.test for token in document.tokens)
    runs = [run for run in read_results(folder / "results" / "micro") if run.method == "genspp"]
    whole = truncation(splits, runs)
    assert whole["texts_cut"] == whole["tokens_left_out"] == whole["gold_left_out"] == 0
    scores = whole["runs"]["sound-genspp-seed1"]
    assert scores["hl_f1_cut"] == scores["hl_f1"] == runs[0].metrics["hl_f1"]
    strange = tuple(
        replace(text, tokens=(*text.tokens[:4], "unheard", text.tokens[5])) if i < 4 else text
        for i, text in enumerate(splits.test)
    )
    assert kept_tokens(replace(splits, test=Corpus(strange))) == [4] * 4 + [6] * 12
    with pytest.raises(DataError, match="not run on these data"):
        truncation(replace(splits, test=Corpus(strange)), runs)


def test_figures(grid, tmp_path):
    _, arguments = grid
    drawn = benchmark.draw_figures(tmp_path, arguments["sources"])
    assert [path.name for path in drawn] == ["loss-landscape.png", "hatexplain-highlights.png"]
    facts = json.loads((tmp_path / "figures/figures.json").read_text())
    found = facts["hatexplain-highlights"]
    assert (found["posts"], found["posts_by_highlights"]) == (60, [30, 30])
    assert found["selection_size"] == [0.5, 0.5]  # one word of every second training post
    assert found["selection_rate"] == pytest.approx([1 / 12, 1 / 12])
    text = page.render_page(ROOT / page.PAPER, tmp_path)
    assert "60 posts" in text and "Not run yet" in text
    assert "Gold tokens of a training post: 0.50 ± 0.50 (the paper 1.57 ± 2.52)" in text


def test_tables_are_printed(grid, tmp_path):
    folder, _ = grid
    shown = CliRunner().invoke(cli.app, ["benchmark", "cost", "--out", str(folder / "results" / "micro")])
    assert shown.exit_code == 0
    assert "HateXplain, preset sound: cost" in shown.output
    assert (folder / "results/micro/tables/audit-hatexplain-sound.md").exists()
    empty = CliRunner().invoke(cli.app, ["benchmark", "cost", "--out", str(tmp_path / "none")])
    assert "no results" in empty.output
    with pytest.raises(SettingsError, match="table9"):
        benchmark.benchmark("table9")


# ---- all of the paper


def test_the_whole_paper_says_before_each_part_what_is_left(grid, tmp_path, monkeypatch):
    folder, arguments = grid
    posts, asked = arguments["sources"][0], []

    def note(name, **given):
        asked.append((name, given["preset"], given["sources"], given["seeds"]))
        if name == "table1" and given["preset"] == "sound":  # as if one more run had been finished by now
            shutil.copy(folder / "results/micro/table1/hatexplain-sound-fr-seed1.json", tmp_path / "table1")
        return []

    monkeypatch.setattr(benchmark, "run_grid", note)
    (tmp_path / "table1").mkdir()
    own = tmp_path / "mine.csv"
    own.write_text("text,label\na,b\n")
    # What is there was made with other settings than those of full runs.
    monkeypatch.setattr(Trial, "is_what", lambda *_: True)
    lines = io.StringIO()
    given = {"sources": [posts, str(own)], "methods": ["fr", "genspp", "random"], "out": tmp_path, "workers": 2}
    assert benchmark.run_paper(**given, console=Console(file=lines)) == []
    both = [posts, str(own)]
    assert asked == [
        *(("table1", preset, both, 5) for preset in ("sound", "paper")),
        *(("alpha", preset, [posts], 3) for preset in ("sound", "paper")),  # the other has no levels
        *(("skew", preset, both, 5) for preset in ("sound", "paper")),
    ]
    said = lines.getvalue().splitlines()
    table1 = 2 * 5 * 2 + 2 * 2 * 5  # methods, seeds, data; random highlights of two sizes
    left = [re.match(r"part (\d) of 6, (\w+) under preset (\w+): (\d+) runs left", line).groups() for line in said]
    assert [part for part, *_ in left] == list("123456")
    assert left[0] == ("1", "table1", "sound", str(table1))
    assert left[1] == ("2", "table1", "paper", str(table1))
    assert left[2][3] == str(3 * (3 + 3) + 6 - 1)  # levels of FR, weights of GenSPP; and what table1 lacks but one
    assert all(re.search(r"; in all \d+ runs left, about [\d.]+ (min|h)$", line) for line in said)
    totals = [int(re.search(r"in all (\d+)", line).group(1)) for line in said]
    assert totals[0] - totals[1] == 1 and totals[-1] == int(left[-1][3])
    assert totals[0] < sum(int(runs) for *_, runs in left)  # what several parts need counts once


def test_a_finished_paper_draws_its_figures_and_tables(grid, tmp_path, monkeypatch):
    _, arguments = grid
    monkeypatch.setattr(benchmark, "run_all", run_none)
    printed = []
    failures = benchmark.benchmark(
        "paper",
        sources=arguments["sources"],
        methods=["fr", "random"],
        preset="sound",
        quick=True,
        out=tmp_path,
        console=Console(file=io.StringIO()),
        printer=printed.append,
    )
    assert failures == []
    assert (tmp_path / "quick/untrained/hatexplain-sound.json").exists()
    assert not (tmp_path / "quick/untrained/hatexplain-paper.json").exists()
    assert {path.name for path in (tmp_path / "quick/figures").glob("*.png")} == {
        "loss-landscape.png",
        "hatexplain-highlights.png",
    }
    assert any(line.endswith("loss-landscape.png") for line in printed)
