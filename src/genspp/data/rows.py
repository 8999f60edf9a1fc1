"""Rows of a file as they stand there, with their numbers, and back into a file. How a file holds them: `formats/`."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from genspp import files
from genspp.data.faults import Faults
from genspp.data.formats import FORMATS, Row
from genspp.data.formats.text import decode
from genspp.data.limits import check_columns, read_file, read_open
from genspp.errors import DataError, SettingsError

STANDARD = "-"  # standard input or output
LINES = "txt"  # what a file of one text per line is called, and how its name ends


@dataclass(frozen=True)
class RawRows:
    """A file's rows.

    name: for messages. fieldnames: the columns, or the fields of any JSON row. counted: what the numbers of rows
    count, lines or rows. broken: the numbers of rows that could not be read, and why.
    """

    name: str
    format: str
    fieldnames: tuple[str, ...]
    rows: tuple[Row, ...]
    counted: str = "line"
    broken: Mapping[int, str] = field(default_factory=dict)


def endings() -> str:
    """Return the endings of all formats, in words."""
    *others, last = (f".{name}" for name in FORMATS)
    return f"{', '.join(others)} or {last}"


def format_of(path: Path | str) -> str | None:
    """Return the format by the end of a file's name, `None` for no known one."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    return suffix if suffix in FORMATS else None


def _content(path: Path | str) -> bytes:
    return read_open("standard input", sys.stdin.buffer) if str(path) == STANDARD else read_file(path)


def read_raw(path: Path | str, keep_broken: bool = False, *, lines: bool = False) -> RawRows:
    """Read a file; `-` is standard input, JSON lines if it begins with `{`, else CSV.

    Rows that cannot be read are refused, all in one go, unless they are to be kept in `broken`. lines: a file that ends
    in .txt, and standard input that is no JSON, hold one text per line, which are rows with a column `text`.
    """
    content, name = _content(path), "standard input" if str(path) == STANDARD else str(path)
    chosen = format_of(path)
    if str(path) == STANDARD:
        chosen = "jsonl" if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") else "csv"
    if lines and (Path(path).suffix.lower() == f".{LINES}" or (str(path) == STANDARD and chosen == "csv")):
        return _lines(name, content)
    if chosen is None:
        raise DataError(f"{name} does not end in {endings()}; rename or convert it.")
    kind = FORMATS[chosen]
    faults = Faults(name, kind.counted)
    fieldnames, rows = kind.read(content, faults)
    if not keep_broken or not rows:
        faults.refuse()
    if not rows:
        raise DataError(f"{name} has no rows.")
    check_columns(name, len(fieldnames))
    return RawRows(name, chosen, fieldnames, tuple(rows), kind.counted, faults.reasons)


def _lines(name: str, content: bytes) -> RawRows:
    """Return the lines of a file as rows; blank ones are skipped."""
    texts = enumerate((line.removesuffix("\r") for line in decode(name, content).split("\n")), start=1)
    rows = tuple(Row(number, {"text": text}) for number, text in texts if text.strip())
    if not rows:
        raise DataError(f"{name} has no rows.")
    return RawRows(name, LINES, ("text",), rows)


def output_format(path: Path | str, input_format: str) -> str:
    """Return the format to write: by the end of the file's name; to standard output that of the input, if text."""
    if str(path) == STANDARD:
        return input_format if FORMATS[input_format].is_text else "csv"
    chosen = format_of(path)
    if chosen is None:
        raise SettingsError(f"The output file is {path}; its name must end in {endings()}.")
    return chosen


def write_rows(path: Path | str, file_format: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows, atomically; `-` is standard output."""
    content = FORMATS[file_format].write(rows)
    if str(path) == STANDARD:
        files.write_out(content)
    else:
        files.write_bytes(Path(path), content)
