"""What every source of data offers, and how one is found by what somebody typed.

A source is a class in a file of this folder, registered under the name it is typed by: `toy`, or, where it is read
from a folder, `hatexplain:FOLDER`.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Self

from genspp.data.columns import Columns
from genspp.data.corpus import Corpus, Document, Splits, truncated_note
from genspp.data.faults import check_on_bad_row
from genspp.errors import DataError, SettingsError
from genspp.registry import Registry

logger = logging.getLogger("genspp")

SOURCES: Registry[type["Source"]] = Registry("data", "genspp.data.sources")


@dataclass(frozen=True, slots=True)
class Options:
    """What may be asked of a source. All but `max_length` and `truncate` is for one's own data only; `None` is no wish.

    max_length: leave out texts of more tokens. truncate: read the first tokens of a text, so many at most. on_bad_row:
    whether rows that cannot be used are an error, or are skipped and told.
    """

    columns: Columns = field(default_factory=Columns)
    val: Path | str | None = None
    test: Path | str | None = None
    max_length: int | None = None
    tokenizer: str | None = None
    on_bad_row: str = "error"
    truncate: int | None = None


@dataclass(frozen=True)
class Source(ABC):
    """A source as it was typed: its name in the registry, and the folder or file, if it has one.

    title: its name in tables. family: whose settings the methods take on it; "files" for data that the paper did not
    have. in_folder: whether it is typed `name:FOLDER`. may_be_shown: whether its texts may stand on a screen unasked.
    takes_columns: whether columns, files and a tokeniser may be named.
    """

    name: str
    place: str = ""

    title: ClassVar[str]
    family: ClassVar[str] = "files"
    in_folder: ClassVar[bool] = False
    may_be_shown: ClassVar[bool] = True
    takes_columns: ClassVar[bool] = False

    @classmethod
    def form(cls, name: str) -> str:
        """Return how the source of that name is typed."""
        return f"{name}:FOLDER" if cls.in_folder else name

    @classmethod
    def typed(cls, name: str, text: str) -> Self | None:
        """Return the source that somebody typed, `None` if it is another one."""
        head, colon, place = text.partition(":")
        if head != name or bool(colon) != cls.in_folder:
            return None
        if cls.in_folder and not place:
            raise DataError(f"The source {text!r} names no folder; give {cls.form(name)}.")
        return cls(name, place)

    @property
    def absolute(self) -> str:
        """What to type for the same source from any folder."""
        return f"{self.name}:{Path(self.place).resolve()}" if self.in_folder else self.name

    @property
    def command(self) -> str:
        """What to type for it on another machine: names in the place of local paths."""
        return self.form(self.name)

    @property
    def called(self) -> str:
        """The name of the data set that it is."""
        return self.name

    def load(self, options: Options | None = None) -> Splits:
        """Read or make the data."""
        options = options or Options()
        check_on_bad_row(options.on_bad_row)
        lengths = Options(max_length=options.max_length, truncate=options.truncate)
        if not self.takes_columns and options != lengths:
            raise SettingsError(
                f"Columns, --val, --test, --on-bad-row and a tokenizer are for your own files, not for {self.name}."
            )
        if options.max_length is not None and options.max_length < 1:
            raise SettingsError(f"max_length is {options.max_length}; it must be at least 1.")
        if options.max_length is not None and options.truncate is not None and options.truncate >= options.max_length:
            raise SettingsError(
                f"max_length is {options.max_length} and truncate is {options.truncate}: texts of more than "
                f"{options.max_length} tokens are left out, so that none is cut; give one of them, or a lower truncate."
            )
        return self._load(options).truncated(options.truncate)

    def fieldnames(self) -> tuple[str, ...]:
        """Return the columns that the source has, where they may be named."""
        return ()

    def test_rows(self, options: Options, known: Collection[str]) -> Corpus:
        """Return the rows that a model from elsewhere, which knows these labels, is scored on."""
        corpus = self.load(options).test
        for note in truncated_note((corpus,), options.truncate):
            logger.warning(note)
        for document in corpus:
            if document.label not in known:
                raise DataError(
                    f"{self.title}, row {document.id}: the label {document.label!r} is none of the model's, "
                    f"which has {', '.join(repr(label) for label in sorted(known))}."
                )
        return corpus

    @abstractmethod
    def _load(self, options: Options) -> Splits:
        """Read or make the data, as the options say."""


def forms() -> str:
    """Return how all sources are typed, in words."""
    typed = sorted((kind.form(name) for name, kind in SOURCES.items()), key=lambda form: " " in form)
    return f"{', '.join(typed[:-1])}, or {typed[-1]}"


def find_source(text: str) -> Source:
    """Return the source that somebody typed."""
    for name, kind in SOURCES.items():
        source = kind.typed(name, text)
        if source is not None:
            return source
    raise DataError(f"The source {text!r} is not known; give {forms()}.")


def load_source(text: str, options: Options | None = None) -> Splits:
    """Read the source that somebody typed."""
    return find_source(text).load(options)


def short_enough(documents: list[Document], max_length: int | None, where: str) -> tuple[Document, ...]:
    """Return the documents that have a token and no more than `max_length`; there must be one."""
    kept = tuple(d for d in documents if d.tokens and (max_length is None or len(d.tokens) <= max_length))
    if not kept:
        raise DataError(f"{where}: all {len(documents)} texts have more than {max_length} tokens; raise --max-length.")
    return kept


def left_out_note(read: int, kept: int, max_length: int | None) -> tuple[str, ...]:
    """Return what to tell about texts that were too long, if any were."""
    if kept == read:
        return ()
    return (f"{read - kept:,} of {read:,} texts were left out: more than {max_length} tokens (--max-length).",)
