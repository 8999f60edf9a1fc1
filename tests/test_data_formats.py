import sys

import numpy as np
import pandas
import pytest
from openpyxl import Workbook, load_workbook

from genspp.data.corpus import missing
from genspp.data.formats import FORMATS, plain
from genspp.data.rows import read_raw, write_rows
from genspp.errors import DataError


def sheet(path, *rows):
    book = Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_a_sheet_is_read_as_csv_would_hold_it(tmp_path):
    path = sheet(
        tmp_path / "a.xlsx",
        [],
        ["text", "label", None, "n"],
        ["one", 1, "stray", 2.5],
        [],
        [404, True, None, 3.0],
        ["three"],
    )
    raw = read_raw(path)
    assert raw.fieldnames == ("text", "label", "n") and raw.counted == "row"
    assert [(row.number, *row.fields.values()) for row in raw.rows] == [
        (3, "one", "1", "2.5"),
        (5, "404", "true", "3"),
        (6, "three", "", ""),
    ]


def test_sheets_that_cannot_be_read(tmp_path):
    with pytest.raises(DataError, match=r"a\.xlsx, row 2: the column 'a' occurs twice"):
        read_raw(sheet(tmp_path / "a.xlsx", [], ["a", "b", "a"], [1, 2, 3]))
    for rows in ([], [["a", "b"]]):
        with pytest.raises(DataError, match="has no rows"):
            read_raw(sheet(tmp_path / "a.xlsx", *rows))


def test_what_is_written_to_a_sheet(tmp_path):
    rows = [{"text": "=1+1", "probability": 0.5, "highlight": [[0, 4]], "no_evidence": True, "none": None}]
    write_rows(tmp_path / "a.xlsx", "xlsx", rows)
    _, values = load_workbook(tmp_path / "a.xlsx").active.iter_rows()
    assert [cell.value for cell in values] == ["=1+1", 0.5, "[[0, 4]]", True, None]
    assert values[0].data_type == "s"  # no formula
    with pytest.raises(DataError, match="32,768 characters, too many for Excel"):
        write_rows(tmp_path / "a.xlsx", "xlsx", [{"text": "x" * 32_768}])


def test_parquet_keeps_kinds(tmp_path):
    frame = pandas.DataFrame(
        {
            "text": ["a", None],
            "mark": [[0, 1], []],
            "score": [1.5, float("nan")],
            "kind": pandas.Categorical(["x", "y"]),
            "day": pandas.to_datetime(["2024-01-02", None]),
        }
    )
    frame.to_parquet(tmp_path / "a.parquet", index=False)
    raw = read_raw(tmp_path / "a.parquet")
    assert [(row.number, *row.fields.values()) for row in raw.rows] == [
        (1, "a", [0, 1], 1.5, "x", "2024-01-02 00:00:00"),
        (2, None, [], None, "y", None),
    ]
    write_rows(tmp_path / "b.parquet", "parquet", [{"a": [1, 2]}, {"b": True}])
    assert [row.fields for row in read_raw(tmp_path / "b.parquet").rows] == [
        {"a": [1, 2], "b": None},
        {"a": None, "b": True},
    ]
    with pytest.raises(DataError, match="column 'a' holds values of several kinds, which Parquet cannot; write .jsonl"):
        write_rows(tmp_path / "b.parquet", "parquet", [{"a": 1}, {"a": "x"}])


def test_an_infinite_number_is_not_written_as_json(tmp_path):
    with pytest.raises(DataError, match="infinite"):
        write_rows(tmp_path / "a.jsonl", "jsonl", [{"a": float("inf")}])
    assert not (tmp_path / "a.jsonl").exists()


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("text\tlabel\na, b\tx\n", ["a, b"]),
        ('text\tlabel\n"a ""b""\nc"\tx\n', ['a "b"\nc']),  # quoted as in CSV
        ('text\tlabel\n"a" b\tx\n"c"\ty\n', ['"a" b', '"c"']),  # quotes are text
        ('text\tlabel\n"a\tx\nb\ty\n', ['"a', "b"]),
        ("text\tlabel\r\n\r\na\tx\r\n", ["a"]),
    ],
)
def test_quotes_in_tab_separated_files(tmp_path, content, texts):
    (tmp_path / "a.tsv").write_bytes(content.encode())
    raw = read_raw(tmp_path / "a.tsv")
    assert [row.fields["text"] for row in raw.rows] == texts and raw.fieldnames == ("text", "label")


def test_rows_of_tab_separated_files_that_are_broken(tmp_path):
    (tmp_path / "a.tsv").write_text('text\tlabel\n"a" b\tx\tz\n\nc\n')
    with pytest.raises(DataError, match=r"line 2: 3 fields where the header has 2.*\n  line 4: 1 fields"):
        read_raw(tmp_path / "a.tsv")


@pytest.mark.parametrize(("ending", "package"), [("parquet", "pyarrow"), ("xlsx", "openpyxl")])
def test_without_the_package_one_sentence_says_what_to_install(tmp_path, monkeypatch, ending, package):
    write_rows(tmp_path / f"a.{ending}", ending, [{"a": "b"}])
    monkeypatch.setitem(sys.modules, package, None)
    said = rf"^An? \.{ending} file cannot be read or written without {package}; install genspp\[formats\]\.$"
    with pytest.raises(DataError, match=said):
        read_raw(tmp_path / f"a.{ending}")
    with pytest.raises(DataError, match=said):
        write_rows(tmp_path / f"b.{ending}", ending, [{"a": "b"}])
    assert package not in vars(sys.modules[FORMATS[ending].__module__])  # nothing else needs it


def test_plain_values():
    given = {
        "a": np.array([1, 2]),
        "b": (np.float32(0.5), float("nan")),
        3: pandas.NA,
        "c": b"\xc3\xa9",
        "d": pandas.NaT,
    }
    assert plain(given) == {"a": [1, 2], "b": [0.5, None], "3": None, "c": "é", "d": None}
    assert all(map(missing, (None, float("nan"), pandas.NA, pandas.NaT)))
    assert not any(map(missing, ("", "nan", 0, 0.0, False, [])))
