"""The rows of a file as documents: a text, a label and, if people marked them, a highlight.

The rules for files are in `rows.py` and `formats/`, those for columns in `columns.py`, those for the forms of a
highlight in `highlights.py`.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from genspp.data import highlights
from genspp.data.columns import Columns, Found, find_columns
from genspp.data.corpus import Corpus, Document
from genspp.data.faults import LISTED, Faults, check_on_bad_row
from genspp.data.fields import clean, cut, label_text, looks_missing, part_name
from genspp.data.formats import Row
from genspp.data.rows import RawRows, read_raw
from genspp.data.tokenize import Tokenizer
from genspp.errors import DataError, SettingsError

_SKIP = "--on-bad-row skip leaves such rows out"


@dataclass(frozen=True, slots=True)
class Record:
    """A document, the number of its row, and the part (train, val, test) that its row names, if any."""

    document: Document
    number: int
    part: str | None = None


@dataclass(frozen=True)
class Records:
    """What a file holds; `left_out` rows were longer than allowed. `notes`: what to tell about reading it."""

    name: str
    counted: str
    records: tuple[Record, ...]
    tokenizer: str
    left_out: int = 0
    notes: tuple[str, ...] = ()

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
    notes: tuple[str, ...]


def _read(row: Row, number: int, found: Found, tokenizer: Tokenizer) -> Record:
    """Make a document of a row, as yet without its highlight."""
    document = cut(row.fields.get(found.text), found.is_tokens, tokenizer)
    label = label_text(row.fields.get(found.label)) if found.label else None
    if found.label and label is None:
        raise ValueError(f"there is no label (column {found.label!r})")
    name = row.fields.get(found.id) if found.id else None
    identifier = str(number) if name in (None, "") else clean(str(name))
    part = part_name(row.fields.get(found.split)) if found.split else None
    return Record(replace(document, id=identifier, label=label), row.number, part)


def _marked(
    records: Sequence[Record], marks: Sequence[highlights.Marked | None], faults: Faults, form: str | None
) -> list[Record]:
    """Give the documents their highlights."""
    try:
        column = highlights.column_form(marks, [record.document for record in records], form)
    except ValueError as error:
        raise DataError(f"{faults.name}: {error}.") from None
    done = []
    for record, marked in zip(records, marks, strict=True):
        try:
            mask = None if marked is None else highlights.resolve(marked, record.document, column)
        except ValueError as error:
            faults.add(record.number, error)
        else:
            done.append(replace(record, document=replace(record.document, highlight=mask)))
    return done


def _records(
    raw: RawRows, found: Found, tokenizer: Tokenizer, form: str | None, on_bad_row: str
) -> tuple[list[Record], tuple[str, ...]]:
    """Make documents of all rows that can be used, and tell of the others."""
    check_on_bad_row(on_bad_row)
    if form is not None and form not in highlights.FORMS:
        raise SettingsError(f"highlight_form is {form!r}; choose one of {', '.join(highlights.FORMS)}.")
    faults = Faults(raw.name, raw.counted, dict(raw.broken))
    records, marks = list[Record](), []
    for number, row in enumerate(raw.rows, start=1):
        try:
            record = _read(row, number, found, tokenizer)
            marks.append(highlights.parse(row.fields.get(found.highlight), form) if found.highlight else None)
        except ValueError as error:
            faults.add(row.number, error)
        else:
            records.append(record)
    records = _marked(records, marks, faults, form)
    if on_bad_row == "error":
        faults.refuse(_SKIP)
    if not records:
        faults.refuse()
    return records, (*found.notes, *faults.note(len(raw.rows) + len(raw.broken)))


def _missing_labels(raw: RawRows, records: Sequence[Record]) -> tuple[str, ...]:
    """Return what to tell about labels that are how programs write that there is none."""
    labels = Counter(str(record.document.label) for record in records)
    return tuple(
        f"{raw.name}: {count:,} rows have the label {label!r}, as programs write that there is none; is it a class?"
        for label, count in sorted(labels.items())
        if looks_missing(label)
    )


def read_records(
    given: Path | str | RawRows,
    columns: Columns | None = None,
    max_length: int | None = None,
    *,
    tokenizer: str = "words",
    in_parts: bool = True,
    on_bad_row: str = "error",
) -> Records:
    """Read a file, or take rows that were read, leaving out texts of over `max_length` tokens.

    A tokens column makes the tokeniser `spaces`, whatever was asked for. The split column is looked at only
    `in_parts`. Rows that cannot be used are refused, all in one go, or left out and told.
    """
    raw, columns = given if isinstance(given, RawRows) else read_raw(given, keep_broken=True), columns or Columns()
    found = find_columns(raw, columns, split=in_parts)
    used = Tokenizer("spaces" if found.is_tokens else tokenizer)
    records, notes = _records(raw, found, used, columns.highlight_form, on_bad_row)
    kept = tuple(record for record in records if max_length is None or len(record.document.tokens) <= max_length)
    if not kept:
        raise DataError(f"{raw.name}: all {len(records)} texts have more than {max_length} tokens; raise --max-length.")
    notes = (*notes, *_missing_labels(raw, kept))
    return Records(raw.name, raw.counted, kept, used.name, len(records) - len(kept), notes)


def read_unlabelled(
    given: Path | str | RawRows,
    columns: Columns | None = None,
    tokenizer: str = "words",
    on_bad_row: str = "error",
) -> Unlabelled:
    """Read rows to be labelled (`-`: standard input); labels, highlights and splits are not looked at."""
    raw = given if isinstance(given, RawRows) else read_raw(given, keep_broken=True)
    found = find_columns(raw, columns or Columns(), labels=False, split=False)
    used = Tokenizer("spaces" if found.is_tokens else tokenizer)
    records, notes = _records(raw, found, used, None, on_bad_row)
    numbers = {record.number for record in records}
    rows = [dict(row.fields) for row in raw.rows if row.number in numbers]
    corpus = Corpus(tuple(record.document for record in records), used.name)
    return Unlabelled(raw.format, raw.fieldnames, rows, corpus, notes)


def check_known(records: Records, known: Collection[str], part: str) -> None:
    """Refuse labels that no training row has, whatever else is skipped: nothing could have learnt them."""
    faults = Faults(records.name, records.counted)
    for record in records.records:
        label = record.document.label
        if label not in known:
            faults.add(record.number, f"the label {label!r} of this {part} row is that of no training row")
    names = [repr(label) for label in sorted(known)]
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    faults.refuse(f"training rows have {', '.join(names[:LISTED])}{more}")
