"""The select-then-predict pair in plain torch: a generator picks tokens, a predictor classifies from those alone.

Both see frozen word vectors. Arrays are (batch, tokens) for ids and masks, (batch, tokens, width) for vectors;
`real` marks the tokens that are not padding. Nothing here depends on how far a batch is padded or on who else is
in it: the recurrences are packed, and pooling looks at selected tokens only.
"""

from dataclasses import dataclass
from typing import Literal

from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

Cell = Literal["gru", "bigru"]
CELLS: tuple[Cell, ...] = ("gru", "bigru")


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a pair. `hidden` is per direction, as in torch; `cell` is the generator's."""

    inputs: int
    hidden: int
    classes: int
    cell: Cell = "gru"


class Generator(nn.Module):
    """GRU(inputs -> hidden), one or two directions, and a linear layer: one logit a token."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        both = shape.cell == "bigru"
        self.gru = nn.GRU(shape.inputs, shape.hidden, batch_first=True, bidirectional=both)
        self.output = nn.Linear(shape.hidden * (2 if both else 1), 1)

    def forward(self, vectors: Tensor, real: Tensor) -> Tensor:
        """Return the selection logits, (batch, tokens)."""
        if self.gru.bidirectional:
            packed = pack_padded_sequence(vectors, real.sum(1), batch_first=True, enforce_sorted=False)
            states, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=real.shape[1])
        else:
            states, _ = self.gru(vectors)
        logits: Tensor = self.output(states).squeeze(-1)
        return logits

    def select(self, vectors: Tensor, real: Tensor) -> Tensor:
        """Return the highlight, (batch, tokens): 1 where the logit is at least 0 and the token is real."""
        mask: Tensor = (self(vectors, real) >= 0) & real
        return mask


class Predictor(nn.Module):
    """GRU(inputs -> hidden) over the selected vectors, maximum over the selected tokens, linear layer."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gru = nn.GRU(shape.inputs, shape.hidden, batch_first=True)
        self.output = nn.Linear(shape.hidden, shape.classes)

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """Return the class logits, (batch, classes).

        An unselected token is a zero vector, so the state moves on but learns nothing of it. A unit's pooled
        value is the largest of 0 and its states at selected tokens: an empty highlight pools to zero.
        """
        chosen = mask.unsqueeze(-1).to(vectors.dtype)
        states, _ = self.gru(vectors * chosen)
        logits: Tensor = self.output((states * chosen).max(dim=1).values.clamp(min=0))
        return logits

    def full_text(self, vectors: Tensor, real: Tensor) -> Tensor:
        """Return the class logits with every real token selected."""
        return self.forward(vectors, real)


class SPP(nn.Module):
    """The pair, with the frozen table of word vectors that both read."""

    vectors: Tensor

    def __init__(self, shape: Shape, vectors: Tensor) -> None:
        super().__init__()
        self.register_buffer("vectors", vectors)
        self.generator = Generator(shape)
        self.predictor = Predictor(shape)

    def select(self, ids: Tensor, real: Tensor) -> Tensor:
        """Return the highlight of a padded batch."""
        return self.generator.select(self.vectors[ids], real)

    def classify(self, ids: Tensor, real: Tensor, mask: Tensor) -> Tensor:
        """Return the class logits of a padded batch at the given highlight."""
        return self.predictor.forward(self.vectors[ids], mask & real)
