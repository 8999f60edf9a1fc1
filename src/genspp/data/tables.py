"""One's own data: `.jsonl` and `.csv` files with a text, a label and, if people marked them, a highlight.

The rules for files are in `rows.py`, those for the forms of a highlight in `highlights.py`.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from genspp.data import highlights
from genspp.data.corpus import SPLIT_SEED, Corpus, Document, Splits, stratified_split
from genspp.data.fields import PARTS, clean, cut, label_text, part_name
from genspp.data.rows import RawTable, Row, read_raw
from genspp.data.tokenize import Tokenizer
from genspp.errors import DataError, SettingsError


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns or fields; `None` is the column of that very name: `text`, `label` and so on.

    A text (or tokens) and a label must be there. Highlight, split and id may be missing unless they were
    named.
    """

    text: str | None = None
    tokens: str | None = None
    label: str | None = None
    highlight: str | None = None
    split: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class TableRow:
    """A document, the line it starts at, and the split that its row names, if any."""

    document: Document
    line: int
    split: str | None = None


@dataclass(frozen=True)
class Table:
    """What a file holds; `left_out` rows were longer than allowed."""

    name: str
    rows: tuple[TableRow, ...]
    tokenizer: str
    left_out: int = 0

    @property
    def corpus(self) -> Corpus:
        """The documents."""
        return Corpus(tuple(row.document for row in self.rows))


@dataclass(frozen=True)
class RowsRead:
    """Rows to be labelled: as they stand in the file, and as documents, in the same order."""

    format: str
    fieldnames: tuple[str, ...]
    rows: list[dict[str, Any]]
    documents: list[Document]


@dataclass(frozen=True, slots=True)
class _Layout:
    """The columns that a file really has, `None` for an optional one that it has not."""

    text: str
    is_tokens: bool
    label: str | None
    highlight: str | None
    split: str | None
    id: str | None


def _find(raw: RawTable, named: str | None, default: str, needed: bool = False) -> str | None:
    """Return the column to read, `None` where an optional one is missing."""
    column = named or default
    if column in raw.fieldnames:
        return column
    if not needed and named is None:
        return None
    there = ", ".join(repr(name) for name in raw.fieldnames)
    raise DataError(f"{raw.name} has no column {column!r}; name the {default} column with --{default}, one of {there}.")


def _find_text(raw: RawTable, columns: Columns) -> tuple[str, bool]:
    """Return the column of the text, and whether it holds tokens."""
    if columns.text and columns.tokens:
        raise SettingsError("Both a text and a tokens column are named; name one of them.")
    if columns.tokens or (not columns.text and "text" not in raw.fieldnames and "tokens" in raw.fieldnames):
        return str(_find(raw, columns.tokens, "tokens", True)), True
    return str(_find(raw, columns.text, "text", True)), False


def _layout(raw: RawTable, columns: Columns, need_labels: bool) -> _Layout:
    return _Layout(
        *_find_text(raw, columns),
        label=_find(raw, columns.label, "label", need_labels),
        highlight=_find(raw, columns.highlight, "highlight"),
        split=_find(raw, columns.split, "split"),
        id=_find(raw, columns.id, "id"),
    )


def _read(row: Row, number: int, layout: _Layout, tokenizer: Tokenizer, need_labels: bool) -> TableRow:
    """Make a document of a row, as yet without its highlight."""
    document = cut(row.fields.get(layout.text), layout.is_tokens, tokenizer)
    label = label_text(row.fields.get(layout.label)) if layout.label else None
    if need_labels and label is None:
        raise ValueError(f"there is no label (column {layout.label!r})")
    name = row.fields.get(layout.id) if layout.id else None
    identifier = str(number) if name in (None, "") else clean(str(name))
    part = part_name(row.fields.get(layout.split)) if layout.split else None
    return TableRow(replace(document, id=identifier, label=label), row.line, part)


def _rows(raw: RawTable, layout: _Layout, tokenizer: Tokenizer, need_labels: bool) -> list[TableRow]:
    """Make documents of all rows; the first row that cannot be used is named by file and line."""
    line = 0
    rows, column = [], []
    try:
        for number, raw_row in enumerate(raw.rows, start=1):
            line = raw_row.line
            rows.append(_read(raw_row, number, layout, tokenizer, need_labels))
            column.append(highlights.parse(raw_row.fields.get(layout.highlight)) if layout.highlight else None)
        form = highlights.column_form(column)
        for i, marked in enumerate(column):
            if marked is not None:
                line, document = rows[i].line, rows[i].document
                mask = highlights.resolve(marked, document.spans, len(document.text), form)
                rows[i] = replace(rows[i], document=replace(document, highlight=mask))
    except ValueError as error:
        raise DataError(f"{raw.name}, line {line}: {error}.") from None
    return rows


def read_table(
    path: Path | str,
    columns: Columns | None = None,
    max_length: int | None = None,
    need_labels: bool = True,
    tokenizer: str = "words",
) -> Table:
    """Read a `.jsonl` or `.csv` file (`-`: standard input), leaving out texts of over `max_length` tokens.

    A tokens column makes the tokeniser `spaces`, whatever was asked for.
    """
    if max_length is not None and max_length < 1:
        raise SettingsError(f"max_length is {max_length}; it must be at least 1.")
    raw = read_raw(path)
    layout = _layout(raw, columns or Columns(), need_labels)
    used = Tokenizer("spaces" if layout.is_tokens else tokenizer)
    rows = _rows(raw, layout, used, need_labels)
    kept = tuple(row for row in rows if max_length is None or len(row.document.tokens) <= max_length)
    if not kept:
        raise DataError(f"{raw.name}: all {len(rows)} texts have more than {max_length} tokens; raise --max-length.")
    return Table(raw.name, kept, used.name, len(rows) - len(kept))


def read_rows(path: Path | str, columns: Columns | None = None, tokenizer: str = "words") -> RowsRead:
    """Read rows to be labelled (`-`: standard input); labels, highlights and splits are not looked at."""
    raw = read_raw(path)
    text, is_tokens = _find_text(raw, columns or Columns())
    layout = _Layout(text, is_tokens, None, None, None, _find(raw, (columns or Columns()).id, "id"))
    rows = _rows(raw, layout, Tokenizer("spaces" if is_tokens else tokenizer), need_labels=False)
    fields = [dict(row.fields) for row in raw.rows]
    return RowsRead(raw.format, raw.fieldnames, fields, [row.document for row in rows])


def check_labels(table: Table, known: Collection[str], part: str) -> None:
    """Refuse a label that the training rows do not have: nothing could have learnt it."""
    for row in table.rows:
        if row.document.label not in known:
            raise DataError(
                f"{table.name}, line {row.line}: the label {row.document.label!r} of this {part} row is "
                f"that of no training row; those have {', '.join(repr(label) for label in sorted(known))}."
            )


def _divide(table: Table, missing: Sequence[str], seed: int) -> dict[str, Table]:
    """Split the missing parts off the training rows, every class in each: 64 / 16 / 20 %, or 80 / 20 %."""
    names = ("train", *missing)
    fractions = (0.64, 0.16, 0.20) if len(missing) == 2 else (0.8, 0.2)
    labels = table.corpus.labels
    parts = {
        name: replace(table, rows=tuple(table.rows[i] for i in rows))
        for name, rows in zip(names, stratified_split(labels, fractions, seed), strict=True)
    }
    classes = {name: set(part.corpus.labels) for name, part in parts.items()}
    for label, count in sorted(Counter(labels).items()):
        without = [name for name in names if label not in classes[name]]
        if without:
            raise DataError(
                f"{table.name} has only {count} training row(s) of the label {label!r}, too few to split "
                f"into {', '.join(names)} (none would be left for {without[0]}); add rows, or say which "
                "rows are which in a split column or with --val and --test."
            )
    return parts


def _parts(main: Table, extras: dict[str, Table]) -> dict[str, Table]:
    """Deal the rows of the main file to the splits that they name, and add the extra files."""
    tables = {
        part: replace(main, rows=tuple(row for row in main.rows if (row.split or "train") == part)) for part in PARTS
    }
    for part, extra in extras.items():
        if tables[part].rows:
            raise DataError(
                f"{main.name} has {part} rows in its split column, and --{part} names {extra.name}; use one."
            )
        if extra.tokenizer != main.tokenizer:
            raise DataError(f"{main.name} and {extra.name} must both have a text column, or both tokens.")
        tables[part] = extra
    if not tables["train"].rows:
        raise DataError(f"{main.name} has no train rows in its split column.")
    labels = sorted(set(tables["train"].corpus.labels))
    if len(labels) < 2:
        raise DataError(
            f"{main.name}: all {len(tables['train'].rows)} training rows have the label {labels[0]!r}; at "
            "least two classes are needed (is it the right label column?)."
        )
    return tables


def load_table(
    path: Path | str,
    columns: Columns | None = None,
    *,
    val: Path | str | None = None,
    test: Path | str | None = None,
    max_length: int | None = None,
    seed: int = SPLIT_SEED,
    tokenizer: str = "words",
) -> Splits:
    """Read one's own data in three parts.

    The parts are the values of the split column, or the files `val` and `test`; what is still missing is
    split off the training rows, stratified and seeded. A split column in the extra files is not looked at.
    """
    columns = columns or Columns()
    main = read_table(path, columns, max_length, tokenizer=tokenizer)
    extras = {
        part: read_table(extra, replace(columns, split=None), max_length, tokenizer=tokenizer)
        for part, extra in (("val", val), ("test", test))
        if extra is not None
    }
    tables = _parts(main, extras)
    notes = []
    left_out = sum(table.left_out for table in (main, *extras.values()))
    if left_out:
        total = left_out + sum(len(table.rows) for table in (main, *extras.values()))
        notes.append(f"{left_out:,} of {total:,} texts were left out: more than {max_length} tokens (--max-length).")
    known = set(tables["train"].corpus.labels)
    missing = [part for part in ("val", "test") if not tables[part].rows]
    if missing:
        tables.update(_divide(tables["train"], missing, seed))
        sizes = ", ".join(f"{len(tables[part].rows):,} {part}" for part in PARTS)
        notes.append(f"The {' and '.join(missing)} rows were split off the training rows: {sizes}.")
    for part in ("val", "test"):
        check_labels(tables[part], known, part)
    train, validation, held_out = (tables[part].corpus for part in PARTS)
    return Splits(train, validation, held_out, main.tokenizer, tuple(notes))
