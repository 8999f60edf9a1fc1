"""What a request asks: read, checked, and answered by a model. Its schema stands beside the checks."""

import json
from collections.abc import Sequence
from typing import Any

from genspp.app.serve.limits import MOST_CHARACTERS, MOST_TEXTS, MOST_TOKENS
from genspp.data.corpus import as_corpus
from genspp.data.fields import clean
from genspp.errors import RequestError
from genspp.model.explainer import Explainer

_FIELDS = ("texts", "masks")
_EXAMPLE = 'send {"texts": ["a text", "another"]}'


def answer(model: Explainer, body: bytes) -> list[dict[str, Any]]:
    """Return what the model says of the texts in a request, as `Rationale.to_json` has it."""
    texts, masks = _read(body)
    corpus = as_corpus(texts, model.cut_by)
    for number, document in enumerate(corpus):
        _at_most(MOST_TOKENS, len(document.tokens), f"text {number} (from 0) has {{}} tokens")
    short = corpus.truncated(model.most_tokens)  # in the answer it is said how much of a text is not read
    return [rationale.to_json() for rationale in model.explain(short, masks)]


def _read(body: bytes) -> tuple[list[str], list[list[int] | None] | None]:
    """Return texts that nothing is wrong with but, perhaps, their tokens, and masks of zeros and ones."""
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        raise RequestError(400, f"the request is not JSON; {_EXAMPLE}.") from None
    if not isinstance(asked, dict) or not isinstance(asked.get("texts"), list):
        raise RequestError(400, f"the request has no list of texts; {_EXAMPLE}.")
    if asked.keys() - set(_FIELDS):
        raise RequestError(400, f"the request has fields other than {' and '.join(_FIELDS)}; leave them out.")
    texts, masks = asked["texts"], asked.get("masks")
    _at_most(MOST_TEXTS, len(texts), "there are {} texts")
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise RequestError(400, f"text {number} (from 0) is not a string; {_EXAMPLE}.")
        _at_most(MOST_CHARACTERS, len(text), f"text {number} (from 0) has {{}} characters")
    if masks is not None and not (isinstance(masks, list) and all(map(_is_mask, masks))):
        raise RequestError(400, "masks are not lists of 0 and 1; give one per text, or null for the model's own marks.")
    return [clean(text) for text in texts], masks


def _is_mask(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(type(bit) is int and bit in (0, 1) for bit in value))


def _at_most(most: int, found: int, sentence: str) -> None:
    if found > most:
        raise RequestError(413, f"{sentence.format(f'{found:,}')}; {most:,} at most can be asked at once.")


def schema(classes: Sequence[Any]) -> dict[str, Any]:
    """Return the JSON schemas of a request, of its answer, and of what is said where there is none."""
    bit = {"enum": [0, 1]}
    number = {"type": "integer", "minimum": 0}
    mask = {"type": "array", "items": bit, "maxItems": MOST_TOKENS}
    names = [str(label) for label in classes]
    rationale = {
        "label": {"enum": list(classes)},
        "probabilities": {
            **_object({name: {"type": "number", "minimum": 0, "maximum": 1} for name in names}, names),
            "description": "of every class",
        },
        "tokens": {"type": "array", "items": {"type": "string"}, "description": "the text as it was cut"},
        "mask": {**mask, "description": "1 for every token that the decision was made from"},
        "spans": {
            "type": "array",
            "items": {"type": "array", "items": number, "minItems": 2, "maxItems": 2},
            "description": "the marked stretches, start and end in characters (code points)",
        },
        "no_evidence": {"type": "boolean", "description": "nothing is marked: the label is the default one"},
        "unknown": {"type": "array", "items": number, "description": "the numbers of tokens unknown to the model"},
        "unread": {**number, "description": "how many further tokens the text has that are not read"},
    }
    asked = {
        "texts": {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": MOST_CHARACTERS},
            "minItems": 1,
            "maxItems": MOST_TEXTS,
        },
        "masks": {
            "type": ["array", "null"],
            "items": {**mask, "type": ["array", "null"]},
            "description": "what to decide from: per text 0 or 1 for every token, or null for the model's own marks",
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "POST /explain",
        "$defs": {
            "request": _object(asked, ["texts"]),
            "response": {"type": "array", "items": _object(rationale, list(rationale)), "description": "per text"},
            "error": _object({"error": {"type": "string", "description": "one sentence"}}, ["error"]),
        },
    }


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
