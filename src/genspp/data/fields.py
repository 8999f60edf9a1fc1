"""What one field of a row holds: a text, tokens, a label, the name of a part.

These raise ValueError; `records.py`, which knows the file and the line, says where.
"""

import json
import re
from typing import Any

from genspp.data.corpus import PARTS, Document
from genspp.data.tokenize import Tokenizer

_PART_NAMES = {**{part: part for part in PARTS}, "validation": "val", "valid": "val", "dev": "val"}
# How programs write that there is no value; `none` is not among them, for many a class is called so.
_MISSING_NAMES = ("nan", "<na>", "n/a", "null")
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Replace halves of surrogate pairs, which JSON can escape but UTF-8 cannot hold; offsets stay."""
    return _SURROGATE.sub("\ufffd", text)


def token_list(value: Any) -> list[str]:
    """Return the tokens that a field (a list) or a cell (JSON, or separated by spaces) holds."""
    if isinstance(value, str):
        try:
            parsed = json.loads(value) if value.lstrip().startswith("[") else None
        except (ValueError, RecursionError):
            parsed = None  # tokens separated by spaces, the first of which starts with a bracket
        value = parsed if isinstance(parsed, list) else value.split()
    if not isinstance(value, list) or not all(isinstance(token, str) for token in value):
        raise ValueError("the tokens must be a list of strings")
    if not all(token.strip() for token in value):
        raise ValueError("one of the tokens is empty")
    return [clean(token) for token in value]


def cut(value: Any, is_tokens: bool, tokenizer: Tokenizer) -> Document:
    """Make a document, as yet without id and label, of a text or of tokens."""
    if is_tokens:
        tokens = token_list([] if value is None else value)
        text, spans = tokenizer.join(tokens)
    elif value is not None and not isinstance(value, str):
        raise ValueError(f"the text is {json.dumps(value)[:40]}, not a string")
    else:
        text = clean(value or "")
        tokens, spans = tokenizer(text)
    if not text.strip():
        raise ValueError("the text is empty")
    if not tokens:
        raise ValueError("the text has no tokens")
    return Document("", text, tuple(tokens), tuple(spans))


def label_text(value: Any) -> str | None:
    """Return a label as a string: numbers as in JSON, `true` and `false`; `None` where there is none."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    raise ValueError(f"the label is {json.dumps(value)[:40]}; it must be a string or a number")


def looks_missing(label: str) -> bool:
    """Tell whether a label is how some program wrote that there is none."""
    return label.strip().lower() in _MISSING_NAMES


def part_name(value: Any) -> str:
    """Return `train`, `val` or `test`, whatever the field calls it."""
    name = _PART_NAMES.get(str(value).strip().lower())
    if name is None:
        raise ValueError(f"the split is {value!r}; it must be one of {', '.join(PARTS)}")
    return name
