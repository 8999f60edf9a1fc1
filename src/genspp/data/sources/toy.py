"""The Toy benchmark: random strings in which one of three highlights decides the class.

The authors' file cannot be had, so the strings are made again from the paper's description: 20 characters
over 24 letters, one highlight (`aba`, `baa` or `abc`) at a uniform place, contaminating chunks of the other
two, and every string rejected in which the three highlights do not occur exactly once in all, overlaps
counted.

How strongly the paper contaminated is unknown. Its own matching triple (ba, aa, bc) scores 53.57, which fits
strings with next to no contamination; hence two variants. `toy` plants one chunk in one string of a hundred
and keeps that score; in `toy-contaminated` every string carries one to three, and half a highlight tells
much less.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from genspp import files
from genspp.data.corpus import PARTS, SPLIT_SEED, Corpus, Document, Splits
from genspp.data.sources.base import SOURCES, Options, Source
from genspp.errors import SettingsError
from genspp.streams import frozen

CLASSES = ("aba", "baa", "abc")
LETTERS = "abcdefghijklmnopqrstuvwx"
LENGTH = 20
VARIANTS = ("toy", "toy-contaminated")
TRIPLES = (CLASSES, ("abc", "baa", "aba"), ("ba", "aa", "bc"))  # the paper's string-matching baselines
LIGHT = 0.01  # the share of `toy` strings that carry a chunk


class _Stream:
    """Whole numbers from numpy's legacy stream.

    `random_sample` is frozen and the same on every platform; `randint` depends on the size of a C long.
    """

    def __init__(self, seed: int) -> None:
        self._source = frozen(seed)

    def chance(self) -> float:
        return float(self._source.random_sample())

    def below(self, bound: int) -> int:
        return int(self._source.random_sample() * bound)

    def letters(self, count: int) -> list[str]:
        return [LETTERS[int(i)] for i in self._source.random_sample(count) * len(LETTERS)]

    def order(self, count: int) -> list[int]:
        return [int(i) for i in np.argsort(self._source.random_sample(count), kind="stable")]


def occurrences(text: str, pattern: str) -> list[int]:
    """Return every place where `pattern` starts in `text`, overlaps included."""
    return [i for i in range(len(text) - len(pattern) + 1) if text.startswith(pattern, i)]


def chunks_of_others(label: int) -> tuple[str, ...]:
    """Return the chunks of one or two characters of the highlights of all classes but `label`, sorted."""
    others = [pattern for i, pattern in enumerate(CLASSES) if i != label]
    return tuple(sorted({p[i : i + size] for p in others for size in (1, 2) for i in range(len(p) - size + 1)}))


def match(text: str, triple: Sequence[str]) -> tuple[int, tuple[int, int]] | None:
    """Return the class and the span of the first pattern of `triple` that occurs in `text`.

    First in the order of the triple, not of the text; its first place if it has several. `None` if none
    occurs.
    """
    for label, pattern in enumerate(triple):
        start = text.find(pattern)
        if start >= 0:
            return label, (start, start + len(pattern))
    return None


def matching_prediction(text: str, triple: Sequence[str]) -> int:
    """Return the class that `match` finds, or the first class where nothing occurs.

    With the paper's triples something always occurs: each class's highlight contains its pattern, or is one.
    """
    found = match(text, triple)
    return 0 if found is None else found[0]


def _plant(stream: _Stream, letters: list[str], taken: set[int], chunk: str) -> None:
    """Write `chunk` at a uniform place that overlaps nothing planted before, so that it stays there."""
    while True:
        start = stream.below(len(letters) - len(chunk) + 1)
        places = range(start, start + len(chunk))
        if taken.isdisjoint(places):
            letters[start : start + len(chunk)] = chunk
            taken.update(places)
            return


def _string(stream: _Stream, label: int, contaminated: bool) -> tuple[str, int, int]:
    """Return an accepted string of the class, where its highlight starts, and the number of chunks in it."""
    chunks = chunks_of_others(label)
    while True:
        letters, taken = stream.letters(LENGTH), set[int]()
        start = stream.below(LENGTH - len(CLASSES[label]) + 1)
        letters[start : start + len(CLASSES[label])] = CLASSES[label]
        taken.update(range(start, start + len(CLASSES[label])))
        count = 1 + stream.below(3) if contaminated else int(stream.chance() < LIGHT)
        for _ in range(count):
            _plant(stream, letters, taken, chunks[stream.below(len(chunks))])
        text = "".join(letters)
        if sum(len(occurrences(text, pattern)) for pattern in CLASSES) == 1:
            return text, start, count


def toy(variant: str = "toy", seed: int = SPLIT_SEED, size: int = 10_000) -> Splits:
    """Make `size` strings, split 64 / 16 / 20 %; the same seed gives the same strings on every machine."""
    if variant not in VARIANTS:
        raise SettingsError(f"The Toy variant is {variant!r}; choose one of {', '.join(VARIANTS)}.")
    if size < 15:
        raise SettingsError(f"size is {size}; Toy needs at least 15 strings.")
    if not 0 <= seed < 2**32:
        raise SettingsError(f"seed is {seed}; it must lie between 0 and {2**32 - 1}.")
    stream = _Stream(seed)
    made = [(i % 3, *_string(stream, i % 3, variant == "toy-contaminated")) for i in range(size)]
    spans = tuple((i, i + 1) for i in range(LENGTH))
    documents = []
    for number, row in enumerate(stream.order(size), start=1):
        label, text, start, _ = made[row]
        mask = tuple(int(start <= i < start + len(CLASSES[label])) for i in range(LENGTH))
        documents.append(Document(f"toy-{number:05d}", text, tuple(text), spans, CLASSES[label], mask))
    cuts = round(0.64 * size), round(0.80 * size)
    share = sum(count > 0 for *_, count in made) / size
    corpus = Corpus(tuple(documents), "characters")
    return Splits(
        corpus[range(cuts[0])],
        corpus[range(*cuts)],
        corpus[range(cuts[1], size)],
        notes=(f"{size:,} strings, {share:.1%} of them with contaminating chunks.",),
    )


def write_toy(path: Path, variant: str = "toy", seed: int | None = None) -> None:
    """Write the strings as JSON lines: id, text, label, highlight (a mask over characters), split."""
    if path.suffix != ".jsonl":
        raise SettingsError(f"the file is {path}; Toy is written as JSON lines, so its name must end in .jsonl.")
    splits = toy(variant, SPLIT_SEED if seed is None else seed)
    lines = [
        json.dumps(
            {
                "id": document.id,
                "text": document.text,
                "label": document.label,
                "highlight": list(document.highlight or ()),
                "split": name,
            }
        )
        for name in PARTS
        for document in getattr(splits, name)
    ]
    files.write_text(path, "\n".join(lines) + "\n")


@SOURCES.register("toy")
class Toy(Source):
    """The strings of the paper's benchmark, made on the spot."""

    title = "Toy"
    family = "toy"

    def _load(self, options: Options) -> Splits:
        if options.max_length is not None and options.max_length < LENGTH:
            raise SettingsError(f"max_length is {options.max_length}, but a Toy string has {LENGTH} characters.")
        return toy(self.name)


@SOURCES.register("toy-contaminated")
class ToyContaminated(Toy):
    """The same with more of what leads astray."""

    title = "Toy, contaminated"
