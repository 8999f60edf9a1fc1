"""The forms in which a file may hold a gold highlight, made into one: a 0/1 mask over tokens.

A value is a JSON list or, in a cell, also whole numbers separated by spaces. Nothing (an empty cell, `null`)
means that nobody marked the text; an empty list means that somebody marked nothing.

- **spans**: pairs `[start, end]` of characters; every token that overlaps one is highlighted.
- **mask**: `true` and `false`, or only 0 and 1 with one of them repeated; it needs one value per token.
- **tokens**: distinct numbers, one of them above 1: the numbers of tokens, counted from 0.
- **characters**: such numbers too, but of characters; every token that has one of these is highlighted.

Which of the last two the numbers are, the whole column tells. Those of characters come in runs that start where a
token starts and end where one ends; those of tokens do so by chance only. Where most runs do and some number is
greater than any token's, they are characters; where most do and all could be tokens, nobody knows, and it has to be
said; else they are tokens.

`[0]`, `[1]`, `[0, 1]` and `[1, 0]` can be a mask or numbers. They are what the rest of the column is. If that does not
tell, two numbers are a mask, and one is a mask if the text has one token, else a token's number: a column of numbers
hardly ever stops at 1, and a mask of the wrong length must not pass for something else.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from genspp.data.corpus import Document
from genspp.data.tokenize import Span

SPANS, MASK, TOKENS, CHARACTERS = "spans", "mask", "tokens", "characters"
FORMS = (MASK, TOKENS, CHARACTERS, SPANS)
NUMBERS, EITHER = "numbers", "either"  # of tokens or of characters; a mask or numbers
_FORMS = "a 0/1 mask over the tokens, numbers of tokens or characters, or [start, end] pairs of characters"


class HighlightError(ValueError):
    """A highlight that cannot be used; whoever knows the file and the line says where."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A highlight as it was written: its form, and its numbers or its spans."""

    form: str
    numbers: tuple[int, ...] = ()
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class ColumnForm:
    """What the lists of a column are. numbers: TOKENS or CHARACTERS; either: MASK or NUMBERS, EITHER if unknown."""

    numbers: str = TOKENS
    either: str = EITHER


def _whole(value: Any) -> int:
    """Return a whole number; 1.0 is one, since tools that know only floats write it so."""
    if isinstance(value, bool | int) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    raise HighlightError(f"the highlight holds {json.dumps(value)[:40]}; give {_FORMS}")


def _listed(value: Any) -> list[Any] | None:
    """Return the list that a field or a cell stands for."""
    if value is None or isinstance(value, list):
        return value
    if isinstance(value, str):
        text = value.strip()
        if not text:
            return None
        if re.fullmatch(r"-?\d+(\s+-?\d+)*", text):
            return [int(number) for number in text.split()]
        if text.startswith("["):
            try:
                parsed = json.loads(text)
            except (ValueError, RecursionError):
                parsed = None
            if isinstance(parsed, list):
                return parsed
    raise HighlightError(f"the highlight is {str(value)[:40]!r}; give {_FORMS}")


def parse(value: Any, asked: str | None = None) -> Marked | None:
    """Read one field, of the form that was asked for if one was; `None` where there is no gold highlight."""
    items = _listed(value)
    if items is None:
        return None
    if items and all(isinstance(item, list) and len(item) == 2 for item in items):
        marked = Marked(SPANS, spans=tuple((_whole(start), _whole(end)) for start, end in items))
    else:
        marked = _parse_numbers(items)
    fits = {SPANS: (SPANS,), MASK: (MASK, EITHER), None: (SPANS, MASK, NUMBERS, EITHER)}.get(asked, (NUMBERS, EITHER))
    if items and marked.form not in fits:
        raise HighlightError(f"the highlight is {json.dumps(items)[:40]}, which does not have the form {asked!r}")
    return marked


def _parse_numbers(items: Sequence[Any]) -> Marked:
    numbers = tuple(_whole(item) for item in items)
    distinct = len(set(numbers)) == len(numbers)
    if min(numbers, default=0) < 0:
        raise HighlightError(f"the highlight holds the number {min(numbers)}; tokens and characters are counted from 0")
    if set(numbers) <= {0, 1}:
        sure = not distinct or any(isinstance(item, bool) for item in items)
        return Marked(MASK if sure else EITHER, numbers)
    if not distinct:
        raise HighlightError(f"the highlight has numbers above 1 and repeats some; give {_FORMS}")
    return Marked(NUMBERS, numbers)


def column_form(marks: Sequence[Marked | None], documents: Sequence[Document], asked: str | None = None) -> ColumnForm:
    """Return what the lists of a column are, by those which can be one thing only."""
    if asked is not None:
        return ColumnForm(CHARACTERS if asked == CHARACTERS else TOKENS, MASK if asked == MASK else NUMBERS)
    sure = {marked.form for marked in marks if marked is not None} & {MASK, NUMBERS}
    either = sure.pop() if len(sure) == 1 else EITHER
    listed = [
        (m.numbers, d.spans) for m, d in zip(marks, documents, strict=True) if m is not None and m.form == NUMBERS
    ]
    runs = [whole for numbers, spans in listed for whole in _whole_runs(numbers, spans)]
    if not runs or 2 * sum(runs) < len(runs):
        return ColumnForm(TOKENS, either)
    if all(spans[number : number + 1] == ((number, number + 1),) for numbers, spans in listed for number in numbers):
        return ColumnForm(TOKENS, either)  # every character is a token: both are the same
    if all(max(numbers) < len(spans) for numbers, spans in listed):
        raise HighlightError(
            "the highlights could be numbers of tokens or of characters; say which with --highlight-form tokens or "
            "--highlight-form characters"
        )
    return ColumnForm(CHARACTERS, either)


def _whole_runs(numbers: Sequence[int], spans: Sequence[Span]) -> list[bool]:
    """Tell of every run of consecutive numbers whether, as characters, it starts and ends where tokens do."""
    marked = set(numbers)
    starts = sorted(number for number in marked if number - 1 not in marked and number + 1 in marked)
    ends = sorted(number + 1 for number in marked if number + 1 not in marked and number - 1 in marked)
    first, last = {start for start, _ in spans}, {end for _, end in spans}
    return [start in first and end in last for start, end in zip(starts, ends, strict=True)]


def resolve(marked: Marked, document: Document, column: ColumnForm) -> tuple[int, ...]:
    """Return the mask over a text's tokens."""
    spans, length, numbers = document.spans, len(document.text), marked.numbers
    if marked.form == SPANS:
        for start, end in marked.spans:
            if not 0 <= start < end <= length:
                raise HighlightError(
                    f"the highlight has the character span [{start}, {end}] but the text has {length} characters"
                )
        return _overlaps(marked.spans, spans)
    if not numbers:
        return (0,) * len(spans)
    form = column.either if marked.form == EITHER else marked.form
    if form == EITHER:
        # Nothing in the column tells. Zeros and ones are a mask then, right or wrong in length; one alone is a number.
        form = MASK if len(numbers) in (len(spans), 2) else NUMBERS
    if form == MASK:
        if len(numbers) != len(spans):
            given = len(numbers)
            hint = "; a mask over characters needs the tokenizer 'characters'" if given == length else ""
            raise HighlightError(f"the highlight mask has {given} values but the text has {len(spans)} tokens{hint}")
        return numbers
    if column.numbers == CHARACTERS:
        if max(numbers) >= length:
            raise HighlightError(
                f"the highlight has the character number {max(numbers)} but the text has {length} characters, "
                "counted from 0"
            )
        return _overlaps([(number, number + 1) for number in numbers], spans)
    if max(numbers) >= len(spans):
        hint = "; for numbers of characters say --highlight-form characters" if max(numbers) < length else ""
        raise HighlightError(
            f"the highlight has the token number {max(numbers)} but the text has {len(spans)} tokens, "
            f"counted from 0{hint}"
        )
    return tuple(int(i in set(numbers)) for i in range(len(spans)))


def _overlaps(marked: Sequence[Span], spans: Sequence[Span]) -> tuple[int, ...]:
    covered = {place for start, end in marked for place in range(start, end)}
    return tuple(int(any(place in covered for place in range(start, end))) for start, end in spans)
