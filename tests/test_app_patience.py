"""Training that fits a person's patience: long texts cut, minutes, and a run that is finished where it stands."""

import json
import re
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file

from cli_tools import FAST, fails, invoke, write_csv
from conftest import sentences, train_nothing
from genspp import cli
from genspp.app import configure as configuring
from genspp.app import runs
from genspp.app.command import train_command
from genspp.app.predict import open_model
from genspp.app.runs import Run
from genspp.data.frames import read_corpus
from genspp.evaluation.evaluate import evaluate
from genspp.methods.genspp import GenSPP

SEARCH = ["--population", "2", "--set", "min_steps=5", "--set", "patience=2"]
QUICK = {
    "genspp": [*SEARCH, "--generations", "9"],
    "rnp": ["--method", "rnp", "--set", "max_epochs=9"],
    "wordlist": ["--method", "wordlist", "--set", "lists=9", "--set", "min_steps=5", "--set", "patience=2"],
}


@pytest.fixture
def table(tmp_path):
    return write_csv(tmp_path / "t.csv", 60, header=("text", "label"))


def train(table, out, *more):
    return invoke("train", table, "--out", out, "--hidden", "4", "--workers", "1", "--examples", "0", *more)


def metrics(run):
    return json.loads((run / "metrics.json").read_text())


def masks(run):
    return [json.loads(line)["mask"] for line in (run / "predictions.jsonl").read_text().splitlines()]


def assert_same_model(one, other):
    mine, theirs = (load_file(run / "model" / "weights.safetensors") for run in (one, other))
    assert mine.keys() == theirs.keys() and all(np.array_equal(mine[name], theirs[name]) for name in mine)


def interrupt(monkeypatch, after):
    """Let somebody press Ctrl-C after so many steps of whatever is trained."""
    record = Run.record

    def recorded(self, line, state, total):
        record(self, line, state, total)
        if next(iter(line.values())) + 1 == after:
            raise KeyboardInterrupt

    monkeypatch.setattr(Run, "record", recorded)


# ---------------------------------------------------------------------- minutes


def test_the_clock_ends_a_search_and_the_number_of_generations_repeats_it(table, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        now, record = [0.0], Run.record
        patch.setattr(runs, "monotonic", lambda: now[0])

        def recorded(self, line, state, total):
            now[0] += 60
            record(self, line, state, total)

        patch.setattr(Run, "record", recorded)
        done = train(table, tmp_path / "timed", "--minutes", "2.5", *QUICK["genspp"])
    assert done.exit_code == 0, done.output
    assert "stopped by the clock (--minutes) after generation 2; --generations 2 repeats it." in done.output
    assert metrics(tmp_path / "timed")["stopped_early"] == {"by": "time", "step": "generation", "number": 2}
    assert json.loads((tmp_path / "timed" / "config.json").read_text())["minutes"] == 2.5
    assert train(table, tmp_path / "counted", *SEARCH, "--generations", "2").exit_code == 0
    assert_same_model(tmp_path / "timed", tmp_path / "counted")
    counted = metrics(tmp_path / "counted")
    assert {**metrics(tmp_path / "timed"), "stopped_early": None} == {**counted, "stopped_early": None}
    assert "stopped_early" not in counted
    assert json.loads(invoke("evaluate", tmp_path / "timed", "--json").output) == metrics(tmp_path / "timed")
    command = train_command(Run.open(tmp_path / "timed"), 3)
    assert "generations=2" in command and "--minutes" not in command
    assert "stopped by the clock" in (tmp_path / "timed" / "report.html").read_text()


def test_minutes_that_are_not_used_up_change_nothing(table, tmp_path):
    for name, more in (("timed", ["--minutes", "600"]), ("plain", [])):
        assert train(table, tmp_path / name, *QUICK["rnp"], *more).exit_code == 0
    assert metrics(tmp_path / "timed") == metrics(tmp_path / "plain")
    assert_same_model(tmp_path / "timed", tmp_path / "plain")
    assert "--minutes 600" in train_command(Run.open(tmp_path / "timed"), 3)
    assert "minutes" not in json.loads((tmp_path / "plain" / "config.json").read_text())


# ---------------------------------------------------------------------- finishing a run where it stands


@pytest.mark.parametrize("method", QUICK)
def test_interrupted_and_finished(table, tmp_path, monkeypatch, method):
    run, steps = tmp_path / "r", {"genspp": "generation", "rnp": "epoch", "wordlist": "list"}
    with monkeypatch.context() as patch:
        interrupt(patch, after=3)
        stopped = train(table, run, *QUICK[method])
    assert stopped.exit_code == 130
    assert f"`genspp resume {run}`" in stopped.output and f"`genspp finish {run}`" in stopped.output
    assert not (run / "metrics.json").exists()
    done = invoke("finish", run)
    assert done.exit_code == 0, done.output
    assert f"Training was finished early (genspp finish) after {steps[method]} 2" in done.output
    assert metrics(run)["stopped_early"] == {"by": "finish", "step": steps[method], "number": 2}
    assert len((run / "log.jsonl").read_text().splitlines()) == 3
    names = {path.name for path in run.iterdir()}
    assert {"model", "metrics.json", "predictions.jsonl", "report.html"} < names
    assert invoke("explain", run, "a goal").exit_code == 0
    if method == "genspp":
        assert train(table, tmp_path / "w", *SEARCH, "--generations", "2").exit_code == 0
        assert_same_model(run, tmp_path / "w")
    before = (run / "metrics.json").stat().st_mtime_ns
    for command in ("finish", "resume"):
        again = invoke(command, run)
        assert again.exit_code == 0 and again.output == f"{run} is finished already; see `genspp evaluate {run}`.\n"
    assert (run / "metrics.json").stat().st_mtime_ns == before


def test_before_the_first_step_there_is_nothing_to_finish(table, tmp_path, monkeypatch):
    def pressed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(GenSPP, "_train", pressed)
        stopped = train(table, tmp_path / "r", *FAST[:4])
    assert stopped.exit_code == 130
    assert f"`genspp resume {tmp_path / 'r'}`" in stopped.output and "genspp finish" not in stopped.output
    fails("r has nothing to finish yet: no step of its training was done; go on with", "finish", tmp_path / "r")


def test_stopped_while_it_reads_it_has_made_nothing(table, tmp_path, monkeypatch, capfd):
    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(configuring, "_read", pressed)
    monkeypatch.setattr(sys, "argv", ["genspp", "train", str(table), "--out", str(tmp_path / "r")])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 130 and capfd.readouterr().err == f"reading {table} ...\n"
    assert not (tmp_path / "r").exists()


def test_a_search_that_had_ended_is_not_finished_early(table, tmp_path, monkeypatch):
    more = [*SEARCH, "--generations", "1"]
    with monkeypatch.context() as patch:
        interrupt(patch, after=2)  # the final predictor is not trained
        assert train(table, tmp_path / "r", *more).exit_code == 130
    assert train(table, tmp_path / "whole", *more).exit_code == 0
    assert invoke("finish", tmp_path / "r").exit_code == 0
    assert metrics(tmp_path / "r") == metrics(tmp_path / "whole")
    assert_same_model(tmp_path / "r", tmp_path / "whole")


# ---------------------------------------------------------------------- what is said on the way


def test_it_is_said_what_is_done_before_the_first_step_and_after_the_last(table, tmp_path):
    lines = train(table, tmp_path / "r", *FAST[:4]).output.splitlines()
    said = [
        f"reading {table} ...",
        "learning the words of 39 training texts ...",
        "preparing readers and judges ...",
        "making the first generators; then at most 3 generations, fewer if 10 bring nothing better ...",
        "training the final predictors ...",
        "scoring the test texts ...",
    ]
    places = [lines.index(line) for line in said]
    steps = [number for number, line in enumerate(lines) if line.startswith("generation ")]
    assert places == sorted(places) and places[3] < steps[0] and steps[-1] < places[4]
    assert lines[steps[0]].endswith(", the time left is known after the next")
    assert len(steps) > 1 and all(re.search(r", at most .* left$", lines[number]) for number in steps[1:])


def test_help_says_what_a_clock_cannot_promise():
    shown = " ".join(invoke("train", "--help").output.replace("│", " ").split())
    assert "--minutes" in shown and "another run may end elsewhere" in shown
    assert "--truncate" in shown and "finish" in invoke("--help").output


# ---------------------------------------------------------------------- long texts


def marked_rows(count):
    texts, labels = sentences(count)
    return [
        {"text": f"{t} and so on, and on", "label": k, "highlight": [1] + [0] * len(t.split()) + [1] * 5}
        for t, k in zip(texts, labels, strict=True)
    ]


@pytest.fixture
def cut_run(tmp_path, monkeypatch):
    """A run that cuts texts, trained by nobody."""
    monkeypatch.setattr(GenSPP, "_train", train_nothing)
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in marked_rows(60)))
    done = invoke("train", tmp_path / "t.jsonl", "--truncate", "3", "--hidden", "4", "--out", tmp_path / "r")
    assert done.exit_code == 0, done.output
    assert "60 of 60 texts cut to their first 3 tokens (--truncate)." in done.output
    assert "(only its first 3 words were read)" in done.output
    return tmp_path / "r"


def test_a_run_reads_its_texts_as_it_did(cut_run):
    config, figures = json.loads((cut_run / "config.json").read_text()), metrics(cut_run)
    assert config["settings"]["truncate"] == 3 and config["data"]["max_length"] is None
    assert {len(mask) for mask in masks(cut_run)} == {3} and figures["texts"] == 12
    assert json.loads(invoke("evaluate", cut_run, "--json").output) == figures  # the same rows, the same fingerprint
    assert "--set truncate=3" in train_command(Run.open(cut_run), 3)
    assert "of every text its first 3 tokens at most" in (cut_run / "report.html").read_text()
    (cut_run / "metrics.json").unlink()
    assert invoke("resume", cut_run).exit_code == 0 and metrics(cut_run) == figures


def test_gold_highlights_count_as_far_as_texts_are_read(cut_run, tmp_path, monkeypatch):
    def first_word(model, data):
        mask = np.zeros(len(data.ids), np.uint8)
        mask[data.starts[:-1]] = 1
        return mask

    monkeypatch.setattr("genspp.model.explainer.select", first_word)
    assert json.loads(invoke("evaluate", cut_run, "--json").output)["hl_f1"] == 1.0  # the gold end is not missed
    (tmp_path / "other.jsonl").write_text("".join(json.dumps(row) + "\n" for row in marked_rows(9)))
    there = invoke("evaluate", cut_run, tmp_path / "other.jsonl", "--json")
    assert json.loads(there.stdout)["hl_f1"] == 1.0
    model = json.loads(invoke("evaluate", cut_run / "model", tmp_path / "other.jsonl", "--json").stdout)
    assert model == json.loads(there.stdout)
    figures, _ = evaluate(open_model(cut_run)[0], read_corpus(tmp_path / "other.jsonl"))  # which is whole
    assert json.loads(json.dumps(figures)) == model


def test_later_texts_are_cut_too_and_it_is_said(cut_run, tmp_path, caplog):
    (tmp_path / "new.csv").write_text("text\nthe goal of the match\na goal\n")
    assert invoke("predict", cut_run, tmp_path / "new.csv", "--out", tmp_path / "out.jsonl").exit_code == 0
    assert caplog.messages == ["1 of 2 texts cut to their first 3 tokens (--truncate)."]
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["unread_words"] for row in rows] == [2, 0] and rows[0]["text"] == "the goal of the match"
    assert all(end <= len("the goal of") for _, end in rows[0]["highlight"])
    page = tmp_path / "p.html"
    assert invoke("explain", cut_run, "the goal of the match", "a goal", "--html", page).exit_code == 0
    assert page.read_text().count("Of this text, the first 3 words were read.") == 1
    assert "the match" in page.read_text()


def test_long_texts_are_trained_on_as_they_are(tmp_path):
    texts, labels = sentences(24)
    rows = "".join(f"{' '.join([t] * 150)},{k}\n" for t, k in zip(texts, labels, strict=True))
    (tmp_path / "t.csv").write_text("text,label\n" + rows)
    for method, more in (("genspp", [*SEARCH, "--generations", "1"]), ("rnp", [])):
        run = tmp_path / method
        done = train(tmp_path / "t.csv", run, *more, "--set", "max_epochs=2", "--method", method)
        assert done.exit_code == 0, done.output
        assert min(map(len, masks(run))) > 600


def test_lengths_that_make_no_sense_are_one_sentence(table, tmp_path):
    said = "max_length is 5 and truncate is 7: texts of more than 5 tokens are left out, so that none is cut; give one"
    fails(said, "train", table, "--max-length", "5", "--truncate", "7", "--out", tmp_path / "r")
    said = "truncate is 0; it takes a whole number of at least 1, or None."
    fails(said, "train", table, "--truncate", "0", "--out", tmp_path / "r")
    assert not (tmp_path / "r").exists()
