"""How long would it take on machines that we do not have? A model of wall-clock time, from costs measured on one.

Pieces of work are dealt out as the Ray engine deals them: one after the other by the machine that searches, to whoever
is free; what they send back arrives over one network. A search waits for all children to have climbed, and then for all
to be judged. Rows beyond those that a search looks at are read, and their words learnt, by one machine, and are seen by
the final predictors, of which each is trained by one worker.
"""

import heapq
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from typing import Any

from genspp.methods.patience import patient_epochs
from genspp.population.on_ray import batch_size

NETWORK = 1.25e8  # bytes per second between two machines at most: a gigabit
GENERATIONS = 30  # of a search; the default's end is 60, and most end by themselves before
PREDICTORS = 5  # that are kept behind highlights, and as many that see everything
READER_STEPS, PATIENCE = 4_000, 30  # updates of readers, and epochs that a final predictor waits at most
GAIN = 1.1  # where twice the machines are not as many times as fast, the search has stopped to scale
NODES = (1, 2, 3, 4, 5, 7, 10, 20, 30, 50, 70, 100, 200, 300, 500, 700, 1_000)
ROWS = tuple(int(rows) for rows in (1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7, 3e7, 1e8))
POPULATIONS = (6, 50, 1_000, 10_000)


@dataclass(frozen=True)
class Costs:
    """What was measured, in seconds and bytes, on machines of so many cores.

    task: what handing out a piece of work takes the one who does; round_trip: an empty piece, there and back. start:
    until a new worker has its engine. climb, evaluate: single individuals, on all rows that a search looks at. sent:
    what goes there and back per individual. data: those rows. network: bytes per second between two of Ray's nodes.
    readers, judge, full_text: what a search begins with; the last is one of several predictors. read, words, memory,
    encoded: per row. epoch: a predictor's, per row; best: how many rows it has seen at its best, however often each.
    batch: texts per update. searched: how many rows a search looks at.
    """

    cores: int
    task: float
    round_trip: float
    start: float
    climb: tuple[float, ...]
    evaluate: tuple[float, ...]
    sent: float
    data: float
    network: float
    readers: float
    judge: float
    full_text: float
    read: float
    words: float
    memory: float
    encoded: float
    epoch: float
    best: float
    batch: int
    searched: int

    @classmethod
    def of(cls, measured: dict[str, Any]) -> "Costs":
        """Return what a result file holds."""
        return cls(**{**measured, "climb": tuple(measured["climb"]), "evaluate": tuple(measured["evaluate"])})

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


def spread(pieces: Sequence[float], slots: int, costs: Costs, network: float = NETWORK) -> float:
    """Return how long pieces of work take that are dealt to workers in batches."""
    size, free, handed = batch_size(len(pieces), slots), [0.0] * min(slots, len(pieces)), 0.0
    for start in range(0, len(pieces), size):
        batch = pieces[start : start + size]
        handed += costs.task + len(batch) * costs.sent / network
        heapq.heappush(free, max(handed, heapq.heappop(free)) + sum(batch))
    return max(free) + costs.round_trip


def generation(population: int, slots: int, costs: Costs) -> float:
    """Return the seconds of a generation: children climb, and are judged together with the best one so far."""
    return spread(_drawn(costs.climb, population), slots, costs) + spread(
        _drawn(costs.evaluate, population + 1), slots, costs
    )


def search(population: int, nodes: int, costs: Costs) -> float:
    """Return the seconds of all generations, from the first word to a worker on."""
    slots = nodes * costs.cores
    first = spread(_drawn(costs.climb, 2 * population), slots, costs)
    first += spread(_drawn(costs.evaluate, 2 * population), slots, costs)
    later = GENERATIONS * generation(population, slots, costs)
    return costs.start + broadcast(costs.data, nodes, costs) + first + later


def broadcast(size: float, nodes: int, costs: Costs) -> float:
    """Return how long it takes until all machines have something: who has it passes it on."""
    return math.ceil(math.log2(nodes)) * size / min(costs.network, NETWORK)


def training(rows: int, nodes: int, costs: Costs, population: int = 6) -> dict[str, float]:
    """Return the seconds of every part of a training."""
    slots = nodes * costs.cores
    waves = math.ceil(PREDICTORS / slots)
    found = {
        "reading": rows * (costs.read + costs.words),
        "beginning": waves * costs.full_text + costs.readers + costs.judge,
        "search": search(population, nodes, costs),
    }
    if rows > costs.searched:
        reader = max(rows, READER_STEPS * costs.batch) * costs.epoch
        sent = broadcast(rows * costs.encoded, min(nodes, PREDICTORS), costs)
        epochs = math.ceil(costs.best / rows) + patient_epochs(PATIENCE, rows, costs.batch)
        found["final"] = sent + reader + 2 * waves * epochs * rows * costs.epoch
    else:
        found["final"] = waves * costs.full_text
    return found


def stops(population: int, costs: Costs) -> int:
    """Return from how many machines on twice as many bring a generation next to nothing."""
    for nodes in NODES:
        now, then = (generation(population, many * costs.cores, costs) for many in (nodes, 2 * nodes))
        if now < GAIN * then:
            return nodes
    return NODES[-1]


def simulated(costs: Costs) -> dict[str, Any]:
    """Return the curves, and where they end."""
    most = 1e9 * _MEMORY_GB / costs.memory
    return {
        "network": NETWORK,
        "generations": GENERATIONS,
        "nodes": list(NODES),
        "rows": list(ROWS),
        "generation": {
            str(population): [_rounded(generation(population, nodes * costs.cores, costs)) for nodes in NODES]
            for population in POPULATIONS
        },
        "stops": {str(population): stops(population, costs) for population in POPULATIONS},
        "training": {
            str(nodes): [
                {name: _rounded(value) for name, value in training(rows, nodes, costs).items()} for rows in ROWS
            ]
            for nodes in (1, 10, 1_000)
        },
        "rows_in_memory": {"gigabytes": _MEMORY_GB, "rows": int(most)},
    }


_MEMORY_GB = 64  # of a machine that one may have


def _drawn(measured: Sequence[float], count: int) -> list[float]:
    """Return as many costs as are asked for: the measured ones, over and over."""
    return list(islice(cycle(measured), count))


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
