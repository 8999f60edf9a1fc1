import io
import json
import sys
from collections import Counter
from types import SimpleNamespace

import pytest

from genspp.data.rows import write_rows
from genspp.data.tables import Columns, check_labels, load_table, read_rows, read_table
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


def jsonl(tmp_path, *content, name="data.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in content))
    return path


def test_documents_keep_text_tokens_and_offsets(write):
    table = read_table(write(rows()))
    first = table.rows[0].document
    assert first.text == 'Text number 0, "quoted" 👍!'
    assert first.tokens == ("Text", "number", "0", ",", '"', "quoted", '"', "👍", "!")
    assert [first.text[a:b] for a, b in first.spans] == list(first.tokens)
    assert (first.id, first.label, first.highlight) == ("1", "good", None)
    assert set(table.corpus.labels) == set(LABELS) and table.tokenizer == "words"


def test_named_columns_and_ids(write):
    path = write([{"Body": "a b", "Class": "x", "id": "q7", "Marks": [1, 0]}, {"Body": "c", "Class": "y", "id": ""}])
    table = read_table(path, Columns(text="Body", label="Class", highlight="Marks"))
    assert [row.document.id for row in table.rows] == ["q7", "2"]
    assert [row.document.highlight for row in table.rows] == [(1, 0), None]


@pytest.mark.parametrize(
    ("columns", "missing"),
    [
        (Columns(text="Body"), "Body"),
        (Columns(tokens="words"), "words"),
        (Columns(label="class"), "class"),
        (Columns(highlight="gold"), "gold"),
        (Columns(highlight="highlight"), "highlight"),
        (Columns(split="part"), "part"),
        (Columns(id="key"), "key"),
    ],
)
def test_a_missing_column_is_named_with_those_that_are_there(write, columns, missing):
    path = write(rows())
    with pytest.raises(DataError, match=f"has no column '{missing}'.*'text', 'label'") as error:
        read_table(path, columns)
    assert str(path) in str(error.value)


def test_both_text_and_tokens_named(write):
    with pytest.raises(SettingsError, match="name one"):
        read_table(write(rows(3)), Columns(text="text", tokens="label"))


def test_tokens_columns(write):
    path = write([{"tokens": ["New York", "is", "big"], "label": "x", "highlight": [[0, 3]]}])
    table = read_table(path)
    document = table.rows[0].document
    assert table.tokenizer == "spaces" and document.text == "New York is big"
    assert document.tokens == ("New York", "is", "big") and document.highlight == (1, 0, 0)


def test_tokens_in_csv_may_be_separated_by_spaces(tmp_path):
    (tmp_path / "a.csv").write_text("toks,label\n[user] it's  fine,x\n")
    table = read_table(tmp_path / "a.csv", Columns(tokens="toks"))
    assert table.rows[0].document.tokens == ("[user]", "it's", "fine")


@pytest.mark.parametrize("tokens", [["a", ""], ["a", 3], {"a": 1}])
def test_wrong_tokens(tmp_path, tokens):
    with pytest.raises(DataError, match=r"line 1: .*tokens"):
        read_table(jsonl(tmp_path, {"tokens": tokens, "label": "x"}))


def test_highlights_in_three_forms(write):
    text = {"text": "not good at all", "label": "x"}
    assert read_table(write([{**text, "highlight": [1, 1, 0, 0]}])).rows[0].document.highlight == (1, 1, 0, 0)
    assert read_table(write([{**text, "highlight": [2, 3]}])).rows[0].document.highlight == (0, 0, 1, 1)
    assert read_table(write([{**text, "highlight": [[4, 8]]}])).rows[0].document.highlight == (0, 1, 0, 0)
    assert read_table(write([{**text, "highlight": []}])).rows[0].document.highlight == (0, 0, 0, 0)
    assert read_table(write([{**text, "highlight": None}])).rows[0].document.highlight is None


def test_a_mask_of_the_wrong_length_is_named_with_its_line(tmp_path):
    (tmp_path / "a.csv").write_text('text,label,highlight\n"one\ntwo",x,1 0\n\nthree four five,y,0 1 1 0\n')
    with pytest.raises(DataError, match=r"a\.csv, line 5: .*4 values but the text has 3 tokens"):
        read_table(tmp_path / "a.csv")
    # Two values could be indices, but the column holds masks.
    (tmp_path / "a.csv").write_text("text,label,highlight\none two three,x,1 0 0\nthree four five,y,0 1\n")
    with pytest.raises(DataError, match=r"a\.csv, line 3: .*2 values but the text has 3 tokens"):
        read_table(tmp_path / "a.csv")


def test_labels_of_any_kind(tmp_path):
    values = [3, 2.5, True, "x", "0"]
    path = jsonl(tmp_path, *({"text": "a", "label": value} for value in values))
    assert read_table(path).corpus.labels == ["3", "2.5", "true", "x", "0"]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"text": "", "label": "x"}, "the text is empty"),
        ({"text": " \t\u00a0", "label": "x"}, "the text is empty"),
        ({"text": "\u200b", "label": "x"}, "no tokens"),
        ({"text": None, "label": "x"}, "the text is empty"),
        ({"text": "a", "label": ""}, "no label"),
        ({"text": "a", "label": None}, "no label"),
    ],
)
def test_bad_rows_are_named_with_their_line(write, bad, said):
    path = write([*rows(3), bad])
    with pytest.raises(DataError, match=said) as error:
        read_table(path)
    assert f"{path}, line {4 if path.suffix == '.jsonl' else 5}:" in str(error.value)


def test_wrong_kinds_in_json(tmp_path):
    with pytest.raises(DataError, match="line 1: the text is 5"):
        read_table(jsonl(tmp_path, {"text": 5, "label": "x"}))
    with pytest.raises(DataError, match=r"line 1: the label is \["):
        read_table(jsonl(tmp_path, {"text": "a", "label": ["x"]}))
    with pytest.raises(DataError, match="line 2: the text is empty"):
        read_table(jsonl(tmp_path, {"text": "a", "label": "x"}, {"label": "y"}))


def test_half_surrogates_are_replaced_and_offsets_stay(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "bad \\ud83d end", "label": "x\\udc00"}\n')
    document = read_table(path).rows[0].document
    assert document.text == "bad \ufffd end" and document.label == "x\ufffd"
    document.text.encode()


def test_labels_are_not_needed_everywhere(write):
    path = write([{"text": "a b"}])
    assert read_table(path, need_labels=False).rows[0].document.label is None
    with pytest.raises(DataError, match="'label'"):
        read_table(path)


def test_max_length_filters_and_says_so(write):
    long = {"text": "one two three four five six seven eight nine ten", "label": "good"}
    splits = load_table(write([*rows(), long]), max_length=9)
    assert len(splits.train) + len(splits.val) + len(splits.test) == 60
    assert "1 of 61 texts" in splits.notes[0] and "9 tokens" in splits.notes[0]
    with pytest.raises(DataError, match="all 61 texts have more than 2 tokens"):
        read_table(write([*rows(), long]), max_length=2)
    with pytest.raises(SettingsError, match="max_length is 0"):
        read_table(write(rows()), max_length=0)


def test_seeded_stratified_split(write):
    path = write(rows(100))
    splits = load_table(path)
    parts = (splits.train, splits.val, splits.test)
    assert [len(part) for part in parts] == pytest.approx([64, 16, 20], abs=3)
    assert all(max(c.values()) - min(c.values()) <= 2 for c in (Counter(part.labels) for part in parts))
    assert len({document.id for part in parts for document in part}) == 100
    assert load_table(path).fingerprint() == splits.fingerprint() != load_table(path, seed=1).fingerprint()
    assert "val and test rows were split off" in splits.notes[0]


def test_split_column(write):
    names = ["train", "Validation", "test", "train", "dev", "TEST", "train", "valid", "test "]
    content = [{**row, "split": name} for row, name in zip(rows(9), names, strict=True)]
    content = [{**row, "label": "xy"[i // 3 % 2]} for i, row in enumerate(content)]
    splits = load_table(write(content))
    assert [[d.id for d in part] for part in (splits.train, splits.val, splits.test)] == [
        ["1", "4", "7"],
        ["2", "5", "8"],
        ["3", "6", "9"],
    ]
    assert splits.notes == ()
    with pytest.raises(DataError, match=r"line \d+: the split is 'tset'; it must be one of train, val, test"):
        load_table(write([*content, {**content[0], "split": "tset"}]))
    with pytest.raises(DataError, match="no train rows"):
        load_table(write([row for row in content if row["split"] != "train"]))


def test_split_column_without_a_part_splits_it_off(write):
    content = [{**row, "split": "test" if i < 12 else "train"} for i, row in enumerate(rows())]
    splits = load_table(write(content))
    assert [d.id for d in splits.test] == [str(i) for i in range(1, 13)]
    assert len(splits.val) == 9 and len(splits.train) == 39


def test_extra_files(write):
    train, val, test = write(rows(30), "train"), write(rows(6), "val"), write(rows(9), "test")
    splits = load_table(train, val=val, test=test)
    assert [len(splits.train), len(splits.val), len(splits.test)] == [30, 6, 9] and splits.notes == ()
    splits = load_table(train, test=test)
    assert [len(splits.train), len(splits.val), len(splits.test)] == [24, 6, 9]
    splits = load_table(train, val=val)
    assert [len(splits.train), len(splits.val), len(splits.test)] == [24, 6, 6]
    labelled = write([{**row, "split": "val" if i % 2 else "train"} for i, row in enumerate(rows(30))], "split")
    with pytest.raises(DataError, match="--val names"):
        load_table(labelled, val=val)
    assert len(load_table(labelled, Columns(split="split"), test=test).test) == 9


def test_text_and_tokens_files_do_not_mix(write):
    tokens = write([{"tokens": ["a", "b"], "label": "good"}], "tokens")
    with pytest.raises(DataError, match="both have a text column"):
        load_table(write(rows()), test=tokens)


def test_one_class_only(write):
    with pytest.raises(DataError, match="all 20 training rows have the label 'good'"):
        load_table(write([{**row, "label": "good"} for row in rows(20)]))


def test_unknown_label_in_another_split(write):
    content = [{**row, "split": "train"} for row in rows(30)]
    bad = [{"text": "a", "label": "odd", "split": "test"}]
    path = write(content + bad)
    line = 31 if path.suffix == ".jsonl" else 32
    with pytest.raises(DataError, match=f"line {line}: the label 'odd' of this test row.*'good'"):
        load_table(path)
    extra = write([{"text": "a", "label": "good"}, {"text": "b", "label": "odd"}], "extra")
    with pytest.raises(DataError, match=r"extra.*line \d: the label 'odd' of this val row"):
        load_table(write(rows(30)), val=extra)
    check_labels(read_table(extra), {"good", "odd"}, "test")


@pytest.mark.parametrize("count", range(1, 12))
def test_classes_too_small_to_split(write, count):
    content = [*rows(60), *({"text": "a", "label": "rare"} for _ in range(count))]
    if count < 5:
        with pytest.raises(DataError, match=rf"only {count} training row\(s\) of the label 'rare'"):
            load_table(write(content))
    else:
        splits = load_table(write(content))
        assert all("rare" in part.labels for part in (splits.train, splits.val, splits.test))


def test_rows_to_be_labelled_come_back_whole(write):
    content = [
        {"text": "Good, really", "highlight": "nonsense", "split": "?", "more": "1"},
        {"text": "b", "more": ""},
    ]
    read = read_rows(write(content))
    assert read.rows[0] == {"text": "Good, really", "highlight": "nonsense", "split": "?", "more": "1"}
    assert [document.tokens for document in read.documents] == [("Good", ",", "really"), ("b",)]
    assert read.fieldnames == ("text", "highlight", "split", "more")
    with pytest.raises(DataError, match=r"line \d: the text is empty"):
        read_rows(write([*content, {"text": " "}]))


def test_rows_from_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"body\na b\n")))
    read = read_rows("-", Columns(text="body"), tokenizer="characters")
    assert read.format == "csv" and read.documents[0].tokens == ("a", " ", "b")
