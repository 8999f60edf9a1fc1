"""What a model says of one text: its decision, and the words it was made from."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from genspp.data.corpus import Document
from genspp.data.tokenize import Span
from genspp.harmless import harmless, in_one_line

# A highlight has colours of its own, which are read on light and on dark paper; all else takes the notebook's.
_MARK = "background:#ffe27a;color:#1d2430;border-radius:.2em;padding:.05em .15em"
_UNKNOWN = "text-decoration:underline dotted"

Piece = tuple[str, bool]  # some characters of a text, and whether they are unknown


@dataclass(frozen=True, slots=True)
class Rationale:
    """A decision and its evidence.

    document: the text, as it was given and as it was cut. mask: 1 for every token the predictor saw. unknown: the
    numbers (from 0) of the tokens that the model has no vector of their own for; it cannot tell them apart.
    """

    document: Document
    label: Any
    probabilities: dict[Any, float]
    mask: list[int]
    unknown: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The text as it was given; where tokens were given, those joined."""
        return self.document.text

    @property
    def tokens(self) -> list[str]:
        """The text as it was cut."""
        return list(self.document.tokens)

    @property
    def spans(self) -> list[Span]:
        """The highlighted stretches as (start, end) characters of `text`, neighbouring selected tokens joined."""
        return highlight_spans(self.document.spans, self.mask)

    @property
    def no_evidence(self) -> bool:
        """Whether nothing is marked: no word decided; the label is the default, what an empty highlight is given."""
        return not any(self.mask)

    @property
    def unknown_spans(self) -> list[Span]:
        """The unknown tokens as (start, end) characters of `text`, each by itself."""
        return [self.document.spans[number] for number in self.unknown]

    def pieces(self) -> Iterator[tuple[list[Piece], bool]]:
        """Yield the text, harmless, in stretches, marked or not, and each of them in pieces, unknown or not."""
        text, unknown = harmless(self.text), self.unknown_spans
        for stretch, chosen in cut((0, len(text)), self.spans):
            yield [(text[start:end], is_unknown) for (start, end), is_unknown in cut(stretch, unknown)], chosen

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the label, how sure, the text with its highlight, the other classes."""
        shares = [f"{escape(in_one_line(label))} {share:.1%}" for label, share in self.probabilities.items()]
        shown = []
        for pieces, chosen in self.pieces():
            inner = "".join(f'<span style="{_UNKNOWN}">{escape(t)}</span>' if u else escape(t) for t, u in pieces)
            shown.append(f'<mark style="{_MARK}">{inner}</mark>' if chosen else inner)
        note = "<br><em>Nothing is marked: no word decided, and the label is the default one.</em>" * self.no_evidence
        if self.document.unread:
            note += f"<br><em>Of this text, the first {len(self.mask)} words were read.</em>"
        return (
            f'<div style="margin:.5em 0"><strong>{escape(in_one_line(self.label))}</strong> '
            f'<span style="opacity:.75">({", ".join(shares)})</span>{note}'
            f'<div dir="auto" style="white-space:pre-wrap;overflow-wrap:anywhere">{"".join(shown)}</div></div>'
        )

    def to_json(self) -> dict[str, Any]:
        """Return the fields that the command line prints."""
        return {
            "label": self.label,
            "probabilities": {str(label): round(p, 6) for label, p in self.probabilities.items()},
            "tokens": self.tokens,
            "mask": self.mask,
            "spans": [list(span) for span in self.spans],
            "no_evidence": self.no_evidence,
            "unknown": list(self.unknown),
            "unread": self.document.unread,
        }


def highlight_spans(token_spans: Sequence[Span], mask: Sequence[int]) -> list[Span]:
    """Join runs of neighbouring selected tokens into character spans."""
    joined: list[Span] = []
    previous = False
    for (start, end), chosen in zip(token_spans, mask, strict=True):
        if chosen and previous:
            joined[-1] = (joined[-1][0], end)
        elif chosen:
            joined.append((start, end))
        previous = bool(chosen)
    return joined


def cut(stretch: Span, spans: Sequence[Span]) -> list[tuple[Span, bool]]:
    """Cut a stretch of a text into those inside and outside of the spans that lie in it."""
    position, last = stretch
    found = []
    for start, end in spans:
        if position <= start and end <= last:
            found += [((position, start), False), ((start, end), True)]
            position = end
    return [((start, end), inside) for (start, end), inside in [*found, ((position, last), False)] if start < end]
