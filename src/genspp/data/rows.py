"""Rows of a `.jsonl` or `.csv` file as they stand there, with their line numbers, and back into a file.

CSV is RFC 4180: quotes, and commas, quotes and line breaks inside them; a semicolon or a tab separates where
the header has no comma. UTF-8, with or without a byte order mark. Blank lines are skipped. The line of a row
is the one it starts at.
"""

import codecs
import csv
import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from genspp import files
from genspp.errors import DataError, SettingsError

FORMATS = ("jsonl", "csv")
STANDARD = "-"  # standard input or output
_FIELD_LIMIT = 2**31 - 1  # csv's own limit of 131,072 characters is too short for a long text


@dataclass(frozen=True, slots=True)
class Row:
    """One row: the line it starts at, counted from 1, and its fields."""

    line: int
    fields: dict[str, Any]


@dataclass(frozen=True)
class RawRows:
    """A file's rows. `name` is for messages; `fieldnames` are the columns, or the fields of any JSON row."""

    name: str
    format: str
    fieldnames: tuple[str, ...]
    rows: tuple[Row, ...]


def format_of(path: Path | str) -> str | None:
    """Return `jsonl` or `csv` by the end of a file's name, `None` for any other."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    return suffix if suffix in FORMATS else None


def _decode(name: str, content: bytes) -> str:
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{name}, line {line}: byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8."
        ) from None
    if "\0" in text.partition("\n")[0]:
        raise DataError(f"{name}, line 1: a zero byte, as in a file saved as UTF-16; save the file as UTF-8.")
    return text


def _no_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _json_rows(name: str, text: str) -> Iterator[Row]:
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        try:
            fields = json.loads(content, parse_constant=_no_constant)
        except json.JSONDecodeError as error:
            raise DataError(
                f"{name}, line {line}: invalid JSON ({error.msg}, column {error.colno}); "
                "every line must be one JSON object."
            ) from None
        except (ValueError, RecursionError) as error:
            raise DataError(f"{name}, line {line}: invalid JSON ({error}).") from None
        if not isinstance(fields, dict):
            raise DataError(f"{name}, line {line}: {type(fields).__name__} where a JSON object was expected.")
        yield Row(line, fields)


def _delimiter(text: str) -> str:
    """Return the comma, unless the header has none and a semicolon or a tab parts it."""
    start = text.lstrip("\r\n")
    for delimiter in ",;\t":
        header = next(csv.reader(io.StringIO(start, newline=""), delimiter=delimiter), [])
        if len(header) > 1:
            return delimiter
    return ","


def _csv_rows(name: str, text: str) -> tuple[tuple[str, ...], list[Row]]:
    csv.field_size_limit(_FIELD_LIMIT)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    header: tuple[str, ...] | None = None
    rows: list[Row] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise DataError(
                f"{name}, line {line}: the row that starts here is no valid CSV ({error}); "
                'double the quotes inside a quoted field, as in "he said ""yes""".'
            ) from None
        if cells is None:
            break
        if not cells or (len(cells) == 1 and cells[0].isspace()):
            continue
        if header is None:
            header = tuple(cells)
            twice = sorted({column for column in header if header.count(column) > 1})
            if twice:
                raise DataError(f"{name}, line {line}: the column {twice[0]!r} occurs twice; rename one.")
            continue
        if len(cells) != len(header):
            raise DataError(
                f"{name}, line {line}: {len(cells)} fields where the header has {len(header)}; "
                "put quotes round a field that contains the separator or a line break."
            )
        rows.append(Row(line, dict(zip(header, cells, strict=True))))
    return header or (), rows


def read_raw(path: Path | str) -> RawRows:
    """Read a `.jsonl` or `.csv` file; `-` is standard input, JSON lines if it begins with `{`."""
    if str(path) == STANDARD:
        name, content = "standard input", sys.stdin.buffer.read()
    else:
        name = str(path)
        try:
            content = Path(path).read_bytes()
        except FileNotFoundError:
            raise DataError(f"There is no file {name}.") from None
        except OSError as error:
            raise DataError(f"{name} cannot be read: {error.strerror or error}.") from None
    file_format = format_of(path)
    if file_format is None and str(path) != STANDARD:
        raise DataError(f"{name} is neither .jsonl nor .csv; rename or convert it.")
    text = _decode(name, content)
    if (file_format or ("jsonl" if text.lstrip().startswith("{") else "csv")) == "jsonl":
        rows = list(_json_rows(name, text))
        fieldnames = tuple(dict.fromkeys(key for row in rows for key in row.fields))
        raw = RawRows(name, "jsonl", fieldnames, tuple(rows))
    else:
        header, rows = _csv_rows(name, text)
        raw = RawRows(name, "csv", header, tuple(rows))
    if not raw.rows:
        raise DataError(f"{name} has no rows.")
    return raw


def output_format(path: Path | str, input_format: str) -> str:
    """Return the format to write: by the end of the file's name, or that of the input for standard output."""
    if str(path) == STANDARD:
        return input_format
    chosen = format_of(path)
    if chosen is None:
        raise SettingsError(f"The output file is {path}; its name must end in .jsonl or .csv.")
    return chosen


def _json_line(row: Mapping[str, Any]) -> str:
    line = json.dumps(row, ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:  # half a surrogate pair: JSON can only hold it escaped
        line = json.dumps(row)
    return line + "\n"


def _cell(value: Any) -> str:
    """Return a field as CSV text: lists and the like as JSON, nothing for `None`."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()


def _csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    fieldnames = list(dict.fromkeys(key for row in rows for key in row))
    buffer = io.StringIO(newline="")
    plain = csv.writer(buffer, lineterminator="\n")
    # A lone carriage return would be read back as the end of a row, and csv does not quote it by itself.
    quoted = csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for cells in (fieldnames, *([_cell(row.get(key)) for key in fieldnames] for row in rows)):
        (quoted if any("\r" in cell for cell in cells) else plain).writerow(cells)
    return buffer.getvalue()


def write_rows(path: Path | str, file_format: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as `jsonl` or `csv`, atomically; `-` is standard output. CSV holds lists as JSON."""
    if file_format not in FORMATS:
        raise SettingsError(f"The format is {file_format!r}; choose one of {', '.join(FORMATS)}.")
    text = _csv_text(rows) if file_format == "csv" else "".join(_json_line(row) for row in rows)
    if str(path) == STANDARD:
        files.write_out(text.encode())
    else:
        files.write_text(Path(path), text)
