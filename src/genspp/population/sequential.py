"""The engine that defines what is right: plain `nn.GRU`, one individual after the other.

With several workers the individuals are spread over processes, one torch thread each; an individual is never
split, so the number of workers cannot change a result.
"""

import signal
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from genspp.data.encode import Encoded, Mask, pad
from genspp.model.genome import flatten, generator_parts, load_flat, predictor_parts
from genspp.model.inference import one_thread, select
from genspp.model.spp import Generator, Predictor
from genspp.population.evaluator import (
    Evaluation,
    Task,
    TrainedPredictor,
    Training,
    epoch_order,
    fresh_predictor,
    run_training,
)


class SequentialEvaluator:
    """See `Evaluator`. `workers` processes are started at the first evaluation; 1 stays in this process."""

    def __init__(self, task: Task, workers: int = 1) -> None:
        self.task = task
        self.workers = workers
        self._vectors = torch.from_numpy(task.vectors)
        self._class_weights = torch.from_numpy(task.class_weights)
        self._pool: ProcessPoolExecutor | None = None

    def evaluate(self, genomes: npt.NDArray[np.float32], seeds: Sequence[int]) -> list[Evaluation]:
        """Judge genomes, (individuals, genes), each by a predictor trained from its own seed."""
        if self.workers == 1:
            return [self._evaluate_one(genome, seed) for genome, seed in zip(genomes, seeds, strict=True)]
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self.workers,
                mp_context=get_context("spawn"),
                initializer=_start_worker,
                initargs=(self.task,),
            )
        return list(self._pool.map(_work, genomes, seeds))

    def select(self, genome: npt.NDArray[np.float32], data: Encoded) -> Mask:
        """Return the flat highlight mask of a genome over `data`."""
        generator = Generator(self.task.shape)
        load_flat(generator, genome, generator_parts(self.task.shape))
        return select(lambda ids, real: generator.select(self._vectors[ids], real), data)

    def train_predictor(
        self, train_mask: Mask, val_mask: Mask, seed: int, training: Training | None = None
    ) -> TrainedPredictor:
        """Train one predictor behind fixed masks."""
        training = training or self.task.training
        parts = predictor_parts(self.task.shape)
        predictor = Predictor(self.task.shape)
        load_flat(predictor, fresh_predictor(seed, self.task.shape), parts)
        optimizer = torch.optim.Adam(predictor.parameters(), lr=training.learning_rate)

        def train_epoch(epoch: int) -> None:
            order = epoch_order(seed, epoch, len(self.task.train))
            self._train_epoch(predictor, optimizer, train_mask, order, training)

        with one_thread():
            return run_training(
                training,
                train_epoch,
                lambda: self._validation_loss(predictor, val_mask),
                lambda: flatten(predictor, parts),
            )

    def close(self) -> None:
        """Stop the worker processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _evaluate_one(self, genome: npt.NDArray[np.float32], seed: int) -> Evaluation:
        train_mask, val_mask = self.select(genome, self.task.train), self.select(genome, self.task.val)
        trained = self.train_predictor(train_mask, val_mask, seed)
        return Evaluation(trained.task_loss, self.task.selection_rate(val_mask))

    def _train_epoch(
        self,
        predictor: Predictor,
        optimizer: torch.optim.Optimizer,
        mask: Mask,
        order: npt.NDArray[np.int64],
        training: Training,
    ) -> None:
        for start in range(0, len(order), training.batch_size):
            logits, labels = self._forward(predictor, self.task.train, mask, order[start : start + training.batch_size])
            optimizer.zero_grad(set_to_none=True)
            F.cross_entropy(logits, labels, self._class_weights).backward()  # type: ignore[no-untyped-call]
            optimizer.step()

    @torch.inference_mode()
    def _validation_loss(self, predictor: Predictor, mask: Mask) -> float:
        total = weight = 0.0
        for rows in self.task.val.batches():
            logits, labels = self._forward(predictor, self.task.val, mask, rows)
            total += float(F.cross_entropy(logits, labels, self._class_weights, reduction="sum"))
            weight += float(self._class_weights[labels].sum())
        return total / weight

    def _forward(
        self, predictor: Predictor, data: Encoded, mask: Mask, rows: npt.NDArray[np.int64]
    ) -> tuple[Tensor, Tensor]:
        ids, _ = data.padded(rows)
        chosen, _ = pad(mask, data.starts, rows)
        logits = predictor(self._vectors[torch.from_numpy(ids)], torch.from_numpy(chosen))
        return cast(Tensor, logits), torch.from_numpy(data.labels[rows].astype(np.int64))


_worker: SequentialEvaluator | None = None


def _start_worker(task: Task) -> None:
    global _worker  # noqa: PLW0603 - a worker process has one evaluator for its whole life
    _worker = SequentialEvaluator(task)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which stops its workers


def _work(genome: npt.NDArray[np.float32], seed: int) -> Evaluation:
    if _worker is None:
        raise RuntimeError("a worker process was not started by SequentialEvaluator")
    return _worker._evaluate_one(genome, seed)
