"""Texts with labels and, where people marked them, gold highlights."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from genspp.data.tokenize import Span

SPLIT_SEED = 15000  # the paper's data seed: the rows of a split do not change with the seed of a model


@dataclass(frozen=True, slots=True)
class Document:
    """One text. `highlight` is the gold mask over its tokens, for evaluation only; `None` where there is none."""

    id: str
    text: str
    tokens: tuple[str, ...]
    spans: tuple[Span, ...]
    label: str | None = None
    highlight: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Corpus:
    """A list of documents, with the columns that the rest of the package asks for."""

    documents: tuple[Document, ...]

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)

    def __getitem__(self, rows: Sequence[int]) -> "Corpus":
        return Corpus(tuple(self.documents[i] for i in rows))

    @property
    def tokens(self) -> list[list[str]]:
        """The tokens of every document."""
        return [list(document.tokens) for document in self.documents]

    @property
    def labels(self) -> list[str]:
        """The label of every document; the readers see to it that none is missing where one is needed."""
        return [str(document.label) for document in self.documents]

    @property
    def highlights(self) -> list[npt.NDArray[np.int8] | None]:
        """The gold masks, `None` for a document without one."""
        return [
            None if document.highlight is None else np.asarray(document.highlight, dtype=np.int8)
            for document in self.documents
        ]


@dataclass(frozen=True)
class Splits:
    """The three parts of a data set, the tokeniser that cut its texts, and what to tell the user about reading it."""

    train: Corpus
    val: Corpus
    test: Corpus
    tokenizer: str = "words"
    notes: tuple[str, ...] = field(default=())

    def fingerprint(self) -> str:
        """Return a hash of every token, label, gold highlight and of the split: equal data, equal fingerprint."""
        digest = hashlib.sha256(self.tokenizer.encode())
        for name in ("train", "val", "test"):
            digest.update(name.encode())
            for document in getattr(self, name):
                row = [document.id, document.tokens, document.label, document.highlight]
                digest.update(json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def stratified_split(labels: Sequence[str], fractions: Sequence[float], seed: int = SPLIT_SEED) -> list[list[int]]:
    """Deal row numbers into parts of the given fractions, every class spread evenly; rows keep their order.

    Each class is shuffled by itself and cut at the rounded cumulative fractions, so that a part is within
    one row of its share for every class. The random stream is numpy's frozen legacy one: the same everywhere.
    """
    stream = np.random.RandomState(seed)
    cuts = np.cumsum(fractions)[:-1]
    parts: list[list[int]] = [[] for _ in fractions]
    for label in sorted(Counter(labels)):
        rows = np.array([i for i, other in enumerate(labels) if other == label])
        stream.shuffle(rows)
        bounds = [0, *(round(cut * len(rows)) for cut in cuts), len(rows)]
        for part, start, end in zip(parts, bounds, bounds[1:], strict=False):
            part.extend(int(row) for row in rows[start:end])
    return [sorted(part) for part in parts]
