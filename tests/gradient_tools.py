"""What the tests of the gradient-trained methods share: settings, models in mid-training, slow reference code."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from genspp.data.embeddings import onehot
from genspp.methods.gradient import GradientRationalizer, Session
from genspp.methods.losses import Losses
from genspp.methods.networks import Batch, Encoder, Generator, Predictor
from genspp.methods.training import seeded

WORDS = ("good", "bad", "the", "a", "film", "was", "and", "it")
SIZES = {"toy": (25, 8, 3), "hatexplain": (25, 16, 2)}  # inputs, hidden units, classes
QUICK: dict[str, Any] = {
    "vectors": "onehot",
    "hidden": 4,
    "learning_rate": 0.03,
    "batch_size": 32,
    "alpha": 0.2,
    "max_epochs": 30,
    "patience": 12,
    "seed": 3,
}


class Notebook:
    """A recorder that keeps everything, and breaks off after so many lines."""

    def __init__(self, state: dict[str, Any] | None = None, stop_after: int | None = None) -> None:
        self.state, self.stop_after = state, stop_after
        self.lines: list[dict[str, Any]] = []
        self.totals: set[int] = set()

    def restore(self) -> dict[str, Any] | None:
        return self.state

    def record(self, line: dict[str, Any], state: dict[str, Any], total: int) -> None:
        self.lines.append(line)
        self.totals.add(total)
        self.state = state
        if len(self.lines) == self.stop_after:
            raise KeyboardInterrupt


def prepared(kind: type[GradientRationalizer], **settings: Any) -> tuple[Any, Session, Batch]:
    """Return a model with fresh weights, a session in its first epoch, and a batch of five texts of unequal length."""
    model = kind(**{"vectors": "onehot", "hidden": 3, "alpha": 0.3, "lambda_c": 0.7, "lambda_s": 1.3, **settings})
    model._settings_ = model.settings()
    model.classes_, model.vectors_ = np.array(["x", "y", "z"]), onehot([list(WORDS)])
    model._make_networks()
    with seeded(5):  # a norm that is still the identity would hide a missing one
        for parameter in model.model_.parameters():
            parameter.data += 0.2 * torch.randn(parameter.shape)
        companions = model._companions(model._shape())
        vectors = torch.randn(len(WORDS), 6, 5)
    full = model._settings_
    weights = torch.tensor([1.0, 2.0, 0.5])
    losses = Losses(full["alpha"], full["lambda_s"], full["lambda_c"], weights, full["padding_in_losses"])
    sampled = full["eval_mask"] == "sample"
    session = Session(model.model_, losses, sampled, full["seed"], model._optimizers(full, companions), companions)
    session.begin(0, 7)
    lengths = np.array([6, 4, 4, 2, 1])
    vectors *= torch.from_numpy(np.arange(6)[:, None] < lengths)
    return model, session, Batch(vectors, lengths, torch.tensor([0, 2, 1, 1, 0]))


def again(session: Session) -> torch.Generator:
    """Return the random numbers of the session's epoch from their start."""
    noise = torch.Generator()
    noise.set_state(session.noise.get_state())
    return noise


def parameter_count(kind: type[GradientRationalizer], data: str) -> int:
    """Return the number of trained parameters on a data set of the paper."""
    inputs, hidden, classes = SIZES[data]
    model = kind(hidden=hidden)
    model._settings_ = model.settings()
    model.classes_ = np.arange(classes)
    model.vectors_ = onehot([[str(i) for i in range(inputs)]])
    model._make_networks()
    return model.parameter_count


# ---- the definitions, text by text, with torch's own GRU ------------------------------------------


def encoded(encoder: Encoder, vectors: Tensor) -> Tensor:
    """Return the states of one text, (tokens, 2 hidden), from its vectors, (tokens, inputs)."""
    hidden = encoder.gru.weight_hh_l0.shape[1]
    gru = nn.GRU(vectors.shape[1], hidden, bidirectional=True)
    gru.load_state_dict(encoder.gru.state_dict())
    states = gru(vectors.unsqueeze(1))[0].squeeze(1)
    return states if encoder.norm is None else encoder.norm(states)


@torch.no_grad()
def choices(generator: Generator, batch: Batch) -> Tensor:
    """Return the selection logits, (2, tokens, texts); the states of padding are zero before the norm."""
    rows = []
    for column, length in enumerate(batch.lengths):
        states = torch.zeros(batch.places, generator.output.in_features)
        if generator.encoder.norm is not None:
            states = generator.encoder.norm(states)
        states = torch.cat([encoded(generator.encoder, batch.vectors[:, :length, column].t()), states[length:]])
        rows.append(generator.output(states).t())
    return torch.stack(rows, 2)


def drawn(logits: Tensor, noise: torch.Generator) -> Tensor:
    """Return a Gumbel mask, padding included."""
    uniform = torch.rand(logits.shape[1:], generator=noise)
    return (logits[1] - logits[0] + torch.log(uniform) - torch.log(1 - uniform) > 0).float()


@torch.no_grad()
def classified(predictor: Predictor, batch: Batch, mask: Tensor) -> Tensor:
    """Return the class logits, (texts, classes)."""
    rows = []
    for column, length in enumerate(batch.lengths):
        states = encoded(predictor.encoder, batch.vectors[:, :length, column].t() * mask[:length, column, None])
        rows.append(predictor.output(states.max(0).values))
    return torch.stack(rows)


def cross_entropy(logits: Tensor, batch: Batch, weights: Tensor) -> float:
    total = weight = 0.0
    for row, label in zip(logits.softmax(1).tolist(), batch.labels.tolist(), strict=True):
        total -= float(weights[label]) * math.log(row[label])
        weight += float(weights[label])
    return total / weight


def omega(mask: Tensor, batch: Batch, losses: Losses) -> float:
    """Return the weighted sparsity and contiguity losses."""
    selected = switches = pairs = 0.0
    for column, length in enumerate(batch.lengths):
        seen = mask[: len(mask) if losses.padding else length, column].tolist()
        selected += sum(seen)
        switches += sum(abs(a - b) for a, b in pairwise(seen))
        pairs += len(seen) - 1
    sparsity = abs(selected / sum(batch.lengths) - losses.alpha)
    return losses.lambda_s * sparsity + losses.lambda_c * switches / pairs
