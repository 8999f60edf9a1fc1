import io
import json
import sys
from types import SimpleNamespace

import pytest

from genspp.data.formats import FORMATS
from genspp.data.rows import output_format, read_raw, write_rows
from genspp.errors import DataError, SettingsError

NASTY = [
    "plain",
    'a, "b"',
    "line\nbreak",
    "cr\rhere",
    "crlf\r\n",
    "emoji 👍🏽",
    "",
    " spaced ",
    "tab\t;",
    "nul\x00",
]


def csv_file(tmp_path, content, name="data.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_csv_keeps_quotes_commas_and_line_breaks(tmp_path):
    raw = read_raw(csv_file(tmp_path, 'text,label\r\n"a, ""b""\r\nc",x\r\n\r\nd 👍,y\r\n'))
    assert raw.fieldnames == ("text", "label") and raw.format == "csv"
    assert [row.fields for row in raw.rows] == [
        {"text": 'a, "b"\r\nc', "label": "x"},
        {"text": "d 👍", "label": "y"},
    ]
    assert [row.number for row in raw.rows] == [2, 5]


def test_blank_lines_are_skipped_everywhere(tmp_path):
    raw = read_raw(csv_file(tmp_path, "\n\ntext,label\n\n  \na,x\n\n\nb,y\n\n"))
    assert [(row.number, row.fields["text"]) for row in raw.rows] == [(6, "a"), (9, "b")]
    raw = read_raw(csv_file(tmp_path, '\n{"text": "a"}\n   \n{"text": "b", "more": 1}\n', "data.jsonl"))
    assert [(row.number, row.fields["text"]) for row in raw.rows] == [(2, "a"), (4, "b")]
    assert raw.fieldnames == ("text", "more")


def test_byte_order_mark_and_other_separators(tmp_path):
    for content in (
        "\ufefftext,label\na;b,x\n",
        "text;label\na;x\n",
        "\ntext\tlabel\na\tx\n",
        '"te,xt";label\na;x\n',
    ):
        raw = read_raw(csv_file(tmp_path, content))
        assert len(raw.fieldnames) == 2 and raw.fieldnames[1] == "label" and raw.rows[0].fields["label"] == "x"
    assert read_raw(csv_file(tmp_path, "text\na\n")).fieldnames == ("text",)


def test_long_fields_and_unicode_line_separators(tmp_path):
    long = "word " * 100_000
    assert read_raw(csv_file(tmp_path, f"text,label\n{long},x\n")).rows[0].fields["text"] == long
    path = csv_file(tmp_path, '{"text": "a\u2028b"}\n', "data.jsonl")
    assert read_raw(path).rows[0].fields["text"] == "a\u2028b"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "text,label\na,x\nb\n", "line 3: 1 fields where the header has 2"),
        ("a.csv", 'text,label\n"a\nb",x\n\nc,d,y\n', "line 5: 3 fields where the header has 2"),
        ("a.csv", 'text,label\na,x\n"b,y\nc,z\n', "line 3: .*no valid CSV"),
        ("a.csv", 'text,label\n"a"b,x\n', "line 2: .*no valid CSV"),
        ("a.csv", "text,text\na,b\n", "line 1: the column 'text' occurs twice"),
        ("a.csv", b"text,label\nok,x\n\ncaf\xe9,y\n", "line 4: byte 0xe9 is not UTF-8"),
        ("a.csv", b"\xef\xbb\xbftext,label\ncaf\xe9,y\n", "line 2: byte 0xe9 is not UTF-8"),
        ("a.csv", "text,label\na,x\n".encode("utf-16"), "line 1: byte 0xff is not UTF-8"),
        ("a.csv", "text,label\na,x\n".encode("utf-16-le"), "line 1: a zero byte"),
        ("a.csv", "", "has no rows"),
        ("a.csv", "text,label\n\n", "has no rows"),
        ("a.jsonl", "\n \n", "has no rows"),
        ("a.jsonl", '{"text": "a"}\n{"text": }\n', "line 2: invalid JSON"),
        ("a.jsonl", '{"text": "a"}\n\n["a"]\n', "line 3: list where a JSON object"),
        ("a.jsonl", '{"text": NaN}\n', "line 1: invalid JSON"),
        ("a.jsonl", "[" * 100_000 + "\n", "line 1: invalid JSON"),
        ("a.jsonl", '{"a": ' + "1" * 5000 + "}\n", "line 1: invalid JSON"),
        ("a.jsonl", b'{"text": "a"}\n{"text": "\xff"}', "line 2: byte 0xff is not UTF-8"),
        ("a.jsonl", '{"text": "a", "n": [1e400]}\n', r"line 1: invalid JSON \(the number 1e400 is too large\)"),
        ("a.csv", b"PK\x03\x04\x14\x00", "is a zip archive, as Excel's .xlsx files are, not text"),
        ("a.jsonl", b"PAR1\x15", "is a Parquet file, not text"),
        ("a.tsv", b"\x1f\x8b\x08", "is compressed with gzip"),
        ("a.txt", "text", r"does not end in \.csv, \.jsonl, \.parquet, \.tsv or \.xlsx"),
        ("a.xlsx", "text,label\na,x\n", "is no workbook that can be read"),
        ("a.parquet", "text,label\na,x\n", "is no Parquet file that can be read"),
    ],
)
def test_bad_files_are_named_with_their_line(tmp_path, name, content, said):
    path = csv_file(tmp_path, content, name)
    with pytest.raises(DataError, match=said) as error:
        read_raw(path)
    assert str(path) in str(error.value)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(DataError, match=r"no file .*gone\.csv"):
        read_raw(tmp_path / "gone.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match="cannot be read"):
        read_raw(tmp_path / "folder.csv")


@pytest.mark.parametrize(("content", "expected"), [('\n {"text": "a,b"}', "jsonl"), ("text,label\na,b\n", "csv")])
def test_standard_input_is_sniffed(monkeypatch, content, expected):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content.encode())))
    raw = read_raw("-")
    assert (raw.format, raw.name, raw.rows[0].fields["text"][0]) == (expected, "standard input", "a")


@pytest.mark.parametrize("ending", list(FORMATS))
def test_written_rows_read_back_equal(tmp_path, ending):
    rows = [{"text": text, "n": str(i)} for i, text in enumerate(NASTY)]
    write_rows(tmp_path / f"out.{ending}", ending, rows)
    if ending == "xlsx":  # Excel cannot hold a zero byte
        rows = [{**row, "text": row["text"].replace("\x00", "\ufffd")} for row in rows]
    read = read_raw(tmp_path / f"out.{ending}")
    assert read.fieldnames == ("text", "n") and read.format == ending
    assert [row.fields for row in read.rows] == rows


def test_all_broken_rows_are_told_in_one_go_or_kept(tmp_path):
    path = csv_file(tmp_path, '{"a": 1}\n{"a":\n[1]\n{"a": 2}\n', "a.jsonl")
    with pytest.raises(DataError, match=r"has 2 rows that cannot be used:\n  line 2: invalid JSON .*\n  line 3: list"):
        read_raw(path)
    raw = read_raw(path, keep_broken=True)
    assert [row.number for row in raw.rows] == [1, 4] and list(raw.broken) == [2, 3]
    with pytest.raises(DataError, match="line 1: invalid JSON"):  # nothing is left
        read_raw(csv_file(tmp_path, '{"a"\n', "a.jsonl"), keep_broken=True)


def test_broken_quotes_are_refused_in_any_case_with_what_was_broken_before(tmp_path):
    path = csv_file(tmp_path, 'text,label\na\n"b" c,x\nd,y\n')
    with pytest.raises(DataError, match=r"2 rows.*\n  line 2: 1 fields.*\n  line 3: .*no valid CSV"):
        read_raw(path, keep_broken=True)


def test_csv_cells_of_other_kinds(tmp_path):
    rows = [{"a": [1, 2], "b": None, "c": True}, {"a": "é\ud800", "d": 0.5}]
    write_rows(tmp_path / "out.csv", "csv", rows)
    assert [row.fields for row in read_raw(tmp_path / "out.csv").rows] == [
        {"a": "[1, 2]", "b": "", "c": "true", "d": ""},
        {"a": "é?", "b": "", "c": "", "d": "0.5"},
    ]
    write_rows(tmp_path / "out.jsonl", "jsonl", rows)
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()] == rows


def test_standard_output(capfdbinary):
    write_rows("-", "csv", [{"text": "é", "label": "x"}])
    sys.stdout.flush()
    assert capfdbinary.readouterr().out == "text,label\né,x\n".encode()


def test_output_format():
    assert output_format("a.CSV", "jsonl") == "csv" and output_format("-", "jsonl") == "jsonl"
    assert output_format("a.xlsx", "csv") == "xlsx" and output_format("-", "parquet") == "csv"
    with pytest.raises(SettingsError, match=r"out\.txt"):
        output_format("out.txt", "csv")
    with pytest.raises(SettingsError, match="xml"):
        write_rows("-", "xml", [])
