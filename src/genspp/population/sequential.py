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
from genspp.model.inference import one_thread
from genspp.model.networks import Predictor
from genspp.model.stopping import EarlyStopping
from genspp.model.weights import flatten, load_flat
from genspp.population.evaluator import Evaluation, Task, TrainedPredictor, Training, fresh_predictor
from genspp.streams import epoch_order


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
        generator = self.task.generator()
        load_flat(generator, genome)
        flat = np.zeros(len(data.ids), np.uint8)
        with one_thread(), torch.inference_mode():
            for rows in data.batches():
                ids, real = data.padded(rows)
                mask = generator.select(self._vectors[torch.from_numpy(ids)], torch.from_numpy(real)).numpy()
                index = data.starts[rows][:, None] + np.arange(ids.shape[1])
                flat[index[real]] = mask[real]
        return flat

    def train_predictor(
        self, train_mask: Mask, val_mask: Mask, seed: int, training: Training | None = None
    ) -> TrainedPredictor:
        """Train one predictor behind fixed masks."""
        training = training or self.task.training
        predictor = self.task.predictor()
        load_flat(predictor, fresh_predictor(seed, self.task))
        optimizer = torch.optim.Adam(predictor.parameters(), lr=training.learning_rate)
        stopping = EarlyStopping(training.epochs, training.patience)
        with one_thread():
            while not stopping.finished:
                order = epoch_order(seed, stopping.epoch, len(self.task.train))
                self._train_epoch(predictor, optimizer, train_mask, order, training)
                loss = self._validation_loss(predictor, val_mask) if stopping.measured else float("nan")
                stopping.close_epoch(loss, flatten(predictor))
        return TrainedPredictor(stopping.best, stopping.best_loss, stopping.epoch)

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
        ids, real = data.padded(rows)
        chosen, _ = pad(mask, data.starts, rows)
        logits = predictor(self._vectors[torch.from_numpy(ids)], torch.from_numpy(real), torch.from_numpy(chosen))
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
