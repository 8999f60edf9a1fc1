"""Frozen word vectors: one table for every method.

Row 0 is padding, all zero; row 1 is one small random vector for every unknown word, so that such a word
differs from padding (discrepancies D6); the words follow.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from genspp.errors import DataError, SettingsError

Table = npt.NDArray[np.float32]

PAD, UNKNOWN = 0, 1
DIMENSIONS = 25  # as the paper's GloVe vectors
_UNKNOWN_SEED, _UNKNOWN_BOUND = 100, 0.05  # the authors' vector for unknown words


@dataclass(frozen=True, eq=False)
class Vectors:
    """Words and their vectors: word i is row i + 2 of `table`, (words + 2, dimensions) float32."""

    words: tuple[str, ...]
    table: Table
    kind: str

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of every word."""
        return {word: row for row, word in enumerate(self.words, start=2)}

    def coverage(self, keys: Iterable[Sequence[str]]) -> float:
        """Return the share of the tokens of some texts that have a vector of their own; 1 for no tokens."""
        counts = Counter(key for text in keys for key in text)
        known = sum(count for key, count in counts.items() if key in self.index)
        return known / counts.total() if counts else 1.0


_MOST_ONEHOT = 5_000  # words; the table has as many columns: 100 MB


def _vectors(words: Sequence[str], rows: npt.NDArray[np.floating], kind: str) -> Vectors:
    """Put padding and the unknown word on top of the words' own rows."""
    width = rows.shape[1]
    unknown = np.random.RandomState(_UNKNOWN_SEED).uniform(-_UNKNOWN_BOUND, _UNKNOWN_BOUND, (1, width))
    table = np.concatenate([np.zeros((1, width)), unknown, rows]).astype(np.float32)
    return Vectors(tuple(words), table, kind)


def onehot(keys: Sequence[Sequence[str]], width: int | None = None) -> Vectors:
    """Give every word a column of its own, in sorted order; spare columns up to `width` stay zero."""
    words = sorted({key for text in keys for key in text})
    if not words:
        raise DataError("There are no words to make vectors for; the texts are empty.")
    if width is not None and width < len(words):
        raise SettingsError(f"width is {width}, but one-hot vectors of {len(words)} words need {len(words)}.")
    if len(words) > _MOST_ONEHOT:
        raise SettingsError(
            f"one-hot vectors of {len(words)} words would fill the memory; use corpus vectors or a file of vectors."
        )
    return _vectors(words, np.eye(len(words), width or len(words), dtype=np.float32), "onehot")


def _numbers(fields: list[bytes]) -> Table | None:
    """Return a row's floats, `None` if one is not a finite number."""
    try:
        with np.errstate(over="ignore"):
            row = np.array([float(field) for field in fields], dtype=np.float64).astype(np.float32)
    except ValueError:
        return None
    return row if np.isfinite(row).all() else None


def _is_number(field: bytes) -> bool:
    return _numbers([field]) is not None


def _first_line(fields: list[bytes]) -> tuple[int, bool]:
    """Return the dimensions that a first line tells, and whether it is a header `count dimensions`."""
    if len(fields) == 2 and fields[0].isdigit() and fields[1].isdigit() and int(fields[1]) > 0:
        return int(fields[1]), True
    return len(fields) - 1, False


def read_glove(path: Path | str, words: Iterable[str] | None = None) -> Vectors:
    """Read a GloVe text file (a word and its numbers, separated by spaces), keeping `words` (`None`: all).

    The file is streamed. The fields of every line are counted, the numbers of the wanted words checked. A
    word may contain spaces, as in glove.840B: the last fields are the vector, as many as the first line has.
    The first of two equal words counts. A header line `count dimensions`, as word2vec writes it, is passed
    over.
    """
    wanted = None if words is None else frozenset(words)
    found: dict[str, Table] = {}
    dimensions = 0
    try:
        with Path(path).open("rb") as file:
            for number, line in enumerate(file, start=1):
                fields = line.rstrip().split(b" ")
                if len(fields) < 2 and not fields[0]:
                    continue
                if not dimensions:
                    dimensions, header = _first_line(fields)
                    if header:
                        continue
                word = _word(f"{path}, line {number}", fields, dimensions)
                if (wanted is None or word in wanted) and word not in found:
                    row = _numbers(fields[-dimensions:])
                    if row is None:
                        raise DataError(
                            f"{path}, line {number}: the vector of {word!r} holds something other than "
                            "finite numbers; mend or remove the line."
                        )
                    found[word] = row
    except FileNotFoundError:
        raise DataError(f"There is no vector file {path}; give a GloVe text file, 'corpus' or 'onehot'.") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    if not found:
        what = "has a vector for none of the words of the texts" if wanted and dimensions else "holds no vectors"
        raise DataError(f"{path} {what}; give a GloVe text file in the language of the texts.")
    return _vectors(list(found), np.stack(list(found.values())), f"glove:{Path(path).name}")


def _word(place: str, fields: list[bytes], dimensions: int) -> str:
    """Return the word of a line, having counted its fields."""
    surplus = len(fields) - 1 - dimensions
    # A number among the surplus fields belongs to a vector that is too long, not to a word with spaces in it.
    if dimensions < 1 or surplus < 0 or (surplus and any(map(_is_number, fields[1 : surplus + 1]))):
        raise DataError(
            f"{place}: {len(fields) - 1} numbers where {max(dimensions, 1)} were expected; every line of a "
            "vector file must be a word and equally many numbers."
        )
    try:
        return b" ".join(fields[: surplus + 1]).decode("utf-8")
    except UnicodeDecodeError:
        raise DataError(f"{place}: the word is not UTF-8; save the vector file as UTF-8.") from None


def _cooccurrence(keys: Sequence[Sequence[str]], index: dict[str, int], window: int) -> Any:
    """Count how often two words stand within `window` tokens of each other: a symmetric sparse matrix."""
    from scipy.sparse import coo_matrix

    ids = np.array([index[key] for text in keys for key in text], dtype=np.int64)
    texts = np.repeat(np.arange(len(keys)), [len(text) for text in keys])
    left, right = [], []
    for distance in range(1, min(window, len(ids) - 1) + 1):
        together = np.flatnonzero(texts[:-distance] == texts[distance:])
        left.append(ids[together])
        right.append(ids[together + distance])
    pairs = (np.concatenate([*left, *right]), np.concatenate([*right, *left])) if left else (ids[:0], ids[:0])
    return coo_matrix((np.ones(len(pairs[0])), pairs), shape=(len(index), len(index))).tocsr()


def _ppmi(counts: Any, smoothing: float) -> Any:
    """Return log(P(w, c) / (P(w) P(c))) where positive, the contexts' counts to the power `smoothing`."""
    words = np.asarray(counts.sum(axis=1)).ravel()
    contexts = np.asarray(counts.sum(axis=0)).ravel() ** smoothing
    cells = counts.tocoo()
    values = np.log(cells.data * contexts.sum() / (words[cells.row] * contexts[cells.col]))
    cells.data = np.maximum(values, 0)
    matrix = cells.tocsr()
    matrix.eliminate_zeros()
    return matrix


def _unit(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Scale rows to length 1; a row of zeros stays one."""
    lengths: npt.NDArray[np.float64] = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.maximum(lengths, 1e-12)


def from_corpus(
    keys: Sequence[Sequence[str]],
    dimensions: int = DIMENSIONS,
    window: int = 2,
    smoothing: float = 0.75,
    noise: float = 0.3,
) -> Vectors:
    """Make vectors from the texts themselves: positive pointwise mutual information, truncated SVD.

    The left singular vectors are taken without their singular values: the first few dimensions would
    otherwise drown the rest, and words that decide between classes stand in similar contexts. For the same
    reason every word gets a fixed random direction of its own, `noise` long where the context part is sqrt(1
    - noise^2): words that fill the same slot of the same sentences have equal contexts, and nothing could
    tell them apart. The whole table has standard deviation 1.
    """
    from sklearn.utils.extmath import randomized_svd

    words = sorted({key for text in keys for key in text})
    if not words:
        raise DataError("There are no words to make vectors for; the texts are empty.")
    matrix = _ppmi(_cooccurrence(keys, {word: i for i, word in enumerate(words)}, window), smoothing)
    contexts = np.zeros((len(words), dimensions))
    if matrix.nnz:
        left, values, _ = randomized_svd(matrix, min(dimensions, len(words)), n_iter=7, random_state=0)
        left = left[:, values > 1e-6 * values[0]]  # beyond the rank a singular vector is rounding error
        signs = np.sign(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])])
        contexts[:, : left.shape[1]] = left * signs
    own = np.random.RandomState(0).standard_normal(contexts.shape)
    rows = np.sqrt(1 - noise**2) * _unit(contexts) + noise * _unit(own)
    return _vectors(words, rows / rows.std(), "corpus")


def build_vectors(
    spec: str | Path | Vectors,
    keys: Sequence[Sequence[str]],
    width: int | None = None,
) -> Vectors:
    """Return the vectors that `spec` names, for training texts `keys` (as the tokeniser's keys).

    `onehot` (with `width`), `corpus`, the path of a GloVe text file, of which the words of `keys` are kept, or ready
    vectors, which come back as they are.
    """
    if isinstance(spec, Vectors):
        return spec
    if width is not None and spec != "onehot":
        raise SettingsError(f"width is {width}, but only one-hot vectors have a width to choose; leave it out.")
    if spec == "onehot":
        return onehot(keys, width)
    if spec == "corpus":
        return from_corpus(keys)
    return read_glove(spec, {key for text in keys for key in text})


def coverage_note(vectors: Vectors, keys: Iterable[Sequence[str]]) -> str:
    """Return a sentence on how many tokens have a vector of their own."""
    return f"{vectors.coverage(keys):.1%} of the tokens have a vector of their own."
