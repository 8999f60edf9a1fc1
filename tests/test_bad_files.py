"""Files that nobody can train on: one sentence, exit code 2, no traceback, no folder made, nothing overwritten."""

import json
from pathlib import Path

import pytest

from folder_tools import refuses
from genspp.methods.genspp import GenSPP

GOOD = "a goal,sport\nsome soup,food\n" * 10
LINE = '{"text": "a goal", "label": "sport"}\n{"text": "some soup", "label": "food"}\n'
MARKED = '{{"text": "a goal", "label": "sport", "highlight": {}}}\n'


# What a file holds, and what the sentence must have in it.
CSV: list[tuple[str | bytes, str]] = [
    ("", "t.csv"), ("\n\n", "t.csv"), (" ", "t.csv"), ("text,label\n", "t.csv"), (GOOD, "'text'"),
    ("body,label\n" + GOOD, "'text'"), ("text,kind\n" + GOOD, "'label'"), ("text,text,label\na,b,c\n", "text"),
    ("text,label\n" + "a goal,sport\n" * 9, "two classes"), ("tokens,text,label\n" + "a,b,c\n" * 9, "two classes"),
    *((f"text,label\n{GOOD}{row}\n", "line 22") for row in
      (",sport", "a goal,", "a goal", " \t,sport", "a,b,c,d", "\x00\x01\x02,sport")),
    ("text,label\n" + GOOD + '"a goal,sport\n', "quot"), ("text,label\na goal,sport\nsome soup,food\n", "too few"),
    ("text,label\n" + GOOD + "x,tech\n", "'tech'"), ("text,label,split\n" + "a goal,sport,holdout\n", "'holdout'"),
    ("text,label,split\n" + "a goal,sport,test\nsome soup,food,val\n" * 4, "no train rows"),
    ("text,label,split\na goal,sport,train\nsome soup,food,train\nsome soup,food,val\na chip,tech,test\n", "'tech'"),
    (b"text,label\ncaf\xe9,sport\n", "UTF-8"), (b"\xff\xfet\x00e\x00x\x00t\x00", "t.csv"), (bytes(99), "t.csv"),
    (b"PK\x03\x04" + bytes(40), "zip archive"), (b"PAR1" + bytes(40), "Parquet"),
]  # fmt: skip
JSONL: list[tuple[str | bytes, str]] = [
    ("", "t.jsonl"), (b'{"text": "\xff"}\n', "UTF-8"),
    *((line + "\n", "line 1") for line in ("{", "[]", "7", "null", '"text"', "[" * 10**5)),
    *((f"{LINE}{row}\n", "line 3") for row in (
        "{}", '{"text": 5, "label": "x"}', '{"text": null, "label": "x"}', '{"text": [], "label": "x"}',
        '{"text": "a", "label": []}', '{"text": "a", "label": {}}', '{"text": "a", "label": null}',
        '{"text": "a", "text": "b"}', '{"text": "a", "label": 1e999}', '{"text": "a", "label": NaN}',
        '{"text": "a", "label": "x"',
    )),
    ('{"tokens": "a", "label": "x"}\n{"tokens": [1, 2], "label": "y"}\n', "line 2"),
    ('{"tokens": ["a"], "label": "x"}\n{"tokens": ["a", ""], "label": "y"}\n', "line 2"),
    *((MARKED.format(highlight) + LINE * 10, "line 1") for highlight in (
        "[0, 1, 1]", "[0, 2]", "[0, -1]", '"yes"', "5", "{}", "[[0, 99]]", "[[3, 1]]", "[[0]]", "[0.5, 1]",
        "[true, false, null]",
    )),
]  # fmt: skip
TSV = [("text,label\n" + GOOD, "'text'"), ("", "t.tsv"), ("text\tlabel\na\tb\tc\n", "line 2")]
XLSX = [(content, "t.xlsx") for content in ("", "text,label\n" + GOOD, b"PK\x03\x04")]
PARQUET = [(content, "t.parquet") for content in ("", "text,label\n" + GOOD, b"PAR1")]
FILES: list[tuple[str, str | bytes, str]] = [
    *((f"t.{ending}", content, said)
      for ending, rows in {"csv": CSV, "jsonl": JSONL, "tsv": TSV, "xlsx": XLSX, "parquet": PARQUET}.items()
      for content, said in rows),
    *((name, "text,label\n" + GOOD, "is not known") for name in ("t.txt", "t", "t.json", "t.CSV.bak")),
]  # fmt: skip


@pytest.fixture
def trained_by_nobody(monkeypatch):
    monkeypatch.setattr(GenSPP, "_train", lambda *_: pytest.fail("this should not have been trained"))


def written(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content", "said"), FILES, ids=[f"{name} {number}" for number, (name, _, _) in enumerate(FILES)]
)
def test_files(tmp_path, capfd, trained_by_nobody, name, content, said):
    if name.endswith((".xlsx", ".parquet")):
        pytest.importorskip("openpyxl" if name.endswith(".xlsx") else "pyarrow")
    told = refuses(capfd, tmp_path, "train", written(tmp_path / name, content), "--out", tmp_path / "run")
    assert said in told and "\x00" not in told
    assert not (tmp_path / "run").exists()


VECTORS = ["", "\n", "goal\n", "goal 1 2\nsoup 1\n", "goal one two\n", "goal 1 nan\n", "goal 1 inf\n", "goal 1e99 2\n",
           b"goal 1 \xff\n", bytes(30)]  # fmt: skip


@pytest.mark.parametrize("content", VECTORS, ids=repr)
def test_files_of_vectors(tmp_path, capfd, trained_by_nobody, content):
    table = written(tmp_path / "t.csv", "text,label\n" + GOOD)
    vectors = written(tmp_path / "v.txt", content)
    assert "v.txt" in refuses(capfd, tmp_path, "train", table, "--vectors", vectors, "--out", tmp_path / "run")
    assert not (tmp_path / "run").exists()


POST = {"post_tokens": ["a"], "annotators": [{"label": "normal"}] * 3, "rationales": []}
PARTS = {"train": ["p"], "val": ["p"], "test": ["p"]}
HATEXPLAIN = [
    (None, PARTS), ({"p": POST}, None), ([], PARTS), ({}, PARTS), ({"p": []}, PARTS), ({"p": POST}, []),
    ({"p": POST}, {}),
    ({"p": POST}, {**PARTS, "val": []}), ({"p": POST}, {**PARTS, "val": "p"}), ({"p": POST}, {**PARTS, "val": [5]}),
    ({"p": {**POST, "annotators": []}}, PARTS), ({"p": {**POST, "annotators": [{"label": "x"}]}}, PARTS),
    ({"p": {**POST, "post_tokens": 5}}, PARTS), ({"p": {**POST, "post_tokens": ["a"] * 31}}, PARTS),
    ({"p": {**POST, "rationales": [["x"]]}}, PARTS), ({"p": POST}, PARTS),  # the last one has one class only
]  # fmt: skip


@pytest.mark.parametrize(("posts", "parts"), HATEXPLAIN, ids=map(str, range(len(HATEXPLAIN))))
def test_hatexplain(tmp_path, capfd, trained_by_nobody, posts, parts):
    (tmp_path / "h").mkdir()
    for name, content in (("dataset.json", posts), ("post_id_divisions.json", parts)):
        if content is not None:
            written(tmp_path / "h" / name, json.dumps(content))
    refuses(capfd, tmp_path, "train", f"hatexplain:{tmp_path / 'h'}", "--out", tmp_path / "run")
    assert not (tmp_path / "run").exists()


PIECE = {"docid": "d", "start_token": 0, "end_token": 1}
ROW = {"annotation_id": "r", "query": "", "classification": "POS", "evidences": [[PIECE]]}
ERASER = [
    {"annotation_id": 5}, {"query": 5}, {"classification": None}, {"classification": []}, {"evidences": {}},
    {"evidences": [PIECE]}, {"evidences": [[{**PIECE, "docid": "e"}]]}, {"evidences": [[{**PIECE, "docid": None}]]},
    {"evidences": [[{**PIECE, "end_token": 9}]]}, {"evidences": [[{**PIECE, "start_token": -1}]]},
    {"evidences": [[{**PIECE, "start_token": "0"}]]}, {"evidences": [[{**PIECE, "docid": "../../etc/passwd"}]]},
    {"evidences": None, "docids": "d"}, {"evidences": None, "docids": [5]}, {"evidences": None},
    {},  # one class only
]  # fmt: skip


@pytest.mark.parametrize("change", ERASER, ids=str)
def test_eraser(tmp_path, capfd, trained_by_nobody, change):
    written(tmp_path / "e" / "docs" / "d", "one two")
    for part in ("train", "val", "test"):
        written(tmp_path / "e" / f"{part}.jsonl", json.dumps({**ROW, **change}) + "\n")
    refuses(capfd, tmp_path, "train", f"eraser:{tmp_path / 'e'}", "--out", tmp_path / "run")
    assert not (tmp_path / "run").exists()
