"""Tables in Python (pandas' DataFrame, Hugging Face's Dataset and their like) as rows, and anything as a corpus."""

import logging
from pathlib import Path
from typing import Any

from genspp.data.columns import Columns
from genspp.data.corpus import Corpus, column_names
from genspp.data.formats import Row, plain
from genspp.data.formats.base import check_distinct
from genspp.data.records import read_records, read_unlabelled
from genspp.data.rows import RawRows, read_raw
from genspp.errors import DataError

logger = logging.getLogger("genspp")


def _values(table: Any, column: Any) -> list[Any]:
    """Return a column; where a Dataset numbers its classes, their names, and `None` for -1, which stands for none."""
    values = [plain(value) for value in table[column]]
    feature: Any = (getattr(table, "features", None) or {}).get(column)
    if hasattr(feature, "int2str"):
        return [None if value is None or value < 0 else feature.int2str(value) for value in values]
    return values


def table_rows(table: Any, name: str | None = None) -> RawRows:
    """Return the rows of a table, numbered from 0."""
    columns = column_names(table)
    if columns is None:
        raise DataError(f"the data is a {type(table).__name__}; give a file, a pandas DataFrame or a Dataset.")
    name = f"{name or f'the {type(table).__name__}'} (rows counted from 0)"
    names = tuple(str(column) for column in columns)
    check_distinct(names, name)
    rows = zip(*(_values(table, column) for column in columns), strict=True)
    fields = [dict(zip(names, values, strict=True)) for values in rows]
    if not fields:
        raise DataError(f"{name} has no rows.")
    return RawRows(name, "jsonl", names, tuple(Row(i, row) for i, row in enumerate(fields)), "row")


def read_corpus(
    data: Any,
    *,
    text: str | None = None,
    tokens: str | None = None,
    label: str | None = None,
    highlight: str | None = None,
    highlight_form: str | None = None,
    tokenizer: str = "words",
    on_bad_row: str = "error",
) -> Corpus:
    """Return the texts, the labels and the gold highlights, where there are such, of a file or a table.

    data: the path of a file, a pandas DataFrame or a Hugging Face Dataset. The others are as on the command line;
    labels are strings. What is to be told about reading it is logged.
    """
    columns = Columns(text, tokens, label, highlight, highlight_form=highlight_form)
    raw = read_raw(data, keep_broken=True) if isinstance(data, str | Path) else table_rows(data)
    labelled = label is not None or any(name.strip().casefold() == "label" for name in raw.fieldnames)
    read = (
        read_records(raw, columns, tokenizer=tokenizer, in_parts=False, on_bad_row=on_bad_row)
        if labelled
        else read_unlabelled(raw, columns, tokenizer, on_bad_row)
    )
    for note in read.notes:
        logger.warning(note)
    return read.corpus
