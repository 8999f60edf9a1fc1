"""Data sets in Hugging Face's form, all of them in folders: nothing here asks the network."""

import sys

import datasets
import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, Value

from genspp.data.columns import Columns
from genspp.data.rows import write_rows
from genspp.data.sources import Options, find_source, load_source
from genspp.errors import DataError


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


FEATURES = Features({"body": Value("string"), "label": ClassLabel(names=["bad", "good"])})
OPTIONS = Options(Columns(text="body"))


def table(count, first=0):
    rows = range(first, first + count)
    return Dataset.from_dict({"body": [f"Text {i}" for i in rows], "label": [i % 2 for i in rows]}, FEATURES)


def saved(tmp_path, **splits):
    DatasetDict(splits).save_to_disk(tmp_path / "set")
    return f"hf:{tmp_path / 'set'}"


def test_splits_are_parts_and_classes_have_their_names(tmp_path):
    source = saved(tmp_path, train=table(20), validation=table(4, 20), test=table(6, 30), unsupervised=table(3, 50))
    splits = load_source(source, OPTIONS)
    assert splits.rows == {"train": 20, "val": 4, "test": 6}
    assert splits.train.labels[:2] == ["bad", "good"] and splits.test.documents[0].tokens == ("Text", "30")
    assert splits.notes == (f"{source}: the split 'unsupervised' is not read.",)
    found = find_source(source)
    assert found.fieldnames() == ("body", "label") and found.called == "set"
    assert len(found.test_rows(OPTIONS, ["bad", "good"])) == 6
    with pytest.raises(DataError, match="row 0: the label 'bad' of this test row"):
        find_source(saved(tmp_path / "other", test=table(1))).test_rows(OPTIONS, ["good"])


def test_one_split_is_split_as_a_file_is(tmp_path):
    table(50).save_to_disk(tmp_path / "set")
    splits = load_source(f"hf:{tmp_path / 'set'}", OPTIONS)
    assert sum(splits.rows.values()) == 50 and "were split off" in splits.notes[0]
    assert len(find_source(f"hf:{tmp_path / 'set'}").test_rows(OPTIONS, ["bad", "good"])) == 50


def test_a_folder_of_files_is_loaded_by_the_package(tmp_path):
    for name, count in (("train", 20), ("test", 6)):
        write_rows(
            tmp_path / "set" / f"{name}.csv",
            "csv",
            [{"body": f"{name} {i}", "label": "xy"[i % 2]} for i in range(count)],
        )
    splits = load_source(f"hf:{tmp_path / 'set'}", OPTIONS)
    assert splits.rows == {"train": 16, "val": 4, "test": 6} and set(splits.train.labels) == {"x", "y"}


def test_files_may_hold_the_parts_that_are_missing(tmp_path):
    write_rows(tmp_path / "v.csv", "csv", [{"body": "v", "label": "good"}])
    named = Options(Columns(text="body"), val=tmp_path / "v.csv")
    assert load_source(saved(tmp_path, train=table(20), test=table(2)), named).rows == {
        "train": 20,
        "val": 1,
        "test": 2,
    }
    with pytest.raises(DataError, match="has val rows, and --val names others; use one"):
        load_source(saved(tmp_path / "full", train=table(20), validation=table(2)), named)


def test_bad_rows_are_named(tmp_path):
    rows = Dataset.from_dict({"text": ["a", "", "c", None], "label": ["x", "y", "y", "x"]})
    source = saved(tmp_path, train=rows, validation=rows, test=rows)
    with pytest.raises(
        DataError, match=r"hf:.*set, validation \(rows counted from 0\) has 2 rows .*\n  row 1: .*empty\n  row 3"
    ):
        load_source(source)
    splits = load_source(source, Options(on_bad_row="skip"))
    assert splits.rows == {"train": 2, "val": 2, "test": 2}


@pytest.mark.parametrize(
    ("splits", "said"),
    [
        ({"validation": 3, "test": 3}, "has no train split, only val and test"),
        ({"other": 3, "more": 3}, "no split of train, val or test, only other, more"),
    ],
)
def test_splits_that_do_not_do(tmp_path, splits, said):
    source = saved(tmp_path, **{name: table(count) for name, count in splits.items()})
    with pytest.raises(DataError, match=said):
        load_source(source, OPTIONS)


def test_what_cannot_be_loaded_is_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        DataError, match=r"The data set hf:.*empty cannot be loaded \(.*\); check its name, and the network"
    ):
        load_source(f"hf:{tmp_path / 'empty'}")
    with pytest.raises(DataError, match="no test split, only train and val"):
        find_source(saved(tmp_path, train=table(3), dev=table(3))).test_rows(OPTIONS, ["bad", "good"])
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(
        DataError,
        match=r"^A data set of Hugging Face cannot be read or written without datasets; install genspp\[hf\]\.$",
    ):
        load_source("hf:imdb")


def test_a_name_and_a_configuration_are_what_the_package_is_given(monkeypatch):
    asked = []

    def load_dataset(*names):
        asked.append(names)
        return DatasetDict(train=table(30))

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    load_source("hf:owner/name", OPTIONS)
    load_source("hf:owner/name:part", OPTIONS)
    assert asked == [("owner/name", None), ("owner/name", "part")]
    assert find_source("hf:owner/name:part").called == "name-part"
