"""CSV and TSV, with a header.

CSV is RFC 4180: quotes, and commas, quotes and line breaks inside them; a semicolon or a tab separates where the
header has no comma. Some programs quote in TSV in the same way and some never do: quotes that are none by these
rules are part of the text there. Blank lines are skipped. The line of a row is the one it starts at.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from genspp.data.faults import Faults
from genspp.data.formats.base import FORMATS, Format, Row, Table, check_distinct, names_of
from genspp.data.formats.text import decode
from genspp.data.limits import LINE, check_columns

_LINE_OF_TEXT = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
Line = tuple[int, list[str]]


@FORMATS.register("csv")
class Csv(Format):
    """Comma-separated values."""

    counted = "line"
    is_text = True

    @staticmethod
    def read(content: bytes, faults: Faults) -> Table:
        """Return the rows. Past broken quotes nobody knows where a row starts: they are refused in any case."""
        text = decode(faults.name, content)
        lines, broken = _lines(text, _delimiter(text))
        table = _table(lines, faults)
        if broken is not None:
            faults.add(*broken)
            faults.refuse()
        return table

    @staticmethod
    def write(rows: Sequence[Mapping[str, Any]]) -> bytes:
        """Return a header and a line per row; lists stand there as JSON."""
        return _text(rows, ",")


@FORMATS.register("tsv")
class Tsv(Format):
    """Tab-separated values."""

    counted = "line"
    is_text = True

    @staticmethod
    def read(content: bytes, faults: Faults) -> Table:
        """Return the rows, with quotes as in CSV if all are such."""
        text = decode(faults.name, content)
        lines, broken = _lines(text, "\t")
        if broken is not None:
            lines, _ = _lines(text, "\t", quoted=False)
        return _table(lines, faults)

    @staticmethod
    def write(rows: Sequence[Mapping[str, Any]]) -> bytes:
        """Return a header and a line per row; lists stand there as JSON."""
        return _text(rows, "\t")


def _delimiter(text: str) -> str:
    """Return the comma, unless the header has none and a semicolon or a tab parts it."""
    start = text.lstrip("\r\n")
    for delimiter in ",;\t":
        header = next(csv.reader(_split(start), delimiter=delimiter), [])
        if len(header) > 1:
            return delimiter
    return ","


def _split(text: str) -> Iterator[str]:
    """Return the lines with their ends, as a file opened with newline="" gives them, without a copy of it all."""
    return (line[0] for line in _LINE_OF_TEXT.finditer(text))


def _lines(text: str, delimiter: str, quoted: bool = True) -> tuple[list[Line], tuple[int, str] | None]:
    """Return the cells of all lines up to broken quotes, and the line and the complaint about these, if any."""
    csv.field_size_limit(LINE)  # its own limit of 131,072 characters is too short for a long text
    reader = csv.reader(
        _split(text),
        delimiter=delimiter,
        strict=True,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
    )
    lines: list[Line] = []
    while True:
        start = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            advice = 'double the quotes inside a quoted field, as in "he said ""yes"""'
            return lines, (start, f"the row that starts here is no valid CSV ({error}); {advice}")
        if cells is None:
            return lines, None
        if cells and not (len(cells) == 1 and cells[0].isspace()):
            lines.append((start, cells))


def _table(lines: Sequence[Line], faults: Faults) -> Table:
    """Give the cells the names of the header; a row with more or fewer of them is broken."""
    if not lines:
        return (), []
    (start, header), rows = lines[0], []
    check_columns(f"{faults.name}, line {start}", len(header))
    check_distinct(header, f"{faults.name}, line {start}")
    for line, cells in lines[1:]:
        if len(cells) == len(header):
            rows.append(Row(line, dict(zip(header, cells, strict=True))))
        else:
            advice = "put quotes round a field that contains the separator or a line break"
            faults.add(line, f"{len(cells)} fields where the header has {len(header)}; {advice}")
    return tuple(header), rows


def cell(value: Any) -> str:
    """Return a field as the text of a cell: lists and the like as JSON, nothing for `None`."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()


def _cells(rows: Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    names = names_of(rows)
    yield list(names)
    for row in rows:
        yield [cell(row.get(name)) for name in names]


def _text(rows: Sequence[Mapping[str, Any]], delimiter: str) -> bytes:
    buffer = io.StringIO(newline="")
    plain = csv.writer(buffer, lineterminator="\n", delimiter=delimiter)
    # A lone carriage return would be read back as the end of a row, and csv does not quote it by itself.
    quoted = csv.writer(buffer, lineterminator="\n", delimiter=delimiter, quoting=csv.QUOTE_ALL)
    for cells in _cells(rows):
        (quoted if any("\r" in text for text in cells) else plain).writerow(cells)
    return buffer.getvalue().encode()
