"""The engine that defines what is right: plain `nn.GRU`, one individual after the other.

With several workers the individuals are spread over processes, one torch thread each; an individual is never
split, so the number of workers cannot change a result.
"""

import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cached_property
from multiprocessing import get_context
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from genspp.data.encode import Encoded, Mask, pad
from genspp.model.forms import Weights
from genspp.model.networks import Predictor, one_thread
from genspp.model.stopping import EarlyStopping
from genspp.model.weights import flatten, load_flat
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

    def train_predictors(
        self, train_mask: Mask, val_mask: Mask, seeds: Sequence[int], training: Training | None = None
    ) -> list[TrainedPredictor]:
        """Train predictors behind fixed masks: the first from the readers' weights, others from their own.

        training: the task's own unless another is given.
        """
        masks, training = (train_mask, val_mask), training or self.task.training
        starts = [None if self._readers is None else self._readers.predictor, *[None] * (len(seeds) - 1)]
        return [
            self._fit(self.task.predictor(), masks, seed, training, start)
            for seed, start in zip(seeds, starts, strict=True)
        ]

    def climb(self, genomes: npt.NDArray[np.float32], climbs: Sequence[Climb], terms: Terms) -> npt.NDArray[np.float32]:
        """Return the genomes that climbs from these lead to."""
        with one_thread():
            return np.stack([self._climb(*pair, terms) for pair in zip(genomes, climbs, strict=True)])

    def imitate(
        self, genomes: npt.NDArray[np.float32], masks: Sequence[Mask], climbs: Sequence[Climb]
    ) -> npt.NDArray[np.float32]:
        """Return the genomes after as many steps towards given highlights of the training texts."""
        with one_thread():
            return np.stack([self._imitate(*one) for one in zip(genomes, masks, climbs, strict=True)])

    def close(self) -> None:
        """Stop the worker processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _evaluate_one(self, genome: npt.NDArray[np.float32], seed: int) -> Evaluation:
        train_mask, val_mask = self.select(genome, self.task.train), self.select(genome, self.task.val)
        return self.judge(train_mask, val_mask, seed).evaluation(self.task, val_mask)

    def judge(self, train_mask: Mask, val_mask: Mask, seed: int) -> Judges:
        """Judge fixed highlights as those of a genome are."""
        task, start = self.task, self._readers
        seen, first = (train_mask, val_mask), start and start.predictor
        predictor = self._fit(task.predictor(), seen, seed, task.training, first, task.beliefs)
        if task.adversary == "none":
            return Judges(predictor, None)
        rest, own = (1 - train_mask, 1 - val_mask), seed_of(seed, Purpose.ADVERSARY)
        first = start and start.adversary
        return Judges(predictor, self._fit(task.opponent(), rest, own, task.training, first, task.beliefs))

    @cached_property
    def _readers(self) -> Readers | None:
        if self.task.readers is None:
            return None
        seeds = [seed_of(self.task.readers, Purpose.READERS, kind) for kind in range(2)]
        return Readers(self._read(self.task.predictor(), seeds[0]), self._read(self.task.opponent(), seeds[1]))

    def _read(self, predictor: Predictor, seed: int) -> Weights:
        training, train = reader_training(self.task), self.task.train
        load_flat(predictor, fresh_predictor(seed, self.task))
        optimizer = torch.optim.Adam(predictor.parameters(), lr=training.learning_rate)
        stopping, unseen = EarlyStopping(training.epochs, training.patience), random_mask(seed, 1, 0, self.task.val)
        with one_thread():
            while not stopping.finished:
                order, mask = (
                    epoch_order(seed, stopping.epoch, len(train)),
                    random_mask(seed, 0, stopping.epoch, train),
                )
                self._train_epoch(predictor, optimizer, mask, order, training)
                stopping.close_epoch(self._validation_loss(predictor, unseen), flatten(predictor))
        return stopping.best

    def _fit(
        self,
        predictor: Predictor,
        masks: tuple[Mask, Mask],
        seed: int,
        training: Training,
        start: Weights | None,
        beliefs: npt.NDArray[np.float32] | None = None,
    ) -> TrainedPredictor:
        load_flat(predictor, fresh_predictor(seed, self.task) if start is None else start)
        optimizer = torch.optim.Adam(predictor.parameters(), lr=training.learning_rate)
        stopping = EarlyStopping(training.epochs, training.patience)
        with one_thread():
            while not stopping.finished:
                order = epoch_order(seed, stopping.epoch, len(self.task.train))
                self._train_epoch(predictor, optimizer, masks[0], order, training)
                loss = self._validation_loss(predictor, masks[1], beliefs) if stopping.measured else float("nan")
                stopping.close_epoch(loss, flatten(predictor))
        return TrainedPredictor(stopping.best, stopping.best_loss, stopping.epoch)

    def _climb(self, genome: npt.NDArray[np.float32], climb: Climb, terms: Terms) -> Weights:
        predictor, opponent = self.task.predictor(), self.task.opponent()
        if climb.judged is None and self._readers is not None:
            judges = self._readers
        else:
            masks = self.select(genome, self.task.train), self.select(genome, self.task.val)
            judged, adversary = self.judge(*masks, climb.seed if climb.judged is None else climb.judged)
            judges = Readers(judged.weights, judged.weights if adversary is None else adversary.weights)
        for network, weights in zip((predictor, opponent), judges, strict=True):
            load_flat(network, weights)
            network.requires_grad_(False)

        lengths = self.task.train.lengths[climb.batches(len(self.task.train), self.task.training.batch_size)]
        flat, pressures = climb.noise(int(lengths.sum())), climb.pressures()
        ends = np.cumsum(lengths.sum(axis=1))

        def loss(step: int, margins: Tensor, texts: _Texts) -> Tensor:
            uniform = np.zeros(texts.real.shape, np.float32)
            uniform[texts.real.numpy()] = flat[ends[step] - lengths[step].sum() : ends[step]]
            noise = torch.logit(torch.from_numpy(uniform), 1.4901161e-08)
            chance = torch.sigmoid(margins * (1 / climb.temperature) + noise) * texts.real
            mask = (chance > 0.5).float() + (chance - chance.detach())  # 0 and 1 exactly
            found = terms.task * self._cross_entropy(predictor(texts.vectors, texts.real, mask), texts.labels)
            if terms.rest > 0:
                rest = opponent(texts.vectors, texts.real, texts.real.float() - mask)
                found = found + terms.rest * torch.relu(terms.chance - self._cross_entropy(rest, texts.labels))
            costs = torch.from_numpy(self.task.costs(texts.labels.numpy().astype(np.int32)))
            each = torch.zeros(mask.shape)
            each[texts.real] = torch.from_numpy(self.task.token_costs(self.task.train.take(texts.rows)))
            rates = (mask * each).sum(1) / each.sum(1) * costs
            return found + float(pressures[step]) * rates.mean()

        return self._descend(genome, climb, loss)

    def _imitate(self, genome: npt.NDArray[np.float32], wanted: Mask, climb: Climb) -> Weights:
        def loss(step: int, margins: Tensor, texts: _Texts) -> Tensor:
            targets, _ = pad(wanted, self.task.train.starts, texts.rows)
            right = torch.from_numpy(targets).float()[texts.real]
            return F.binary_cross_entropy_with_logits(margins[texts.real], right)

        return self._descend(genome, climb, loss)

    def _descend(
        self, genome: npt.NDArray[np.float32], climb: Climb, loss: Callable[[int, Tensor, "_Texts"], Tensor]
    ) -> Weights:
        """Return a genome after Adam's steps down a loss of the margins of a step's texts."""
        generator, train = self.task.generator(), self.task.train
        load_flat(generator, genome)
        optimizer = torch.optim.Adam(generator.parameters(), lr=climb.learning_rate)
        for step, rows in enumerate(climb.batches(len(train), self.task.training.batch_size)):
            ids, real = train.padded(rows)
            vectors, there = self._vectors[torch.from_numpy(ids)], torch.from_numpy(real)
            texts = _Texts(rows, vectors, there, torch.from_numpy(train.labels[rows].astype(np.int64)))
            optimizer.zero_grad(set_to_none=True)
            loss(step, generator.margins(vectors, there), texts).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        return flatten(generator)

    def _cross_entropy(self, logits: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(logits, labels, self._class_weights)

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
            self._cross_entropy(logits, labels).backward()  # type: ignore[no-untyped-call]
            optimizer.step()

    @torch.inference_mode()
    def _validation_loss(
        self, predictor: Predictor, mask: Mask, beliefs: npt.NDArray[np.float32] | None = None
    ) -> float:
        total = weight = 0.0
        for rows in self.task.val.batches():
            logits, labels = self._forward(predictor, self.task.val, mask, rows)
            if beliefs is not None:  # these weigh 1 in all
                total -= float((torch.from_numpy(beliefs[rows]) * (self.task.sharpness * logits).log_softmax(1)).sum())
                continue
            total += float(F.cross_entropy(logits, labels, self._class_weights, reduction="sum"))
            weight += float(self._class_weights[labels].sum())
        return total / weight if beliefs is None else total

    def _forward(
        self, predictor: Predictor, data: Encoded, mask: Mask, rows: npt.NDArray[np.int64]
    ) -> tuple[Tensor, Tensor]:
        ids, real = data.padded(rows)
        chosen, _ = pad(mask, data.starts, rows)
        logits = predictor(self._vectors[torch.from_numpy(ids)], torch.from_numpy(real), torch.from_numpy(chosen))
        return cast(Tensor, logits), torch.from_numpy(data.labels[rows].astype(np.int64))


class _Texts(NamedTuple):
    """The texts of a step: their rows, vectors, real tokens and labels."""

    rows: npt.NDArray[np.int64]
    vectors: Tensor
    real: Tensor
    labels: Tensor


_worker: SequentialEvaluator | None = None


def _start_worker(task: Task) -> None:
    global _worker  # noqa: PLW0603 - a worker process has one evaluator for its whole life
    _worker = SequentialEvaluator(task)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which stops its workers


def _work(genome: npt.NDArray[np.float32], seed: int) -> Evaluation:
    if _worker is None:
        raise RuntimeError("a worker process was not started by SequentialEvaluator")
    return _worker._evaluate_one(genome, seed)
