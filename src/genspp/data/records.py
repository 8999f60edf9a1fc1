"""The rows of a file as documents: a text, a label and, if people marked them, a highlight.

The rules for files are in `rows.py`, those for the forms of a highlight in `highlights.py`.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from genspp.data import highlights
from genspp.data.corpus import Corpus, Document
from genspp.data.fields import clean, cut, label_text, part_name
from genspp.data.rows import RawRows, Row, read_raw
from genspp.data.tokenize import Tokenizer
from genspp.errors import DataError, SettingsError


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns or fields; `None` is the column of that very name: `text`, `label` and so on.

    A text (or tokens) and a label must be there. Highlight and split may be missing unless they were named. A
    column `id`, if there is one, names the rows.
    """

    text: str | None = None
    tokens: str | None = None
    label: str | None = None
    highlight: str | None = None
    split: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A document, the line it starts at, and the part (train, val, test) that its row names, if any."""

    document: Document
    line: int
    part: str | None = None


@dataclass(frozen=True)
class Records:
    """What a file holds; `left_out` rows were longer than allowed."""

    name: str
    records: tuple[Record, ...]
    tokenizer: str
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.records)

    @property
    def corpus(self) -> Corpus:
        """The documents."""
        return Corpus(tuple(record.document for record in self.records), self.tokenizer)


@dataclass(frozen=True)
class Unlabelled:
    """Rows to be labelled: as they stand in the file, and as documents, in the same order."""

    format: str
    fieldnames: tuple[str, ...]
    rows: list[dict[str, Any]]
    corpus: Corpus


@dataclass(frozen=True, slots=True)
class _Found:
    """The columns that a file really has, `None` for one that it has not or that is not looked at."""

    text: str
    is_tokens: bool
    label: str | None = None
    highlight: str | None = None
    split: str | None = None
    id: str | None = None


def _find(raw: RawRows, named: str | None, default: str, needed: bool = False) -> str | None:
    """Return the column to read, `None` where an optional one is missing."""
    column = named or default
    if column in raw.fieldnames:
        return column
    if not needed and named is None:
        return None
    there = ", ".join(repr(name) for name in raw.fieldnames)
    raise DataError(f"{raw.name} has no column {column!r}; name the {default} column with --{default}, one of {there}.")


def _find_text(raw: RawRows, columns: Columns) -> tuple[str, bool]:
    """Return the column of the text, and whether it holds tokens."""
    if columns.text and columns.tokens:
        raise SettingsError("Both a text and a tokens column are named; name one of them.")
    if columns.tokens or (not columns.text and "text" not in raw.fieldnames and "tokens" in raw.fieldnames):
        return str(_find(raw, columns.tokens, "tokens", True)), True
    return str(_find(raw, columns.text, "text", True)), False


def _read(row: Row, number: int, found: _Found, tokenizer: Tokenizer, need_label: bool) -> Record:
    """Make a document of a row, as yet without its highlight."""
    document = cut(row.fields.get(found.text), found.is_tokens, tokenizer)
    label = label_text(row.fields.get(found.label)) if found.label else None
    if need_label and label is None:
        raise ValueError(f"there is no label (column {found.label!r})")
    name = row.fields.get(found.id) if found.id else None
    identifier = str(number) if name in (None, "") else clean(str(name))
    part = part_name(row.fields.get(found.split)) if found.split else None
    return Record(replace(document, id=identifier, label=label), row.line, part)


def _records(raw: RawRows, found: _Found, tokenizer: Tokenizer, need_labels: bool) -> list[Record]:
    """Make documents of all rows; the first row that cannot be used is named by file and line."""
    line = 0
    records, column = [], []
    try:
        for number, row in enumerate(raw.rows, start=1):
            line = row.line
            records.append(_read(row, number, found, tokenizer, need_labels))
            column.append(highlights.parse(row.fields.get(found.highlight)) if found.highlight else None)
        form = highlights.column_form(column)
        for i, marked in enumerate(column):
            if marked is not None:
                line, document = records[i].line, records[i].document
                mask = highlights.resolve(marked, document.spans, len(document.text), form)
                records[i] = replace(records[i], document=replace(document, highlight=mask))
    except ValueError as error:
        raise DataError(f"{raw.name}, line {line}: {error}.") from None
    return records


def read_records(
    path: Path | str,
    columns: Columns | None = None,
    max_length: int | None = None,
    *,
    tokenizer: str = "words",
    in_parts: bool = True,
) -> Records:
    """Read a `.jsonl` or `.csv` file (`-`: standard input), leaving out texts of over `max_length` tokens.

    A tokens column makes the tokeniser `spaces`, whatever was asked for. The split column is looked at only
    `in_parts`.
    """
    raw, columns = read_raw(path), columns or Columns()
    text, is_tokens = _find_text(raw, columns)
    found = _Found(
        text,
        is_tokens,
        label=_find(raw, columns.label, "label", needed=True),
        highlight=_find(raw, columns.highlight, "highlight"),
        split=_find(raw, columns.split, "split") if in_parts else None,
        id=_find(raw, None, "id"),
    )
    used = Tokenizer("spaces" if is_tokens else tokenizer)
    records = _records(raw, found, used, need_labels=True)
    kept = tuple(record for record in records if max_length is None or len(record.document.tokens) <= max_length)
    if not kept:
        raise DataError(f"{raw.name}: all {len(records)} texts have more than {max_length} tokens; raise --max-length.")
    return Records(raw.name, kept, used.name, len(records) - len(kept))


def read_unlabelled(path: Path | str, columns: Columns | None = None, tokenizer: str = "words") -> Unlabelled:
    """Read rows to be labelled (`-`: standard input); labels, highlights and splits are not looked at."""
    raw = read_raw(path)
    text, is_tokens = _find_text(raw, columns or Columns())
    used = Tokenizer("spaces" if is_tokens else tokenizer)
    records = _records(raw, _Found(text, is_tokens, id=_find(raw, None, "id")), used, need_labels=False)
    corpus = Corpus(tuple(record.document for record in records), used.name)
    return Unlabelled(raw.format, raw.fieldnames, [dict(row.fields) for row in raw.rows], corpus)


def check_known(records: Records, known: Collection[str], part: str) -> None:
    """Refuse a label that the training rows do not have: nothing could have learnt it."""
    for record in records.records:
        if record.document.label not in known:
            raise DataError(
                f"{records.name}, line {record.line}: the label {record.document.label!r} of this {part} row is "
                f"that of no training row; those have {', '.join(repr(label) for label in sorted(known))}."
            )
