"""Frozen word vectors: one table for every method.

Row 0 is padding, all zero; row 1 is one small random vector for every unknown word, so that such a word
differs from padding; the words follow.
"""

import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from genspp.data.subwords import Subwords
from genspp.data.vector_file import VectorFile, read_vector_file
from genspp.errors import DataError, SettingsError
from genspp.streams import frozen

logger = logging.getLogger("genspp")

PAD, UNKNOWN = 0, 1
NAMED = ("corpus", "onehot")  # vectors that are made; any other name is a file's
_UNKNOWN_SEED, _UNKNOWN_BOUND = 100, 0.05  # the authors' vector for unknown words
MOST_ONEHOT = 5_000  # words; the table has as many columns: 100 MB


@dataclass(frozen=True, eq=False)
class Vectors:
    """Words and their vectors: word i is row i + 2 of `table`, (words + 2, dimensions) float32.

    file: where they come from, if it is a file; `extended` looks further words up there. absent: the words that it
    was asked for in vain. own: how many of the words are not guesses; None: all.
    """

    words: tuple[str, ...]
    table: npt.NDArray[np.float32]
    kind: str
    file: VectorFile | None = None
    absent: frozenset[str] = frozenset()
    own: int | None = None

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of every word."""
        return {word: row for row, word in enumerate(self.words, start=2)}

    def coverage(self, keys: Iterable[Sequence[str]]) -> float:
        """Return the share of the tokens of some texts that have a vector of their own; 1 for no tokens."""
        known = [key in self.index for text in keys for key in text]
        return sum(known) / len(known) if known else 1.0

    def extended(self, keys: Iterable[Sequence[str]]) -> "Vectors":
        """Return these vectors with further words, those that their file has and guesses; rows that exist stay.

        Without the file, or if it is another by now, what is lost is said. A guess knows the words that are no guesses
        alone, so it is the same whatever else is asked for.
        """
        tokens = [key for text in keys for key in text if key not in self.index]
        wanted = set(tokens) - self.absent
        if not wanted or self.kind == "onehot":
            return self
        found = self._looked_up(tokens, wanted)
        rows = {word: _widened(row, self.table.shape[1]) for word, row in found.items()}
        own = len(self.words) if self.own is None else self.own
        for word in sorted(wanted - rows.keys()):
            like = self._subwords.like(word)
            if like:
                places, shares = [UNKNOWN + 1 + place for place, _ in like], np.array([share for _, share in like])
                rows[word] = (self.table[places] * (shares / shares.sum())[:, None]).sum(axis=0).astype(np.float32)
        absent = self.absent | (wanted - rows.keys())
        if not rows:
            return self._changed(absent=absent)
        table = np.concatenate([self.table, *(row[None] for row in rows.values())])
        return self._changed(words=(*self.words, *rows), table=table, absent=absent, own=own)

    def trained(self) -> "Vectors":
        """Return these vectors as they were before they were extended."""
        own = len(self.words) if self.own is None else self.own
        table = self.table[: UNKNOWN + 1 + own].copy()  # a view would keep all of it
        return self._changed(words=self.words[:own], table=table, absent=frozenset(), own=None)

    def _changed(self, **fields: Any) -> "Vectors":
        changed = replace(self, **fields)
        changed.__dict__["_subwords"] = self._subwords  # which is of the words that are no guesses
        return changed

    @cached_property
    def _subwords(self) -> Subwords:
        return Subwords(self.words if self.own is None else self.words[: self.own])

    def _looked_up(self, tokens: Sequence[str], wanted: set[str]) -> dict[str, npt.NDArray[np.float32]]:
        """Return the vectors that the file has, if there is one and it is the same as it was."""
        if self.file is None:
            return {}
        found, checksum = dict[str, npt.NDArray[np.float32]](), ""
        # Whoever made the model names the file: one that never ends is not opened.
        with suppress(DataError):
            if Path(self.file.path).is_file():
                found, checksum = read_vector_file(self.file.path, wanted)
        if checksum == self.file.sha256 and all(len(row) <= self.table.shape[1] for row in found.values()):
            return found
        logger.warning(
            "%d tokens (%d words) are unknown: %s, which the model was trained with, is %s; put it back.",
            len(tokens),
            len(wanted),
            self.file.path,
            "not the same file any more" if Path(self.file.path).exists() else "no longer there",
        )
        return {}


def _widened(row: npt.NDArray[np.float32], width: int) -> npt.NDArray[np.float32]:
    """Return a vector with zeros in the columns that know the labels: training has not seen its word."""
    return np.concatenate([row, np.zeros(width - len(row), np.float32)])


def with_frame(words: Sequence[str], rows: npt.NDArray[np.floating], kind: str) -> Vectors:
    """Put padding and the unknown word on top of the words' own rows."""
    width = rows.shape[1]
    unknown = frozen(_UNKNOWN_SEED).uniform(-_UNKNOWN_BOUND, _UNKNOWN_BOUND, (1, width))
    table = np.concatenate([np.zeros((1, width)), unknown, rows]).astype(np.float32)
    return Vectors(tuple(words), table, kind)


def vocabulary(keys: Iterable[Sequence[str]]) -> list[str]:
    """Return the distinct words of some texts, sorted."""
    words = sorted({key for text in keys for key in text})
    if not words:
        raise DataError("There are no words to make vectors for; the texts are empty.")
    return words


def onehot(keys: Sequence[Sequence[str]], width: int | None = None) -> Vectors:
    """Give every word a column of its own, in sorted order; spare columns up to `width` stay zero."""
    words = vocabulary(keys)
    if width is not None and width < len(words):
        raise SettingsError(f"vector_width is {width}, but one-hot vectors of {len(words)} words need {len(words)}.")
    if len(words) > MOST_ONEHOT:
        raise SettingsError(
            f"one-hot vectors of {len(words)} words would fill the memory; use corpus vectors or a file of vectors."
        )
    return with_frame(words, np.eye(len(words), width or len(words), dtype=np.float32), "onehot")


def read_glove(path: Path | str, words: Iterable[str] | None = None, further: Iterable[str] = ()) -> Vectors:
    """Read a GloVe text file, keeping `words` (`None`: all) and behind them `further` ones.

    What comes first does not depend on `further`; whatever else is asked for later is looked up in the file then.
    """
    first = None if words is None else frozenset(words)
    found, checksum = read_vector_file(path, None if first is None else first | frozenset(further))
    if not found:
        raise DataError(
            f"{path} has a vector for none of the words of the texts; give a file in the language of the texts."
        )
    ordered = list(found) if first is None else sorted(found, key=lambda word: word not in first)
    rows = np.stack([found[word] for word in ordered])
    vectors = with_frame(ordered, rows, f"glove:{Path(path).name}")
    # Of a file that was read whole there is nothing left to look up.
    return vectors if first is None else replace(vectors, file=VectorFile(str(Path(path).resolve()), checksum))


def check_width(spec: str | Path | Vectors, width: int | None) -> None:
    """Refuse a width for vectors that come with their own."""
    if width is not None and spec != "onehot":
        raise SettingsError(f"vector_width is {width}, but only one-hot vectors have a width to choose; leave it out.")


def build_vectors(
    spec: str | Path | Vectors,
    keys: Sequence[Sequence[str]],
    width: int | None = None,
    further: Sequence[Sequence[str]] = (),
) -> Vectors:
    """Return the vectors that `spec` names, for training texts `keys` (as the tokeniser's keys).

    `onehot` (with `width`) and `corpus` are made from the training texts alone. Of a GloVe text file the words of
    `further` texts are kept too: it is frozen and knows nothing of the labels. Ready vectors come back as they are.
    """
    check_width(spec, width)
    if isinstance(spec, Vectors):
        return spec
    if spec == "onehot":
        return onehot(keys, width)
    if spec == "corpus":
        from genspp.data.corpus_vectors import from_corpus

        return from_corpus(keys)
    return read_glove(spec, vocabulary(keys), {key for text in further for key in text})
