import json

import pytest

from genspp.data.columns import Columns
from genspp.data.rows import write_rows
from genspp.data.sources import SOURCES, Options, find_source, load_source
from genspp.data.sources.toy import toy
from genspp.errors import DataError, SettingsError


@pytest.mark.parametrize("name", ["toy", "toy-contaminated"])
def test_toy(name):
    assert load_source(name).fingerprint() == toy(name).fingerprint()


def test_hatexplain(tmp_path):
    posts = {
        name: {"post_tokens": ["a"] * length, "annotators": [{"label": "normal"}] * 3, "rationales": []}
        for name, length in (("p", 3), ("q", 31))
    }
    (tmp_path / "dataset.json").write_text(json.dumps(posts))
    (tmp_path / "post_id_divisions.json").write_text(json.dumps({"train": ["p", "q"], "val": ["p"], "test": ["p"]}))
    assert len(load_source(f"hatexplain:{tmp_path}").train) == 1
    assert len(load_source(f"hatexplain:{tmp_path}", Options(max_length=31)).train) == 2


def test_own_files(tmp_path):
    rows = [{"body": f"text {i}", "label": "xy"[i % 2]} for i in range(20)]
    write_rows(tmp_path / "a.csv", "csv", rows)
    splits = load_source(str(tmp_path / "a.csv"), Options(Columns(text="body")))
    assert len(splits.test) == 4 and splits.tokenizer == "words"
    splits = load_source(str(tmp_path / "a.csv"), Options(Columns(text="body"), tokenizer="characters"))
    assert splits.train.documents[0].tokens[:4] == tuple("text")


@pytest.mark.parametrize("source", ["tyo", "data.txt", "", "hatexplain", "folder/", "toy:", "toy:x.csv", "files"])
def test_unknown_sources_list_the_forms(source):
    with pytest.raises(DataError, match=r"hatexplain:FOLDER, hf:NAME, toy, toy-contaminated, or .*\.csv, .*\.xlsx"):
        load_source(source)


def test_missing_things():
    with pytest.raises(DataError, match=r"no file gone\.csv"):
        load_source("gone.csv")
    with pytest.raises(DataError, match="github"):
        load_source("hatexplain:gone.csv")
    with pytest.raises(DataError, match="names no folder"):
        load_source("hatexplain:")


@pytest.mark.parametrize(
    "wrong",
    [
        {"val": "a.csv"},
        {"test": "a.csv"},
        {"columns": Columns(text="x")},
        {"tokenizer": "words"},
        {"on_bad_row": "skip"},
        {"columns": Columns(highlight_form="mask")},
        {"max_length": 19},
        {"max_length": 0},
    ],
)
def test_settings_that_a_source_has_no_use_for(wrong):
    with pytest.raises(SettingsError):
        load_source("toy", Options(**wrong))


@pytest.mark.parametrize(
    ("typed", "family", "shown", "command"),
    [
        ("toy", "toy", True, "toy"),
        ("toy-contaminated", "toy", True, "toy-contaminated"),
        ("hatexplain:some/folder", "hatexplain", False, "hatexplain:FOLDER"),
        ("some/hatexplain.csv", "files", True, "hatexplain.csv"),
        ("hatexplain-mine.jsonl", "files", True, "hatexplain-mine.jsonl"),
        ("eraser:movies", "files", True, "eraser:FOLDER"),
        ("mine.parquet", "files", True, "mine.parquet"),
        ("hf:owner/name:config", "files", True, "hf:owner/name:config"),
    ],
)
def test_what_a_source_says_of_itself(typed, family, shown, command):
    source = find_source(typed)
    assert (source.family, source.may_be_shown, source.command) == (family, shown, command)
    again = find_source(source.absolute)  # the same from any folder
    assert (type(again), again.absolute) == (type(source), source.absolute)
    assert source.title


def test_every_source_has_a_form_that_leads_to_it():
    for name, kind in SOURCES.items():
        typed = "x.csv" if name == "files" else kind.form(name)
        assert type(find_source(typed)) is kind


def test_test_rows_have_labels_that_the_model_knows(tmp_path):
    assert len(find_source("toy").test_rows(Options(), ["aba", "abc", "baa"])) == 2000
    with pytest.raises(DataError, match="Toy, row toy-.* is none of the model's"):
        find_source("toy").test_rows(Options(), ["x", "y"])
    path = tmp_path / "a.csv"
    path.write_text("text,label,split\na,x,train\nb,z,?\n")
    assert len(find_source(str(path)).test_rows(Options(), ["x", "z"])) == 2
    with pytest.raises(DataError, match="line 3: the label 'z'"):
        find_source(str(path)).test_rows(Options(), ["x", "y"])


def hatexplain_folder(folder):
    posts = {
        name: {
            "post_tokens": [f"{name}{i}" for i in range(length)],
            "annotators": [{"label": "offensive"}] * 3,
            "rationales": [[0] * (length - 1) + [1]] * 2,
        }
        for name, length in (("p", 3), ("q", 31))
    }
    (folder / "dataset.json").write_text(json.dumps(posts))
    (folder / "post_id_divisions.json").write_text(json.dumps({"train": ["p", "q"], "val": ["p"], "test": ["p", "q"]}))
    return f"hatexplain:{folder}"


def eraser_folder(folder):
    rows = [
        {"annotation_id": name, "query": "", "classification": label, "evidences": [[piece]]}
        for name, label in (("a", "NEG"), ("b", "POS"))
        for piece in [{"docid": name, "start_token": 1, "end_token": 3}]
    ]
    (folder / "docs").mkdir()
    for row in rows:
        (folder / "docs" / row["annotation_id"]).write_text("one two\nthree four")
    for part in ("train", "val", "test"):
        (folder / f"{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"eraser:{folder}"


def own_file(folder):
    rows = [{"text": "one two three four", "label": "xy"[i % 2], "highlight": [0, 0, 1, 0]} for i in range(20)]
    (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(folder / "t.jsonl")


def hf_folder(folder):
    datasets = pytest.importorskip("datasets")
    rows = {"text": ["one two three four"] * 20, "label": ["x", "y"] * 10}
    datasets.Dataset.from_dict(rows).save_to_disk(str(folder / "set"))
    return f"hf:{folder / 'set'}"


@pytest.mark.parametrize("make", [hatexplain_folder, eraser_folder, own_file, hf_folder, lambda _: "toy"])
def test_every_source_cuts_texts_and_leaves_none_out(make, tmp_path, caplog):
    source = make(tmp_path)
    whole, short = load_source(source, Options(max_length=99)), load_source(source, Options(truncate=2))
    assert short.rows == whole.rows and any("cut to their first 2 tokens" in note for note in short.notes)
    for part in ("train", "val", "test"):
        for before, after in zip(getattr(whole, part), getattr(short, part), strict=True):
            assert after == before.first(2) and after.text == before.text and after.unread == len(before.tokens) - 2
    scored = find_source(source).test_rows(Options(truncate=2), set(short.test.labels))
    assert {len(document.tokens) for document in scored} == {2}
    assert "cut to their first 2 tokens" in caplog.text


def test_left_out_before_they_are_cut_and_senseless_lengths(tmp_path):
    source = hatexplain_folder(tmp_path)
    both = load_source(source, Options(max_length=5, truncate=2))
    assert both.rows == {"train": 1, "val": 1, "test": 1} and len(both.notes) == 2
    for most in (5, 6):
        with pytest.raises(SettingsError, match=r"max_length is 5 and truncate is \d: .* none is cut; give one"):
            load_source(source, Options(max_length=5, truncate=most))
