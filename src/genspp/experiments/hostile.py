"""Files made to fill the memory of whoever reads them. Tests read the same ones, with smaller sizes and limits."""

import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from genspp.data.formats.base import package

_SHEET = "xl/worksheets/sheet1.xml"
_BEGIN = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'


class Hostile(NamedTuple):
    """A file made to fill the memory: how its name ends, and what writes it, given a number that says how large."""

    ending: str
    write: Callable[[Path, int], None]
    size: int


def _repeat(before: bytes, one: bytes, after: bytes) -> Callable[[Path, int], None]:
    def write(path: Path, size: int) -> None:
        piece = one * max(1, 2**20 // len(one))
        with path.open("wb") as file:
            file.write(before)
            for _ in range(-(-size * len(one) // len(piece))):
                file.write(piece)
            file.write(after)

    return write


def _sparse(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.truncate(size)


def _book(path: Path, sheet: Iterable[bytes]) -> None:
    """Write a workbook whose sheet is made of pieces; what repeats packs to a thousandth."""
    book = io.BytesIO()
    package("openpyxl", "formats", "An .xlsx file").Workbook().save(book)
    with ZipFile(book) as old, ZipFile(path, "w", ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name != _SHEET:
                new.writestr(name, old.read(name))
        with new.open(_SHEET, "w", force_zip64=True) as file:
            for piece in sheet:
                file.write(piece)


def _sheet(one: bytes) -> Callable[[Path, int], None]:
    """A workbook whose sheet repeats a row."""

    def write(path: Path, size: int) -> None:
        pieces = [one * min(size, 2**16)] * max(1, size // 2**16)
        _book(path, [_BEGIN, *pieces, b"</sheetData></worksheet>"])

    return write


def _laughs(path: Path, size: int) -> None:
    """A workbook with entities inside entities, ten times each."""
    entities = [f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "ha"}">' for n in range(size + 1)]
    cell = f"<row><c t='inlineStr'><is><t>&l{size};</t></is></c></row></sheetData></worksheet>"
    _book(path, [f"<!DOCTYPE x [{''.join(entities)}]>".encode(), _BEGIN, cell.encode()])


def _parquet(value: Any, columns: int = 1) -> Callable[[Path, int], None]:
    """One value a great many times, in a file of some kilobytes."""

    def write(path: Path, size: int) -> None:
        pyarrow, parquet = (package(name, "formats", "A .parquet file") for name in ("pyarrow", "pyarrow.parquet"))
        repeated = pyarrow.DictionaryArray.from_arrays(np.zeros(size // columns, np.int8), [value])
        names = ["text", "label", *(f"c{number}" for number in range(columns - 2))][:columns]
        parquet.write_table(pyarrow.table(dict.fromkeys(names, repeated)), path)

    return write


def _posts(path: Path, size: int) -> None:
    path.mkdir()
    _repeat(b'{"p": ', b"[", b"")(path / "dataset.json", size)
    (path / "post_id_divisions.json").write_text("{}")


HOSTILE: dict[str, Hostile] = {
    "a field of a gigabyte": Hostile("csv", _repeat(b'text,label\n"', b"a ", b'",x\n'), 2**29),
    "a field of a gigabyte, of many lines": Hostile("csv", _repeat(b'text,label\n"', b"a b c d\n", b'",x\n'), 2**27),
    "a JSON string of a gigabyte": Hostile("jsonl", _repeat(b'{"text": "', b"a ", b'"}\n'), 2**29),
    "a million columns": Hostile("csv", _repeat(b"text,label", b",c", b"\n"), 10**6),
    "a million columns, of tabs": Hostile("tsv", _repeat(b"text\tlabel", b"\tc", b"\n"), 10**6),
    "lists ten million deep": Hostile("jsonl", _repeat(b'{"text": ', b"[", b"\n"), 10**7),
    "3 GB of nothing": Hostile("csv", _sparse, 3 * 2**30),
    "a zip bomb, 2 GB in 2 MB": Hostile("xlsx", _sheet(b"<row/> "), 3 * 10**8),
    "cells that the sheet leaves out": Hostile("xlsx", _sheet(b'<row><c r="XFD1"><v>1</v></c></row>'), 10**6),
    "a row of number a billion": Hostile("xlsx", _sheet(b'<row r="1000000000"><c><v>1</v></c></row>'), 1),
    "entities inside entities": Hostile("xlsx", _laughs, 11),
    "a value a hundred million times": Hostile("parquet", _parquet("a goal"), 10**8),
    "a megabyte ten thousand times": Hostile("parquet", _parquet("a " * 2**19), 10**4),
    "20,000 columns": Hostile("parquet", _parquet("a", 20_000), 20_000),
    "a line of a gigabyte": Hostile("txt", _repeat(b"goal", b" 1", b"\n"), 2**29),
    "vectors of a million numbers": Hostile("txt", _repeat(b"goal", b" 1", b"\n"), 10**6),
    "posts ten million deep": Hostile("hatexplain", _posts, 10**7),
}


def read(path: Path) -> None:
    """Read a hostile file as what it is."""
    from genspp.data.records import read_records
    from genspp.data.sources import find_source
    from genspp.data.vector_file import read_vector_file

    if path.suffix == ".txt":
        read_vector_file(path)
    elif path.suffix == ".hatexplain":
        find_source(f"hatexplain:{path}").load()
    else:
        read_records(path)
