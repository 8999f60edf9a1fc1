"""The command line as a user meets it, each command in a process of its own where that matters."""

import csv
import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import genspp
from cli_tools import FAST, call, fails, invoke, write_csv
from conftest import DECIDING, interruptible, sentences
from genspp.app.predict import open_model
from genspp.evaluation import beside
from genspp.methods import METHODS


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    table = write_csv(folder / "posts.csv")
    done = call("train", table, "--text", "body", "--label", "kind", "--out", folder / "run", *FAST)
    assert done.returncode == 0, done.stderr
    assert "Clf-F1" in done.stdout
    assert "generation 3/3" in done.stderr
    return folder / "run"


def test_version():
    done = call("--version")
    assert (done.returncode, done.stdout) == (0, f"genspp {genspp.__version__}\n")


def test_a_run_folder_holds_what_it_should(run):
    names = {path.name for path in run.iterdir()}
    assert names == {
        "config.json", "log.jsonl", "checkpoint.safetensors", "model", "metrics.json", "predictions.jsonl",
        "report.html",
    }  # fmt: skip
    metrics = json.loads((run / "metrics.json").read_text())
    assert 0 <= metrics["clf_f1"] <= 1
    assert metrics["hl_f1"] is None
    assert 0 <= metrics["selection_rate"] <= 1
    assert metrics["selection_size"] >= 0
    assert 0 <= metrics["full_text_clf_f1"] <= 1
    assert metrics["tfidf_clf_f1"] > 0.8  # single words decide
    assert metrics["guessing_clf_f1"] == pytest.approx(1 / 3, abs=0.02)
    assert {metrics[name] for name in ("wordlist_hl_f1", "random_hl_f1", "all_hl_f1")} == {None}
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    assert [line["generation"] for line in lines] == [0, 1, 2, 3]
    config = json.loads((run / "config.json").read_text())
    assert len(config["data"]["fingerprint"]) == 64
    assert config["versions"]["genspp"] == genspp.__version__


def test_explain(run):
    done = invoke("explain", run, "a goal", "salt & <b>bread</b>", "--json")
    answers = [json.loads(line) for line in done.output.splitlines()]
    assert len(answers) == 2
    fields = {"label", "probabilities", "tokens", "mask", "spans", "no_evidence", "unknown", "unread"}
    assert set(answers[0]) == fields and answers[0]["unread"] == 0
    assert answers[0]["tokens"] == ["a", "goal"]
    plain = invoke("explain", run, "a goal")
    assert plain.output.startswith(answers[0]["label"])
    strange = invoke("explain", run, "a \x9b\x7f\x1bzebra <b>")
    assert "  (4 unknown words)" in strange.output


def test_the_page_is_self_contained_and_escaped(run, tmp_path):
    evil = "<script>alert('goal')</script> <img src=x onerror=alert(1)>"
    assert invoke("explain", run, evil, "--html", tmp_path / "p.html").exit_code == 0
    page = (tmp_path / "p.html").read_text()
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;" in page
    assert "://" not in page


def test_explain_a_file_and_standard_input(run, tmp_path):
    table = write_csv(tmp_path / "posts.csv", 9, 3)
    answers = [json.loads(line) for line in invoke("explain", run, "--file", table, "--json").output.splitlines()]
    assert len(answers) == 9
    fields = {"label", "probabilities", "tokens", "mask", "spans", "no_evidence", "unknown", "unread"}
    assert set(answers[0]) == fields
    assert invoke("explain", run, "--file", table, "--html", tmp_path / "p.html").exit_code == 0
    page = (tmp_path / "p.html").read_text()
    assert page.count("<article>") == 9 == len(re.findall('class="(?:right|wrong)"', page))
    assert "Model: GenSPP on posts." in page
    for typed in (["-"], ["--file", "-"]):
        done = invoke("explain", run, *typed, "--json", text="a goal\n\nthe soup\n")
        assert [json.loads(line)["tokens"] for line in done.output.splitlines()] == [["a", "goal"], ["the", "soup"]]


def test_predict_for_eraser_s_scorer(run, tmp_path):
    table = write_csv(tmp_path / "new.csv", 5, 3)
    done = invoke("predict", run, table, "--out", "-", "--format", "eraser")
    assert {json.loads(line)["annotation_id"] for line in done.stdout.splitlines()} == set("12345")


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_predict_gives_the_same_rows_back(run, tmp_path, ending):
    table = write_csv(tmp_path / "new.csv", 20, 3, header=("body", "note"))
    assert invoke("predict", run, table, "--out", tmp_path / f"out.{ending}").exit_code == 0
    with table.open(newline="") as file:
        given = list(csv.DictReader(file))
    if ending == "csv":
        with (tmp_path / "out.csv").open(newline="") as file:
            rows = [row | {"highlight": json.loads(row["highlight"])} for row in csv.DictReader(file)]
    else:
        rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [{name: row[name] for name in ("body", "note")} for row in rows] == given
    for row in rows:
        assert row["label"] in ("sport", "food", "tech")
        words = [row["body"][start:end] for start, end in row["highlight"]]
        assert row["highlighted_words"] == " | ".join(words)


def test_predict_from_standard_input_to_standard_output(run):
    done = call("predict", run, "-", "--out", "-", text='{"body": "the goal", "label": "mine"}\n')
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    assert row["label"] == "mine"
    assert row["predicted_label"] in ("sport", "food", "tech")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_pipe_that_is_closed_half_way_is_no_success(run, tmp_path, unbuffered):
    table = write_csv(tmp_path / "long.csv", 3000)
    command = [sys.executable, "-c", "from genspp.cli import main; main()", "predict", run, table, "--out", "-"]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait() == 1
    assert process.stderr.read() == b""


def test_a_full_disk_is_named(run, tmp_path, monkeypatch):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-c", "from genspp.cli import main; main()", "explain", str(run), "a goal"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert (
        done.stderr == "error: standard output is not written: the disk is full; make room, or choose another place.\n"
    )

    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", no_room)
    page = tmp_path / "p.html"
    fails(f"{page} is not written: the disk is full", "explain", run, "a goal", "--html", page)
    assert list(tmp_path.iterdir()) == []


def test_predict_overwrites_no_column(run):
    given = {"body": "the goal", "label": "mine", "predicted_label": "yours"}
    row = json.loads(call("predict", run, "-", "--out", "-", text=json.dumps(given) + "\n").stdout)
    assert {name: row[name] for name in given} == given
    assert row["predicted_predicted_label"] in ("sport", "food", "tech")


def test_evaluate(run, tmp_path):
    own = json.loads(invoke("evaluate", run, "--json").output)
    assert own == json.loads((run / "metrics.json").read_text())
    other = write_csv(tmp_path / "other.csv", 30, 8)
    there = json.loads(invoke("evaluate", run, other, "--json").output)
    assert there["texts"] == 30
    assert "tfidf_clf_f1" not in there  # references are fitted on the run's own rows, for its own test rows


def test_references_and_warnings_are_shown_and_computed_once(run, tmp_path, monkeypatch):
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    written = json.loads((copy / "metrics.json").read_text())
    (copy / "metrics.json").write_text(json.dumps({**written, "tfidf_clf_f1": written["clf_f1"] + 0.1}))
    with monkeypatch.context() as patch:
        patch.setattr(beside, "references", None)  # what is written is taken, not computed again
        shown = invoke("evaluate", copy).output
    assert "TF-IDF + LR" in shown
    assert "warning: Clf-F1 is 10.0 points below that of TF-IDF and logistic regression" in shown
    older = {name: value for name, value in written.items() if name not in beside.FIGURES}
    other = {**written, "tfidf_clf_f1": 0.0, "selection_rate": 2.0}  # made for another model
    for content in (older, other):
        (copy / "metrics.json").write_text(json.dumps(content))
        assert json.loads(invoke("evaluate", copy, "--json").output) == written


def test_killed_and_resumed_equals_uninterrupted(run, tmp_path):
    source = json.loads((run / "config.json").read_text())["data"]["source"]
    more = ["--generations", "30", "--set", "stall=30"]  # enough to be killed among them
    longer = ["train", source, "--text", "body", "--label", "kind", *FAST[:2], *more, *FAST[4:]]
    assert call(*longer, "--out", tmp_path / "whole").returncode == 0
    command = [sys.executable, "-c", "from genspp.cli import main; main()", *longer, "--out", str(tmp_path / "r")]
    killed = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = tmp_path / "r" / "log.jsonl"
    deadline = time.monotonic() + 300
    while not (log.exists() and log.read_text().count("\n") >= 2) and time.monotonic() < deadline:
        time.sleep(0.002)
    killed.send_signal(signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    assert 2 <= log.read_text().count("\n") < 30
    assert not (tmp_path / "r" / "model").exists()
    assert call("resume", tmp_path / "r").returncode == 0
    assert_same_run(tmp_path / "r", tmp_path / "whole")


def test_interrupted_it_says_how_to_go_on(run, tmp_path):
    source = json.loads((run / "config.json").read_text())["data"]["source"]
    command = [sys.executable, "-c", "from genspp.cli import main; main()", "train", source, "--text", "body",
               "--label", "kind", "--out", str(tmp_path / "r"), *FAST[:2], "--generations", "10000",
               *FAST[4:]]  # fmt: skip
    stopped = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, preexec_fn=interruptible
    )
    log = tmp_path / "r" / "log.jsonl"
    deadline = time.monotonic() + 300
    try:
        while not log.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        stopped.send_signal(signal.SIGINT)
        _, errors = stopped.communicate(timeout=60)
    finally:
        stopped.kill()
    assert stopped.returncode == 130
    assert f"`genspp resume {tmp_path / 'r'}`" in errors
    assert "Traceback" not in errors


def assert_same_run(one: Path, other: Path) -> None:
    for name in ("metrics.json", "predictions.jsonl"):
        assert (one / name).read_bytes() == (other / name).read_bytes()
    logs = [[json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()] for run in (one, other)]
    for log in logs:
        for line in log:
            line.pop("seconds")
    assert logs[0] == logs[1]
    mine, theirs = (load_file(run / "model" / "weights.safetensors") for run in (one, other))
    assert mine.keys() == theirs.keys()
    for name in mine:
        np.testing.assert_array_equal(mine[name], theirs[name])


def test_a_finished_run_is_left_alone(run):
    before = (run / "metrics.json").stat().st_mtime_ns
    assert "finished already" in call("resume", run).stderr
    assert (run / "metrics.json").stat().st_mtime_ns == before


def test_two_workers_give_the_same_run(run, tmp_path):
    source = json.loads((run / "config.json").read_text())["data"]["source"]
    done = call("train", source, "--text", "body", "--label", "kind", "--out", tmp_path / "r", *FAST[:-1], "2")
    assert done.returncode == 0, done.stderr
    assert_same_run(tmp_path / "r", run)


def test_corrupted_gold_highlights_leave_the_model_alone(tmp_path):
    texts, labels = sentences(90)
    stream = np.random.RandomState(0)
    for name in ("true", "false"):
        with (tmp_path / f"{name}.jsonl").open("w") as file:
            for text, label in zip(texts, labels, strict=True):
                length = len(text.split())
                mask = [0] * length if name == "true" else stream.randint(0, 2, length).tolist()
                file.write(json.dumps({"text": text, "label": label, "highlight": mask}) + "\n")
        arguments = ["train", tmp_path / f"{name}.jsonl", "--out", tmp_path / name, *FAST[:6], *FAST[-2:]]  # it marks
        assert invoke(*arguments).exit_code == 0
    weights = [(tmp_path / name / "model" / "weights.safetensors").read_bytes() for name in ("true", "false")]
    assert weights[0] == weights[1]
    true, false = (json.loads((tmp_path / name / "metrics.json").read_text()) for name in ("true", "false"))
    assert true["hl_f1"] != false["hl_f1"]
    assert true["tfidf_clf_f1"] == false["tfidf_clf_f1"]
    for name in ("wordlist_hl_f1", "random_hl_f1", "all_hl_f1"):
        assert true[name] == 0 < false[name]  # nothing is gold in the one


def test_every_setting_can_be_set(tmp_path):
    table = write_csv(tmp_path / "hatexplain.csv", 60, header=("text", "label"))  # its name says nothing
    more = ["--set", "epochs=1", "--set", "retrain=false", "--set", "epsilon=0.5", "--set", 'class_weight={"sport": 2}']
    done = invoke("train", table, "--out", tmp_path / "r", *FAST, *more)
    assert done.exit_code == 0
    settings = json.loads((tmp_path / "r" / "config.json").read_text())["settings"]
    assert (settings["epochs"], settings["retrain"], settings["epsilon"]) == (1, False, 0.5)
    assert settings["class_weight"] == {"sport": 2}
    shown = [line for line in done.stdout.splitlines() if "%  " in line and line.split()[0] in DECIDING]
    assert len(shown) == 10  # of twelve test rows


def test_methods_are_listed_with_their_settings():
    everything, one = invoke("methods").output, invoke("methods", "fr").output
    assert one.startswith("fr  FR: ")
    assert {line.split()[0] for line in one.splitlines()[1:]} == set(METHODS["fr"].declared)
    assert everything.startswith("all methods") and everything.count("  tokenizer ") == 1  # what all share stands once
    line = next(line for line in one.splitlines() if line.split()[0] == "eval_mask")
    assert "argmax (paper: sample)" in line and "one of argmax, sample" in line
    for name, kind in METHODS.items():
        assert f"{name}  {kind.title}: " in everything
    fails("method is 'lime'; choose one of", "methods", "lime")


def test_force_replaces_a_run_and_nothing_else(tmp_path):
    table = write_csv(tmp_path / "t.csv", 60, header=("text", "label"))
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "config.json").write_text('{"settings": {}}')
    (tmp_path / "app" / "log.jsonl").write_text("somebody else's")
    fails("--force replaces runs only", "train", table, "--out", tmp_path / "app", "--force", *FAST)
    assert (tmp_path / "app" / "log.jsonl").read_text() == "somebody else's"
    for force in ([], ["--force"]):
        assert invoke("train", table, "--out", tmp_path / "r", *FAST, *force).exit_code == 0


def test_test_rows_in_a_file_with_a_split_column_of_its_own(tmp_path):
    table = write_csv(tmp_path / "t.csv", 60, header=("text", "label"))
    other = tmp_path / "o.csv"
    other.write_text("text,label,split\nthe goal,sport,holdout\nthe soup,food,\n")
    assert invoke("train", table, "--test", other, "--out", tmp_path / "r", *FAST).exit_code == 0
    assert json.loads((tmp_path / "r" / "metrics.json").read_text())["texts"] == 2
    assert json.loads(invoke("evaluate", tmp_path / "r", other, "--json").output)["texts"] == 2


def test_a_new_word_is_looked_up_in_the_vector_file(tmp_path):
    table = write_csv(tmp_path / "t.csv", 60, header=("text", "label"))
    vectors = tmp_path / "v.txt"
    vectors.write_text("goal 1 0\nsoup 0 1\nchip 1 1\nnewcomer -1 2\n")
    assert invoke("train", table, "--vectors", vectors, "--out", tmp_path / "r", *FAST).exit_code == 0
    model, _ = open_model(tmp_path / "r")
    assert "newcomer" not in model.vectors_.words
    model.explain(["a newcomer"])
    assert "newcomer" in model.vectors_.words
    vectors.unlink()
    said = call("explain", tmp_path / "r", "a newcomer nobody knows the goal of")
    assert said.returncode == 0
    # What training texts have is known by what it says for the classes, with a vector or without.
    assert "warning: 3 tokens (3 words) are unknown" in said.stderr


def test_other_data_need_not_have_the_highlights_of_the_run(tmp_path):
    texts, labels = sentences(60)
    rows = [{"text": t, "label": k, "gold": [0]} for t, k in zip(texts, labels, strict=True)]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = invoke("train", tmp_path / "t.jsonl", "--highlight", "gold", "--out", tmp_path / "r", *FAST)
    assert done.exit_code == 0
    other = write_csv(tmp_path / "o.csv", 12, header=("text", "label"))
    assert json.loads(invoke("evaluate", tmp_path / "r", other, "--json").output)["hl_f1"] is None
    fails("'gold'", "evaluate", tmp_path / "r", other, "--highlight", "gold")


def test_toy_as_a_file(tmp_path):
    assert invoke("data", "toy", "--out", tmp_path / "toy.jsonl").exit_code == 0
    lines = (tmp_path / "toy.jsonl").read_text().splitlines()
    assert len(lines) == 10_000
