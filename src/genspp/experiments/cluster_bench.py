"""What does it cost to work on a cluster, and how far would a search scale on one? Into results/ray.json.

    python -m genspp.experiments.cluster_bench        (or `make bench-ray`)

measures, on this machine, empty pieces of work, transfers between two of Ray's nodes, climbs and evaluations of single
individuals, and what rows cost that a search does not look at; then generations on 1, 2 and 4 workers, which
`cluster_model` must foresee; then has it foresee machines that we do not have.

Work is measured by the time that it computes, so that others on the machine do not count. Generations are measured by
the clock: how much longer pieces take by it than they compute, because workers wait for a core, is measured along. What
would disturb another measurement is done in a process of its own.
"""

import argparse
import csv
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from genspp.cluster import connect
from genspp.data.sources import load_source
from genspp.experiments.cluster_model import Costs, generation, simulated
from genspp.experiments.cluster_tables import FILE
from genspp.experiments.recipe import Pupil
from genspp.experiments.results import code_version, machine, peak_memory_mb
from genspp.experiments.scale import Case, made_texts
from genspp.files import write_json
from genspp.methods.final import everything, to_the_end
from genspp.methods.first_generators import climb_rate, initial_genomes
from genspp.methods.judging import make_task
from genspp.methods.lesson import Lesson
from genspp.population.compiled import CompiledEvaluator
from genspp.population.evaluator import Climb, Task, Terms, Training
from genspp.population.on_ray import RayEvaluator, climb_some, evaluate_some

COMMAND = "python -m genspp.experiments.cluster_bench"
WORKERS = (1, 2, 4)
INDIVIDUALS = 12  # of a measured generation, and whose climbs and evaluations are timed one by one
TERMS = Terms(1.0, 0.4, 1.0)
_EMPTY, _ALONE = 200, 100  # empty pieces of work, at once and one after the other
_MEGABYTES = 256  # of a transfer
_SEARCHED = 15_000  # rows, of which a search looks at four of five, and validates on the rest
_FEW, _MANY = 10_000, 40_000  # rows that are read
_TOKENS, _CLASSES = 15, 3


class Bench(NamedTuple):
    """A search's task, how its final predictors are trained, and a first population with the climbs it goes on."""

    task: Task
    to_the_end: Training
    genomes: Any
    climbs: list[Climb]


def heard(rows: int) -> tuple[dict[str, Any], Lesson]:
    """Return what GenSPP is trained on, and with which settings, where texts are made for it."""
    texts, labels = zip(*made_texts(Case("made", rows, _TOKENS, _CLASSES)), strict=True)
    settings, lesson = Pupil(workers=1).fit(list(texts), list(labels)).heard_
    return settings, lesson


def bench_of() -> Bench:
    """Return what is measured; beliefs are left out, for they change no cost."""
    settings, lesson = heard(_SEARCHED)
    task = make_task(settings, lesson, settings["cell"])
    steps, rate, pressure = settings["climb_steps"], climb_rate(settings, lesson), settings["pressure"]
    climbs = [Climb(steps, rate, pressure, seed=i, judged=i) for i in range(INDIVIDUALS)]
    genomes = initial_genomes(0, INDIVIDUALS, task)
    return Bench(task, to_the_end(settings, lesson.train), genomes, climbs)


# ---- what one worker takes


def individuals(bench: Bench) -> dict[str, Any]:
    """Return the seconds of what a search begins with, and of single climbs and evaluations, on one thread."""
    task = bench.task
    with closing(CompiledEvaluator(task, 1)) as engine:
        engine.select(bench.genomes[0], task.val)  # compiles nothing twice
        readers = timed(lambda: engine.readers)
        judge = timed(lambda: engine.judge(*everything(task), 0))
        alone = [slice(number, number + 1) for number in range(INDIVIDUALS)]
        evaluate = [timed(partial(engine.evaluate, bench.genomes[one], [one.start])) for one in alone]
        climb = [timed(partial(engine.climb, bench.genomes[one], bench.climbs[one], TERMS)) for one in alone]
        found = engine.judges_of(bench.genomes[0], 0)
        sent = 2 * len(pickle.dumps((bench.genomes[0], found)))  # to be judged and back, to climb and back
    with closing(CompiledEvaluator(replace(task, readers=None), 1)) as engine:
        started = process_time()
        (full,) = engine.train_predictors(*everything(task), [0], bench.to_the_end)
        full_text = process_time() - started
    arrays = (task.vectors, *vars(task.train).values(), *vars(task.val).values())
    return {
        "readers": readers / 2,  # there are two, which are trained side by side
        "judge": judge,
        "evaluate": evaluate,
        "climb": climb,
        "sent": sent,
        "full_text": full_text,
        "epoch": full_text / full.epochs / len(task.train),
        "best": (full.epochs - (bench.to_the_end.patience or 0)) * len(task.train),
        "data": sum(array.nbytes for array in arrays),
        "encoded": sum(array.nbytes for array in vars(task.train).values()) / len(task.train),
        "batch": task.training.batch_size,
        "searched": len(task.train) + len(task.val),
    }


def timed(work: Callable[[], Any]) -> float:
    """Return how long something computes."""
    started = process_time()
    work()
    return process_time() - started


# ---- what is done in processes of their own


def rows_alone(file: str) -> dict[str, Any]:
    """Return what reading the rows of a file and learning their words takes, and the most memory that it took."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    before, started = pages * os.sysconf("SC_PAGE_SIZE") / 1e6, process_time()
    splits = load_source(file)
    read = process_time() - started
    words = timed(lambda: Pupil(workers=1).fit(splits.train, validation=splits.val))
    return {"read": read, "words": words, "memory": (peak_memory_mb() or 0.0) - before}


def by_rows(rows: int) -> dict[str, Any]:
    """Return what so many rows take."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "texts.csv")
        with file.open("w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([("text", "label"), *made_texts(Case("made", rows, _TOKENS, _CLASSES))])
        return alone("rows", str(file))


def overhead_alone() -> dict[str, Any]:
    """Return what empty pieces of work cost, on one worker: the quickest, for others have waited for a core."""
    started = perf_counter()
    cluster = connect("ray", 1)
    begun = perf_counter() - started
    cluster.gather([cluster.submit(_nothing)])
    alone = min(by_the_clock(lambda: cluster.gather([cluster.submit(_nothing)])) for _ in range(_ALONE))
    together = min(timed(lambda: cluster.gather([cluster.submit(_nothing) for _ in range(_EMPTY)])) for _ in range(5))
    return {"cluster": begun, "round_trip": alone, "task": together / _EMPTY}


def network_alone() -> dict[str, Any]:
    """Return how many bytes per second go from one of Ray's nodes to another; both are here. The best of several."""
    import ray
    from ray.cluster_utils import Cluster

    nodes: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes.add_node(num_cpus=1, resources={"there": 1})
    ray.init(nodes.address, log_to_driver=False)
    there: Any = ray.remote(num_cpus=1, resources={"there": 1})(_size)
    ray.get(there.remote(np.zeros(1)))
    size, best = _MEGABYTES << 20, 0.0
    for turn in range(5):
        sent = ray.put(np.full(size, turn, np.uint8))
        started = perf_counter()
        ray.get(there.remote(sent))
        best = max(best, size / (perf_counter() - started))
    ray.shutdown()
    nodes.shutdown()
    return {"network": best}


def generation_alone(typed: str) -> dict[str, Any]:
    """Return the seconds of a generation on so many workers of a local cluster, by the clock.

    start: what a worker computes until it has its engine. stretch: how much longer pieces take than they compute.
    """
    bench, seeds, workers = bench_of(), list(range(INDIVIDUALS + 1)), int(typed)
    together = np.concatenate([bench.genomes, bench.genomes[:1]])
    with closing(RayEvaluator(bench.task, connect("ray", workers))) as evaluator:
        evaluator.judge(*everything(bench.task), 0)  # readers are there
        first: list[Piece] = evaluator.spread(partial(stopwatch, evaluate_some), (together, seeds))
        evaluator.evaluate(bench.genomes, seeds[:-1])  # and judges, to climb between
        started = perf_counter()
        judges = evaluator.judges(bench.genomes, bench.climbs)
        pieces = evaluator.spread(partial(stopwatch, climb_some), (bench.genomes, bench.climbs, judges), TERMS)
        pieces += evaluator.spread(partial(stopwatch, evaluate_some), (together, seeds))
        seconds = perf_counter() - started
    return {
        "workers": workers,
        "measured": seconds,
        "stretch": sum(piece.clock for piece in pieces) / sum(piece.computed for piece in pieces),
        "start": min(piece.since_birth - piece.computed for piece in first),
    }


class Piece(NamedTuple):
    """A piece of work: seconds by the clock, seconds that it computed, and those of its process since that began."""

    clock: float
    computed: float
    since_birth: float


def stopwatch(work: Callable[..., list[Any]], *arguments: Any) -> list[Piece]:
    """Measure a piece of work, on a worker; its result is dropped."""
    clock, computed = perf_counter(), process_time()
    work(*arguments)
    return [Piece(perf_counter() - clock, process_time() - computed, process_time())]


def by_the_clock(work: Callable[[], Any]) -> float:
    """Return how long something takes."""
    started = perf_counter()
    work()
    return perf_counter() - started


def _nothing() -> None:
    """Do nothing, on a worker."""


def _size(array: Any) -> int:
    return int(array.nbytes)


ALONE: dict[str, Callable[..., dict[str, Any]]] = {
    "rows": rows_alone,
    "overhead": overhead_alone,
    "network": network_alone,
    "generation": generation_alone,
}


def alone(name: str, *words: str) -> dict[str, Any]:
    """Measure something in a process of its own."""
    command = [sys.executable, "-m", "genspp.experiments.cluster_bench", "--alone", name, *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(name, *words, {key: _short(value) for key, value in found.items()}, flush=True)
    return found


# ---- all of it


def measure() -> dict[str, Any]:
    """Return all that results/ray.json holds."""
    began, bench = os.getloadavg()[0], bench_of()
    costs = individuals(bench)
    print({name: _short(value) for name, value in costs.items()}, flush=True)
    overhead, few, many = alone("overhead"), by_rows(_FEW), by_rows(_MANY)
    costs |= {name: overhead[name] for name in ("task", "round_trip")} | alone("network")
    more = _MANY - _FEW
    costs |= {name: (many[name] - few[name]) / more for name in ("read", "words")}
    costs |= {"memory": 1e6 * (many["memory"] - few["memory"]) / more, "cores": os.cpu_count() or 1}
    runs = [alone("generation", str(workers)) for workers in WORKERS]
    known = Costs.of({**costs, "start": runs[0].pop("start")})
    checked = [
        {**{name: run[name] for name in ("workers", "measured", "stretch")}, "simulated": foreseen(run, known)}
        for run in runs
    ]
    return {
        "command": COMMAND,
        "code": code_version(),
        "machine": machine(),
        "load": {"before": began, "after": os.getloadavg()[0]},
        "cluster_start": overhead["cluster"],
        "measured": known.to_json(),
        "checked": [{name: _short(value) for name, value in row.items()} for row in checked],
        "simulated": simulated(known),
    }


def foreseen(run: Mapping[str, Any], costs: Costs) -> float:
    """Return what the model says of a measured generation, whose pieces took so much longer than they computed."""
    climb, evaluate = (tuple(run["stretch"] * one for one in pieces) for pieces in (costs.climb, costs.evaluate))
    return generation(INDIVIDUALS, run["workers"], replace(costs, climb=climb, evaluate=evaluate))


def _short(value: Any) -> Any:
    if isinstance(value, list):
        return [_short(one) for one in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def main() -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--alone", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=Path("results") / FILE)
    arguments = parser.parse_args()
    if arguments.alone:
        name, *words = arguments.alone
        print(json.dumps(ALONE[name](*words)))
        return
    write_json(arguments.out, measure())


if __name__ == "__main__":
    main()
