"""Parquet, by the package pyarrow. Rows are numbered from 1."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

from genspp.data.faults import Faults
from genspp.data.formats.base import FORMATS, Format, Row, Table, check_distinct, names_of, package, plain, reason
from genspp.data.limits import check_columns, check_unpacked
from genspp.errors import DataError

_BATCH = 100  # rows at a time


@FORMATS.register("parquet")
class Parquet(Format):
    """Apache Parquet."""

    @staticmethod
    def read(content: bytes, faults: Faults) -> Table:
        """Return the rows."""
        arrow, parquet = _packages()
        try:
            file = parquet.ParquetFile(arrow.BufferReader(content))
            names = tuple(file.schema_arrow.names)
            check_columns(faults.name, max(len(names), file.metadata.num_columns))
            check_distinct(names, faults.name)
            return names, _rows(file, faults.name)
        except (arrow.ArrowException, OSError, OverflowError, UnicodeDecodeError) as error:
            raise DataError(
                f"{faults.name} is no Parquet file that can be read ({reason(error)}); export it again."
            ) from None

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


def _rows(file: Any, name: str) -> list[Row]:
    """Return the rows, piece by piece: a small file may say that it holds a great many."""
    rows, size, columns = list[Row](), 0, max(1, file.metadata.num_columns)
    check_unpacked(name, _unpacked(file.metadata), file.metadata.num_rows * columns)
    for batch in file.iter_batches(_BATCH, use_threads=False):
        found = batch.to_pylist()  # in which a value that the file holds once, and names often, is there as often
        size += max(batch.nbytes, sum(len(value) for row in found for value in row.values() if isinstance(value, str)))
        check_unpacked(name, size, (len(rows) + len(found)) * columns)
        rows += [Row(number, plain(fields)) for number, fields in enumerate(found, start=len(rows) + 1)]
    return rows


def _unpacked(metadata: Any) -> int:
    return sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))


def _packages() -> tuple[Any, Any]:
    return package("pyarrow", "formats", "A .parquet file"), package("pyarrow.parquet", "formats", "A .parquet file")
