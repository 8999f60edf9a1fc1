"""Texts of a file explained: how it is read, what labels it has, what the page says."""

import io
import json
import re

import pytest

from conftest import sentences
from genspp.app.configure import configure
from genspp.app.explain import explain_file, model_name
from genspp.app.predict import open_explainer
from genspp.app.runs import Run
from genspp.app.train import proceed
from genspp.data.columns import Columns
from genspp.data.formats import FORMATS
from genspp.data.rows import write_rows
from genspp.data.sources import Options
from genspp.errors import DataError
from genspp.methods.genspp import GenSPP

TEXTS, LABELS = sentences(60)
ROWS = [{"body": text, "kind": label} for text, label in zip(TEXTS[:5], LABELS[:5], strict=True)]


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """A run over columns of other names, trained by nobody."""
    folder = tmp_path_factory.mktemp("explain")
    rows = [{"body": text, "kind": label} for text, label in zip(TEXTS, LABELS, strict=True)]
    write_rows(folder / "posts.csv", "csv", rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GenSPP, "_train", lambda *_: None)
        options = Options(Columns(text="body", label="kind"))
        config, data = configure(str(folder / "posts.csv"), options=options, hidden=4)
        run = Run.create(folder / "run", config)
        proceed(run, data)
    return open_explainer(folder / "run")


def given(rationales):
    return [(why.text, why.document.label) for why in rationales]


@pytest.mark.parametrize("ending", list(FORMATS))
def test_rows_of_every_format_come_with_the_labels_that_they_have(opened, tmp_path, ending):
    path = tmp_path / f"new.{ending}"
    write_rows(path, ending, ROWS)
    expected = list(zip(TEXTS[:5], LABELS[:5], strict=True))
    assert given(explain_file(*opened, str(path), Columns())) == expected
    assert given(explain_file(*opened, str(path), Columns(label="body"))) == [(text, text) for text in TEXTS[:5]]
    write_rows(path, ending, [{"body": row["body"]} for row in ROWS])
    assert given(explain_file(*opened, str(path), Columns())) == [(text, None) for text in TEXTS[:5]]
    with pytest.raises(DataError, match="has no column 'kind'"):
        explain_file(*opened, str(path), Columns(label="kind"))


def test_a_row_may_have_no_label_and_no_list_for_one(opened, tmp_path):
    path = tmp_path / "new.jsonl"
    path.write_text('{"body": "a goal", "kind": null}\n{"body": "a soup", "kind": 3}\n')
    assert given(explain_file(*opened, str(path), Columns())) == [("a goal", None), ("a soup", "3")]
    path.write_text('{"body": "a goal", "kind": ["x"]}\n')
    with pytest.raises(DataError, match="row 1: the label is "):
        explain_file(*opened, str(path), Columns())
    path.write_text('{"body": "a goal", "kind": ["x"]}\n{"body": "a soup"}\n{"body": "tea", "kind": {}}\n')
    with pytest.raises(DataError, match=r"has 2 rows that cannot be used:\n  row 1: .*\n  row 3: "):
        explain_file(*opened, str(path), Columns())


def test_a_text_per_line(opened, tmp_path, monkeypatch):
    path, content = tmp_path / "t.TXT", b"\xef\xbb\xbfa goal, now\r\n\n  \n{a} soup\xe2\x80\xa8more"
    path.write_bytes(content)
    expected = [("a goal, now", None), ("{a} soup\u2028more", None)]
    assert given(explain_file(*opened, str(path), Columns())) == expected

    def piped(content: bytes, columns: Columns):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        return given(explain_file(*opened, "-", columns))

    assert piped(content, Columns()) == expected
    assert piped(b'{"body": "a goal", "kind": "x"}\n', Columns()) == [("a goal", "x")]
    assert piped(b"words,n\na goal,1\n", Columns(text="words")) == [("a goal", None)]
    for nothing in (b"", b"\n \n"):
        with pytest.raises(DataError, match="standard input has no rows"):
            piped(nothing, Columns())
    path.write_bytes(b"PK\x03\x04\x14\x00")
    with pytest.raises(DataError, match=r"as Excel's \.xlsx files are, not text"):
        explain_file(*opened, str(path), Columns())


def test_bad_rows_are_refused_or_left_out(opened, tmp_path, caplog):
    path = tmp_path / "new.csv"
    path.write_text("body,kind\na goal,sport\n,food\na soup,food\n")
    with pytest.raises(DataError, match="line 3: the text is empty"):
        explain_file(*opened, str(path), Columns())
    assert given(explain_file(*opened, str(path), Columns(), "skip")) == [("a goal", "sport"), ("a soup", "food")]
    assert "1 of 3 rows" in caplog.text


def test_a_model_is_called_by_its_method_and_data(opened):
    model, run = opened
    assert model_name(model, run) == "GenSPP on posts"
    assert model_name(model, None) == "GenSPP"
    for edited in ({}, {"source": "nowhere"}):
        assert model_name(model, Run(run.folder, {**run.config, "data": edited})) == "GenSPP"


def test_the_card_of_a_run_s_model_has_its_data_and_scores_and_no_text(opened):
    _, run = opened
    card = (run.model_folder / "MODEL_CARD.md").read_text()
    metrics = json.loads((run.folder / "metrics.json").read_text())
    assert "`posts` – 39 train, 9 val, 12 test rows" in card
    assert "`food`, `sport`, `tech`" in card and "| Seed | 0 |" in card and "GenSPP (`genspp`)" in card
    assert f"| Clf-F1 | {100 * metrics['clf_f1']:.2f} % |" in card
    assert f"| TF-IDF + LR | {100 * metrics['tfidf_clf_f1']:.2f} % |" in card
    assert all(f"- Warning: {sentence}" in card for sentence in metrics["warnings"]) and metrics["warnings"]
    assert not re.search("|".join(map(re.escape, TEXTS)), card)
