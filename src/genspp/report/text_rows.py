"""Test texts for the script of a report: what it needs to show and to filter them, as small as may be.

A row is `[id, text, gold label, gold spans or null, one answer per run]`, an answer `[label, probabilities, stretches
of marked words, unknown words]`. Labels are numbers of classes, probabilities flat pairs of class and per mille,
spans flat pairs of start and end, which count as JavaScript does: in units of UTF-16.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from genspp.data.tokenize import Span
from genspp.harmless import harmless, in_one_line
from genspp.model.rationale import Rationale, highlight_spans
from genspp.report.deciding_words import marked_stretches

MOST_PROBABILITIES = 6  # of a text, the highest
_UNSAFE = re.compile("[<>&\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def text_rows(
    runs: Sequence[Sequence[Rationale]], classes: Sequence[str], tokenizers: Sequence[str]
) -> list[list[Any]]:
    """Return a row per text. runs: what each run says of the same texts; tokenizers: how each of them cuts texts."""
    number = {name: i for i, name in enumerate(classes)}
    rows = []
    for rationales in zip(*runs, strict=True):
        document = rationales[0].document
        places = _places(document.text)
        gold = None if document.highlight is None else highlight_spans(document.spans, document.highlight)
        answers = [_answer(*pair, number, places) for pair in zip(rationales, tokenizers, strict=True)]
        flat = None if gold is None else _flat(gold, places)
        rows.append([in_one_line(document.id), harmless(document.text), number[str(document.label)], flat, answers])
    return rows


def script_json(content: Any) -> str:
    """Return JSON that can stand inside of a script element: nothing in it ends the element, is markup or steers."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _answer(rationale: Rationale, tokenizer: str, number: dict[str, int], places: Sequence[int]) -> list[Any]:
    likely = sorted(rationale.probabilities.items(), key=lambda pair: -pair[1])[:MOST_PROBABILITIES]
    pairs = sorted((number[str(label)], round(1000 * share)) for label, share in likely)
    marked = [_flat(stretch, places) for stretch in marked_stretches(rationale, tokenizer)]
    probabilities = [value for pair in pairs for value in pair]
    return [number[str(rationale.label)], probabilities, marked, _flat(rationale.unknown_spans, places)]


def _places(text: str) -> Sequence[int]:
    """Return where every character of a text begins, and where the last ends, in units of UTF-16."""
    if not text or max(text) <= "\uffff":
        return range(len(text) + 1)
    places = [0]
    for character in text:
        places.append(places[-1] + (2 if character > "\uffff" else 1))
    return places


def _flat(spans: Iterable[Span], places: Sequence[int]) -> list[int]:
    return [places[end] for span in spans for end in span]
