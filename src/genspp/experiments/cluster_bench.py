"""What does it cost to work on a cluster, and how far would a search scale on one? Into results/ray.json.

    python -m genspp.experiments.cluster_bench        (or `make bench-ray`)

measures, on this machine, empty pieces of work, transfers between two of Ray's nodes, climbs and evaluations of single
individuals, and what rows cost that a search does not look at; then generations on 1, 2 and 4 workers, which
`cluster_model` must foresee; then has it foresee machines that we do not have. What would disturb another measurement
is done in a process of its own.
"""

import argparse
import csv
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
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
from genspp.methods.evolving import everything, initial_genomes, make_task, to_the_end
from genspp.methods.lesson import Lesson
from genspp.population.compiled import CompiledEvaluator
from genspp.population.evaluator import Climb, Task, Terms, Training
from genspp.population.on_ray import RayEvaluator

COMMAND = "python -m genspp.experiments.cluster_bench"
WORKERS = (1, 2, 4)
INDIVIDUALS = 12  # of a measured generation, and whose climbs and evaluations are timed one by one
TERMS = Terms(1.0, 0.4, 1.0)
_EMPTY, _ALONE = 1_000, 100  # empty pieces of work, at once and one after the other
_MEGABYTES = 256  # of a transfer
_FEW, _MANY = 15_000, 60_000  # rows; a search looks at four of five of the few, and validates on the rest
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


def bench_of(rows: int = _FEW) -> Bench:
    """Return what is measured; beliefs are left out, for they change no cost."""
    settings, lesson = heard(rows)
    task = make_task(settings, lesson, settings["cell"])
    steps, rate, pressure = (settings[name] for name in ("climb_steps", "climb_rate", "pressure"))
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
        # A climb starts from a first generator here: it marks about half of the tokens, as few do later.
        evaluate = [timed(lambda i=i: engine.evaluate(bench.genomes[i : i + 1], [i])) for i in range(INDIVIDUALS)]
        climb = [
            timed(lambda i=i: engine.climb(bench.genomes[i : i + 1], bench.climbs[i : i + 1], TERMS))
            for i in range(INDIVIDUALS)
        ]
        found = engine.judges_of(bench.genomes[0], 0)
        sent = 2 * len(pickle.dumps((bench.genomes[0], found)))  # to be judged and back, to climb and back
    with closing(CompiledEvaluator(replace(task, readers=None), 1)) as engine:
        training = bench.to_the_end
        started = perf_counter()
        (full,) = engine.train_predictors(*everything(task), [0], training)
        full_text = perf_counter() - started
    arrays = (task.vectors, *vars(task.train).values(), *vars(task.val).values())
    return {
        "readers": readers / 2,  # there are two, which are trained side by side
        "judge": judge,
        "evaluate": evaluate,
        "climb": climb,
        "sent": sent,
        "full_text": full_text,
        "epoch": full_text / full.epochs / len(task.train),
        "data": sum(array.nbytes for array in arrays),
        "encoded": sum(array.nbytes for array in vars(task.train).values()) / len(task.train),
        "batch": task.training.batch_size,
        "searched": len(task.train) + len(task.val),
    }


def timed(work: Callable[[], Any]) -> float:
    """Return how long something takes."""
    started = perf_counter()
    work()
    return perf_counter() - started


# ---- what is done in processes of their own


def rows_alone(rows: int) -> dict[str, Any]:
    """Return what reading rows and learning their words takes, and the most memory that it took."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "texts.csv")
        with file.open("w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([("text", "label"), *made_texts(Case("made", rows, _TOKENS, _CLASSES))])
        before = peak_memory_mb() or 0.0
        started = perf_counter()
        splits = load_source(str(file))
        read = perf_counter() - started
        words = timed(lambda: Pupil(workers=1).fit(splits.train, validation=splits.val))
    return {"rows": rows, "read": read, "words": words, "memory": (peak_memory_mb() or 0.0) - before}


def final_alone(rows: int) -> dict[str, Any]:
    """Return how many epochs a final predictor is trained for on so many rows."""
    bench = bench_of(rows)
    with closing(CompiledEvaluator(replace(bench.task, readers=None), 1)) as engine:
        (trained,) = engine.train_predictors(*everything(bench.task), [0], bench.to_the_end)
    return {"epochs": trained.epochs}


def overhead_alone() -> dict[str, Any]:
    """Return what empty pieces of work cost, on one worker."""
    started = perf_counter()
    cluster = connect("ray", 1)
    begun = perf_counter() - started
    cluster.gather([cluster.submit(_nothing)])
    alone = [timed(lambda: cluster.gather([cluster.submit(_nothing)])) for _ in range(_ALONE)]
    together = timed(lambda: cluster.gather([cluster.submit(_nothing) for _ in range(_EMPTY)]))
    return {"cluster": begun, "round_trip": median(alone), "task": together / _EMPTY}


def network_alone() -> dict[str, Any]:
    """Return how many bytes per second go from one of Ray's nodes to another; both are here."""
    import ray
    from ray.cluster_utils import Cluster

    nodes: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes.add_node(num_cpus=1, resources={"there": 1})
    ray.init(nodes.address, log_to_driver=False)
    there: Any = ray.remote(num_cpus=1, resources={"there": 1})(_size)
    ray.get(there.remote(np.zeros(1)))
    found = []
    for turn in range(5):
        sent = ray.put(np.full(_MEGABYTES << 20, turn, np.uint8))
        found.append((_MEGABYTES << 20) / timed(lambda sent=sent: ray.get(there.remote(sent))))
    ray.shutdown()
    nodes.shutdown()
    return {"network": median(found)}


def generation_alone(workers: int) -> dict[str, Any]:
    """Return the seconds of a generation on so many workers of a local cluster, and until these were ready."""
    bench, seeds = bench_of(), list(range(INDIVIDUALS))
    genomes = bench.genomes
    with closing(RayEvaluator(bench.task, connect("ray", workers))) as evaluator:
        evaluator.judge(*everything(bench.task), 0)  # readers are there
        started = perf_counter()
        evaluator.evaluate(genomes, seeds)
        first = perf_counter() - started
        again = min(timed(lambda: _generation(evaluator, bench)) for _ in range(2))
    return {"workers": workers, "first": first, "measured": again}


def _generation(evaluator: RayEvaluator, bench: Bench) -> None:
    evaluator.climb(bench.genomes, bench.climbs, TERMS)
    together = np.concatenate([bench.genomes, bench.genomes[:1]])
    evaluator.evaluate(together, list(range(INDIVIDUALS + 1)))


def _nothing() -> None:
    """Do nothing, on a worker."""


def _size(array: Any) -> int:
    return int(array.nbytes)


ALONE: dict[str, Callable[..., dict[str, Any]]] = {
    "rows": rows_alone,
    "final": final_alone,
    "overhead": overhead_alone,
    "network": network_alone,
    "generation": generation_alone,
}


def alone(name: str, *numbers: int) -> dict[str, Any]:
    """Measure something in a process of its own."""
    command = [sys.executable, "-m", "genspp.experiments.cluster_bench", "--alone", name, *map(str, numbers)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(name, *numbers, {key: _short(value) for key, value in found.items()}, flush=True)
    return found


# ---- all of it


def measure() -> dict[str, Any]:
    """Return all that results/ray.json holds."""
    began, bench = os.getloadavg()[0], bench_of()
    costs = individuals(bench)
    print({name: _short(value) for name, value in costs.items()}, flush=True)
    overhead, few, many = alone("overhead"), alone("rows", _FEW), alone("rows", _MANY)
    costs |= {name: overhead[name] for name in ("task", "round_trip")} | alone("network") | alone("final", _MANY)
    more = many["rows"] - few["rows"]
    costs |= {name: (many[name] - few[name]) / more for name in ("read", "words")}
    costs |= {"memory": 1e6 * (many["memory"] - few["memory"]) / more, "cores": os.cpu_count() or 1}
    runs = [alone("generation", workers) for workers in WORKERS]
    # A worker that is new takes longer for its first piece of work than for later ones.
    costs["start"] = max(0.0, runs[0]["first"] - sum(costs["evaluate"]))
    known = Costs.of(costs)
    checked = [
        {"workers": run["workers"], "measured": run["measured"], "simulated": foreseen(run["workers"], known)}
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


def foreseen(workers: int, costs: Costs) -> float:
    """Return what the model says of a measured generation; workers without a core of their own share the cores."""
    crowd = max(1.0, workers / costs.cores)
    slower = replace(
        costs,
        climb=tuple(crowd * seconds for seconds in costs.climb),
        evaluate=tuple(crowd * seconds for seconds in costs.evaluate),
    )
    return generation(INDIVIDUALS, workers, slower)


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
        name, *numbers = arguments.alone
        print(json.dumps(ALONE[name](*map(int, numbers))))
        return
    write_json(arguments.out, measure())


if __name__ == "__main__":
    main()
