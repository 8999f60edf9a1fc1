"""A population engine whose individuals are judged by workers of a cluster, one thread of the compiled engine each.

What workers share, the encoded data and the readers, is put into Ray's store once; a worker keeps the engine that it
made of it. Judges come back with what they found, so that a later climb between them, on whatever worker, need not
train them again. An evaluation is pure: it makes no difference who does it, nor how often.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from genspp.cluster import Cluster, Promise, fetch
from genspp.data.encode import Encoded, Mask
from genspp.population.compiled import CompiledEvaluator
from genspp.population.evaluator import Climb, Evaluation, Judges, Readers, Task, Terms, TrainedPredictor, Training

_BATCHES = 4  # per worker, so that none waits long for the last one
_NO_TEXTS = Encoded(np.zeros(0, np.int32), np.zeros(1, np.int64), np.zeros(0, np.int32))
_NO_VECTORS = np.zeros((0, 0), np.float32)


class Kit(NamedTuple):
    """What a worker makes its engine of. rest: the task without its data; data: vectors, rows to train and validate."""

    rest: Task
    data: Promise
    readers: Readers | None


class RayEvaluator:
    """See `Evaluator`. What is asked for one at a time is done here, by `workers` threads."""

    def __init__(self, task: Task, cluster: Cluster, workers: int | None = None) -> None:
        self.task = task
        self._cluster = cluster
        self._here = CompiledEvaluator(task, workers)

    @cached_property
    def _kit(self) -> tuple[Promise]:
        """The kit where workers find it, in a tuple lest it is sent with every piece of work."""
        task = self.task
        data = self._cluster.put_once(task.vectors, task.train, task.val)
        rest = replace(task, vectors=_NO_VECTORS, train=_NO_TEXTS, val=_NO_TEXTS)
        return (self._cluster.put(Kit(rest, data, self._here.readers)),)

    def evaluate(self, genomes: npt.NDArray[np.float32], seeds: Sequence[int]) -> list[Evaluation]:
        """Judge genomes, (individuals, genes): each by predictors trained from its own seed."""
        found = self.spread(evaluate_some, (genomes, seeds))
        for genome, seed, (_, judges) in zip(genomes, seeds, found, strict=True):
            if judges is not None:
                self._here.remember(genome, seed, judges)
        return [evaluation for evaluation, _ in found]

    def climb(self, genomes: npt.NDArray[np.float32], climbs: Sequence[Climb], terms: Terms) -> npt.NDArray[np.float32]:
        """Return the genomes that climbs from these lead to."""
        return np.stack(self.spread(climb_some, (genomes, climbs, self.judges(genomes, climbs)), terms))

    def imitate(
        self, genomes: npt.NDArray[np.float32], masks: Sequence[Mask], climbs: Sequence[Climb]
    ) -> npt.NDArray[np.float32]:
        """Return the genomes after as many steps towards given highlights of the training texts."""
        return np.stack(self.spread(imitate_some, (genomes, masks, climbs)))

    def judge(self, train_mask: Mask, val_mask: Mask, seed: int) -> Judges:
        """Judge fixed highlights as those of a genome are."""
        return self._here.judge(train_mask, val_mask, seed)

    def select(self, genome: npt.NDArray[np.float32], data: Encoded) -> Mask:
        """Return the flat highlight mask that a genome gives to all texts of `data`."""
        return self._here.select(genome, data)

    def train_predictors(
        self, train_mask: Mask, val_mask: Mask, seeds: Sequence[int], training: Training | None = None
    ) -> list[TrainedPredictor]:
        """Train predictors behind fixed masks: the first from the readers' weights, others from their own.

        training: the task's own unless another is given.
        """
        masks = self._cluster.put((train_mask, val_mask))
        return self.spread(train_some, (range(len(seeds)), seeds), masks, training)

    def close(self) -> None:
        """Stop the threads here; nothing is under way elsewhere."""
        self._here.close()

    def judges(self, genomes: npt.NDArray[np.float32], climbs: Sequence[Climb]) -> list[Judges | None]:
        """Return who judged the genomes that climbs start from, as far as that is needed and remembered."""
        return [
            None if climb.judged is None else self._here.judges_of(genome, climb.judged)
            for genome, climb in zip(genomes, climbs, strict=True)
        ]

    def spread(self, work: Callable[..., list[Any]], columns: Sequence[Any], *shared: Any) -> list[Any]:
        """Have some work done for all rows of columns, in batches, and return what is found for every row."""
        rows = len(columns[0])
        size = batch_size(rows, self._cluster.slots)
        promised = [
            self._cluster.submit(work, self._kit, *(column[start : start + size] for column in columns), *shared)
            for start in range(0, rows, size)
        ]
        return [found for batch in self._cluster.gather(promised) for found in batch]


def batch_size(individuals: int, slots: int) -> int:
    """Return how many individuals are sent together."""
    return max(1, individuals // (_BATCHES * slots))


# ---- on a worker

_kept: tuple[Promise, CompiledEvaluator] | None = None


def _engine(kit: tuple[Promise]) -> CompiledEvaluator:
    """Return this process's engine, made anew where the last one was for another kit."""
    global _kept  # noqa: PLW0603 - a worker process keeps one engine
    if _kept is None or _kept[0] != kit[0]:
        if _kept is not None:
            _kept[1].close()
        rest, data, readers = fetch(kit[0])
        vectors, train, val = fetch(data)
        _kept = kit[0], CompiledEvaluator(replace(rest, vectors=vectors, train=train, val=val), 1, readers)
    return _kept[1]


def evaluate_some(
    kit: tuple[Promise], genomes: npt.NDArray[np.float32], seeds: Sequence[int]
) -> list[tuple[Evaluation, Judges | None]]:
    """Judge some individuals; return who judged them, too."""
    engine = _engine(kit)
    found = engine.evaluate(genomes, seeds)
    judges = [engine.judges_of(genome, seed) for genome, seed in zip(genomes, seeds, strict=True)]
    return list(zip(found, judges, strict=True))


def climb_some(
    kit: tuple[Promise],
    genomes: npt.NDArray[np.float32],
    climbs: Sequence[Climb],
    judges: Sequence[Judges | None],
    terms: Terms,
) -> list[npt.NDArray[np.float32]]:
    """Climb from some genomes, between their judges where these are known."""
    engine = _engine(kit)
    for genome, climb, known in zip(genomes, climbs, judges, strict=True):
        if climb.judged is not None and known is not None:
            engine.remember(genome, climb.judged, known)
    return list(engine.climb(genomes, climbs, terms))


def imitate_some(
    kit: tuple[Promise], genomes: npt.NDArray[np.float32], masks: Sequence[Mask], climbs: Sequence[Climb]
) -> list[npt.NDArray[np.float32]]:
    """Step towards given highlights from some genomes."""
    return list(_engine(kit).imitate(genomes, masks, climbs))


def train_some(
    kit: tuple[Promise],
    numbers: Sequence[int],
    seeds: Sequence[int],
    masks: tuple[Mask, Mask],
    training: Training | None,
) -> list[TrainedPredictor]:
    """Train some of all predictors that are trained behind the same masks."""
    return _engine(kit).train_predictors(*masks, seeds, training, first=numbers[0])
