"""How much of a file is taken in, whoever made it: what is beyond is refused before it fills the memory."""

import io
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from genspp.errors import DataError

FILE = 2 * 2**30  # bytes of a file
LINE = 16 * 2**20  # bytes of a line, characters of a field
COLUMNS = 10_000
CELLS = 20_000_000  # of a table that is compressed
UNPACKED = 2**30  # bytes that a compressed file may unpack to
NESTING = 100  # lists and objects inside each other
DIMENSIONS = 10_000  # of word vectors
_PIECE = 2**20


def read_file(path: Path | str) -> bytes:
    """Return what a file holds; DataError where there is none, it cannot be read, or is too large."""
    try:
        with Path(path).open("rb") as file:
            return read_open(str(path), file)
    except FileNotFoundError:
        raise DataError(f"There is no file {path}.") from None
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from None


def read_text(path: Path) -> str:
    """Return a file of text, its lines ended as Python ends them; UnicodeDecodeError where it is not UTF-8."""
    return read_file(path).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def is_inside(path: Path, folder: Path) -> bool:
    """Tell whether there is such a file, and no link or .. leads out of the folder."""
    try:
        return path.resolve().is_relative_to(folder.resolve()) and path.is_file()
    except (OSError, RuntimeError, ValueError):  # a name that no file can have, or a link to itself
        return False


def read_open(name: str, file: BinaryIO) -> bytes:
    """Return the rest of an open file, or of what is no file and may never end."""
    with suppress(io.UnsupportedOperation):  # what is in memory already
        found = os.fstat(file.fileno())
        if stat.S_ISREG(found.st_mode):
            _check_size(name, found.st_size)
            return file.read()
    content = bytearray()
    while piece := file.read(_PIECE):
        content += piece
        _check_size(name, len(content))
    return bytes(content)


def _check_size(name: str, size: int) -> None:
    if size > FILE:
        raise DataError(f"{name} has more than {FILE:,} bytes, which is too much at once; cut it into several files.")


def check_lines(name: str, content: bytes) -> None:
    """Refuse a file with a line that no row of texts is as long as."""
    start = 0
    while len(content) - start > LINE:
        end = max(content.rfind(b"\n", start, start + LINE), content.rfind(b"\r", start, start + LINE))
        if end < start:
            line = content.count(b"\n", 0, start) + 1
            raise DataError(f"{name}, line {line}: the line has more than {LINE:,} bytes; cut the text into several.")
        start = end + 1


def check_columns(where: str, count: int) -> None:
    """Refuse a table with more columns than anybody has."""
    if count > COLUMNS:
        raise DataError(
            f"{where}: there are {count:,} columns, {COLUMNS:,} at most are read; is it the right separator?"
        )


def check_unpacked(name: str, size: int, cells: int) -> None:
    """Refuse a compressed file that unpacks to too much."""
    if size > UNPACKED:
        raise DataError(f"{name} unpacks to more than {UNPACKED:,} bytes; export it as .csv, in several files.")
    if cells > CELLS:
        raise DataError(f"{name} has more than {CELLS:,} cells; export it as .csv, in several files.")


def check_nesting(value: Any) -> Any:
    """Return a JSON value; ValueError where lists and objects are deeper inside each other than any code can follow."""
    level: list[Any] = [value]
    for _ in range(NESTING):
        level = [item for inner in level for item in _items(inner) if isinstance(item, list | dict)]
        if not level:
            return value
    raise ValueError(f"more than {NESTING} lists or objects inside each other")


def _items(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
