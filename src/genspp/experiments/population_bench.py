"""How fast are the population engines? `make bench` and `make bench-quick`.

Both engines judge the same genomes on the same data in one run, so that the ratios hold on a noisy machine. A random
first population selects nearly nothing or nearly everything, which no search does for long; so every genome's output
bias is shifted until it selects a given share of the tokens: 50 % (dense) or 12 % (sparse).
"""

import argparse
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from rich.table import Table

from genspp.data.encode import Encoded, encode
from genspp.data.sources.toy import CLASSES, toy
from genspp.data.vectors import UNKNOWN, onehot
from genspp.experiments.explain_bench import explain_cost, sentence
from genspp.experiments.results import code_version, machine, peak_memory_mb
from genspp.files import write_json
from genspp.methods.first_generators import initial_genomes
from genspp.methods.judging import make_evaluator
from genspp.model.networks import Shape, one_thread
from genspp.model.weights import load_flat
from genspp.population.evaluator import Evaluator, Task, Training

INDIVIDUALS = 50
REFERENCE_INDIVIDUALS = 8  # the sequential engine is measured on these and scaled: it is proportional
DENSE, SPARSE = 0.50, 0.12
# How many HateXplain training posts have 2, 3, ... 30 tokens.
HATEXPLAIN_LENGTHS = (
    3, 155, 262, 385, 420, 441, 453, 517, 481, 490, 500, 471, 466, 424, 443, 469, 436, 450, 409, 408, 361, 382, 327,
    333, 296, 290, 246, 241, 224,
)  # fmt: skip


def toy_task(hidden: int = 8) -> Task:
    """Return the Toy data as the paper's GenSPP sees it."""
    splits = toy()
    vectors = onehot(splits.train.keys(splits.tokenizer), 26)
    parts = [
        encode(part.keys(splits.tokenizer), vectors.index, UNKNOWN, [CLASSES.index(label) for label in part.labels])
        for part in (splits.train, splits.val)
    ]
    return _task(Shape(26, hidden, 3), vectors.table, *parts)


def random_task(
    texts: int = sum(HATEXPLAIN_LENGTHS), lengths: Sequence[int] | None = None, hidden: int = 16, words: int = 16_000
) -> Task:
    """Return random data of HateXplain's size, of its lengths (or some of `lengths`), 25 dimensions, 2 classes."""
    stream = np.random.RandomState(0)
    table = stream.normal(0, 0.5, (words, 25)).astype(np.float32)
    table[0] = 0
    if lengths is None:
        lengths = np.repeat(np.arange(2, 31), HATEXPLAIN_LENGTHS).tolist()

    def part(count: int) -> Encoded:
        drawn = stream.choice(lengths, count)
        starts = np.concatenate([[0], np.cumsum(drawn)]).astype(np.int64)
        # Words are as frequent as in a language: by Zipf's law.
        ids = np.minimum(stream.zipf(1.3, int(starts[-1])) + 1, words - 1).astype(np.int32)
        return Encoded(ids, starts, stream.randint(0, 2, count).astype(np.int32))

    return _task(Shape(25, hidden, 2), table, part(texts), part(max(1, texts // 8)))


def _task(shape: Shape, table: npt.NDArray[np.float32], train: Encoded, val: Encoded) -> Task:
    return Task(shape, "gru", table, train, val, np.ones(shape.classes, np.float32), Training(epochs=3))


def shifted_genomes(task: Task, share: float, individuals: int = INDIVIDUALS) -> npt.NDArray[np.float32]:
    """Return a first population whose output biases are shifted so that each selects `share` of the tokens."""
    genomes = initial_genomes(0, individuals, task)
    generator = task.generator()
    table = torch.from_numpy(task.vectors)
    ids, real = task.val.padded(np.arange(min(len(task.val), 500)))
    with one_thread(), torch.inference_mode():
        for genome in genomes:
            load_flat(generator, genome)
            there = torch.from_numpy(real)
            logits = generator.margins(table[torch.from_numpy(ids)], there)[there]
            genome[-1] -= float(torch.quantile(logits, 1 - share))
    return genomes


def seconds_per_generation(evaluator: Evaluator, genomes: npt.NDArray[np.float32]) -> float:
    """Return the time for `genomes`, after two of them have started workers and compiled what there is to compile."""
    seeds = list(range(len(genomes)))
    evaluator.evaluate(genomes[:2], seeds[:2])
    started = perf_counter()
    evaluator.evaluate(genomes, seeds)
    return perf_counter() - started


def compare(name: str, task: Task, share: float) -> dict[str, Any]:
    """Measure both engines, all cores each, on one kind of population."""
    genomes = shifted_genomes(task, share)
    timed: dict[str, float] = {}
    for engine, count in (("sequential", REFERENCE_INDIVIDUALS), ("compiled", INDIVIDUALS)):
        evaluator = make_evaluator(engine, task)
        try:
            timed[engine] = seconds_per_generation(evaluator, genomes[:count]) * INDIVIDUALS / count
        finally:
            evaluator.close()
    ratio = timed["sequential"] / timed["compiled"]
    return {"case": name, "seconds": {k: round(v, 3) for k, v in timed.items()}, "speedup": round(ratio, 1)}


def growth() -> dict[str, dict[str, float]]:
    """Return how the compiled engine's seconds per generation grow with texts, tokens, individuals and hidden units."""

    def measure(task: Task, individuals: int = INDIVIDUALS) -> float:
        evaluator = make_evaluator("compiled", task)
        try:
            return round(seconds_per_generation(evaluator, shifted_genomes(task, SPARSE, individuals)), 3)
        finally:
            evaluator.close()

    return {
        "texts": {str(n): measure(random_task(texts=n)) for n in (2_500, 5_000, 10_000, 20_000)},
        "tokens": {str(n): measure(random_task(texts=20_000 // n, lengths=[n])) for n in (10, 100, 1_000)},
        "tokens_a_text": {str(n): measure(random_task(texts=2_000, lengths=[n])) for n in (10, 20, 40, 80)},
        "individuals": {str(n): measure(random_task(), n) for n in (10, 50, 100)},
        "hidden": {str(n): measure(random_task(hidden=n)) for n in (4, 8, 16, 32)},
    }


def peak_memory() -> float:
    """Return the memory, in MB, that a process needs for generations of the HateXplain-sized case."""
    command = [sys.executable, "-m", "genspp.experiments.population_bench", "--memory"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def _memory() -> None:
    task = random_task()
    evaluator = make_evaluator("compiled", task)
    evaluator.evaluate(shifted_genomes(task, DENSE), list(range(INDIVIDUALS)))
    evaluator.close()
    print(peak_memory_mb())


def bench(quick: bool) -> dict[str, Any]:
    """Measure and return everything that goes into results/bench.json."""
    hatexplain = random_task()
    rows = [
        compare("toy_dense", toy_task(), DENSE),
        compare("toy_sparse", toy_task(), SPARSE),
        compare("hatexplain", hatexplain, SPARSE),
    ]
    content: dict[str, Any] = {
        "command": "make bench-quick" if quick else "make bench",
        "code": code_version(),
        "machine": machine(),
        "individuals": INDIVIDUALS,
        "sequential_measured_on": REFERENCE_INDIVIDUALS,
        "speedup": {row["case"]: row["speedup"] for row in rows},
        "seconds_a_generation": {row["case"]: row["seconds"] for row in rows},
        "explain": explain_cost(),
    }
    if not quick:
        dense = compare("hatexplain_dense", hatexplain, DENSE)
        content["speedup"]["hatexplain_dense"] = dense["speedup"]
        content["seconds_a_generation"]["hatexplain_dense"] = dense["seconds"]
        content["growth"] = growth()
        content["peak_memory_mb"] = peak_memory()
    return content


def show(content: dict[str, Any], console: Console) -> None:
    """Print the table."""
    table = Table("seconds per generation", "sequential", "compiled", "ratio", title=f"{os.cpu_count()} cores")
    for case, seconds in content["seconds_a_generation"].items():
        ratio = content["speedup"][case]
        table.add_row(case, f"{seconds['sequential']:.2f}", f"{seconds['compiled']:.2f}", f"{ratio:.1f}")
    console.print(table)
    for what, points in content.get("growth", {}).items():
        base = min(points, key=float)
        line = ", ".join(f"{n}: {s:.2f} s ({s / max(points[base], math.ulp(1)):.1f}x)" for n, s in points.items())
        console.print(f"compiled, by {what.replace('_', ' ')}: {line}", soft_wrap=True)
    if "peak_memory_mb" in content:
        console.print(f"peak memory: {content['peak_memory_mb']:.0f} MB")
    console.print(sentence(content["explain"]))


def main() -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser(prog="python -m genspp.experiments.population_bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the three ratios, and explaining; nothing is written")
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=Path("results/bench.json"))
    arguments = parser.parse_args()
    if arguments.memory:
        _memory()
        return
    content = bench(arguments.quick)
    show(content, Console(highlight=False))
    if not arguments.quick:
        write_json(arguments.out, content)


if __name__ == "__main__":
    main()
