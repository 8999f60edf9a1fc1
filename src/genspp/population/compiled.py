"""The fast population engine: the plain model of `model/networks.py` on compiled kernels, one individual per thread."""

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from genspp.data.encode import Encoded, Mask
from genspp.kernels.inputs import Table
from genspp.kernels.lanes import WIDTH
from genspp.kernels.predictor import Prefix, make_prefix, train_epoch, validate
from genspp.kernels.space import Extent, Space, make_space
from genspp.kernels.texts import Layout, Texts, make_layout
from genspp.model.passes import Batch, Network, prepare
from genspp.model.stopping import EarlyStopping
from genspp.model.weights import Weights, kernel_order, pack, sizes_of, unpack
from genspp.population.evaluator import Evaluation, Task, TrainedPredictor, Training, fresh_predictor
from genspp.streams import epoch_order

_NOTHING = np.zeros(0, np.float32)


class _Memory(NamedTuple):
    """What training one predictor needs; a thread keeps it for the next one."""

    layout: Layout
    space: Space
    prefix: Prefix


class CompiledEvaluator:
    """A population engine of compiled kernels on `workers` threads, one per core unless given.

    What an individual gets depends on nothing but its genome, its seed and the task: not on the number of threads,
    nor on who else is evaluated.
    """

    def __init__(self, task: Task, workers: int | None = None) -> None:
        self.task = task
        self._table, (self._train, self._val) = prepare(task.vectors, task.shape.classes, task.train, task.val)
        self._batches = [Batch.of_all(rows, task.class_weights, task.shape.hidden) for rows in (self._train, self._val)]
        # Over hundreds of steps gradients fade into denormal numbers, which cost ten times the time of others and mean
        # nothing here. The setting is a thread's own, so all kernels run on the pool's threads.
        self._pool = ThreadPoolExecutor(
            workers or os.cpu_count() or 1,
            thread_name_prefix="genspp",
            initializer=torch.set_flush_denormal,
            initargs=(True,),
        )
        self._own = threading.local()

    def evaluate(self, genomes: npt.NDArray[np.float32], seeds: Sequence[int]) -> list[Evaluation]:
        """Judge genomes, (individuals, genes): each gets a predictor trained from its own seed."""
        return list(self._pool.map(lambda pair: self._judge(*pair), zip(genomes, seeds, strict=True)))

    def select(self, genome: npt.NDArray[np.float32], data: Encoded) -> Mask:
        """Return the flat highlight mask that a genome gives to all texts of `data`."""
        table, (rows,) = prepare(self.task.vectors, self.task.shape.classes, data)
        network, batch = (
            Network(self.task.generator(), table),
            Batch.of_all(rows, self.task.class_weights, self.task.shape.hidden),
        )
        return self._pool.submit(_highlight, network, genome, batch).result()

    def train_predictor(
        self, train_mask: Mask, val_mask: Mask, seed: int, training: Training | None = None
    ) -> TrainedPredictor:
        """Train one predictor behind fixed masks; `training` is the task's own unless another is given."""
        return self._pool.submit(self._fit, train_mask, val_mask, seed, training or self.task.training).result()

    def close(self) -> None:
        """Release workers."""
        self._pool.shutdown(cancel_futures=True)

    def _judge(self, genome: Weights, seed: int) -> Evaluation:
        if not hasattr(self._own, "network"):
            self._own.network = Network(self.task.generator(), self._table)
        train_mask, val_mask = (_highlight(self._own.network, genome, batch) for batch in self._batches)
        fitted = self._fit(train_mask, val_mask, seed, self.task.training)
        return Evaluation(fitted.task_loss, self.task.selection_rate(val_mask))

    def _fit(self, train_mask: Mask, val_mask: Mask, seed: int, training: Training) -> TrainedPredictor:
        task = self.task
        predictor = TrainablePredictor(task, fresh_predictor(seed, task), self._table, training, self._memory(training))
        train, val = self._train.behind(train_mask), self._val.behind(val_mask)
        stopping = EarlyStopping(training.epochs, training.patience)
        while not stopping.finished:
            predictor.train(train, epoch_order(seed, stopping.epoch, len(task.train)))
            loss = predictor.validate(val) if stopping.measured else float("nan")
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
        self._batch_size = int(training.batch_size)  # numpy's number would be compiled for anew
        self._shared = (np.array(task.class_weights, np.float32), table, self.sizes, *memory)

    def train(self, texts: Texts, order: npt.NDArray[np.int64]) -> None:
        """Train for one epoch."""
        state = (self._weights, self.gradient, self._moments, self._squares, self._powers, _NOTHING)
        train_epoch(order, self._batch_size, self._rates, texts, *self._shared, *state)

    def validate(self, texts: Texts) -> float:
        """Return the loss over all texts."""
        order = np.argsort(-texts.span, kind="stable")
        return float(validate(order, self._batch_size, texts, *self._shared, self._weights))

    def flat(self) -> Weights:
        """Return the weights in torch's order."""
        return unpack(self._weights, self._order)


def _highlight(network: Network, genome: Weights, batch: Batch) -> Mask:
    """Return the mask over all texts that a genome selects."""
    logits = network.tokens(batch, pack(np.asarray(genome, np.float32), kernel_order(network.sizes)), keep=False)
    mask: Mask = (batch.by_token(logits) >= 0).view(np.uint8)
    return mask
