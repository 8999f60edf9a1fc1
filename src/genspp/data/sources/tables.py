"""One's own data: a `.jsonl` or `.csv` file, in three parts.

The parts are the values of the split column, or files of their own; what is still missing is split off the training
rows, stratified and seeded.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from genspp.data.corpus import PARTS, SPLIT_SEED, Corpus, Splits, stratified_split
from genspp.data.records import Records, check_known, read_records
from genspp.data.rows import format_of
from genspp.data.sources.base import SOURCES, Options, Source, left_out_note
from genspp.errors import DataError


def _divide(main: Records, missing: Sequence[str], seed: int) -> dict[str, Records]:
    """Split the missing parts off the training rows, every class in each: 64 / 16 / 20 %, or 80 / 20 %."""
    names = ("train", *missing)
    fractions = (0.64, 0.16, 0.20) if len(missing) == 2 else (0.8, 0.2)
    labels = main.corpus.labels
    parts = {
        name: replace(main, records=tuple(main.records[i] for i in rows))
        for name, rows in zip(names, stratified_split(labels, fractions, seed), strict=True)
    }
    classes = {name: set(part.corpus.labels) for name, part in parts.items()}
    for label, count in sorted(Counter(labels).items()):
        without = [name for name in names if label not in classes[name]]
        if without:
            raise DataError(
                f"{main.name} has only {count} training row(s) of the label {label!r}, too few to split "
                f"into {', '.join(names)} (none would be left for {without[0]}); add rows, or say which "
                "rows are which in a split column or with --val and --test."
            )
    return parts


def _parts(main: Records, extras: dict[str, Records]) -> dict[str, Records]:
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


def load_tables(path: Path | str, options: Options | None = None, seed: int = SPLIT_SEED) -> Splits:
    """Read one's own data in three parts. A split column of the extra files is not looked at."""
    options = options or Options()
    cut, longest = options.tokenizer or "words", options.max_length
    main = read_records(path, options.columns, longest, tokenizer=cut)
    extras = {
        part: read_records(extra, options.columns, longest, tokenizer=cut, in_parts=False)
        for part, extra in (("val", options.val), ("test", options.test))
        if extra is not None
    }
    parts = _parts(main, extras)
    kept = sum(len(records) for records in (main, *extras.values()))
    left_out = sum(records.left_out for records in (main, *extras.values()))
    notes = left_out_note(kept + left_out, kept, longest)
    known = set(parts["train"].corpus.labels)
    missing = [part for part in ("val", "test") if not len(parts[part])]
    if missing:
        parts |= _divide(parts["train"], missing, seed)
        sizes = ", ".join(f"{len(parts[part]):,} {part}" for part in PARTS)
        notes = (*notes, f"The {' and '.join(missing)} rows were split off the training rows: {sizes}.")
    for part in ("val", "test"):
        check_known(parts[part], known, part)
    return Splits(**{part: parts[part].corpus for part in PARTS}, notes=notes)


@SOURCES.register("files")
class Tables(Source):
    """A file with a text, a label and, if people marked them, a highlight in every row."""

    title = "Own file"
    takes_columns = True

    @classmethod
    def form(cls, name: str) -> str:
        """Return how one's own file is typed."""
        return "a file that ends in .jsonl or .csv"

    @classmethod
    def typed(cls, name: str, text: str) -> Self | None:
        """Return the source of a file that ends as it must."""
        head, colon, _ = text.partition(":")
        return None if format_of(text) is None or (colon and head in SOURCES) else cls(name, text)

    @property
    def absolute(self) -> str:
        """The whole path of the file."""
        return str(Path(self.place).resolve())

    @property
    def command(self) -> str:
        """The name of the file."""
        return Path(self.place).name

    @property
    def called(self) -> str:
        """The name of the file without its ending."""
        return Path(self.place).stem

    def _load(self, options: Options) -> Splits:
        return load_tables(self.place, options)

    def test_rows(self, options: Options, known: Collection[str]) -> Corpus:
        """Return all rows of the file."""
        cut = options.tokenizer or "words"
        records = read_records(self.place, options.columns, options.max_length, tokenizer=cut, in_parts=False)
        check_known(records, known, "test")
        return records.corpus
