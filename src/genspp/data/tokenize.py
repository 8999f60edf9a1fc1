"""Tokenisers that keep the character offsets of every token.

Each has a name that is stored with a model:

- `words` (the default): a run of letters, digits, marks and underscores is a token, and an apostrophe, whatever people
  type for one, or a hyphen between two of them does not end it (`don't`, `T-shirt`); a letter of a script that is
  written without spaces (Chinese, Japanese, Thai and the like) is a token of its own, with its marks; so is every other
  visible character, with the modifiers that follow an emoji attached to it; but a sign that is repeated is one token
  (`!!!`, `...`, a word hidden behind `****`), where it is no picture. Words are looked up in lower case and with one
  kind of apostrophe, a sign that is repeated more than three times as three of it.
- `spaces`: whatever stands between white space. For texts that were tokenised before.
- `characters`: every character, white space included. For the Toy data.
- `signs`: as `words`, but every sign is a token of its own, and only ' and ’ are apostrophes. For older models.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from genspp.errors import SettingsError

Span = tuple[int, int]

NAMES = ("words", "spaces", "characters", "signs")
_JOINERS = {"words": frozenset("'’‘`´-"), "signs": frozenset("'’-")}
_ONE_APOSTROPHE = str.maketrans(dict.fromkeys("’‘`´", "'"))
_MOST_REPEATED = 3
_EMOJI_TAIL = re.compile("[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff]")
_ZERO_WIDTH_JOINER = "\u200d"
# Scripts that are written without spaces between words: Thai, Lao, Burmese, Khmer, kana, Chinese characters.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)


@lru_cache(maxsize=65536)
def _kind(character: str) -> str:
    """`w` inside a word, `m` a mark in it, `c` a letter that is a word, `s` white space, `p` a token of its own."""
    if character.isspace():
        return "s"
    if unicodedata.category(character)[0] == "M":
        return "m"
    if unicodedata.category(character)[0] in "LN" and _UNSPACED.match(character):
        return "c"
    if character == "_" or unicodedata.category(character)[0] in "LN":
        return "w"
    return "p" if unicodedata.category(character)[0] in "PS" else "s"


def _is_sign(character: str) -> bool:
    """Tell punctuation, currencies and the like from letters and from pictures, which each say something."""
    return _kind(character) == "p" and unicodedata.category(character) != "So"


def _word_spans(text: str, joiners: frozenset[str], repeated: bool) -> list[Span]:
    """Return the spans of words and signs. repeated: whether a sign that is repeated is one token."""
    spans: list[Span] = []
    kinds = [_kind(character) for character in text]
    i, n = 0, len(text)
    while i < n:
        if kinds[i] == "s":
            i += 1
            continue
        start = i
        i += 1
        if kinds[start] in "wm":
            while i < n and (kinds[i] in "wm" or (text[i] in joiners and i + 1 < n and kinds[i + 1] in "wm")):
                i += 1
        elif kinds[start] == "c":
            while i < n and kinds[i] == "m":
                i += 1
        else:
            while i < n:
                if _EMOJI_TAIL.match(text[i]) or (repeated and text[i] == text[start] and _is_sign(text[i])):
                    i += 1
                elif text[i] == _ZERO_WIDTH_JOINER and i + 1 < n and kinds[i + 1] == "p":
                    i += 2
                else:
                    break
        spans.append((start, i))
    return spans


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A named way to cut a text. `Tokenizer("words")("Don't!")` gives `["Don't", "!"]` and their spans."""

    name: str = "words"

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise SettingsError(f"tokenizer is {self.name!r}; choose one of {', '.join(NAMES)}.")

    def spans(self, text: str) -> list[Span]:
        """Return the (start, end) of every token in `text`."""
        if self.name == "characters":
            return [(i, i + 1) for i in range(len(text))]
        if self.name == "spaces":
            return [match.span() for match in re.finditer(r"\S+", text)]
        return _word_spans(text, _JOINERS[self.name], self.name == "words")

    def __call__(self, text: str) -> tuple[list[str], list[Span]]:
        """Return the tokens of `text` and their spans."""
        spans = self.spans(text)
        return [text[start:end] for start, end in spans], spans

    def key(self, token: str) -> str:
        """Return the form in which a token is looked up among the word vectors."""
        if self.name != "words":
            return token.lower() if self.name == "signs" else token
        if len(token) > 1 and token[0] * len(token) == token and _is_sign(token[0]):
            return token[:_MOST_REPEATED]
        return token.lower().translate(_ONE_APOSTROPHE) if len(token) > 1 else token.lower()

    def join(self, tokens: Sequence[str]) -> tuple[str, list[Span]]:
        """Return the text that shows `tokens`, and their spans in it."""
        gap = "" if self.name == "characters" else " "
        spans, position = [], 0
        for token in tokens:
            spans.append((position, position + len(token)))
            position += len(token) + len(gap)
        return gap.join(tokens), spans
