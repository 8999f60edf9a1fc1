from collections import Counter

import pytest

from genspp.data.columns import Columns
from genspp.data.records import check_known, read_records
from genspp.data.rows import write_rows
from genspp.data.sources import Options, load_source
from genspp.data.sources.tables import load_tables
from genspp.errors import DataError, SettingsError

LABELS = ("good", "so-so 🙂", "bad, really")


def rows(count=60, **more):
    return [{"text": f'Text number {i}, "quoted" 👍!', "label": LABELS[i % 3], **more} for i in range(count)]


@pytest.fixture(params=["csv", "jsonl"])
def write(request, tmp_path):
    """Write rows to a file of either format."""

    def to_file(content, name="data"):
        path = tmp_path / f"{name}.{request.param}"
        write_rows(path, request.param, content)
        return path

    return to_file


def test_max_length_filters_and_says_so(write):
    long = {"text": "one two three four five six seven eight nine ten", "label": "good"}
    splits = load_tables(write([*rows(), long]), Options(max_length=9))
    assert len(splits.train) + len(splits.val) + len(splits.test) == 60
    assert "1 of 61 texts" in splits.notes[0] and "9 tokens" in splits.notes[0]
    with pytest.raises(DataError, match="all 61 texts have more than 2 tokens"):
        read_records(write([*rows(), long]), max_length=2)
    with pytest.raises(SettingsError, match="max_length is 0"):
        load_source(str(write(rows())), Options(max_length=0))


def test_seeded_stratified_split(write):
    path = write(rows(100))
    splits = load_tables(path)
    parts = (splits.train, splits.val, splits.test)
    assert [len(part) for part in parts] == pytest.approx([64, 16, 20], abs=3)
    assert all(max(c.values()) - min(c.values()) <= 2 for c in (Counter(part.labels) for part in parts))
    assert len({document.id for part in parts for document in part}) == 100
    assert load_tables(path).fingerprint() == splits.fingerprint() != load_tables(path, seed=1).fingerprint()
    assert "val and test rows were split off" in splits.notes[0]


def test_split_column(write):
    names = ["train", "Validation", "test", "train", "dev", "TEST", "train", "valid", "test "]
    content = [{**row, "split": name} for row, name in zip(rows(9), names, strict=True)]
    content = [{**row, "label": "xy"[i // 3 % 2]} for i, row in enumerate(content)]
    splits = load_tables(write(content))
    assert [[d.id for d in part] for part in (splits.train, splits.val, splits.test)] == [
        ["1", "4", "7"],
        ["2", "5", "8"],
        ["3", "6", "9"],
    ]
    assert splits.notes == ()
    with pytest.raises(DataError, match=r"line \d+: the split is 'tset'; it must be one of train, val, test"):
        load_tables(write([*content, {**content[0], "split": "tset"}]))
    with pytest.raises(DataError, match="no train rows"):
        load_tables(write([row for row in content if row["split"] != "train"]))


def test_split_column_without_a_part_splits_it_off(write):
    content = [{**row, "split": "test" if i < 12 else "train"} for i, row in enumerate(rows())]
    splits = load_tables(write(content))
    assert [d.id for d in splits.test] == [str(i) for i in range(1, 13)]
    assert len(splits.val) == 9 and len(splits.train) == 39


def test_extra_files(write):
    train, val, test = write(rows(30), "train"), write(rows(6), "val"), write(rows(9), "test")
    splits = load_tables(train, Options(val=val, test=test))
    assert [len(splits.train), len(splits.val), len(splits.test)] == [30, 6, 9]
    assert ["6 of 6 val" in splits.notes[0], "9 of 9 test" in splits.notes[1], len(splits.notes)] == [True, True, 2]
    splits = load_tables(train, Options(test=test))
    assert [len(splits.train), len(splits.val), len(splits.test)] == [24, 6, 9]
    splits = load_tables(train, Options(val=val))
    assert [len(splits.train), len(splits.val), len(splits.test)] == [24, 6, 6]
    labelled = write([{**row, "split": "val" if i % 2 else "train"} for i, row in enumerate(rows(30))], "split")
    with pytest.raises(DataError, match="--val names"):
        load_tables(labelled, Options(val=val))
    assert len(load_tables(labelled, Options(Columns(split="split"), test=test)).test) == 9


def test_text_and_tokens_files_do_not_mix(write):
    tokens = write([{"tokens": ["a", "b"], "label": "good"}], "tokens")
    with pytest.raises(DataError, match="both have a text column"):
        load_tables(write(rows()), Options(test=tokens))


def test_one_class_only(write):
    with pytest.raises(DataError, match="all 20 training rows have the label 'good'"):
        load_tables(write([{**row, "label": "good"} for row in rows(20)]))


def test_unknown_label_in_another_split(write):
    content = [{**row, "split": "train"} for row in rows(30)]
    bad = [{"text": "a", "label": "odd", "split": "test"}]
    path = write(content + bad)
    line = 31 if path.suffix == ".jsonl" else 32
    with pytest.raises(DataError, match=f"line {line}: the label 'odd' of this test row.*'good'"):
        load_tables(path)
    extra = write([{"text": "a", "label": "good"}, {"text": "b", "label": "odd"}], "extra")
    with pytest.raises(DataError, match=r"extra.*line \d: the label 'odd' of this val row"):
        load_tables(write(rows(30)), Options(val=extra))
    check_known(read_records(extra), {"good", "odd"}, "test")


@pytest.mark.parametrize("count", range(1, 12))
def test_classes_too_small_to_split(write, count):
    content = [*rows(60), *({"text": "a", "label": "rare"} for _ in range(count))]
    if count < 5:
        said = rf"too few training rows to split into train, val, test of 1 label: 'rare' \({count}\); add rows"
        with pytest.raises(DataError, match=said):
            load_tables(write(content))
    else:
        splits = load_tables(write(content))
        assert all("rare" in part.labels for part in (splits.train, splits.val, splits.test))


def test_all_classes_too_small_to_split_are_named_together(write):
    content = [
        *rows(60),
        *({"text": f"a {i}", "label": f"rare {i:02}"} for i in range(22)),
        {"text": "b", "label": "rare 00"},
    ]
    with pytest.raises(
        DataError, match=r"of 22 labels: 'rare 00' \(2\), 'rare 01' \(1\), .*'rare 19' \(1\) and 2 more; add"
    ):
        load_tables(write(content))


def test_all_labels_that_training_does_not_know_are_named_together(write):
    odd = [{"text": f"a {i}", "label": f"odd {i}", "split": "test"} for i in range(2)]
    path = write([*({**row, "split": "train"} for row in rows(30)), *odd])
    said = r"has 2 rows .*\(training rows have 'bad, really', .*\):\n.*'odd 0' of this test row.*\n.*'odd 1'"
    with pytest.raises(DataError, match=said):
        load_tables(path, Options(on_bad_row="skip"))


def test_texts_that_stand_in_several_parts_are_told(write):
    content = [{**row, "split": ("train", "train", "val", "test")[i % 4]} for i, row in enumerate(rows(40))]
    assert load_tables(write(content)).notes == ()
    twice = [{**content[0], "split": "test"}, {**content[2], "split": "test"}, {**content[1], "split": "val"}]
    twice[0]["text"] = twice[0]["text"].upper()  # the same words
    path = write([*content, *twice, content[0]])
    first = 41 if path.suffix == ".jsonl" else 42
    assert load_tables(path).notes == (
        f"1 of 11 val rows have a text that train has too ({path}, line {first + 2}): figures on them say little "
        "about new texts.",
        f"2 of 12 test rows have a text that train or val has too ({path}, line {first}, line {first + 1}): figures on "
        "them say little about new texts.",
    )


def test_rows_that_are_left_out_and_columns_that_are_forgiven_are_told(write):
    content = [{"Text": row["text"], "label": row["label"]} for row in rows(30)]
    splits = load_tables(write([*content, {"Text": "", "label": "good"}]), Options(on_bad_row="skip"))
    assert sum(splits.rows.values()) == 30
    assert "the column 'Text' is read as 'text'" in splits.notes[0] and "1 of 31 rows" in splits.notes[1]


@pytest.mark.parametrize("split", ["split", "fold"])
def test_a_split_column_of_an_extra_file_is_not_looked_at(write, split):
    main = write([{**row, split: "train" if i < 40 else "val"} for i, row in enumerate(rows())], "main")
    test = write([{**row, split: "whatever"} for row in rows(9)], "test")
    splits = load_tables(main, Options(Columns(split=None if split == "split" else split), test=test))
    assert list(splits.rows.values()) == [40, 20, 9]
    assert len(load_source(str(main), Options(Columns(split=split), test=write(rows(9), "plain"))).test) == 9
