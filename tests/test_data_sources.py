import json

import pytest

from genspp.data.rows import write_rows
from genspp.data.sources import SourceDefaults, defaults_of, load_source
from genspp.data.tables import Columns
from genspp.data.toy import toy
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
    assert len(load_source(f"hatexplain:{tmp_path}", max_length=31).train) == 2


def test_own_files(tmp_path):
    rows = [{"body": f"text {i}", "label": "xy"[i % 2]} for i in range(20)]
    write_rows(tmp_path / "a.csv", "csv", rows)
    write_rows(tmp_path / "b.jsonl", "jsonl", rows[:4])
    splits = load_source(str(tmp_path / "a.csv"), columns=Columns(text="body"), test=tmp_path / "b.jsonl")
    assert len(splits.test) == 4 and splits.tokenizer == "words"
    splits = load_source(str(tmp_path / "a.csv"), columns=Columns(text="body"), tokenizer="characters")
    assert splits.train.documents[0].tokens[:4] == tuple("text")


@pytest.mark.parametrize("source", ["tyo", "data.txt", "", "hatexplain", "folder/"])
def test_unknown_sources_list_the_forms(source):
    with pytest.raises(DataError, match=r"toy, toy-contaminated, hatexplain:FOLDER.*\.jsonl or \.csv"):
        load_source(source)


def test_missing_things():
    with pytest.raises(DataError, match=r"no file gone\.csv"):
        load_source("gone.csv")
    with pytest.raises(DataError, match="github"):
        load_source("hatexplain:gone.csv")
    with pytest.raises(DataError, match="names no folder"):
        load_source("hatexplain:")


@pytest.mark.parametrize(
    "wrong", [{"val": "a.csv"}, {"test": "a.csv"}, {"columns": Columns(text="x")}, {"max_length": 19}]
)
def test_settings_that_a_source_has_no_use_for(wrong):
    with pytest.raises(SettingsError):
        load_source("toy", **wrong)


def test_defaults():
    toy = defaults_of("toy")
    assert toy == defaults_of("toy-contaminated")
    assert (toy.hidden, toy.vectors, toy.width, toy.paper_threshold) == (8, "onehot", 26, 0.1)
    assert (toy.alpha, toy.lambda_c, toy.gradient_width) == (0.15, 2.0, 25)
    hatexplain = defaults_of("hatexplain:x")
    assert (hatexplain.hidden, hatexplain.vectors, hatexplain.paper_threshold) == (16, "corpus", 0.6)
    assert (hatexplain.alpha, hatexplain.lambda_c, hatexplain.lambda_g) == (0.22, 0.0, 2.5)
    assert defaults_of("my.csv") == SourceDefaults(None, "corpus", None, None, penalise_empty=True, generations=150)
