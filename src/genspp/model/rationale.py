"""What a model says of one text: its decision, and the words it was made from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from genspp.data.tokenize import Span


@dataclass(frozen=True, slots=True)
class Rationale:
    """A decision and its evidence.

    text: as it was given. tokens: as it was cut. mask: 1 for every token the predictor saw. spans: the
    highlighted stretches as (start, end) characters of `text`, neighbouring selected tokens joined.
    """

    text: str
    label: Any
    probabilities: dict[Any, float]
    tokens: list[str]
    mask: list[int]
    spans: list[Span]

    def to_json(self) -> dict[str, Any]:
        """Return the fields that the command line prints."""
        return {
            "label": self.label,
            "probabilities": {str(label): round(p, 6) for label, p in self.probabilities.items()},
            "tokens": self.tokens,
            "mask": self.mask,
            "spans": [list(span) for span in self.spans],
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
