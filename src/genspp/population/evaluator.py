"""The contract of the population engines: genomes in, evaluations out.

An evaluation is a pure function of the genome, its seed and the encoded data. All randomness of a predictor comes
from its seed through `fresh_predictor` and `streams.epoch_order`, which every engine shares, so that two engines train
the same predictor on the same batches.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from genspp.data.encode import Encoded, Mask
from genspp.kernels.losses import logarithms
from genspp.model.forms import Weights
from genspp.model.networks import Cell, Encoder, Generator, Predictor, Shape
from genspp.model.weights import draw
from genspp.streams import Purpose, stream

Adversary = Literal["none", "gaps", "packed"]

_READER_STEPS, _READER_PATIENCE, _READER_RATE = 4000, 600, 1e-2  # batches, and Adam's rate


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
    is the weighted mean of the cross-entropies, in training and in validation, as torch defines it. mark_costs:
    (classes,) float32, what a selected token costs in a text of a class. word_costs: (words,) float32, how much a token
    counts among those of its text; None: all the same. skipping: predictors skip unselected tokens.
    adversary: whether a second predictor is trained on the unselected tokens, and what it sees: where the gaps are
    (`gaps`) or the tokens alone (`packed`). readers: the seed of the weights that all judges start from, trained on
    random highlights; None: each starts from weights of its own. beliefs: (validation texts, classes) float32, what
    judges are measured against: how much every class of a text weighs, 1 in all; None: the labels. sharpness: what a
    judge's logits are multiplied by then.
    """

    shape: Shape
    cell: Cell
    vectors: npt.NDArray[np.float32]
    train: Encoded
    val: Encoded
    class_weights: npt.NDArray[np.float32]
    training: Training
    mark_costs: npt.NDArray[np.float32] | None = None
    word_costs: npt.NDArray[np.float32] | None = None
    skipping: bool = False
    adversary: Adversary = "none"
    readers: int | None = None
    beliefs: npt.NDArray[np.float32] | None = None
    sharpness: float = 1.0

    def generator(self) -> Generator:
        """Return an untrained generator; a genome is all its weights."""
        return Generator(Encoder(self.shape, self.cell), 1)

    def predictor(self) -> Predictor:
        """Return an untrained predictor."""
        return Predictor(Encoder(self.shape, "gru"), self.shape.classes, selected=True, skipping=self.skipping)

    def opponent(self) -> Predictor:
        """Return an untrained adversary: one that sees gaps, or one that skips them."""
        packed = self.adversary == "packed"
        return Predictor(Encoder(self.shape, "gru"), self.shape.classes, selected=True, skipping=packed)

    @cached_property
    def template(self) -> Predictor:
        """An untrained predictor that only its sizes are asked of; making one takes longer than using it."""
        return self.predictor()

    def costs(self, labels: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
        """Return what a selected token costs in texts of some labels."""
        return np.ones(len(labels), np.float32) if self.mark_costs is None else self.mark_costs[labels]

    def token_costs(self, data: Encoded) -> npt.NDArray[np.float32]:
        """Return how much every token of some texts counts, by its word."""
        return np.ones(len(data.ids), np.float32) if self.word_costs is None else self.word_costs[data.ids]

    def selection_rate(self, val_mask: Mask) -> float:
        """Return the mean over the validation texts of selected / real tokens, as much as these count and cost."""
        each = self.token_costs(self.val).astype(np.float64)
        marked, whole = (np.add.reduceat(part, self.val.starts[:-1]) for part in (each * val_mask, each))
        rates = marked / whole
        return float((rates * self.costs(self.val.labels)).mean())

    @property
    def chance(self) -> float:
        """The validation loss of a predictor that sees nothing: it knows how frequent the classes are."""
        mass = np.bincount(self.train.labels, minlength=self.shape.classes) * self.class_weights.astype(np.float64)
        seen = np.bincount(self.val.labels, minlength=self.shape.classes) * self.class_weights.astype(np.float64)
        if self.beliefs is not None:
            seen = self.beliefs.sum(axis=0, dtype=np.float64)
        return float(-(seen * logarithms(np.maximum(mass / mass.sum(), 1e-12))).sum() / max(seen.sum(), 1e-12))


def fresh_predictor(seed: int, task: Task) -> Weights:
    """Draw a predictor's initial weights from its own seed."""
    return draw(stream(seed, Purpose.WEIGHTS), task.template)


class Readers(NamedTuple):
    """Weights that judges start from: of a predictor, and of an adversary. No generator has touched them."""

    predictor: Weights
    adversary: Weights


def reader_training(task: Task) -> Training:
    """Return how readers are trained: until they read random highlights of the validation texts no better."""
    batches = math.ceil(len(task.train) / task.training.batch_size)
    epochs, patience = (math.ceil(steps / batches) for steps in (_READER_STEPS, _READER_PATIENCE))
    return Training(epochs, task.training.batch_size, _READER_RATE, patience)


def random_mask(seed: int, part: int, epoch: int, data: Encoded) -> Mask:
    """Return a highlight of training (0) or validation (1) texts for a reader: of every text a share, drawn first."""
    random = stream(seed, Purpose.READERS, part, epoch)
    shares = np.repeat(random.random(len(data)), data.lengths)
    return (random.random(len(data.ids)) < shares).view(np.uint8)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What one individual is worth, measured on the validation rows; a search keeps all fields there are.

    task_loss: (weighted) mean cross-entropy of its predictor, in nats. selection_rate: mean over texts of selected
    tokens / tokens, as much as these count and cost. rest_loss: that of the adversary behind the unselected tokens;
    NaN without.
    """

    task_loss: float
    selection_rate: float
    rest_loss: float = math.nan


@dataclass(frozen=True)
class TrainedPredictor:
    """A predictor's flat weights, the validation loss they have, and the epochs that were run."""

    weights: Weights
    task_loss: float
    epochs: int


class Judges(NamedTuple):
    """The predictor that an individual was judged by, and the adversary behind the rest."""

    predictor: TrainedPredictor
    adversary: TrainedPredictor | None

    def evaluation(self, task: Task, val_mask: Mask) -> Evaluation:
        """Return what they found the highlights of the validation texts to be worth."""
        rest = math.nan if self.adversary is None else self.adversary.task_loss
        return Evaluation(self.predictor.task_loss, task.selection_rate(val_mask), rest)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a climb descends: task * task loss + rest * max(0, chance - rest loss) + pressure * selection rate."""

    task: float
    rest: float
    chance: float


@dataclass(frozen=True, slots=True)
class Climb:
    """Adam steps of a generator down the `Terms`, through drawn masks, the predictors behind it frozen.

    judged: the seed of the judges of the genome that it starts from, which are then the predictors; None: the readers
    (without readers: judges that are trained for the climb alone, from `seed`), and the pressure rises from nothing,
    lest a generator that knows nothing yet learns to select nothing. seed: of the batches and of the noise.
    temperature: of the noise; the lower, the more drawn masks are like the highlight.
    """

    steps: int
    learning_rate: float
    pressure: float
    seed: int
    judged: int | None = None
    temperature: float = 1.0

    def pressures(self) -> npt.NDArray[np.float64]:
        """Return the pressure of every step."""
        ramp = np.arange(self.steps) * 2 / self.steps if self.judged is None else np.ones(self.steps)
        return np.asarray(self.pressure * np.minimum(1.0, ramp))

    def batches(self, texts: int, size: int) -> npt.NDArray[np.int64]:
        """Deal the rows of every step, (steps, texts): whole batches of one order of all texts after another."""
        random, size = stream(self.seed, Purpose.ORDER), min(size, texts)
        each = texts // size
        orders = [random.permutation(texts)[: each * size] for _ in range(-(-self.steps // each))]
        return np.concatenate(orders).reshape(-1, size)[: self.steps]

    def noise(self, tokens: int) -> npt.NDArray[np.float32]:
        """Return uniform numbers, one per token of the texts of all steps, laid end to end."""
        return stream(self.seed, Purpose.NOISE).random(tokens, dtype=np.float32)


class Evaluator(Protocol):
    """A population engine."""

    task: Task

    def evaluate(self, genomes: npt.NDArray[np.float32], seeds: Sequence[int]) -> list[Evaluation]:
        """Judge genomes, (individuals, genes): each by predictors trained from its own seed."""
        ...

    def climb(self, genomes: npt.NDArray[np.float32], climbs: Sequence[Climb], terms: Terms) -> npt.NDArray[np.float32]:
        """Return the genomes that climbs from these lead to."""
        ...

    def imitate(
        self, genomes: npt.NDArray[np.float32], masks: Sequence[Mask], climbs: Sequence[Climb]
    ) -> npt.NDArray[np.float32]:
        """Return the genomes after as many steps towards given highlights of the training texts."""
        ...

    def judge(self, train_mask: Mask, val_mask: Mask, seed: int) -> Judges:
        """Judge fixed highlights as those of a genome are."""
        ...

    def select(self, genome: npt.NDArray[np.float32], data: Encoded) -> Mask:
        """Return the flat highlight mask that a genome gives to all texts of `data`."""
        ...

    def train_predictors(
        self, train_mask: Mask, val_mask: Mask, seeds: Sequence[int], training: Training | None = None
    ) -> list[TrainedPredictor]:
        """Train predictors behind fixed masks: the first from the readers' weights, others from their own.

        training: the task's own unless another is given.
        """
        ...

    def close(self) -> None:
        """Release workers."""
        ...
