"""Texts as documents: cut once, with their places, labels and, where people marked them, gold highlights.

Whatever a text comes from, it is a `Document` from here on, all the way to the rationale that explains it.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from genspp.data.tokenize import Span, Tokenizer
from genspp.errors import DataError
from genspp.streams import frozen

SPLIT_SEED = 15000  # the paper's data seed: the rows of a split do not change with the seed of a model
PARTS = ("train", "val", "test")


@dataclass(frozen=True, slots=True)
class Document:
    """One text.

    text: as it was given; where tokens were given, those joined. spans: the (start, end) of every token in it.
    label: a string where a file was read, of any kind in Python. highlight: the gold mask over the tokens, for
    evaluation only. Both are `None` where there is none. unread: how many tokens follow in the text that are not read.
    made_of: where it is put together from named documents, the name of each and the numbers of its tokens, first and
    behind the last.
    """

    id: str
    text: str
    tokens: tuple[str, ...]
    spans: tuple[Span, ...]
    label: Any = None
    highlight: tuple[int, ...] | None = None
    unread: int = 0
    made_of: tuple[tuple[str, int, int], ...] = ()

    def first(self, most: int) -> "Document":
        """Return the document with so many of its tokens at most; its text stays whole."""
        tokens, highlight = self.tokens[:most], None if self.highlight is None else self.highlight[:most]
        unread = self.unread + len(self.tokens) - len(tokens)
        return replace(self, tokens=tokens, spans=self.spans[:most], highlight=highlight, unread=unread)


@dataclass(frozen=True)
class Corpus:
    """Documents, the name of the tokeniser that cut them, and the columns that the rest of the package asks for."""

    documents: tuple[Document, ...]
    tokenizer: str = "words"

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)

    def __getitem__(self, rows: Sequence[int]) -> "Corpus":
        return replace(self, documents=tuple(self.documents[i] for i in rows))

    @property
    def labels(self) -> list[Any]:
        """The label of every document."""
        return [document.label for document in self.documents]

    @property
    def highlights(self) -> list[npt.NDArray[np.int8] | None]:
        """The gold masks, `None` for a document without one."""
        return [
            None if document.highlight is None else np.asarray(document.highlight, dtype=np.int8)
            for document in self.documents
        ]

    def truncated(self, most: int | None) -> "Corpus":
        """Return the corpus with so many tokens of every text at most; the same one where none has more."""
        if most is None or all(len(document.tokens) <= most for document in self.documents):
            return self
        return replace(self, documents=tuple(document.first(most) for document in self.documents))

    def keys(self, tokenizer: str) -> list[list[str]]:
        """Return every document's tokens in the form in which a model of that tokeniser looks them up."""
        key = Tokenizer(tokenizer).key
        return [[key(token) for token in document.tokens] for document in self.documents]


Texts = Sequence[str] | Sequence[Sequence[str]] | Corpus


def as_corpus(texts: Texts, tokenizer: str = "words", labels: Sequence[Any] | None = None) -> Corpus:
    """Make a corpus of strings or token lists; one that is a corpus already stays as it is, but for `labels`."""
    corpus = texts if isinstance(texts, Corpus) else Corpus(tuple(_documents(texts, Tokenizer(tokenizer))), tokenizer)
    if not len(corpus):
        raise DataError("there are no texts; give at least one.")
    return corpus if labels is None else _with_labels(corpus, labels)


def truncated_note(corpora: Sequence[Corpus], most: int | None) -> tuple[str, ...]:
    """Return what to tell about texts of which only the first tokens are read, if there are any."""
    unread = [document.unread > 0 for corpus in corpora for document in corpus]
    if not any(unread):
        return ()
    return (f"{sum(unread):,} of {len(unread):,} texts cut to their first {most} tokens (--truncate).",)


def column_names(table: Any) -> list[Any] | None:
    """Return the columns of a pandas DataFrame, a Hugging Face Dataset or their like, `None` for what is none."""
    names = getattr(table, "column_names", None) or getattr(table, "columns", None)
    return None if names is None or not hasattr(table, "__len__") else list(names)


def _only_column(given: Any, what: str) -> Any:
    """Return the one column of a table that has one, and what is no table as it is."""
    names = column_names(given)
    if names is None:
        return given
    if len(names) != 1:
        raise DataError(
            f"{what} is a {type(given).__name__} of the columns {', '.join(map(repr, names))}; give one of them, or "
            "read it with genspp.read_corpus."
        )
    return given[names[0]]


def _documents(texts: Sequence[str] | Sequence[Sequence[str]], tokenizer: Tokenizer) -> Iterator[Document]:
    texts = _only_column(texts, "texts")
    if isinstance(texts, str) or not hasattr(texts, "__len__"):
        raise DataError(f"texts is a {type(texts).__name__}; give a list of strings or of token lists.")
    if isinstance(texts, np.ndarray) and texts.ndim != 1:
        raise DataError(f"texts is an array of shape {texts.shape}; give one text per row, as a list or a flat array.")
    for number, given in enumerate(texts):
        if isinstance(given, str):
            text = str(given)
            tokens, spans = tokenizer(text)
        elif isinstance(given, Sequence | np.ndarray) and all(isinstance(token, str) for token in given):
            tokens = [str(token) for token in given]
            text, spans = tokenizer.join(tokens)
        elif missing(given):
            raise DataError(f"text {number} (from 0) is missing ({given}); leave it out or fill it in.")
        else:
            raise DataError(f"text {number} (from 0) is a {type(given).__name__}; give a string or a list of tokens.")
        if not tokens:
            raise DataError(f"text {number} (from 0) is empty; leave it out or fill it in.")
        yield Document(str(number), text, tuple(tokens), tuple(spans))


def _with_labels(corpus: Corpus, labels: Sequence[Any]) -> Corpus:
    labels = _only_column(labels, "labels")
    if len(labels) != len(corpus):
        raise DataError(f"there are {len(corpus)} texts but {len(labels)} labels; give one label per text.")
    plain = [label.item() if isinstance(label, np.generic) else label for label in labels]
    pairs = zip(corpus, plain, strict=True)
    return replace(corpus, documents=tuple(replace(document, label=label) for document, label in pairs))


def missing(value: Any) -> bool:
    """Tell whether a value is what tables put where there is none: `None`, NaN, or pandas' NA and NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and math.isnan(value)


def check_labels(corpus: Corpus) -> None:
    """Refuse a corpus in which a label is missing."""
    for number, label in enumerate(corpus.labels):
        if missing(label):
            raise DataError(f"label {number} (from 0) is {label}; give every text a label.")


@dataclass(frozen=True)
class Splits:
    """The three parts of a data set, and what to tell the user about reading it."""

    train: Corpus
    val: Corpus
    test: Corpus
    notes: tuple[str, ...] = field(default=())

    def truncated(self, most: int | None) -> "Splits":
        """Return the parts with so many tokens of every text at most, and a note on how many had more."""
        train, val, test = (part.truncated(most) for part in (self.train, self.val, self.test))
        return Splits(train, val, test, (*self.notes, *truncated_note((train, val, test), most)))

    @property
    def tokenizer(self) -> str:
        """The tokeniser that cut the texts."""
        return self.train.tokenizer

    @property
    def rows(self) -> dict[str, int]:
        """The number of texts in every part."""
        return {name: len(getattr(self, name)) for name in PARTS}

    def repeated(self) -> dict[str, list[int]]:
        """Return for every part the rows whose text, word for word, a part before it has too."""
        seen, found = set[tuple[str, ...]](), {}
        for name in PARTS:
            keys = [tuple(text) for text in getattr(self, name).keys(self.tokenizer)]
            found[name] = [row for row, text in enumerate(keys) if text in seen]
            seen.update(keys)
        return found

    def fingerprint(self) -> str:
        """Return a hash of every token, label, gold highlight and of the split: equal data, equal fingerprint."""
        digest = hashlib.sha256(self.tokenizer.encode())
        for name in PARTS:
            digest.update(name.encode())
            for document in getattr(self, name):
                row = [document.id, document.tokens, document.label, document.highlight]
                digest.update(json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def stratified_split(labels: Sequence[str], fractions: Sequence[float], seed: int = SPLIT_SEED) -> list[list[int]]:
    """Deal row numbers into parts of the given fractions, every class spread evenly; rows keep their order.

    Each class is shuffled by itself and cut at the rounded cumulative fractions, so that a part is within
    one row of its share for every class.
    """
    stream = frozen(seed)
    cuts = np.cumsum(fractions)[:-1]
    parts: list[list[int]] = [[] for _ in fractions]
    for label in sorted(Counter(labels)):
        rows = np.array([i for i, other in enumerate(labels) if other == label])
        stream.shuffle(rows)
        bounds = [0, *(round(cut * len(rows)) for cut in cuts), len(rows)]
        for part, start, end in zip(parts, bounds, bounds[1:], strict=False):
            part.extend(int(row) for row in rows[start:end])
    return [sorted(part) for part in parts]
