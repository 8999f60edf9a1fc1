"""What a model says of one text: its decision, and the words it was made from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from genspp.data.corpus import Document
from genspp.data.tokenize import Span


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
