"""The contract of the population engines: genomes in, evaluations out.

An evaluation is a pure function of the genome, its seed and the encoded data. All randomness of a predictor comes
from its seed through `fresh_predictor` and `streams.epoch_order`, which every engine shares, so that two engines train
the same predictor on the same batches.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from genspp.data.encode import Encoded, Mask
from genspp.model.networks import Cell, Encoder, Generator, Predictor, Shape
from genspp.model.weights import Weights, draw
from genspp.streams import Purpose, stream


@dataclass(frozen=True, slots=True)
class Training:
    """How a predictor is trained: Adam on mini-batches, the last partial batch kept.

    With `patience`, the validation loss is measured after every epoch, training stops when it has not fallen for
    that many epochs, and the weights of the best epoch are returned; otherwise those of the last epoch.
    """

    epochs: int
    batch_size: int = 64
    learning_rate: float = 1e-2
    patience: int | None = None


@dataclass(frozen=True)
class Task:
    """What every evaluation shares: the data, the frozen vectors, the sizes, the budget.

    cell: the generator's. vectors: (words, inputs) float32, row 0 all zero. class_weights: (classes,) float32; the loss
    is the weighted mean of the cross-entropies, in training and in validation, as torch defines it. penalise_empty: a
    text without any selected token costs twice what the others cost on average.
    """

    shape: Shape
    cell: Cell
    vectors: npt.NDArray[np.float32]
    train: Encoded
    val: Encoded
    class_weights: npt.NDArray[np.float32]
    training: Training
    penalise_empty: bool = False

    def generator(self) -> Generator:
        """Return an untrained generator; a genome is all its weights."""
        return Generator(Encoder(self.shape, self.cell), 1)

    def predictor(self) -> Predictor:
        """Return an untrained predictor."""
        return Predictor(Encoder(self.shape, "gru"), self.shape.classes, selected=True)

    @cached_property
    def template(self) -> Predictor:
        """An untrained predictor that only its sizes are asked of; making one takes longer than using it."""
        return self.predictor()

    def selection_rate(self, val_mask: Mask) -> float:
        """Return the mean over the validation texts of selected / real tokens."""
        rates = np.add.reduceat(val_mask.astype(np.int64), self.val.starts[:-1]) / self.val.lengths
        marked = rates[rates > 0]
        if self.penalise_empty and len(marked) < len(rates):
            # Twice the usual, not more: so the way from no highlight to a fitting one is downhill, whereas marking
            # just anything to escape the price does not pay.
            price = min(1.0, 2 * float(marked.mean())) if len(marked) else 1.0
            rates = np.where(rates > 0, rates, price)
        return float(rates.mean())


def fresh_predictor(seed: int, task: Task) -> Weights:
    """Draw a predictor's initial weights from its own seed."""
    return draw(stream(seed, Purpose.WEIGHTS), task.template)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What one individual is worth, measured on the validation rows; a search keeps all fields there are.

    task_loss: (weighted) mean cross-entropy of its predictor, in nats. selection_rate: mean over texts of selected
    tokens / tokens, with the price of empty highlights in it where the task has one.
    """

    task_loss: float
    selection_rate: float


@dataclass(frozen=True)
class TrainedPredictor:
    """A predictor's flat weights, the validation loss they have, and the epochs that were run."""

    weights: Weights
    task_loss: float
    epochs: int


class Evaluator(Protocol):
    """A population engine."""

    task: Task

    def evaluate(self, genomes: npt.NDArray[np.float32], seeds: Sequence[int]) -> list[Evaluation]:
        """Judge genomes, (individuals, genes): each gets a predictor trained from its own seed."""
        ...

    def select(self, genome: npt.NDArray[np.float32], data: Encoded) -> Mask:
        """Return the flat highlight mask that a genome gives to all texts of `data`."""
        ...

    def train_predictor(
        self, train_mask: Mask, val_mask: Mask, seed: int, training: Training | None = None
    ) -> TrainedPredictor:
        """Train one predictor behind fixed masks; `training` is the task's own unless another is given."""
        ...

    def close(self) -> None:
        """Release workers."""
        ...
