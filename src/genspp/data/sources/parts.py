"""Records in three parts: the values of the split column, or files of their own; what is still missing is split off.

Splitting is stratified and seeded.
"""

import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from genspp.data.corpus import PARTS, SPLIT_SEED, Corpus, Splits, stratified_split, truncated_note
from genspp.data.faults import LISTED
from genspp.data.records import Records, check_known, read_records
from genspp.data.rows import RawRows
from genspp.data.sources.base import Options, left_out_note
from genspp.errors import DataError

logger = logging.getLogger("genspp")

_SHOWN = 5  # rows that are named as examples


def _divide(main: Records, missing: Sequence[str], seed: int) -> dict[str, Records]:
    """Split the missing parts off the training rows, every class in each: 64 / 16 / 20 %, or 80 / 20 %."""
    names = ("train", *missing)
    fractions = (0.64, 0.16, 0.20) if len(missing) == 2 else (0.8, 0.2)
    labels = main.corpus.labels
    parts = {
        name: replace(main, records=tuple(main.records[i] for i in rows))
        for name, rows in zip(names, stratified_split(labels, fractions, seed), strict=True)
    }
    everywhere = set.intersection(*(set(part.corpus.labels) for part in parts.values()))
    few = [(label, count) for label, count in sorted(Counter(labels).items()) if label not in everywhere]
    if few:
        named = ", ".join(f"{label!r} ({count})" for label, count in few[:LISTED])
        more = f" and {len(few) - LISTED:,} more" if len(few) > LISTED else ""
        raise DataError(
            f"{main.name} has too few training rows to split into {', '.join(names)} of {len(few):,} "
            f"label{'s' * (len(few) > 1)}: {named}{more}; add rows, leave these out, or say which rows are which in a "
            "split column or with --val and --test (is it the right label column?)."
        )
    return parts


def _dealt(main: Records, extras: Mapping[str, Records]) -> dict[str, Records]:
    """Deal the rows of the main file to the parts that they name, and add the extra files."""
    parts = {
        part: replace(main, records=tuple(record for record in main.records if (record.part or "train") == part))
        for part in PARTS
    }
    for part, extra in extras.items():
        if len(parts[part]):
            raise DataError(
                f"{main.name} has {part} rows in its split column, and --{part} names {extra.name}; use one."
            )
        if extra.tokenizer != main.tokenizer:
            raise DataError(f"{main.name} and {extra.name} must both have a text column, or both tokens.")
        parts[part] = extra
    if not len(parts["train"]):
        raise DataError(f"{main.name} has no train rows in its split column.")
    labels = sorted(set(parts["train"].corpus.labels))
    if len(labels) < 2:
        raise DataError(
            f"{main.name}: all {len(parts['train'])} training rows have the label {labels[0]!r}; at "
            "least two classes are needed (is it the right label column?)."
        )
    return parts


def _repeated(splits: Splits, parts: Mapping[str, Records]) -> tuple[str, ...]:
    """Return what to tell about texts that stand in several parts: figures on them say little."""
    notes = []
    for part, rows in splits.repeated().items():
        records = parts[part]
        if rows:
            named = ", ".join(f"{records.counted} {records.records[row].number}" for row in rows[:_SHOWN])
            more = f" and {len(rows) - _SHOWN:,} more" if len(rows) > _SHOWN else ""
            before = " or ".join(PARTS[: PARTS.index(part)])
            notes.append(
                f"{len(rows):,} of {len(records):,} {part} rows have a text that {before} has too "
                f"({records.name}, {named}{more}): figures on them say little about new texts."
            )
    return tuple(notes)


def records_of(given: Path | str | RawRows, options: Options, in_parts: bool = True) -> Records:
    """Read a file, or take rows that were read, as the options say; the split column is looked at only `in_parts`."""
    return read_records(
        given,
        options.columns,
        options.max_length,
        tokenizer=options.tokenizer or "words",
        in_parts=in_parts,
        on_bad_row=options.on_bad_row,
    )


def rows_to_score(given: Path | str | RawRows, options: Options, known: Collection[str]) -> Corpus:
    """Return all rows, for a model that knows these labels; what is to be told about reading them is logged."""
    records = records_of(given, options, in_parts=False)
    check_known(records, known, "test")
    corpus = records.corpus.truncated(options.truncate)
    for note in (*records.notes, *truncated_note((corpus,), options.truncate)):
        logger.warning(note)
    return corpus


def extra_files(options: Options) -> dict[str, Records]:
    """Read the files that hold other parts; a split column of theirs is not looked at."""
    named = {"val": options.val, "test": options.test}
    return {part: records_of(path, options, in_parts=False) for part, path in named.items() if path is not None}


def in_parts(
    main: Records, extras: Mapping[str, Records], max_length: int | None = None, seed: int = SPLIT_SEED
) -> Splits:
    """Return the rows of a file, and of those that hold other parts, as train, val and test."""
    parts, files = _dealt(main, extras), (main, *extras.values())
    notes = [note for records in files for note in records.notes]
    kept, left_out = sum(map(len, files)), sum(records.left_out for records in files)
    notes += left_out_note(kept + left_out, kept, max_length)
    known = set(parts["train"].corpus.labels)
    missing = [part for part in ("val", "test") if not len(parts[part])]
    if missing:
        parts |= _divide(parts["train"], missing, seed)
        sizes = ", ".join(f"{len(parts[part]):,} {part}" for part in PARTS)
        notes.append(f"The {' and '.join(missing)} rows were split off the training rows: {sizes}.")
    for part in ("val", "test"):
        check_known(parts[part], known, part)
    splits = Splits(parts["train"].corpus, parts["val"].corpus, parts["test"].corpus)
    return replace(splits, notes=(*notes, *_repeated(splits, parts)))
