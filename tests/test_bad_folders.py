"""Edited folders, and commands that nobody meant: one sentence, exit code 2, no traceback, nothing overwritten."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from conftest import sentences
from folder_tools import GONE, edit_field, refuses, sign
from genspp.app.configure import configure
from genspp.app.runs import Run, read_checkpoint, write_checkpoint
from genspp.app.train import proceed
from genspp.methods.genspp import GenSPP

HUGE = 10**9


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A finished run that nobody trained, with a checkpoint, and the file of its rows."""
    folder = tmp_path_factory.mktemp("made")
    texts, labels = sentences(60)
    rows = "".join(f"{t},{k}\n" for t, k in zip(texts, labels, strict=True))
    (folder / "t.csv").write_text("text,label\n" + rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GenSPP, "_train", lambda *_: None)
        config, data = configure(str(folder / "t.csv"), hidden=4, workers=1)
        run = Run.create(folder / "run", config)
        proceed(run, data)
        run.record({"generation": 0}, {"history": [], "a": np.zeros(2)}, 2)
    return folder


@pytest.fixture
def folder(made, tmp_path) -> Path:
    """A copy, to be edited."""
    shutil.copytree(made / "run", tmp_path / "run")
    return tmp_path / "run"


def named(rows):
    """Give every row of a table a name."""
    return [
        pytest.param(*row, id=" ".join(str(part) if part is not GONE else "gone" for part in row)[:60]) for row in rows
    ]


MODEL_FIELDS = [
    *((field, value) for field in ("format", "method", "settings", "classes", "vectors")
      for value in (GONE, None, True, [], 1.5)),
    ("format", 0), ("format", 99), ("format", -3), ("format", "3"),
    ("method", ""), ("method", "lime"), ("method", "GenSPP"), ("method", "fr"), ("method", "\x1b[31m\u202e"),
    *((f"settings.{name}", value) for name in ("hidden", "tokenizer", "skip_gaps", "seed", "preset")
      for value in (GONE, None, [], "\x1b[31mred", -1)),
    ("settings.hidden", 0), ("settings.hidden", 5), ("settings.hidden", 1.5), ("settings.hidden", True),
    ("settings.hidden", HUGE), ("settings.hidden", 10**400), ("settings.zeal", 3), ("settings.alpha", 0.2),
    ("settings.cell", "lstm"), ("settings.cell", "gru"), ("settings.cell", None), ("settings.batch_size", HUGE),
    ("settings.population", 3), ("settings.vectors", 5), ("settings.vectors", None), ("settings.epsilon", 10**400),
    ("settings.class_weight", [1]), ("settings.class_weight", [["x"]]), ("settings.class_weight", [[["x"], 1]]),
    ("settings.class_weight", 3), ("settings.evidence_for", "sport"), ("settings.evidence_for", {}),
    ("settings.truncate", 0), ("settings.truncate", 2.5), ("settings.truncate", "3"), ("settings.truncate", True),
    ("classes", {}), ("classes", "sport"), ("classes", ["sport"]), ("classes", ["food", "food", "tech"]),
    ("classes", ["food", "sport"]), ("classes", ["a", "food", "sport", "tech"]), ("classes", ["tech", "sport", "food"]),
    ("classes", ["food", "sport", 3]), ("classes", ["food", "sport", None]), ("classes", [["a"], ["b"], ["c"]]),
    ("classes", [1, 1.0, 2]), ("classes", [0, True, 2]),
    ("vectors", "glove"), ("vectors", {}), ("vectors", {"kind": 1}), ("vectors", {"kind": "g", "file": "v.txt"}),
    ("vectors", {"kind": "g", "file": {}}), ("vectors", {"kind": "g", "file": {"path": 1, "sha256": "0"}}),
    ("vectors", {"kind": "g", "file": {"path": "v.txt", "sha256": None}}),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value"), named(MODEL_FIELDS))
def test_edited_fields_of_a_model(folder, capfd, field, value):
    edit_field(folder / "model" / "config.json", field, value)
    sign(folder / "model")
    said = refuses(capfd, folder, "evaluate", folder)
    assert str(folder / "model") in said and "\x1b" not in said and "\u202e" not in said


MODEL_FILES = [
    *(("config.json", content) for content in ("", "[]", "null", "7", '"x"', "{}", "{", "NaN", "[" * 10**5)),
    *(("config.json", content) for content in (b"\xff\xfe{\x00}\x00", b"\x80", b'{"format": 3, "format": 1}')),
    *(("vocabulary.json", content) for content in ("", "[]", "null", "7", '"x"', "{}", '["a"]', "[[]]", "[")),
    *(("vocabulary.json", content) for content in ('{"a": 1}', "[NaN]", "[1, 2]", '[["a", "b"]]', b"\xff")),
    *(("weights.safetensors", content) for content in (b"", b"\0" * 8, b"\xff" * 100, b"{}", b"\2\0\0\0\0\0\0\0{}")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content"), named(MODEL_FILES))
def test_edited_files_of_a_model(folder, capfd, name, content):
    (folder / "model" / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    sign(folder / "model")
    for command in (["evaluate", folder], ["explain", folder / "model", "a goal"]):
        assert str(folder / "model") in refuses(capfd, folder, *command)


def test_a_vocabulary_of_other_words_than_there_are_vectors(folder, capfd):
    words = json.loads((folder / "model" / "vocabulary.json").read_bytes())
    for changed in (words[:-1], [*words, "more"], [words], dict.fromkeys(words, 1), [*words[:-1], 3]):
        (folder / "model" / "vocabulary.json").write_text(json.dumps(changed))
        sign(folder / "model")
        refuses(capfd, folder, "explain", folder, "a goal")


MANIFESTS = ["", "{", "[]", "null", "{}", '{"files": null}', '{"files": []}', '{"files": {}}',
             '{"files": {"config.json": null, "vocabulary.json": 1, "weights.safetensors": []}}']  # fmt: skip


@pytest.mark.parametrize("content", MANIFESTS)
def test_edited_manifests(folder, capfd, content):
    (folder / "model" / "manifest.json").write_text(content)
    refuses(capfd, folder, "explain", folder, "a goal")


@pytest.mark.parametrize(
    "name", ["config.json", "vocabulary.json", "weights.safetensors", "MODEL_CARD.md", "manifest.json"]
)
def test_files_of_a_model_that_are_missing_or_folders(folder, capfd, name):
    (folder / "model" / name).unlink()
    assert name in refuses(capfd, folder, "explain", folder, "a goal")
    (folder / "model" / name).mkdir()
    assert name in refuses(capfd, folder, "explain", folder, "a goal")


MEMBER = "model.predictor.members.0"
TABLE, RECURRENT, OUT = "model.vectors", f"{MEMBER}.encoder.gru.weight_hh_l0", f"{MEMBER}.output.weight"
WEIGHTS = {
    "not a number": (OUT, lambda a: a * np.float32("nan")),
    "infinite": (RECURRENT, lambda a: a + np.float32("inf")),
    "a table with a hole": (TABLE, lambda a: np.where(a == a.max(), np.float32("nan"), a)),
    "whole": (OUT, lambda a: a.astype(np.int32)),
    "whole, 64 bits": (RECURRENT, lambda a: a.astype(np.int64)),
    "double": (OUT, lambda a: a.astype(np.float64)),
    "half": (OUT, lambda a: a.astype(np.float16)),
    "flags": (OUT, lambda a: a > 0),
    "transposed": (OUT, lambda a: np.ascontiguousarray(a.T)),
    "flat": (OUT, lambda a: a.ravel()),
    "a column less": (OUT, lambda a: np.ascontiguousarray(a[:, 1:])),
    "other hidden units": (RECURRENT, lambda a: np.zeros((24, 8), np.float32)),
    "none": (OUT, lambda a: np.zeros((0, 4), np.float32)),
    "a flat table": (TABLE, lambda a: a.ravel()),
    "a table without columns": (TABLE, lambda a: a[:, :0]),
    "a wider table": (TABLE, lambda a: np.concatenate([a, a], axis=1)),
    "a shorter table": (TABLE, lambda a: a[:-1]),
    "missing": (OUT, None),
    "a missing table": (TABLE, None),
    "a missing recurrence": (RECURRENT, None),
    "of a part that does not exist": ("judge.output.weight", lambda _: np.ones((2, 2), np.float32)),
    "of a member that does not exist": ("model.predictor.members.5.output.bias", lambda _: np.ones(3, np.float32)),
    "of a layer that does not exist": ("model.generator.extra", lambda _: np.ones(2, np.float32)),
}


@pytest.mark.parametrize("kind", WEIGHTS)
def test_edited_weights(folder, capfd, kind):
    path = folder / "model" / "weights.safetensors"
    (name, change), arrays = WEIGHTS[kind], load_file(path)
    old = arrays.pop(name, None)
    save_file(arrays if change is None else {**arrays, name: change(old)}, path)
    sign(folder / "model")
    for command in (["evaluate", folder], ["explain", folder, "a goal"]):
        assert str(folder / "model") in refuses(capfd, folder, *command)


RUN_FIELDS = [
    *((field, value) for field in ("method", "settings", "data", "versions") for value in (GONE, None, 1, [])),
    ("method", "lime"), ("method", "fr"), ("method", "\x1b]0;x\x07"),
    *((f"data.{name}", value) for name in ("source", "columns", "val", "test", "max_length", "tokenizer", "fingerprint")
      for value in (GONE, True, [], 1.5)),
    ("data.source", None), ("data.source", ""), ("data.source", "tyo"), ("data.source", "nowhere.csv"),
    ("data.source", "hatexplain:"), ("data.source", "\x1b[2J"), ("data.columns", None), ("data.columns", {"text": 5}),
    ("data.columns", {"text": "body"}), ("data.columns", {"label": ["kind"]}), ("data.val", "nowhere.csv"),
    ("data.max_length", 0), ("data.max_length", -1), ("data.max_length", "x"), ("data.max_length", 3),
    ("data.tokenizer", "bytes"), ("data.fingerprint", None), ("data.fingerprint", ""), ("data.vectors_sha256", 5),
    ("settings.zeal", 3), ("settings.alpha", 0.2), ("settings.seed", None), ("settings.seed", -1),
    ("settings.hidden", HUGE), ("settings.hidden", "16"), ("settings.tokenizer", None), ("settings.vectors", 5),
    ("settings.vectors", "nowhere.txt"), ("settings.population", HUGE), ("settings.batch_size", HUGE),
    ("settings.workers", HUGE), ("settings.workers", 0), ("settings.preset", "best"), ("settings.search", "lime"),
    ("settings.skip_gaps", None), ("settings.class_weight", [1]), ("settings.evidence_for", 3),
    ("settings.truncate", 0), ("settings.truncate", "3"), ("settings.truncate", 3), ("minutes", 0), ("minutes", -1),
    ("minutes", "5"), ("minutes", True), ("minutes", []), ("minutes", 10**400),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value"), named(RUN_FIELDS))
@pytest.mark.parametrize("command", ["evaluate", "resume", "finish"])
def test_edited_fields_of_a_run(folder, capfd, command, field, value):
    edit_field(folder / "config.json", field, value)
    if command != "evaluate":
        (folder / "metrics.json").unlink()
    said = refuses(capfd, folder, command, folder)
    assert "\x1b" not in said


@pytest.mark.parametrize("content", ["", "[]", "null", "7", "{", "{}", "[" * 10**5, '{"method": "genspp"}'])
@pytest.mark.parametrize("command", ["evaluate", "resume", "finish", "audit", "explain", "predict", "report"])
def test_edited_configurations_of_a_run(folder, capfd, command, content):
    (folder / "config.json").write_text(content)
    more = {"explain": ["a goal"], "predict": ["-", "--out", "-"]}.get(command, [])
    assert "config.json" in refuses(capfd, folder, command, folder, *more)


@pytest.mark.parametrize(
    "content", ["", "[]", "null", "7", "{", "{}", '{"clf_f1": null}', '{"clf_f1": 0.5}', "[" * 10**5,
                '{"clf_f1": 0.5, "selection_rate": 0.5, "stopped_early": "yes"}']
)  # fmt: skip
def test_metrics_that_are_none_do_not_finish_a_run(folder, capfd, content):
    (folder / "metrics.json").write_text(content)
    assert not Run.open(folder).finished
    assert "is not finished" in refuses(capfd, folder, "audit", folder)


def test_edited_checkpoints(folder, capfd, monkeypatch):
    monkeypatch.setattr(GenSPP, "_train", lambda self, settings, lesson, recorder: recorder.restore())
    (folder / "metrics.json").unlink()
    checkpoint = folder / "checkpoint.safetensors"
    whole = checkpoint.read_bytes()
    for content in (b"", b"{}", b"\xff" * 100, whole[:-1], whole[:20], whole[:-1] + b"\1"):
        checkpoint.write_bytes(content)
        for command in ("resume", "finish"):
            assert "checkpoint.safetensors is" in refuses(capfd, folder, command, folder)
    checkpoint.write_bytes(whole)
    edit_field(folder / "config.json", "settings.hidden", 8)
    assert "of a run with another configuration" in refuses(capfd, folder, "resume", folder)
    edit_field(folder / "config.json", "settings.hidden", 4)
    (folder / "log.jsonl").write_bytes(b"\xff")
    assert "has lost lines" in refuses(capfd, folder, "resume", folder)
    for line in (b"{\n", b"[]\n", b'{"seconds": "long"}\n'):
        (folder / "log.jsonl").write_bytes(line)
        assert "log.jsonl cannot be read" in refuses(capfd, folder, "resume", folder)
    write_checkpoint(checkpoint, {**read_checkpoint(checkpoint), "config": "0"})
    assert "of a run with another configuration" in refuses(capfd, folder, "resume", folder)


def test_a_run_without_a_step_has_nothing_to_finish(folder, capfd):
    (folder / "metrics.json").unlink()
    (folder / "checkpoint.safetensors").unlink()
    assert "has nothing to finish yet" in refuses(capfd, folder, "finish", folder)


def test_a_run_may_go_on_with_other_workers(folder):
    edit_field(folder / "config.json", "settings.workers", 2)
    assert Run.open(folder).restore()["history"] == []


COMMANDS = [
    ["trian"], ["explain"], ["explain", "RUN"], ["explain", "RUN", "a", "--hmtl", "p.html"], ["explain", "RUN", ""],
    ["explain", "RUN", "  "], ["explain", "RUN", "a", ""], ["explain", "nowhere", "a"], ["explain", "DATA", "a"],
    ["explain", "RUN", "a goal", "--html", "RUN"], ["explain", "RUN", "a goal", "--html", "/dev/null"],
    ["explain", "RUN", "a goal", "--file", "DATA"], ["explain", "RUN", "--file", "nowhere.csv"],
    ["explain", "RUN", "--file", "RUN"], ["explain", "RUN", "--file", "DATA", "--label", "kind"],
    ["explain", "RUN", "--file", "DATA", "--html", "RUN"], ["explain", "RUN", "--file", "DATA", "--on-bad-row", "drop"],
    ["predict", "RUN", "DATA", "--out", "-", "--format", "xml"],
    ["predict", "RUN", "DATA", "--out", "x.csv", "--format", "eraser"],
    ["predict", "RUN", "eraser:nowhere", "--out", "-", "--format", "eraser"],
    ["explain", "RUN", "a goal", "--html", "DATA/p.html"], ["explain", "--\x1b[31m"], ["\x1b[31m\u202e"],
    ["predict", "RUN", "DATA"], ["predict", "RUN", "nowhere.csv", "--out", "-"],
    ["predict", "RUN", "DATA", "--out", "x.doc"],
    ["predict", "RUN", "DATA", "--out", "RUN"], ["predict", "RUN", "DATA", "--out", "-", "--text", "body"],
    ["predict", "RUN", "DATA", "--out", "-", "--text", "text", "--tokens", "text"],
    ["evaluate", "RUN", "nowhere.csv"], ["evaluate", "RUN", "tyo"], ["evaluate", "RUN", "toy"], ["evaluate", "MODEL"],
    ["evaluate", "RUN", "DATA", "--label", "text"], ["audit", "MODEL"], ["audit", "nowhere"], ["resume", "nowhere"],
    ["resume", "MODEL"], ["resume"], ["resume", "DATA"], ["resume", "RUN", "RUN"], ["resume", "RUN", "--minutes", "5"],
    ["finish"], ["finish", "nowhere"], ["finish", "MODEL"], ["finish", "DATA"], ["finish", "RUN", "RUN"],
    ["finish", "RUN", "--force"], ["report"], ["report", "nowhere"], ["report", "MODEL"], ["report", "RUN", "nowhere"],
    ["report", "RUN", "RUN", "RUN"], ["report", "RUN", "RUN", "--out", "RUN"],
    ["methods", "lime"], ["methods", "fr", "rnp"], ["train"], ["train", "DATA"],
    ["train", "DATA", "--out", "RUN"], ["train", "DATA", "--out", "DATA"], ["train", "DATA", "--out", "DATA/r"],
    *(["train", "DATA", "--out", "NEW", *more] for more in (
        ["--method", "lime"], ["--preset", "best"], ["--seed", "-1"], ["--seed", "one"], ["--generations", "-1"],
        ["--population", "5"], ["--population", str(HUGE * 2)], ["--hidden", "0"], ["--hidden", str(HUGE)],
        ["--cell", "lstm"], ["--engine", "gpu"], ["--workers", "0"], ["--workers", "-2"], ["--workers", str(HUGE)],
        ["--tokenizer", "bytes"], ["--search", "lime"], ["--class-weight", "heavy"], ["--examples", "-1"],
        ["--max-length", "0"], ["--max-length", "-1"], ["--max-length", "1"], ["--max-length", "ten"],
        ["--truncate", "0"], ["--truncate", "-1"], ["--truncate", "ten"], ["--truncate", "2.5"], ["--truncate", ""],
        ["--truncate", "9", "--max-length", "9"], ["--truncate", "10", "--max-length", "9"],
        ["--truncate", "9", "--set", "truncate=9"], ["--set", "truncate=true"], ["--set", "truncate=words"],
        ["--minutes", "0"], ["--minutes", "-1"], ["--minutes", "nan"], ["--minutes", "inf"], ["--minutes", "five"],
        ["--minutes", ""], ["--minutes", "1e400"], ["--set", "minutes=5"], ["--minutes", "5", "--minutes"],
        ["--set", "source=toy"], ["--set", "method=fr"], ["--set", "options=null"],
        ["--vectors", "nowhere.txt"], ["--val", "nowhere.csv"],
        ["--test", "NEW"], ["--label", "kind"], ["--set", "alpha"], ["--set", "zeal=1"], ["--set", "=1"],
        ["--set", "epochs=1e400"], ["--set", "epsilon=NaN"], ["--set", "epsilon=" + "9" * 400],
        ["--set", "hidden=" + "[" * 10**5], ["--set", "batch_size=1000000000"],
        ["--set", 'class_weight={"sport": -1}'], ["--set", 'evidence_for=["\x1b[31m"]'], ["--set", "preset=null"],
        ["--set", "vectors=5"], ["--set", "validation_fraction=0.5"], ["--set", "vector_width=100"],
    )),
    ["train", "toy", "--out", "NEW", "--text", "body"], ["train", "hatexplain", "--out", "NEW"],
    ["train", "hatexplain:", "--out", "NEW"], ["train", "eraser:nowhere", "--out", "NEW"],
    ["train", "toy", "--out", "NEW", "--set", "vector_width=1000000000"],
    ["data", "toy"], ["data", "toy", "--out", "RUN"], ["data", "toy", "--out", "NEW", "--seed", "-1"],
    ["data", "toy", "--out", "NEW", "--seed", str(2**32)], ["data", "toy", "--out", "NEW", "--variant", "doy"],
    ["benchmark"], ["benchmark", "table9", "--out", "NEW"], ["benchmark", "table1", "--out", "NEW", "--seeds", "0"],
    *(["benchmark", "table1", "--out", "NEW", *more]
      for more in (["--workers", "0"], ["--methods", "lime"], ["--data", "tyo"], ["--preset", "best"])),
]  # fmt: skip


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: repr(" ".join(arguments)[:60]))
def test_commands_that_nobody_meant(made, folder, capfd, monkeypatch, arguments):
    places = {"RUN": folder, "MODEL": folder / "model", "DATA": made / "t.csv", "NEW": folder.parent / "new"}
    typed = [str(places.get(part, part)).replace("DATA/", f"{made / 't.csv'}/") for part in arguments]
    monkeypatch.chdir(folder.parent)
    monkeypatch.setattr(GenSPP, "_train", lambda *_: pytest.fail("this should not have been trained"))
    said = refuses(capfd, folder.parent, *typed)
    assert "\x1b" not in said and "\u202e" not in said
    assert not places["NEW"].exists()


def test_there_are_enough_of_them():
    count = len(MODEL_FIELDS) + len(MODEL_FILES) + len(WEIGHTS) + len(RUN_FIELDS) + len(COMMANDS)
    assert count >= 300
