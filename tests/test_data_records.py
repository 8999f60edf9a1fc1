import io
import json
import sys
from types import SimpleNamespace

import pytest

from genspp.data.columns import Columns
from genspp.data.records import read_records, read_unlabelled
from genspp.data.rows import write_rows
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
    records = read_records(write(rows()))
    first = records.records[0].document
    assert first.text == 'Text number 0, "quoted" 👍!'
    assert first.tokens == ("Text", "number", "0", ",", '"', "quoted", '"', "👍", "!")
    assert [first.text[a:b] for a, b in first.spans] == list(first.tokens)
    assert (first.id, first.label, first.highlight) == ("1", "good", None)
    assert set(records.corpus.labels) == set(LABELS) and records.tokenizer == "words"


def test_named_columns_and_ids(write):
    path = write([{"Body": "a b", "Class": "x", "id": "q7", "Marks": [1, 0]}, {"Body": "c", "Class": "y", "id": ""}])
    records = read_records(path, Columns(text="Body", label="Class", highlight="Marks"))
    assert [record.document.id for record in records.records] == ["q7", "2"]
    assert [record.document.highlight for record in records.records] == [(1, 0), None]


@pytest.mark.parametrize(
    ("columns", "missing"),
    [
        (Columns(text="Body"), "Body"),
        (Columns(tokens="words"), "words"),
        (Columns(label="class"), "class"),
        (Columns(highlight="gold"), "gold"),
        (Columns(highlight="highlight"), "highlight"),
        (Columns(split="part"), "part"),
    ],
)
def test_a_missing_column_is_named_with_those_that_are_there(write, columns, missing):
    path = write(rows())
    with pytest.raises(DataError, match=f"has no column '{missing}'.*'text', 'label'") as error:
        read_records(path, columns)
    assert str(path) in str(error.value)


def test_both_text_and_tokens_named(write):
    with pytest.raises(SettingsError, match="name one"):
        read_records(write(rows(3)), Columns(text="text", tokens="label"))


def test_tokens_columns(write):
    path = write([{"tokens": ["New York", "is", "big"], "label": "x", "highlight": [[0, 3]]}])
    records = read_records(path)
    document = records.records[0].document
    assert records.tokenizer == "spaces" and document.text == "New York is big"
    assert document.tokens == ("New York", "is", "big") and document.highlight == (1, 0, 0)


def test_tokens_in_csv_may_be_separated_by_spaces(tmp_path):
    (tmp_path / "a.csv").write_text("toks,label\n[user] it's  fine,x\n")
    records = read_records(tmp_path / "a.csv", Columns(tokens="toks"))
    assert records.records[0].document.tokens == ("[user]", "it's", "fine")


@pytest.mark.parametrize("tokens", [["a", ""], ["a", 3], {"a": 1}])
def test_wrong_tokens(tmp_path, tokens):
    with pytest.raises(DataError, match=r"line 1: .*tokens"):
        read_records(jsonl(tmp_path, {"tokens": tokens, "label": "x"}))


def test_highlights_in_three_forms(write):
    text = {"text": "not good at all", "label": "x"}
    assert read_records(write([{**text, "highlight": [1, 1, 0, 0]}])).records[0].document.highlight == (1, 1, 0, 0)
    assert read_records(write([{**text, "highlight": [2, 3]}])).records[0].document.highlight == (0, 0, 1, 1)
    assert read_records(write([{**text, "highlight": [[4, 8]]}])).records[0].document.highlight == (0, 1, 0, 0)
    assert read_records(write([{**text, "highlight": []}])).records[0].document.highlight == (0, 0, 0, 0)
    assert read_records(write([{**text, "highlight": None}])).records[0].document.highlight is None


def test_a_mask_of_the_wrong_length_is_named_with_its_line(tmp_path):
    (tmp_path / "a.csv").write_text('text,label,highlight\n"one\ntwo",x,1 0\n\nthree four five,y,0 1 1 0\n')
    with pytest.raises(DataError, match=r"a\.csv, line 5: .*4 values but the text has 3 tokens"):
        read_records(tmp_path / "a.csv")
    # Two values could be indices, but the column holds masks.
    (tmp_path / "a.csv").write_text("text,label,highlight\none two three,x,1 0 0\nthree four five,y,0 1\n")
    with pytest.raises(DataError, match=r"a\.csv, line 3: .*2 values but the text has 3 tokens"):
        read_records(tmp_path / "a.csv")


def test_labels_of_any_kind(tmp_path):
    values = [3, 2.5, True, "x", "0"]
    path = jsonl(tmp_path, *({"text": "a", "label": value} for value in values))
    assert read_records(path).corpus.labels == ["3", "2.5", "true", "x", "0"]


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
        read_records(path)
    assert f"{path}, line {4 if path.suffix == '.jsonl' else 5}:" in str(error.value)


def test_all_bad_rows_are_told_in_one_go_or_left_out(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label,highlight\na b,x,0 1\n,x,\nc\nd,,\ne f,y,0 1 1\ng h,y,5\ni,z,\n")
    with pytest.raises(DataError) as error:
        read_records(path)
    first, *listed = str(error.value).splitlines()
    assert "a.csv has 5 rows that cannot be used (--on-bad-row skip leaves such rows out):" in first
    for line, said in zip(listed, ("line 3: the text is empty", "line 4: 1 fields", "line 5: there is no label",
                                   "line 6: the highlight mask", "line 7: the highlight has the token number"),
                          strict=True):  # fmt: skip
        assert line.strip().startswith(said)
    records = read_records(path, on_bad_row="skip")
    assert [(r.number, r.document.label, r.document.highlight) for r in records.records] == [
        (2, "x", (0, 1)),
        (8, "z", None),
    ]
    assert records.notes[:2] == (f"5 of 7 rows of {path} were left out:", "  line 3: the text is empty")
    path.write_text("text,label\n,x\n ,y\n")
    with pytest.raises(DataError, match="2 rows that cannot be used:"):  # nothing is left
        read_records(path, on_bad_row="skip")
    with pytest.raises(SettingsError, match="on_bad_row is 'warn'"):
        read_records(path, on_bad_row="warn")


def test_one_bad_row_is_one_sentence_that_says_what_can_be_done(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\na,x\nb,\n")
    with pytest.raises(
        DataError, match=r"a\.csv, line 3: there is no label \(column 'label'\) \(--on-bad-row skip .*\)\.$"
    ):
        read_records(tmp_path / "a.csv")


def test_labels_that_mean_none_are_told(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\na,nan\nb,NaN\nc,nan\nd,none\n")
    records = read_records(tmp_path / "a.csv")
    assert records.corpus.labels == ["nan", "NaN", "nan", "none"]
    assert [note.partition(": ")[2][:27] for note in records.notes] == [
        "1 rows have the label 'NaN'",
        "2 rows have the label 'nan'",
    ]


def test_highlights_of_characters(write):
    text = "you are such a stupid old fool, really"
    row = {"text": text, "label": "x"}
    read = read_records(write([{**row, "highlight": list(range(15, 21))}, {**row, "highlight": []}]))
    assert [record.document.highlight for record in read.records] == [(0, 0, 0, 0, 1, 0, 0, 0, 0), (0,) * 9]
    path = write([{**row, "highlight": [0, 1, 2]}])
    with pytest.raises(
        DataError, match=r"data\.\w+: the highlights could be numbers of tokens or of characters; say which"
    ):
        read_records(path)
    assert read_records(path, Columns(highlight_form="tokens")).records[0].document.highlight[:4] == (1, 1, 1, 0)
    assert read_records(path, Columns(highlight_form="characters")).records[0].document.highlight[:4] == (1, 0, 0, 0)
    with pytest.raises(SettingsError, match="highlight_form is 'words'; choose one of mask, tokens, characters, spans"):
        read_records(path, Columns(highlight_form="words"))


def test_wrong_kinds_in_json(tmp_path):
    with pytest.raises(DataError, match="line 1: the text is 5"):
        read_records(jsonl(tmp_path, {"text": 5, "label": "x"}))
    with pytest.raises(DataError, match=r"line 1: the label is \["):
        read_records(jsonl(tmp_path, {"text": "a", "label": ["x"]}))
    with pytest.raises(DataError, match="line 2: the text is empty"):
        read_records(jsonl(tmp_path, {"text": "a", "label": "x"}, {"label": "y"}))


def test_half_surrogates_are_replaced_and_offsets_stay(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "bad \\ud83d end", "label": "x\\udc00"}\n')
    document = read_records(path).records[0].document
    assert document.text == "bad \ufffd end" and document.label == "x\ufffd"
    document.text.encode()


def test_labels_are_not_needed_everywhere(write):
    path = write([{"text": "a b"}])
    assert read_unlabelled(path).corpus.labels == [None]
    with pytest.raises(DataError, match="'label'"):
        read_records(path)


def test_rows_to_be_labelled_come_back_whole(write):
    content = [
        {"text": "Good, really", "highlight": "nonsense", "split": "?", "more": "1"},
        {"text": "b", "more": ""},
    ]
    read = read_unlabelled(write(content))
    assert read.rows[0] == {"text": "Good, really", "highlight": "nonsense", "split": "?", "more": "1"}
    assert [document.tokens for document in read.corpus] == [("Good", ",", "really"), ("b",)]
    assert read.fieldnames == ("text", "highlight", "split", "more")
    with pytest.raises(DataError, match=r"line \d: the text is empty"):
        read_unlabelled(write([*content, {"text": " "}]))
    skipped = read_unlabelled(write([{"text": " "}, *content]), on_bad_row="skip")
    assert [row["text"] for row in skipped.rows] == ["Good, really", "b"] == [d.text for d in skipped.corpus]
    assert "1 of 3 rows" in skipped.notes[0]


def test_rows_from_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"body\na b\n")))
    read = read_unlabelled("-", Columns(text="body"), tokenizer="characters")
    assert read.format == "csv" and read.corpus.documents[0].tokens == ("a", " ", "b")
