import csv
import json

import numpy as np
import pytest

from conftest import sentences
from genspp.app.configure import configure
from genspp.app.evaluate import evaluate_folder
from genspp.app.predict import columns_of, explain_typed, open_model, predict_file
from genspp.app.runs import Run
from genspp.app.train import changed_versions, proceed
from genspp.data.columns import Columns
from genspp.data.formats import FORMATS
from genspp.data.rows import read_raw, write_rows
from genspp.errors import DataError, RunError
from genspp.methods.genspp import GenSPP


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run over a file of tokens, some of which hold a space; trained by nobody."""
    monkeypatch.setattr(GenSPP, "_train", lambda *_: None)
    texts, labels = sentences(60)
    rows = [{"words": ["New York", *t.split()], "label": k} for t, k in zip(texts, labels, strict=True)]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    from genspp.data.sources import Options

    config, data = configure(str(tmp_path / "t.jsonl"), options=Options(Columns(tokens="words")), hidden=4)
    run = Run.create(tmp_path / "r", config)
    run.outcome = proceed(run, data)
    return run


def test_what_a_run_shows_are_its_own_documents(run):
    rationales = run.outcome.rationales
    assert len(rationales) == 12 and all(r.tokens[0] == "New York" for r in rationales)
    assert all(r.document.spans[0] == (0, 8) and r.document.label for r in rationales)
    written = (run.folder / "predictions.jsonl").read_text()
    rows = [json.loads(line) for line in written.splitlines()]
    assert [row["mask"] for row in rows] == [r.mask for r in rationales]
    assert set(rows[0]) == {"id", "label", "predicted", "mask"} and "New York" not in written


def test_predicted_highlights_are_spans_of_the_given_tokens(run, tmp_path):
    (tmp_path / "new.jsonl").write_text('{"words": ["New York", "the", "goal"]}\n' * 2)
    predict_file(run.folder, str(tmp_path / "new.jsonl"), str(tmp_path / "out.jsonl"), Columns())
    (row, _) = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    model, _ = open_model(run.folder)
    expected = model.explain([["New York", "the", "goal"]])[0]
    assert row["highlight"] == [list(span) for span in expected.spans]
    assert row["label"] == expected.label


def predicted(run, folder, rows, ending, mask=None):
    """The rows that `predict` writes, every value as text; all tokens marked, or none of them."""
    (folder / "new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = folder / f"out.{ending}"
    with pytest.MonkeyPatch.context() as patch:
        if mask is not None:
            patch.setattr("genspp.model.explainer.select", lambda _, data: np.full(len(data.ids), mask, np.uint8))
        predict_file(run.folder, str(folder / "new.jsonl"), str(out), Columns())
    with out.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file)) if ending == "csv" else [json.loads(line) for line in file]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_predict_says_no_evidence_and_unknown_words(run, tmp_path, ending):
    rows = [{"words": ["the", "zebra", "goal", "<b>\x1b[31m"]}, {"words": ["the", "goal"]}]
    default, _ = open_model(run.folder)[0].predict([["the"]] * 2, masks=[[0]] * 2)
    yes, no, counts = ("true", "false", ["2", "0"]) if ending == "csv" else (True, False, [2, 0])
    for mask, said in ((0, yes), (1, no)):
        found = predicted(run, tmp_path, rows, ending, mask)
        assert [row["no_evidence"] for row in found] == [said] * 2
        assert [row["unknown_words"] for row in found] == counts
        if mask == 0:
            assert [row["label"] for row in found] == [default] * 2
            assert [row["highlighted_words"] for row in found] == [""] * 2


@pytest.mark.parametrize("ending", list(FORMATS))
def test_files_of_every_format_are_labelled_and_bad_rows_skipped(run, tmp_path, ending, caplog):
    rows = [{"Words": '["New York", "the"]', "n": "1"}, {"Words": "", "n": "2"}, {"Words": "the goal", "n": "3"}]
    given, out = tmp_path / f"new.{ending}", tmp_path / f"out.{ending}"
    write_rows(given, ending, rows)
    with pytest.raises(DataError, match="the text is empty .*--on-bad-row skip"):
        predict_file(run.folder, str(given), str(out), Columns())
    predict_file(run.folder, str(given), str(out), Columns(), on_bad_row="skip")
    assert "'Words' is read as 'words'" in caplog.text and "1 of 3 rows" in caplog.text
    written = read_raw(out)
    assert [row.fields["n"] for row in written.rows] == ["1", "3"]
    assert written.fieldnames[:3] == ("Words", "n", "label")


def test_other_data_is_scored_without_its_bad_rows(run, tmp_path, caplog):
    (tmp_path / "o.tsv").write_text("words\tlabel\nthe goal\tsport\nthe\n")
    with pytest.raises(DataError, match="line 3: 1 fields"):
        evaluate_folder(run.folder, str(tmp_path / "o.tsv"))
    metrics, _ = evaluate_folder(run.folder, str(tmp_path / "o.tsv"), on_bad_row="skip")
    assert metrics["texts"] == 1 and "1 of 2 rows" in caplog.text


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_predict_gives_the_probability_of_every_class(run, tmp_path, ending):
    mine = {"words": ["the", "goal"], "probability_food": "mine"}
    (row,) = predicted(run, tmp_path, [mine], ending)
    why = open_model(run.folder)[0].explain([["the", "goal"]])[0]
    names = {"food": "predicted_probability_food", "sport": "probability_sport", "tech": "probability_tech"}
    assert {label: float(row[name]) for label, name in names.items()} == {
        label: round(share, 4) for label, share in why.probabilities.items()
    }
    assert row["probability_food"] == "mine"
    assert float(row["probability"]) == max(float(row[name]) for name in names.values())


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_predict_keeps_columns_of_these_names(run, tmp_path, ending):
    mine = {"no_evidence": "mine", "unknown_words": "<i>mine</i>", "predicted_unknown_words": "too"}
    (row,) = predicted(run, tmp_path, [{"words": ["the", "zebra"], **mine}], ending)
    assert {name: row[name] for name in mine} == mine
    assert str(row["predicted_no_evidence"]).lower() in ("true", "false")
    assert str(row["predicted_predicted_unknown_words"]) == "1"


def test_other_data_is_scored_whatever_its_split_column_says(run, tmp_path):
    (tmp_path / "o.jsonl").write_text('{"words": ["the", "goal"], "label": "sport", "split": "?"}\n')
    metrics, rationales = evaluate_folder(run.folder, str(tmp_path / "o.jsonl"))
    assert metrics["texts"] == len(rationales) == 1
    with pytest.raises(DataError, match="none of the model's"):
        evaluate_folder(run.folder, "toy")
    assert evaluate_folder(run.folder)[0] == run.outcome.metrics
    with pytest.raises(RunError, match="no test rows"):
        evaluate_folder(run.model_folder)


def test_columns_are_the_run_s_unless_they_are_named(run):
    assert columns_of(run, Columns()) == Columns(tokens="words")
    assert columns_of(run, Columns(text="body")) == Columns(text="body")
    assert columns_of(None, Columns(label="x")) == Columns(label="x")


def test_typed_texts_that_are_not_utf_8(run):
    model, _ = open_model(run.folder)
    assert explain_typed(model, [b"caf\xe9".decode("utf-8", "surrogateescape")])[0].text == "caf\ufffd"


def test_a_folder_without_a_model(run):
    for path in run.model_folder.iterdir():
        path.unlink()
    run.model_folder.rmdir()
    with pytest.raises(RunError, match="no model yet; go on with `genspp resume"):
        open_model(run.folder)


def test_other_versions_are_said(run):
    assert changed_versions(run) == []
    run.config["versions"]["torch"] = "0.1"
    assert changed_versions(run)[0].startswith("torch was 0.1 when this run was started and is ")
