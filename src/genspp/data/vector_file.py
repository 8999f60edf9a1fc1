"""Files of word vectors in GloVe's text format: a word and its numbers, separated by spaces, one word per line."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from genspp.data.limits import DIMENSIONS, LINE
from genspp.errors import DataError

Row = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class VectorFile:
    """Which file vectors come from: where it was, and the checksum of what it held."""

    path: str
    sha256: str


def read_vector_file(path: Path | str, words: Iterable[str] | None = None) -> tuple[dict[str, Row], str]:
    """Return the vectors of `words` (`None`: all) that the file has, in its order, and its SHA-256.

    The file is streamed. The fields of every line are counted, the numbers of the wanted words checked. A
    word may contain spaces, as in glove.840B: the last fields are the vector, as many as the first line has.
    The first of two equal words counts. A header line `count dimensions`, as word2vec writes it, is passed
    over.
    """
    wanted = None if words is None else frozenset(words)
    found: dict[str, Row] = {}
    dimensions = 0
    digest = hashlib.sha256()
    try:
        with Path(path).open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(LINE + 1), b""), start=1):
                if len(line) > LINE:
                    raise DataError(f"{path}, line {number}: more than {LINE:,} bytes; give a GloVe text file.")
                digest.update(line)
                fields = line.rstrip().split(b" ")
                if len(fields) < 2 and not fields[0]:
                    continue
                if not dimensions:
                    dimensions, header = _first_line(fields)
                    if dimensions > DIMENSIONS:
                        raise DataError(
                            f"{path}, line {number}: more than {DIMENSIONS:,} numbers; give a GloVe text file."
                        )
                    if header:
                        continue
                word = _word(f"{path}, line {number}", fields, dimensions)
                if (wanted is None or word in wanted) and word not in found:
                    found[word] = _vector(f"{path}, line {number}", word, fields[-dimensions:])
    except FileNotFoundError:
        raise DataError(f"There is no vector file {path}; give a GloVe text file, 'corpus' or 'onehot'.") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    if not dimensions or (wanted is None and not found):
        raise DataError(f"{path} holds no vectors; give a GloVe text file.")
    return found, digest.hexdigest()


def _numbers(fields: list[bytes]) -> Row | None:
    """Return a row's floats, `None` if one is not a finite number."""
    try:
        with np.errstate(over="ignore"):
            row = np.array([float(field) for field in fields], dtype=np.float64).astype(np.float32)
    except ValueError:
        return None
    return row if np.isfinite(row).all() else None


def _vector(place: str, word: str, fields: list[bytes]) -> Row:
    row = _numbers(fields)
    if row is None:
        raise DataError(
            f"{place}: the vector of {word!r} holds something other than finite numbers; mend or remove the line."
        )
    return row


def _first_line(fields: list[bytes]) -> tuple[int, bool]:
    """Return the dimensions that a first line tells, and whether it is a header `count dimensions`."""
    if len(fields) == 2 and fields[0].isdigit() and fields[1].isdigit() and len(fields[1]) < 10 and int(fields[1]) > 0:
        return int(fields[1]), True
    return len(fields) - 1, False


def _word(place: str, fields: list[bytes], dimensions: int) -> str:
    """Return the word of a line, having counted its fields."""
    surplus = len(fields) - 1 - dimensions
    # A number among the surplus fields belongs to a vector that is too long, not to a word with spaces in it.
    too_long = surplus > 0 and any(_numbers([field]) is not None for field in fields[1 : surplus + 1])
    if dimensions < 1 or surplus < 0 or too_long:
        raise DataError(
            f"{place}: {len(fields) - 1} numbers where {max(dimensions, 1)} were expected; every line of a "
            "vector file must be a word and equally many numbers."
        )
    try:
        return b" ".join(fields[: surplus + 1]).decode("utf-8")
    except UnicodeDecodeError:
        raise DataError(f"{place}: the word is not UTF-8; save the vector file as UTF-8.") from None
