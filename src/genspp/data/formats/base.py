"""What every format of files offers: the bytes of a file as rows, and rows as bytes.

A format is a class in a file of this folder, registered under the ending of its files.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from genspp.data.corpus import missing
from genspp.data.faults import Faults
from genspp.errors import DataError
from genspp.registry import Registry

FORMATS: Registry[type["Format"]] = Registry("format", "genspp.data.formats")


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its number, as people would count it, and its fields."""

    number: int
    fields: dict[str, Any]


Table = tuple[tuple[str, ...], list[Row]]  # the names of the columns, and the rows


class Format(ABC):
    """A kind of file. counted: what the numbers of its rows count. is_text: whether a terminal can show it."""

    counted: ClassVar[str] = "row"
    is_text: ClassVar[bool] = False

    @staticmethod
    @abstractmethod
    def read(content: bytes, faults: Faults) -> Table:
        """Return the rows of a file. One that is broken goes to `faults`, which also has the name of the file."""

    @staticmethod
    @abstractmethod
    def write(rows: Sequence[Mapping[str, Any]]) -> bytes:
        """Return the content of a file that holds these rows."""


def names_of(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the columns that any of the rows has, in their order."""
    return tuple(dict.fromkeys(name for row in rows for name in row))


def check_distinct(columns: Sequence[str], where: str) -> None:
    """Refuse two columns of one name."""
    twice = sorted(column for column, count in Counter(columns).items() if count > 1)
    if twice:
        raise DataError(f"{where}: the column {twice[0]!r} occurs twice; rename one.")


def package(name: str, extra: str, what: str) -> Any:
    """Import a package that only some files need."""
    try:
        return import_module(name)
    except ImportError:
        root = name.partition(".")[0]
        raise DataError(f"{what} cannot be read or written without {root}; install genspp[{extra}].") from None


def reason(error: Exception) -> str:
    """Return what a package's error says in one line."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__


def plain(value: Any) -> Any:
    """Return a value as JSON would hold it: lists for arrays, `None` for what is missing, text for dates."""
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, np.generic):
        value = value.item()
    if missing(value):
        return None
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str | bool | int | float) else str(value)
