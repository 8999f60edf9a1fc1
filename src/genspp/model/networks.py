"""The networks of every method in plain torch: the definition of right, which the compiled kernels are tested against.

A generator gives every token a logit (or two: for dropping and for selecting it), a predictor classifies from the
selected tokens alone. Both see frozen word vectors. Arrays are (texts, tokens) for ids and masks, (texts, tokens,
width) for vectors; `real` marks the tokens that are not padding. Nothing here depends on how far a batch is padded or
on who else is in it: recurrences are packed, and pooling looks at real tokens only.
"""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

Cell = Literal["gru", "bigru"]
CELLS: tuple[Cell, ...] = ("gru", "bigru")


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a pair. `hidden` is per direction, as in torch."""

    inputs: int
    hidden: int
    classes: int


class Encoder(nn.Module):
    """GRU(inputs -> hidden), one or two directions, and a layer norm over its features where the method has one."""

    def __init__(self, shape: Shape, cell: Cell, norm: nn.LayerNorm | None = None) -> None:
        super().__init__()
        self.gru = nn.GRU(shape.inputs, shape.hidden, batch_first=True, bidirectional=cell == "bigru")
        self.norm = norm
        self.features = shape.hidden * (2 if cell == "bigru" else 1)

    def forward(self, vectors: Tensor, real: Tensor, moved: Tensor | None = None) -> Tensor:
        """Return the states, (texts, tokens, features); those of padding are zero, before the norm.

        moved: how far a token moves the state, from 0 to 1, (texts, tokens); all the way unless given.
        """
        if moved is not None:
            ways = range(2 if self.gru.bidirectional else 1)
            states = torch.cat([self._direction(vectors, moved * real, way) for way in ways], 2)
            states = states * real.unsqueeze(-1)
        elif self.gru.bidirectional:
            packed = pack_padded_sequence(vectors, real.sum(1), batch_first=True, enforce_sorted=False)
            states, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=real.shape[1])
        else:  # what follows a text does not reach it
            states = self.gru(vectors)[0] * real.unsqueeze(-1)
        return states if self.norm is None else self.norm(states)  # type: ignore[no-any-return]

    def _direction(self, vectors: Tensor, moved: Tensor, way: int) -> Tensor:
        """Return the states of one direction where h' = h + moved (GRU(x, h) - h), in the order of the tokens."""
        ending = "_l0_reverse" if way else "_l0"
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        weights = [getattr(self.gru, name + ending) for name in names]
        state, states = vectors.new_zeros(len(vectors), self.gru.hidden_size), []
        tokens = range(vectors.shape[1])
        for token in reversed(tokens) if way else tokens:
            new = torch.gru_cell(vectors[:, token], state, *weights)
            state = state + moved[:, token, None] * (new - state)
            states.append(state)
        return torch.stack(states[::-1] if way else states, 1)


class Generator(nn.Module):
    """Encoder and linear layer: one logit per token, or two, for dropping (0) and selecting (1) it."""

    def __init__(self, encoder: Encoder, outputs: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.output = nn.Linear(encoder.features, outputs)

    def forward(self, vectors: Tensor, real: Tensor) -> Tensor:
        """Return the logits, (texts, tokens, outputs)."""
        logits: Tensor = self.output(self.encoder(vectors, real))
        return logits

    def margins(self, vectors: Tensor, real: Tensor) -> Tensor:
        """Return by how much selecting a token is preferred to dropping it, (texts, tokens)."""
        logits = self(vectors, real)
        margins: Tensor = logits[..., 0] if logits.shape[-1] == 1 else logits[..., 1] - logits[..., 0]
        return margins

    def select(self, vectors: Tensor, real: Tensor) -> Tensor:
        """Return the highlight, (texts, tokens): the real tokens whose margin is at least 0."""
        return (self.margins(vectors, real) >= 0) & real


class GatedGenerator(Generator):
    """A generator whose logits are the shape of a gate: a Kumaraswamy distribution stretched to both sides of (0, 1).

    Its a is softplus(logit 0), its b softplus(logit 1). The margin is ln(2 P(gate > 1/2)).
    """

    def margins(self, vectors: Tensor, real: Tensor) -> Tensor:
        """Return by how much a gate is likelier above one half than not, (texts, tokens)."""
        a, b = functional.softplus(self(vectors, real)).unbind(-1)
        margins: Tensor = b * torch.log1p(-(0.5**a)) + math.log(2)
        return margins


class WordList(nn.Module):
    """A generator that knows single words: the margin of a token is that of its row of the vectors.

    rows: how many there are; a row that comes later, of a word that training has not seen, is not selected.
    """

    margins: Tensor

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.register_buffer("margins", torch.full((rows,), -1.0))

    def read(self, rows: int) -> None:
        """Know so many rows, those at the end as words that are not selected."""
        self.margins = _lengthened(self.margins, rows, -1.0)

    def keep(self, evidence: Tensor, least: float) -> None:
        """Select words that say as much for a class; those that speak against are never among them."""
        self.margins = torch.where(evidence > 0, evidence - least, -1.0)

    def in_folds(self, evidence: Tensor) -> "WordList":
        """Return the list as training had it, by what words say to every fold, the first rows being this list's."""
        found, chosen = WordList(len(evidence)), self.margins >= 0
        if chosen.any():
            last = int(self.margins.where(chosen, torch.inf).argmin())  # so near the least that differences are exact
            found.keep(evidence, float(evidence[last] - self.margins[last]))
        return found


def _lengthened(known: Tensor, rows: int, value: float) -> Tensor:
    """Return numbers by rows of the vectors, for so many rows: as they are, then one value."""
    return torch.cat([known[:rows], known.new_full((max(0, rows - len(known)), *known.shape[1:]), value)])


def read_rows(module: nn.Module, rows: int) -> None:
    """Let all parts that know words by their rows know so many."""
    for part in module.modules():
        if isinstance(part, WordList | MarkedWords):
            part.read(rows)


class Predictor(nn.Module):
    """Encoder over the selected tokens, the highest value of every feature, linear layer.

    skipping: the state rests at unselected tokens, so that the selected ones are read, in their order, and nothing
    else; those, and 0 with them, are pooled, so that an empty highlight pools to zero. Otherwise an unselected token is
    a zero vector: the state moves on over it, but learns nothing of it; and `selected` says whether only selected
    tokens are pooled, and 0 with them, or all real ones.
    """

    def __init__(self, encoder: Encoder, classes: int, *, selected: bool = False, skipping: bool = False) -> None:
        super().__init__()
        self.encoder = encoder
        self.output = nn.Linear(encoder.features, classes)
        self.selected, self.skipping = selected or skipping, skipping

    @property
    def classes(self) -> int:
        """How many classes it tells apart."""
        return self.output.out_features

    def forward(self, vectors: Tensor, real: Tensor, mask: Tensor) -> Tensor:
        """Return the class logits, (texts, classes), at a mask of numbers from 0 to 1."""
        chosen = mask.to(vectors.dtype)
        if self.skipping:
            states = self.encoder(vectors, real, chosen)
        else:
            states = self.encoder(vectors * chosen.unsqueeze(-1), real)
        pooled = (chosen != 0) & real if self.selected else real
        highest = states.masked_fill(~pooled.unsqueeze(-1), -torch.inf).amax(1)
        logits: Tensor = self.output(highest.clamp(min=0) if self.selected else highest)
        return logits


class MarkedWords(nn.Module):
    """Logistic regression on the TF-IDF of the marked words, whatever their order.

    idf, weights, bias: as in `data.word_weights.Regression`, by the rows of the vectors; a row that comes later, of a
    word that training has not seen, says nothing.
    """

    idf: Tensor
    weights: Tensor
    bias: Tensor

    def __init__(self, rows: int, classes: int) -> None:
        super().__init__()
        for name, shape in {"idf": (rows,), "weights": (rows, classes), "bias": (classes,)}.items():
            self.register_buffer(name, torch.zeros(shape))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return the logits, (texts, classes), of texts as rows of the vectors, (texts, tokens), at a mask."""
        times = self.idf.new_zeros(len(ids), len(self.idf)).scatter_add_(1, ids, mask.to(self.idf.dtype))
        values = functional.normalize(times * self.idf)
        return values @ self.weights + self.bias

    def read(self, rows: int) -> None:
        """Know so many rows, those at the end as words that say nothing."""
        self.idf, self.weights = _lengthened(self.idf, rows, 0.0), _lengthened(self.weights, rows, 0.0)


class Committee(nn.Module):
    """Predictors that decide together: the mean of their probabilities.

    Each has been trained by itself behind the same highlights, so what one of them has learnt by accident the others
    outvote. They read what any predictor reads. words: a regression that has as much of a say as all of them.
    """

    def __init__(self, members: Iterable[Predictor], words: MarkedWords | None = None) -> None:
        super().__init__()
        own = list(members)
        self.members, self.classes, self.words = nn.ModuleList(own), own[0].classes, words

    def forward(self, vectors: Tensor, real: Tensor, mask: Tensor, ids: Tensor | None = None) -> Tensor:
        """Return the logarithms of the mean probabilities, (texts, classes), at a mask of numbers from 0 to 1.

        ids: (texts, tokens) rows of the vectors, which a regression needs.
        """
        logits = torch.stack([member(vectors, real, mask) for member in self.members])
        mean = logits.log_softmax(2).logsumexp(0) - math.log(len(self.members))
        if self.words is None:
            return mean
        if ids is None:
            raise ValueError("a committee with a regression needs ids")
        return torch.logaddexp(mean, self.words(ids, mask).log_softmax(1)) - math.log(2)


class Saliency(nn.Module):
    """A generator that asks a predictor of full texts what it looked at.

    The margin of a token is |gradient x input|: the gradient of the log odds of the likeliest class, which within a
    text is proportional to that of its probability, times the token's vector. So it is never below 0.
    """

    def __init__(self, predictor: Predictor) -> None:
        super().__init__()
        self.predictor = predictor

    @torch.enable_grad()
    def margins(self, vectors: Tensor, real: Tensor) -> Tensor:
        """Return the saliency of every token, (texts, tokens)."""
        inputs = vectors.detach().requires_grad_()
        logits = self.predictor(inputs, real, real)
        best = logits.argmax(1, keepdim=True)
        odds = logits.gather(1, best)[:, 0] - logits.scatter(1, best, -torch.inf).logsumexp(1)
        (gradient,) = torch.autograd.grad(odds.sum(), inputs)
        return (gradient * inputs.detach()).sum(2).abs()


class Pair(nn.Module):
    """A generator and a predictor, which may share modules, with the frozen table of word vectors that both read.

    sampled: the seed of highlights that are drawn instead of chosen, which some methods do at evaluation; else None.
    share: the share of every text that is selected, the tokens of the highest margins; None: those of at least 0.
    """

    vectors: Tensor
    generator: Any  # a Generator, a WordList or a Saliency
    predictor: Any  # a Predictor or a Committee

    def __init__(
        self,
        vectors: Tensor,
        generator: Generator | WordList | Saliency,
        predictor: Predictor | Committee,
        sampled: int | None = None,
        share: float | None = None,
    ) -> None:
        super().__init__()
        self.register_buffer("vectors", vectors)
        self.generator = generator
        self.predictor = predictor
        self.sampled = sampled
        self.share = share

    def read(self, vectors: Tensor) -> None:
        """Read a table with rows more, or fewer, at its end; what knows words by rows knows nothing of further ones."""
        self.vectors = vectors
        read_rows(self, len(vectors))


@contextmanager
def one_thread() -> Iterator[None]:
    """Use one torch thread inside, and give the caller back the number that was set.

    The matrices here are so small that a second thread only costs, many times over on a busy machine.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
