"""The fast population engine: the plain model of `model/spp.py` as compiled SIMD code, an individual a thread.

The kernels are compiled once for the machine, whatever the sizes, and kept on disk by numba: beside the package, or
in the user's cache directory where that is not writable. The logger "genspp" says so before it happens.
"""

import logging
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from numba.core import event

from genspp.data.encode import Encoded, Mask
from genspp.model.genome import Weights, generator_parts, unflatten
from genspp.model.spp import Shape
from genspp.population.evaluator import (
    Evaluation,
    Task,
    TrainedPredictor,
    Training,
    epoch_order,
    fresh_predictor,
    run_training,
)
from genspp.population.kernel_batch import Space, Texts, Words
from genspp.population.kernel_cell import Floats, Table, gate_size_of, state_size_of
from genspp.population.kernel_data import (
    Rows,
    floats,
    integers,
    pack_predictor,
    pack_weights,
    padded,
    unpack_predictor,
    word_table,
    working_memory,
)
from genspp.population.kernel_generator import add_logits
from genspp.population.kernel_lanes import WIDTH
from genspp.population.kernel_predictor import train_epoch, validate

logger = logging.getLogger("genspp")


class CompiledEvaluator:
    """A population engine of compiled kernels on `workers` threads, one a core unless given.

    What an individual gets depends on nothing but its genome, its seed and the task: not on the number of threads,
    nor on who else is evaluated. The first evaluator of a machine compiles the kernels, before anything else.
    """

    def __init__(self, task: Task, workers: int | None = None) -> None:
        compile_kernels()
        self.task = task
        self._table, words = word_table(task.vectors, task.train, task.val)
        self._train = Rows(task.train, words, task.shape.classes)
        self._val = Rows(task.val, words, task.shape.classes)
        # Over hundreds of steps gradients fade into denormal numbers, which cost ten times the time of others and mean
        # nothing here. The setting is a thread's own, so all kernels run on the pool's threads.
        self._pool = ThreadPoolExecutor(
            workers or os.cpu_count() or 1,
            thread_name_prefix="genspp",
            initializer=torch.set_flush_denormal,
            initargs=(True,),
        )
        self._kept = threading.local()

    def evaluate(self, genomes: npt.NDArray[np.float32], seeds: Sequence[int]) -> list[Evaluation]:
        """Judge genomes, (individuals, genes): each gets a predictor trained from its own seed."""
        return list(self._pool.map(lambda pair: self._judge(*pair), zip(genomes, seeds, strict=True)))

    def select(self, genome: npt.NDArray[np.float32], data: Encoded) -> Mask:
        """Return the flat highlight mask that a genome gives to all texts of `data`."""
        table, words = word_table(self.task.vectors, data)
        rows = Rows(data, words, self.task.shape.classes)
        return self._pool.submit(_highlight, self.task.shape, genome, rows, table).result()

    def train_predictor(
        self, train_mask: Mask, val_mask: Mask, seed: int, training: Training | None = None
    ) -> TrainedPredictor:
        """Train one predictor behind fixed masks; `training` is the task's own unless another is given."""
        return self._pool.submit(self._fit, train_mask, val_mask, seed, training or self.task.training).result()

    def close(self) -> None:
        """Release workers."""
        self._pool.shutdown(cancel_futures=True)

    def _judge(self, genome: Weights, seed: int) -> Evaluation:
        train_mask = _highlight(self.task.shape, genome, self._train, self._table)
        val_mask = _highlight(self.task.shape, genome, self._val, self._table)
        fitted = self._fit(train_mask, val_mask, seed, self.task.training)
        return Evaluation(fitted.task_loss, self.task.selection_rate(val_mask))

    def _fit(self, train_mask: Mask, val_mask: Mask, seed: int, training: Training) -> TrainedPredictor:
        shape = self.task.shape
        predictor = _Predictor(
            fresh_predictor(seed, shape), shape, self._table, self.task.class_weights, self._memory(training)
        )
        train, val = self._train.behind(train_mask), self._val.behind(val_mask)
        return run_training(
            training,
            lambda epoch: predictor.train(train, epoch_order(seed, epoch, len(self.task.train)), training),
            lambda: predictor.validate(val, training.batch_size),
            lambda: unpack_predictor(predictor.weights, shape),
        )

    def _memory(self, training: Training) -> tuple[Words, Space]:
        """Return the working memory of this thread, made anew when the batch size is another than last time."""
        if getattr(self._kept, "batch_size", None) != training.batch_size:
            shape, longest = self.task.shape, max(self._train.longest, self._val.longest)
            self._kept.space = working_memory(
                padded(shape, shape.classes), longest, training.batch_size, len(self._table.column) - 1
            )
            self._kept.batch_size = training.batch_size
        space: tuple[Words, Space] = self._kept.space
        return space


class _Predictor:
    """A predictor under training: its weights and Adam's moments, in the order of the kernels."""

    def __init__(
        self, flat: Weights, shape: Shape, table: Table, class_weights: Floats, space: tuple[Words, Space]
    ) -> None:
        self.sizes = padded(shape, shape.classes)
        self.weights = pack_predictor(flat, shape)
        self.gradient, self._moments, self._squares = (np.zeros_like(self.weights) for _ in range(3))
        self._steps = 0
        self._shared = (np.array(class_weights, np.float32), table, self.sizes, *space)

    def train(self, texts: Texts, order: npt.NDArray[np.int64], training: Training) -> None:
        """Train for one epoch."""
        state = (self.weights, self.gradient, self._moments, self._squares)
        # Plain types: numpy's, or a whole number as a rate, would be compiled for anew.
        batch, rate = int(training.batch_size), float(training.learning_rate)
        self._steps = train_epoch(order, batch, rate, self._steps, texts, *self._shared, *state)

    def validate(self, texts: Texts, chunk: int) -> float:
        """Return the loss over all texts."""
        order = np.argsort(-texts.span, kind="stable")
        return float(validate(order, int(chunk), texts, *self._shared, self.weights))


def _highlight(shape: Shape, genome: Weights, rows: Rows, table: Table) -> Mask:
    """Return the mask over all texts that a genome selects."""
    sizes = padded(shape, 1)
    *gru, output, bias = unflatten(np.asarray(genome, np.float32), generator_parts(shape)).values()
    logits = np.zeros(len(rows.ids), np.float32)
    states = floats((rows.longest + 1) * state_size_of(sizes.hidden))
    cells, gates = integers(rows.longest * WIDTH), floats(gate_size_of(sizes.hidden))
    projected = floats(len(table.column) * 3 * sizes.hidden)
    for reverse in range(len(gru) // 4):
        w, u, b, c = gru[4 * reverse : 4 * reverse + 4]
        half = output[:, reverse * shape.hidden : (reverse + 1) * shape.hidden]
        weights = pack_weights([w, u, b, c, half, bias * (not reverse)], sizes, shape.hidden)
        add_logits(
            rows.by_length,
            rows.starts,
            rows.ids,
            bool(reverse),
            table,
            sizes,
            weights,
            projected,
            cells,
            states,
            gates,
            logits,
        )
    mask: Mask = (logits >= 0).view(np.uint8)
    return mask


class _Notice(event.Listener):  # type: ignore[misc]
    """Says once that kernels are being compiled."""

    def __init__(self) -> None:
        self.given = False

    def on_start(self, event: Any) -> None:
        if not self.given:
            logger.info("compiling the population engine for this machine: once, for half a minute at most")
        self.given = True

    def on_end(self, event: Any) -> None:
        pass


_READY = threading.Event()


def compile_kernels() -> bool:
    """Make the kernels ready, from disk or else by compiling them, and return whether anything was compiled."""
    if _READY.is_set():
        return False
    _READY.set()  # before the engine below asks for the same
    notice = _Notice()
    try:
        with event.install_listener("numba:compile", notice):
            shape = Shape(1, 1, 2)
            data = Encoded(np.ones(1, np.int32), np.array([0, 1]), np.zeros(1, np.int32))
            task = Task(shape, np.eye(2, 1, -1, np.float32), data, data, np.ones(2, np.float32), Training(1, 1))
            engine = CompiledEvaluator(task, 1)
            engine.evaluate(np.zeros((1, 14), np.float32), [0])
            engine.close()
    except BaseException:
        _READY.clear()
        raise
    return notice.given


def batch_gradient(task: Task, mask: Mask, rows: npt.NDArray[np.int64], flat: Weights) -> Weights:
    """Return the gradient of one training batch's loss at a predictor's flat weights, to be checked against others'."""
    engine = CompiledEvaluator(task, 1)
    training = Training(1, len(rows))
    memory = engine._memory(training)
    predictor = _Predictor(flat, task.shape, engine._table, task.class_weights, memory)
    predictor.train(engine._train.behind(mask), rows, training)
    engine.close()
    return unpack_predictor(predictor.gradient, task.shape)
