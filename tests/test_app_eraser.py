"""What ERASER's scorer reads: the fields that docs/formats.md lists, numbers that fit the documents, true scores."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from conftest import sentences
from genspp.app.eraser import eraser_rows, predict_eraser
from genspp.app.predict import open_explainer
from genspp.data.columns import Columns
from genspp.data.corpus import as_corpus
from genspp.data.sources import load_source
from genspp.errors import DataError, SettingsError
from genspp.methods import METHODS

TEXTS, LABELS = sentences(40)
DOCS = Path(__file__).parent.parent / "docs" / "formats.md"
FIELD = re.compile(r"^\| `([a-z_\[\].]+)` \| ([a-z, ]+) \|", re.MULTILINE)
KINDS = {"string": str, "list": list, "object": dict, "whole number": int, "number": float}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("model")
    METHODS["fr"](hidden=4, max_epochs=2, seed=1).fit(TEXTS, LABELS).save(path)
    return path


@pytest.fixture
def model(folder):
    return open_explainer(folder)[0]


def found_fields(value, name=""):
    """Yield the names of all fields, as the docs write them, with what they hold; scores by class are one field."""
    if isinstance(value, list):
        for item in value:
            yield from found_fields(item, f"{name}[]")
    elif isinstance(value, dict) and not name.endswith("_scores"):
        for key, item in value.items():
            yield f"{name}.{key}".lstrip("."), item
            yield from found_fields(item, f"{name}.{key}".lstrip("."))


def test_the_fields_are_those_that_the_docs_list(model):
    listed = dict(FIELD.findall(DOCS.read_text(encoding="utf-8").partition("## ERASER")[2]))
    found = {}
    for row in eraser_rows(model, as_corpus(TEXTS)):
        for name, value in found_fields(row):
            assert name in listed, name
            assert type(value) is KINDS[listed[name]], name
            found[name] = True
    assert found.keys() == listed.keys() and len(listed) == 11


def test_scores_are_those_of_the_text_with_and_without_its_highlight(model):
    corpus = as_corpus([*TEXTS, "goal"])
    why = {r.document.id: r for r in model.explain(corpus)}
    rows = eraser_rows(model, corpus)
    assert sorted(why) == sorted(row["annotation_id"] for row in rows)
    for row in rows:
        own = why[row["annotation_id"]]
        (rationale,) = row["rationales"]
        assert rationale["docid"] == own.document.id
        mask = np.zeros(len(own.mask), int)
        for span in rationale["hard_rationale_predictions"]:
            assert not mask[span["start_token"] : span["end_token"]].any()
            mask[span["start_token"] : span["end_token"]] = 1
        assert mask.tolist() == own.mask
        soft = rationale["soft_rationale_predictions"]
        assert [share >= 0.5 for share in soft] == [bool(chosen) for chosen in own.mask]
        assert row["classification"] == own.label and row["classification_scores"] == own.probabilities
        for field, kept in (("comprehensiveness", 0), ("sufficiency", 1)):
            left = [token for token, chosen in zip(own.tokens, own.mask, strict=True) if chosen == kept]
            right = model.predict_proba([left]) if left else model.predict_proba([["x"]], [[0]])
            assert list(row[f"{field}_classification_scores"].values()) == right[0].tolist()
            assert sum(row[f"{field}_classification_scores"].values()) == pytest.approx(1)


def test_texts_with_a_highlight_come_first(model, monkeypatch):
    def every_other(_, data):
        flat = np.zeros(len(data.ids), np.uint8)
        flat[data.starts[1:-1:2]] = 1
        return flat

    monkeypatch.setattr("genspp.model.explainer.select", every_other)
    names = [row["annotation_id"] for row in eraser_rows(model, as_corpus(TEXTS[:6]))]
    assert names == ["1", "3", "5", "0", "2", "4"]


def test_no_soft_scores_where_the_generator_gives_no_margin(tmp_path):
    METHODS["fresh"](hidden=4, max_epochs=1).fit(TEXTS, LABELS).save(tmp_path)
    model, _ = open_explainer(tmp_path)
    assert model.soft_masks(TEXTS) is None
    for row in eraser_rows(model, as_corpus(TEXTS[:3])):
        assert set(row["rationales"][0]) == {"docid", "hard_rationale_predictions"}


def eraser_folder(path):
    (path / "docs").mkdir(parents=True)
    (path / "docs" / "a.txt").write_text("the goal of\nit .\n")
    (path / "docs" / "b.txt").write_text("a soup .\n")
    piece = {"docid": "b.txt", "start_token": 1, "end_token": 2}
    row = {"annotation_id": "q1", "classification": "food", "query": "which one ?", "docids": ["b.txt", "a.txt"]}
    rows = [row, {**row, "annotation_id": "q2", "evidences": [[piece]], "query": ""}]
    for part in ("train", "val", "test"):
        (path / f"{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"eraser:{path}"


def test_documents_of_an_eraser_folder_keep_their_names_and_numbers(folder, tmp_path, monkeypatch):
    source = eraser_folder(tmp_path / "data")
    assert [d.made_of for d in load_source(source).test] == [(("b.txt", 3, 6), ("a.txt", 6, 11)), (("b.txt", 0, 3),)]
    monkeypatch.setattr("genspp.model.explainer.select", lambda _, data: (data.ids > 1).view(np.uint8))
    predict_eraser(folder, source, str(tmp_path / "o.jsonl"), Columns())
    rows = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert [row["annotation_id"] for row in rows] == ["q1", "q2"]
    lengths = {"a.txt": 5, "b.txt": 3}
    for row in rows:
        for rationale in row["rationales"]:
            length = lengths[rationale["docid"]]
            assert len(rationale["soft_rationale_predictions"]) == length
            spans = rationale["hard_rationale_predictions"]
            assert all(0 <= span["start_token"] < span["end_token"] <= length for span in spans)
    assert {r["docid"] for r in rows[0]["rationales"]} == {"a.txt", "b.txt"}
    marked = {r["docid"]: r["hard_rationale_predictions"] for r in rows[0]["rationales"]}
    assert marked["b.txt"] == [{"start_token": 0, "end_token": 2}]  # "a soup", and not the full stop


def test_what_is_not_read_of_a_document_is_not_selected(tmp_path, caplog):
    METHODS["fr"](hidden=4, max_epochs=2, seed=1, truncate=5).fit(TEXTS, LABELS).save(tmp_path / "m")
    caplog.clear()
    predict_eraser(tmp_path / "m", eraser_folder(tmp_path / "data"), str(tmp_path / "o.jsonl"), Columns())
    assert [record.message for record in caplog.records if "cut" in record.message] == [
        "1 of 2 texts cut to their first 5 tokens (--truncate)."
    ]
    rows = {row["annotation_id"]: row for row in map(json.loads, (tmp_path / "o.jsonl").read_text().splitlines())}
    soft = {one["docid"]: one["soft_rationale_predictions"] for one in rows["q1"]["rationales"]}
    assert {name: [share > 0 for share in shares] for name, shares in soft.items()} == {
        "b.txt": [True, True, False], "a.txt": [False] * 5
    }  # fmt: skip
    (tmp_path / "t.csv").write_text("text\n" + "the goal " * 4 + "\n")
    predict_eraser(tmp_path / "m", str(tmp_path / "t.csv"), str(tmp_path / "o.jsonl"), Columns())
    (row,) = map(json.loads, (tmp_path / "o.jsonl").read_text().splitlines())
    assert [share > 0 for share in row["rationales"][0]["soft_rationale_predictions"]] == [True] * 5 + [False] * 3


def test_a_plain_file_and_its_ids(folder, tmp_path):
    (tmp_path / "t.csv").write_text("text,id\nthe goal,u1\nthe soup,\n")
    predict_eraser(folder, str(tmp_path / "t.csv"), str(tmp_path / "o.jsonl"), Columns())
    rows = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert {row["annotation_id"]: row["rationales"][0]["docid"] for row in rows} == {"u1": "u1", "2": "2"}
    (tmp_path / "t.csv").write_text("text,id\nthe goal,2\nthe soup,\n")
    with pytest.raises(DataError, match="the id '2' stands in several rows"):
        predict_eraser(folder, str(tmp_path / "t.csv"), str(tmp_path / "o.jsonl"), Columns())
    with pytest.raises(SettingsError, match=r"must end in \.jsonl"):
        predict_eraser(folder, str(tmp_path / "t.csv"), str(tmp_path / "o.csv"), Columns())


def test_that_nothing_at_all_is_marked_is_said(folder, tmp_path, monkeypatch, caplog):
    (tmp_path / "t.csv").write_text("text\nthe goal\nthe soup\n")
    for chosen in (1, 0):
        monkeypatch.setattr(
            "genspp.model.explainer.select", lambda _, data, to=chosen: np.full(len(data.ids), to, np.uint8)
        )
        predict_eraser(folder, str(tmp_path / "t.csv"), str(tmp_path / "o.jsonl"), Columns())
        assert ("ERASER's scorer has no rationales to score" in caplog.text) == (chosen == 0)
    rows = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert all(row["rationales"][0]["hard_rationale_predictions"] == [] for row in rows)
