"""The fast population engine: the plain model of `model/networks.py` on compiled kernels, one individual per thread."""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from genspp.data.encode import Encoded, Mask
from genspp.kernels.denormals import flush_denormals
from genspp.kernels.inputs import Table
from genspp.kernels.lanes import WIDTH
from genspp.kernels.predictor import Prefix, make_prefix, train_epoch, validate
from genspp.kernels.space import Extent, Space, make_space
from genspp.kernels.texts import Layout, Texts, make_layout
from genspp.model.forms import Weights, kernel_order, pack, unpack
from genspp.model.passes import Batch, Network, prepare
from genspp.model.stopping import EarlyStopping
from genspp.model.weights import form_of, sizes_of
from genspp.population.climbing import Climber
from genspp.population.evaluator import (
    Climb,
    Evaluation,
    Judges,
    Readers,
    Task,
    Terms,
    TrainedPredictor,
    Training,
    fresh_predictor,
    random_mask,
    reader_training,
)
from genspp.streams import Purpose, epoch_order, seed_of

_NOTHING = np.zeros(0, np.float32)
_REMEMBERED = 200  # individuals whose judges are kept


class _Memory(NamedTuple):
    """What training one predictor needs; a thread keeps it for the next one."""

    layout: Layout
    space: Space
    prefix: Prefix


class CompiledEvaluator:
    """A population engine of compiled kernels on `workers` threads, one per core unless given.

    What an individual gets depends on nothing but its genome, its seed and the task: not on the number of threads,
    nor on who else is evaluated. readers: the task's, where somebody has trained them already.
    """

    def __init__(self, task: Task, workers: int | None = None, readers: Readers | None = None) -> None:
        self.task = task
        self._table, (self._train, self._val) = prepare(task.vectors, task.shape.classes, task.train, task.val)
        self._batches = [Batch.of_all(rows, task.class_weights, task.shape.hidden) for rows in (self._train, self._val)]
        # Over hundreds of steps gradients fade into denormal numbers, which cost ten times the time of others and mean
        # nothing here. The setting is a thread's own, so all kernels run on the pool's threads.
        self._pool = ThreadPoolExecutor(
            workers or os.cpu_count() or 1,
            thread_name_prefix="genspp",
            initializer=flush_denormals,
            initargs=(True,),
        )
        self._own = threading.local()
        self._beliefs = _NOTHING if task.beliefs is None else np.array(task.beliefs, np.float32).ravel()
        self._readers = readers
        self._judged: dict[tuple[int, bytes], Judges] = {}  # the last ones, to climb between; others are trained again
        self._lock = threading.Lock()

    def evaluate(self, genomes: npt.NDArray[np.float32], seeds: Sequence[int]) -> list[Evaluation]:
        """Judge genomes, (individuals, genes): each by predictors trained from its own seed."""
        self._prepare_readers()
        return list(self._pool.map(self._evaluate, genomes, seeds))

    def climb(self, genomes: npt.NDArray[np.float32], climbs: Sequence[Climb], terms: Terms) -> npt.NDArray[np.float32]:
        """Return the genomes that climbs from these lead to."""
        self._prepare_readers()
        found = self._pool.map(lambda pair: self._climb(pair[0], pair[1], terms), zip(genomes, climbs, strict=True))
        return np.stack(list(found))

    def imitate(
        self, genomes: npt.NDArray[np.float32], masks: Sequence[Mask], climbs: Sequence[Climb]
    ) -> npt.NDArray[np.float32]:
        """Return the genomes after as many steps towards given highlights of the training texts."""
        found = self._pool.map(lambda one: self._climber().imitate(*one), zip(genomes, masks, climbs, strict=True))
        return np.stack(list(found))

    def judge(self, train_mask: Mask, val_mask: Mask, seed: int) -> Judges:
        """Judge fixed highlights as those of a genome are."""
        self._prepare_readers()
        return self._pool.submit(self._judge, train_mask, val_mask, seed).result()

    def select(self, genome: npt.NDArray[np.float32], data: Encoded) -> Mask:
        """Return the flat highlight mask that a genome gives to all texts of `data`."""
        table, (rows,) = prepare(self.task.vectors, self.task.shape.classes, data)
        network, batch = (
            Network(form_of(self.task.generator()), table),
            Batch.of_all(rows, self.task.class_weights, self.task.shape.hidden),
        )
        return self._pool.submit(_highlight, network, genome, batch).result()

    def train_predictors(
        self,
        train_mask: Mask,
        val_mask: Mask,
        seeds: Sequence[int],
        training: Training | None = None,
        first: int = 0,
    ) -> list[TrainedPredictor]:
        """Train predictors behind fixed masks: the first from the readers' weights, others from their own.

        training: the task's own unless another is given. first: the number of the first seed among all there are.
        """
        self._prepare_readers()
        texts, training = self._seen(train_mask, val_mask), training or self.task.training
        start = self._readers.predictor if self._readers is not None and first == 0 else None
        starts = [start, *[None] * (len(seeds) - 1)]
        return list(self._pool.map(lambda seed, start: self._fit(texts, seed, training, start), seeds, starts))

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown(cancel_futures=True)

    # ------------------------------------------------------------------ what one engine can tell another

    @property
    def readers(self) -> Readers | None:
        """The weights that judges start from, where the task has any."""
        self._prepare_readers()
        return self._readers

    def judges_of(self, genome: Weights, seed: int) -> Judges | None:
        """Return who judged a genome from a seed, if that is remembered."""
        return self._judged.get((seed, genome.tobytes()))

    def remember(self, genome: Weights, seed: int, judges: Judges) -> None:
        """Remember who judged a genome from a seed, to climb between."""
        with self._lock:
            self._judged[seed, genome.tobytes()] = judges
            while len(self._judged) > _REMEMBERED:
                self._judged.pop(next(iter(self._judged)))

    # ------------------------------------------------------------------ one individual

    def _evaluate(self, genome: Weights, seed: int) -> Evaluation:
        train_mask, val_mask = self._highlights(genome)
        judges = self._judge(train_mask, val_mask, seed)
        self.remember(genome, seed, judges)
        return judges.evaluation(self.task, val_mask)

    def _climb(self, genome: Weights, climb: Climb, terms: Terms) -> Weights:
        if climb.judged is None and self._readers is not None:
            judges = self._readers
        else:
            seed = climb.seed if climb.judged is None else climb.judged
            predictor, adversary = self.judges_of(genome, seed) or self._judge(*self._highlights(genome), seed)
            judges = Readers(predictor.weights, predictor.weights if adversary is None else adversary.weights)
        return self._climber().climb(genome, *judges, climb, terms)

    def _climber(self) -> Climber:
        if not hasattr(self._own, "climber"):
            self._own.climber = Climber(self.task, self._table, self._train)
        climber: Climber = self._own.climber
        return climber

    def _highlights(self, genome: Weights) -> tuple[Mask, Mask]:
        """Return the highlights of the training and the validation texts."""
        if not hasattr(self._own, "network"):
            self._own.network = Network(form_of(self.task.generator()), self._table)
        train, val = (_highlight(self._own.network, genome, batch) for batch in self._batches)
        return train, val

    def _judge(self, train_mask: Mask, val_mask: Mask, seed: int) -> Judges:
        """Train a predictor behind highlights and, where the task has one, an adversary behind the rest."""
        start, training = self._readers, self.task.training
        seen, beliefs = self._seen(train_mask, val_mask), self._beliefs
        predictor = self._fit(seen, seed, training, start and start.predictor, beliefs)
        if self.task.adversary == "none":
            return Judges(predictor, None)
        rest = self._left(1 - train_mask, 1 - val_mask)
        own = seed_of(seed, Purpose.ADVERSARY)
        return Judges(predictor, self._fit(rest, own, training, start and start.adversary, beliefs))

    # ------------------------------------------------------------------ what predictors read

    def _seen(self, *masks: Mask) -> list[Texts]:
        """Return the training and the validation texts as the predictor sees them."""
        both = zip((self._train, self._val), masks, strict=True)
        return [rows.packed(mask) if self.task.skipping else rows.behind(mask) for rows, mask in both]

    def _left(self, *masks: Mask) -> list[Texts]:
        """Return the texts as the adversary sees them, at masks of what is left to it."""
        both, packed = zip((self._train, self._val), masks, strict=True), self.task.adversary == "packed"
        return [rows.packed(mask) if packed else rows.behind(mask) for rows, mask in both]

    def _prepare_readers(self) -> None:
        """Train the weights that judges start from, once."""
        if self.task.readers is not None and self._readers is None:
            seeds = [seed_of(self.task.readers, Purpose.READERS, kind) for kind in range(2)]
            self._readers = Readers(*self._pool.map(self._read, (self._seen, self._left), seeds))

    def _read(self, behind: Callable[[Mask, Mask], list[Texts]], seed: int) -> Weights:
        """Train a predictor on highlights that are drawn anew in every epoch; those of validation stay."""
        task, training = self.task, reader_training(self.task)
        predictor = TrainablePredictor(task, fresh_predictor(seed, task), self._table, training, self._memory(training))
        stopping, unseen = EarlyStopping(training.epochs, training.patience), random_mask(seed, 1, 0, task.val)
        while not stopping.finished:
            epoch = stopping.epoch
            train, val = behind(random_mask(seed, 0, epoch, task.train), unseen)
            predictor.train(train, epoch_order(seed, epoch, len(task.train)))
            stopping.close_epoch(predictor.validate(val), predictor.flat())
        return stopping.best

    def _fit(
        self,
        texts: Sequence[Texts],
        seed: int,
        training: Training,
        start: Weights | None,
        beliefs: npt.NDArray[np.float32] = _NOTHING,
    ) -> TrainedPredictor:
        train, val = texts
        first = fresh_predictor(seed, self.task) if start is None else start
        predictor = TrainablePredictor(self.task, first, self._table, training, self._memory(training))
        stopping = EarlyStopping(training.epochs, training.patience)
        while not stopping.finished:
            predictor.train(train, epoch_order(seed, stopping.epoch, len(self.task.train)))
            loss = predictor.validate(val, beliefs) if stopping.measured else float("nan")
            stopping.close_epoch(loss, predictor.flat())
        return TrainedPredictor(stopping.best, stopping.best_loss, stopping.epoch)

    def _memory(self, training: Training) -> _Memory:
        """Return the working memory of this thread, made anew when the batch size is another than last time."""
        if getattr(self._own, "batch_size", None) != training.batch_size:
            longest = max(self._train.longest, self._val.longest)
            self._own.memory = predictor_memory(self.task, training.batch_size, longest, len(self._table.column))
            self._own.batch_size = training.batch_size
        memory: _Memory = self._own.memory
        return memory


def predictor_memory(task: Task, batch_size: int, longest: int, words: int) -> _Memory:
    """Return the memory to train a predictor: it grows with the tokens and words of one batch, not with the data."""
    sizes, groups = sizes_of(task.template), -(-batch_size // WIDTH)
    extent = Extent(groups, groups * longest, longest, min(words, batch_size * longest))
    return _Memory(
        make_layout(batch_size, longest, words), make_space(sizes, extent, one=True), make_prefix(sizes, longest)
    )


class TrainablePredictor:
    """A predictor under training: its weights and Adam's moments, in the order of the kernels."""

    def __init__(self, task: Task, flat: Weights, table: Table, training: Training, memory: _Memory) -> None:
        self.sizes = sizes_of(task.template)
        self._order = kernel_order(self.sizes)
        self._weights = pack(flat, self._order)
        self.gradient, self._moments, self._squares = (np.zeros_like(self._weights) for _ in range(3))
        self._powers, self._rates = np.ones(2), np.full_like(self._weights, training.learning_rate)
        self._sharpness = float(task.sharpness)
        self._batch_size = int(training.batch_size)  # numpy's number would be compiled for anew
        self._shared = (np.array(task.class_weights, np.float32), table, self.sizes, *memory)

    def train(self, texts: Texts, order: npt.NDArray[np.int64]) -> None:
        """Train for one epoch."""
        state = (self._weights, self.gradient, self._moments, self._squares, self._powers, _NOTHING)
        train_epoch(order, self._batch_size, self._rates, texts, *self._shared, *state)

    def validate(self, texts: Texts, beliefs: npt.NDArray[np.float32] = _NOTHING) -> float:
        """Return the loss over all texts. beliefs: flat, what it is measured against; nothing: the labels."""
        order = np.argsort(-texts.span, kind="stable")
        return float(validate(order, self._batch_size, texts, *self._shared, self._weights, beliefs, self._sharpness))

    def flat(self) -> Weights:
        """Return the weights in torch's order."""
        return unpack(self._weights, self._order)


def _highlight(network: Network, genome: Weights, batch: Batch) -> Mask:
    """Return the mask over all texts that a genome selects."""
    logits = network.tokens(batch, pack(np.asarray(genome, np.float32), kernel_order(network.sizes)), keep=False)
    mask: Mask = (batch.by_token(logits) >= 0).view(np.uint8)
    return mask
