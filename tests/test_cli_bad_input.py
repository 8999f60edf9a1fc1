"""What the command line says of what cannot be used, and what steers nothing."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from cli_tools import FAST, call, fails, invoke, write_csv


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    table = write_csv(folder / "posts.csv")
    done = invoke("train", table, "--text", "body", "--label", "kind", "--out", folder / "run", *FAST)
    assert done.exit_code == 0, done.output
    return folder / "run"


def test_bad_tables(tmp_path):
    def table(content: str | bytes, name: str = "t.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    run = tmp_path / "run"
    rows = "good,x\nbad,y\n" * 10
    fails("'text'", "train", table("body,label\n" + rows), "--out", run)
    fails("'kind'", "train", table("text,label\n" + rows), "--label", "kind", "--out", run)
    fails("t.csv, line 3", "train", table("text,label\ngood,x\n ,y\n"), "--out", run)
    said = fails("", "train", table("text,label\ngood,x\n ,y\n"), "--out", run)
    assert "--on-bad-row skip" in said
    fails("on_bad_row is 'drop'", "train", table("text,label\n" + rows), "--on-bad-row", "drop", "--out", run)
    fails("highlight_form is 'x'", "train", table("text,label\n" + rows), "--highlight-form", "x", "--out", run)
    fails("at least two classes", "train", table("text,label\n" + "good,x\n" * 10), "--out", run)
    fails("t.csv, line 2", "train", table(b"text,label\ncaf\xe9,x\n"), "--out", run)
    fails("t.jsonl, line 2", "train", table('{"text": "a", "label": "b"}\n{"text": \n', "t.jsonl"), "--out", run)
    message = fails(
        "t.jsonl, line 2",
        "train",
        table('{"text": "a b", "label": "x", "highlight": [0, 1]}\n'
              '{"text": "a b", "label": "y", "highlight": [0, 1, 1]}\n', "t.jsonl"),
        "--out", run,
    )  # fmt: skip
    assert "3" in message
    assert "2" in message
    table("text,label\nfine,z\n", "test.csv")
    fails(
        "test.csv, line 2",
        "train",
        table("text,label\n" + rows),
        "--test",
        tmp_path / "test.csv",
        "--out",
        run,
    )
    fails("v.txt, line 2", "train", table("text,label\n" + rows), "--out", run, "--vectors",
          table("good 1 2 3\nbad 1 2\n", "v.txt"))  # fmt: skip
    fails("nowhere.csv", "train", tmp_path / "nowhere.csv", "--out", run)
    fails("hate-alert", "train", f"hatexplain:{tmp_path}/none", "--out", run)
    fails("population is 3", "train", "toy", "--population", "3", "--out", run)
    assert not (run / "model").exists()


def test_an_error_of_ours_ends_the_process_with_code_2(tmp_path):
    done = call("explain", tmp_path, "a text")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


def test_bad_folders(run, tmp_path):
    config = json.loads((run / "config.json").read_text())
    fails("exists already", "train", config["data"]["source"], "--text", "body", "--label", "kind", "--out", run)
    assert (run / "metrics.json").exists()
    fails("is not a run folder", "explain", tmp_path, "a text")
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", str(run), str(copy)], check=True)
    (copy / "metrics.json").unlink()
    checkpoint = copy / "checkpoint.safetensors"
    checkpoint.write_bytes(checkpoint.read_bytes()[:-100])
    fails("checkpoint.safetensors is cut short", "resume", copy)
    weights = copy / "model" / "weights.safetensors"
    os.truncate(weights, 50)
    fails("weights.safetensors", "explain", copy, "a text")
    weights.unlink()
    fails("weights.safetensors is missing", "explain", copy, "a text")


def test_changed_data_is_noticed_on_resuming(tmp_path):
    table = write_csv(tmp_path / "t.csv", 60)
    arguments = ["train", table, "--text", "body", "--label", "kind", "--out", tmp_path / "r", *FAST]
    assert invoke(*arguments).exit_code == 0
    (tmp_path / "r" / "metrics.json").unlink()
    write_csv(table, 60, seed=4)
    fails("has changed since", "resume", tmp_path / "r")


def test_changed_data_is_noticed_on_evaluating(tmp_path):
    table = write_csv(tmp_path / "t.csv", 60)
    arguments = ["train", table, "--text", "body", "--label", "kind", "--out", tmp_path / "r", *FAST]
    assert invoke(*arguments).exit_code == 0
    write_csv(table, 60, seed=4)  # its test rows may have been training rows before
    fails("has changed since", "evaluate", tmp_path / "r")


def test_places_that_cannot_be_written(run, tmp_path):
    (tmp_path / "file").write_text("")
    fails("file cannot be used", "data", "toy", "--out", tmp_path / "file" / "toy.jsonl")
    fails("must end in .jsonl", "data", "toy", "--out", tmp_path / "toy.csv")
    fails("file cannot be used", "explain", run, "a goal", "--html", tmp_path / "file" / "p.html")


def test_a_bad_setting_leaves_no_folder(run, tmp_path):
    source = json.loads((run / "config.json").read_text())["data"]["source"]
    named = ["--text", "body", "--label", "kind", "--out", tmp_path / "r"]
    fails("class_weight is 'heavy'", "train", source, *named, "--class-weight", "heavy")
    fails("method is 'lime'", "train", source, *named, "--method", "lime")
    fails("generations is not a setting of fr", "train", source, *named, "--method", "fr", "--generations", "3")
    fails("search is not a setting of fr", "train", source, *named, "--method", "fr", "--search", "genetic")
    message = fails("zeal is not a setting of fr; it has alpha, ", "train", source, *named, "--method", "fr",
                    "--set", "zeal=3")  # fmt: skip
    assert "lambda_s" in message
    fails("alpha is 2", "train", source, *named, "--method", "fr", "--set", "alpha=2")
    fails("--set is 'alpha'", "train", source, *named, "--method", "fr", "--set", "alpha")
    fails("seed is given twice", "train", source, *named, "--seed", "1", "--set", "seed=2")
    fails("above 0", "train", source, *named, "--set", 'class_weight={"sport": 0}')
    (tmp_path / "v.txt").write_text("goal 1 2\nsoup 1\n")
    fails("v.txt, line 2", "train", source, *named, "--vectors", tmp_path / "v.txt")
    assert not (tmp_path / "r").exists()


def test_hostile_text_does_not_steer_the_terminal(run):
    shown = invoke("explain", run, "the \x1b[31mgoal", b"caf\xe9".decode("utf-8", "surrogateescape"))
    assert shown.exit_code == 0
    assert "\x1b" not in shown.output
    shown = invoke("explain", run, "§\x1b[31m \x9b31m \x7f", "--json")
    assert not {"\x1b", "\x9b", "\x7f"} & set(shown.output)
    assert json.loads(shown.output)["unknown"] == [0, 1, 2, 3]
