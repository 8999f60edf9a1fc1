"""The three forms in which a file may hold a gold highlight, made into one: a 0/1 mask over tokens.

A value is a JSON list or, in CSV, also whole numbers separated by spaces. Nothing (an empty cell, `null`)
means that nobody marked the text; an empty list means that somebody marked nothing.

- Pairs `[start, end]` are **character spans**: every token that overlaps one is highlighted.
- `true` and `false`, or only 0 and 1 with one of them repeated, are a **mask**, which needs one value per token.
- Distinct numbers with one above 1 are **token indices**, counted from 0.
- `[0]`, `[1]`, `[0, 1]` and `[1, 0]` can be either. They are what the rest of the column is. If that does not tell, two
  numbers are a mask, and one is a mask if the text has one token, else an index: a column of indices hardly ever
  stops at 1, and a mask of the wrong length must not pass for something else.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from genspp.data.tokenize import Span

SPANS, MASK, INDICES, EITHER = "spans", "mask", "indices", "either"
_FORMS = "a 0/1 mask over the tokens, token indices, or [start, end] pairs of characters"


class HighlightError(ValueError):
    """A highlight that cannot be used; whoever knows the file and the line says where."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A highlight as it was written: its form, and its numbers or its spans."""

    form: str
    numbers: tuple[int, ...] = ()
    spans: tuple[Span, ...] = ()


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


def parse(value: Any) -> Marked | None:
    """Read one field; `None` where there is no gold highlight."""
    items = _listed(value)
    if items is None:
        return None
    if items and all(isinstance(item, list) and len(item) == 2 for item in items):
        return Marked(SPANS, spans=tuple((_whole(start), _whole(end)) for start, end in items))
    numbers = tuple(_whole(item) for item in items)
    distinct = len(set(numbers)) == len(numbers)
    if min(numbers, default=0) < 0:
        raise HighlightError(f"the highlight holds {min(numbers)}; give {_FORMS}")
    if set(numbers) <= {0, 1}:
        sure = not distinct or any(isinstance(item, bool) for item in items)
        return Marked(MASK if sure else EITHER, numbers)
    if not distinct:
        raise HighlightError(f"the highlight has numbers above 1 and repeats some; give {_FORMS}")
    return Marked(INDICES, numbers)


def column_form(column: Sequence[Marked | None]) -> str:
    """Return the form that all values agree on which can have only one, else `EITHER`."""
    sure = {marked.form for marked in column if marked is not None} & {MASK, INDICES}
    return sure.pop() if len(sure) == 1 else EITHER


def resolve(marked: Marked, spans: Sequence[Span], length: int, column: str = EITHER) -> tuple[int, ...]:
    """Return the mask over a text's tokens.

    spans: the tokens' places in the text; length: the text's characters; column: the `column_form`.
    """
    if marked.form == SPANS:
        return _overlaps(marked.spans, spans, length)
    if not marked.numbers:
        return (0,) * len(spans)
    form = marked.form if marked.form != EITHER else column
    if form == EITHER:
        # Nothing in the column tells. Zeros and ones are a mask then, right or wrong in length; one alone is an index.
        form = MASK if len(marked.numbers) in (len(spans), 2) else INDICES
    if form == MASK:
        if len(marked.numbers) != len(spans):
            given = len(marked.numbers)
            hint = "; a mask over characters needs the tokenizer 'characters'" if given == length else ""
            raise HighlightError(f"the highlight mask has {given} values but the text has {len(spans)} tokens{hint}")
        return marked.numbers
    if max(marked.numbers) >= len(spans):
        raise HighlightError(
            f"the highlight has the token index {max(marked.numbers)} but the text has {len(spans)} tokens, "
            "counted from 0"
        )
    chosen = set(marked.numbers)
    return tuple(int(i in chosen) for i in range(len(spans)))


def _overlaps(marked: Sequence[Span], spans: Sequence[Span], length: int) -> tuple[int, ...]:
    for start, end in marked:
        if not 0 <= start < end <= length:
            raise HighlightError(
                f"the highlight has the character span [{start}, {end}] but the text has {length} characters"
            )
    return tuple(int(any(start < b and a < end for a, b in marked)) for start, end in spans)
