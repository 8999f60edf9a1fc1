"""Parquet, by the package pyarrow. Rows are numbered from 1."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

from genspp.data.faults import Faults
from genspp.data.formats.base import FORMATS, Format, Row, Table, check_distinct, names_of, package, plain
from genspp.errors import DataError


@FORMATS.register("parquet")
class Parquet(Format):
    """Apache Parquet."""

    @staticmethod
    def read(content: bytes, faults: Faults) -> Table:
        """Return the rows."""
        arrow, parquet = _packages()
        try:
            table = parquet.read_table(arrow.BufferReader(content))
        except (arrow.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0]
            raise DataError(f"{faults.name} is no Parquet file that can be read ({reason}); export it again.") from None
        names = tuple(table.column_names)
        check_distinct(names, faults.name)
        return names, [Row(number, plain(fields)) for number, fields in enumerate(table.to_pylist(), start=1)]

    @staticmethod
    def write(rows: Sequence[Mapping[str, Any]]) -> bytes:
        """Return a table; every column must hold values of one kind."""
        arrow, parquet = _packages()
        columns = {}
        for name in names_of(rows):
            try:
                columns[name] = arrow.array([row.get(name) for row in rows])
            except (arrow.ArrowException, OverflowError, UnicodeEncodeError):
                raise DataError(
                    f"the column {name!r} holds values of several kinds, which Parquet cannot; write .jsonl instead."
                ) from None
        file = io.BytesIO()
        parquet.write_table(arrow.table(columns), file)
        return file.getvalue()


def _packages() -> tuple[Any, Any]:
    return package("pyarrow", "formats", "A .parquet file"), package("pyarrow.parquet", "formats", "A .parquet file")
