"""Excel workbooks, by the package openpyxl: the first sheet, its first row that is not blank being the header.

A cell is read as CSV would hold it: a text. Rows have the numbers that the sheet shows.
"""

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from zipfile import ZipFile

from genspp.data.faults import Faults
from genspp.data.formats.base import FORMATS, Format, Row, Table, check_distinct, names_of, package, plain, reason
from genspp.data.formats.delimited import cell
from genspp.data.limits import check_columns, check_unpacked
from genspp.errors import DataError

_ROWS = 1_048_576  # that Excel lets a sheet have
_LONGEST = 32_767  # characters that Excel lets a cell hold
_RETURN = "_x000D_"  # a carriage return in Excel's spelling; XML would make a line feed of it


@FORMATS.register("xlsx")
class Xlsx(Format):
    """Office Open XML workbooks."""

    @staticmethod
    def read(content: bytes, faults: Faults) -> Table:
        """Return the rows of the first sheet; columns without a name are left out, as are blank rows."""
        openpyxl = package("openpyxl", "formats", "An .xlsx file")
        try:
            _check_archive(content, faults.name)
            sheet = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True).worksheets[0]
            sheet.reset_dimensions()  # some programs note them wrongly
            lines = _lines(sheet.iter_rows(values_only=True), faults.name)
        except (DataError, MemoryError):
            raise
        except Exception as error:  # the package checks nothing, and fails in every way there is
            raise DataError(
                f"{faults.name} is no workbook that can be read ({reason(error)}); save it again as .xlsx."
            ) from None
        filled = [(number, cells) for number, cells in enumerate(lines, start=1) if any(text.strip() for text in cells)]
        if not filled:
            return (), []
        (number, header), *others = filled
        named = {column: name for column, name in enumerate(header) if name.strip()}
        names = tuple(named.values())
        check_columns(f"{faults.name}, row {number}", len(names))
        check_distinct(names, f"{faults.name}, row {number}")
        return names, [
            Row(number, {name: cells[column] if column < len(cells) else "" for column, name in named.items()})
            for number, cells in others
        ]

    @staticmethod
    def write(rows: Sequence[Mapping[str, Any]]) -> bytes:
        """Return a workbook of one sheet; lists stand there as JSON."""
        openpyxl = package("openpyxl", "formats", "An .xlsx file")
        illegal = package("openpyxl.cell.cell", "formats", "An .xlsx file").ILLEGAL_CHARACTERS_RE
        book, names = openpyxl.Workbook(), names_of(rows)
        for number, fields in enumerate((dict(zip(names, names, strict=True)), *rows), start=1):
            for column, name in enumerate(names, start=1):
                value = fields.get(name)
                place = book.active.cell(number, column)
                if isinstance(value, bool | int | float):
                    place.value = value
                    continue
                text = illegal.sub("\ufffd", cell(value)).replace("\r", _RETURN)
                if len(text) > _LONGEST:
                    raise DataError(f"a text has {len(text):,} characters, too many for Excel; write .csv instead.")
                if text:
                    place.value, place.data_type = text, "s"  # a text that begins with = is no formula
        file = io.BytesIO()
        book.save(file)
        return file.getvalue()


def _check_archive(content: bytes, name: str) -> None:
    """Refuse what unpacks to too much; no file of an archive gives more than it says there."""
    with ZipFile(io.BytesIO(content)) as archive:
        check_unpacked(name, sum(file.file_size for file in archive.infolist()), 0)


def _lines(rows: Iterable[Sequence[Any]], name: str) -> list[list[str]]:
    """Return the cells of all rows, counting them: rows and cells that a sheet leaves out are filled in."""
    lines, size, cells = list[list[str]](), 0, 0
    for values in rows:
        if len(lines) >= _ROWS:
            raise DataError(f"{name} has more than {_ROWS:,} rows, which Excel cannot have; save it again as .xlsx.")
        lines.append(["" if value is None else _shown(value) for value in values])
        size, cells = size + sum(map(len, lines[-1])), cells + 1 + len(values)
        check_unpacked(name, size, cells)
    return lines


def _shown(value: Any) -> str:
    """Return a cell as CSV would hold it."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return cell(plain(value)).replace(_RETURN, "\r")
