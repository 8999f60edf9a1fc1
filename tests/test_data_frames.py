import numpy as np
import pandas
import pytest
from datasets import ClassLabel, Dataset, Features, Value

from genspp import read_corpus
from genspp.data.corpus import as_corpus, check_labels
from genspp.errors import DataError

TEXTS, LABELS = ["a b", "c", "d e"], ["x", "y", "x"]


def described(corpus):
    return [(d.tokens, d.label, d.highlight) for d in corpus]


EXPECTED = [(("a", "b"), "x", None), (("c",), "y", None), (("d", "e"), "x", None)]
FRAME = pandas.DataFrame({"text": TEXTS, "label": LABELS}, index=[7, 7, -1])


@pytest.mark.parametrize(
    "frame",
    [
        FRAME,
        FRAME.astype({"label": "category"}),
        FRAME.astype(object),
        FRAME.rename(columns={"text": "Text ", "label": "LABEL"}),
        Dataset.from_dict({"text": TEXTS, "label": LABELS}),
        Dataset.from_dict(
            {"text": TEXTS, "label": [0, 1, 0]},
            Features({"text": Value("string"), "label": ClassLabel(names=["x", "y"])}),
        ),
    ],
)
def test_tables_are_read_as_files_are(frame):
    assert described(read_corpus(frame)) == EXPECTED


def test_files_named_columns_and_highlights(tmp_path):
    frame = pandas.DataFrame({"body": TEXTS, "kind": [1, 2, 1], "gold": [np.array([0, 1]), None, [[0, 1]]]})
    expected = [(("a", "b"), "1", (0, 1)), (("c",), "2", None), (("d", "e"), "1", (1, 0))]
    assert described(read_corpus(frame, text="body", label="kind", highlight="gold")) == expected
    frame.drop(columns="gold").to_csv(tmp_path / "a.csv", index=False)
    read = read_corpus(tmp_path / "a.csv", text="body", label="kind", tokenizer="characters")
    assert read.tokenizer == "characters" and read.labels == ["1", "2", "1"]
    assert read_corpus(str(tmp_path / "a.csv"), text="body").labels == [None] * 3
    assert read_corpus(Dataset.from_dict({"tokens": [["New York", "is"]]})).documents[0].tokens == ("New York", "is")


@pytest.mark.parametrize("rows", [slice(-2, None), slice(None, None, -1), slice(1, None)])
def test_rows_of_a_sliced_table_are_counted_in_the_slice(rows):
    texts, labels = [*TEXTS, "f"], [*LABELS, "y"]
    frame = pandas.DataFrame({"text": texts, "label": labels})
    assert described(read_corpus(frame[rows])) == described(as_corpus(texts[rows], labels=labels[rows]))
    broken = frame[rows].assign(text=["", *texts[rows][1:]])
    with pytest.raises(DataError, match="row 0: the text is empty"):
        read_corpus(broken)


def test_bad_rows_of_a_table_are_counted_from_0(caplog):
    frame = pandas.DataFrame({"text": ["a", None, "c", float("nan")], "label": ["x", "y", pandas.NA, "x"]})
    said = (
        r"the DataFrame \(rows counted from 0\) has 3 rows .*\n  row 1: the text is empty\n  row 2: there is no label"
    )
    with pytest.raises(DataError, match=said):
        read_corpus(frame)
    assert len(read_corpus(frame, on_bad_row="skip")) == 1
    assert "3 of 4 rows" in caplog.text
    names = Features({"text": Value("string"), "label": ClassLabel(names=["x", "y"])})
    with pytest.raises(DataError, match="row 1: there is no label"):  # as in test sets whose labels are kept secret
        read_corpus(Dataset.from_dict({"text": ["a", "b"], "label": [0, -1]}, names))


def test_what_is_no_table():
    for data, said in [
        (["a"], "is a list; give a file, a pandas DataFrame or a Dataset"),
        (FRAME[:0], "has no rows"),
        (pandas.DataFrame([["a", "b"]], columns=["text", "text"]), "'text' occurs twice"),
        (FRAME[["label"]], "has no column 'text'"),
    ]:
        with pytest.raises(DataError, match=said):
            read_corpus(data)


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (FRAME["text"], FRAME["label"]),
        (FRAME[["text"]], FRAME[["label"]]),
        (FRAME["text"], FRAME["label"].astype("category")),
        (Dataset.from_dict({"text": TEXTS})["text"], LABELS),
        (Dataset.from_dict({"text": TEXTS}), np.array(LABELS)),
        (pandas.Series([text.split() for text in TEXTS]), LABELS),
    ],
)
def test_columns_are_texts_and_labels(texts, labels):
    assert described(as_corpus(texts, labels=labels)) == EXPECTED


def test_whole_tables_are_no_texts_and_what_is_missing_is_said():
    for texts, labels, said in [
        (
            FRAME,
            None,
            "texts is a DataFrame of the columns 'text', 'label'; give one of them, or read it with genspp.read",
        ),
        (FRAME["text"], FRAME, "labels is a DataFrame of the columns"),
        (pandas.Series(["a", None]), None, r"text 1 \(from 0\) is missing"),
        (pandas.Series(["a", float("nan")], dtype=object), None, r"text 1 \(from 0\) is missing"),
        (FRAME["text"], FRAME["label"][:2], "3 texts but 2 labels"),
    ]:
        with pytest.raises(DataError, match=said):
            as_corpus(texts, labels=labels)
    for none in (None, float("nan"), pandas.NA, pandas.NaT):
        with pytest.raises(DataError, match="label 1 .from 0. is"):
            check_labels(as_corpus(["a", "b"], labels=["x", none]))
