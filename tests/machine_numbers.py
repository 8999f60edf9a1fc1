"""The numbers that training makes, as hashes; `machine_numbers.py WORKERS` prints them, whatever numba compiles for."""

import hashlib
import sys
from dataclasses import replace

import numpy as np

from conftest import make_task, sentences
from genspp.kernels import gates, losses
from genspp.kernels.lanes import WIDTH
from genspp.kernels.memory import floats, integers
from genspp.methods.fr import FR
from genspp.methods.grat import GRAT
from genspp.methods.mcd import MCD
from genspp.model.forms import kernel_order, pack
from genspp.model.networks import Shape
from genspp.model.passes import Batch, Network, prepare
from genspp.model.weights import count, draw, flatten, form_of
from genspp.population.compiled import CompiledEvaluator
from genspp.population.evaluator import Climb, Task, Terms, Training
from genspp.streams import Purpose, stream


def population(workers: int) -> list[np.ndarray]:
    """Return the evaluations of some genomes, and a predictor."""
    found = []
    for dense, cell in ((True, "gru"), (False, "bigru")):
        shape = Shape(inputs=5, hidden=7, classes=3)
        task = make_task(shape=shape, cell=cell, rows=40, longest=9, onehot=not dense, training=Training(2, 16))
        genomes = np.stack([draw(stream(1, Purpose.GENOME, i), task.generator()) for i in range(4)])
        engine = CompiledEvaluator(task, workers)
        for evaluation in engine.evaluate(genomes, [1, 2, 3, 4]):
            found.append(np.array([evaluation.task_loss, evaluation.selection_rate]))
        masks = engine.select(genomes[0], task.train), engine.select(genomes[0], task.val)
        found += [*masks, engine.train_predictors(*masks, [1])[0].weights]
        engine.close()
    return found


def climbs(workers: int) -> list[np.ndarray]:
    """Return what predictors that skip gaps start from and say, their adversaries too, and where climbs lead."""
    tasks: list[Task] = []
    for cell, adversary in (("gru", "gaps"), ("bigru", "packed")):
        task = make_task(cell=cell, rows=40, training=Training(2, 16), class_weights=[1.0, 2.0, 0.5])
        costs = np.array([1.0, 3.0, 1.0], np.float32)
        tasks.append(replace(task, skipping=True, adversary=adversary, readers=1, mark_costs=costs))
    found: list[np.ndarray] = []
    for task in tasks:
        genomes = np.stack([draw(stream(2, Purpose.GENOME, i), task.generator()) for i in range(3)])
        engine, terms = CompiledEvaluator(task, workers), Terms(1.0, 0.5, task.chance)
        for evaluation in engine.evaluate(genomes, [1, 2, 3]):
            found.append(np.array([evaluation.task_loss, evaluation.selection_rate, evaluation.rest_loss]))
        between = [Climb(5, 0.01, 0.3, seed, judged) for seed, judged in ((4, 1), (5, 2), (6, None))]
        masks = [engine.select(genome, task.train) for genome in genomes]
        found += [engine.climb(genomes, between, terms), engine.imitate(genomes, masks[::-1], between)]
        found.append(np.array(task.chance))
        engine.close()
    return found


def gradient_methods() -> list[np.ndarray]:
    """Return what some epochs of FR (both readings), MCD (two updates per batch) and G-RAT (a guider) end with."""
    found = []
    settings = {"hidden": 5, "max_epochs": 2, "lambda_c": 1.0, "learning_rate": 0.01, "batch_size": 16}
    zeros = {"skip_gaps": False, "label_columns": False}
    models = FR(**settings), FR(**settings | zeros), MCD(**settings), GRAT(**settings, pretrain_epochs=1)
    for model in models:
        model.fit(*sentences(60))
        history = [[line["train_loss"], line["val_loss"], line["selection_rate"]] for line in model.history_]
        masks = [np.array(rationale.mask) for rationale in model.explain(sentences(20, seed=1)[0])]
        found += [flatten(model.model_), flatten(model.full_text_), np.array(history), *masks]
    return found


def other_kernels() -> list[np.ndarray]:
    """Return what the losses of the other methods give, and a network behind a mask of fractions."""
    numbers = np.random.RandomState(0)
    p, q, d_p, d_q, shares = (floats(3 * WIDTH) for _ in range(5))
    p[:], q[:], shares[:] = (numbers.standard_normal(len(p)) for _ in range(3))
    found = [losses.divergence(1, 3, p, q, shares, d_p, d_q), d_p.copy(), d_q.copy()]
    found += [losses.jensen_shannon(1, 3, p, q, shares, d_p, d_q), d_p.copy()]
    found += [losses.binary_cross_entropy(1, p, WIDTH, q, shares, d_p), d_p.copy()]
    losses.logit_noise(1, np.abs(p) % 1, d_q)
    losses.log_odds(1, 3, p, d_p)
    found += [d_p.copy(), *soft_masks(p, np.abs(q) % 1)]
    task = make_task()
    table, (rows,) = prepare(task.vectors, 3, task.train)
    batch = Batch.of_all(rows, task.class_weights, task.shape.hidden)
    network, module = Network(form_of(task.predictor()), table), task.predictor()
    weights = pack(numbers.standard_normal(count(module)).astype(np.float32), kernel_order(network.sizes))
    mask = batch.from_tokens(numbers.random_sample(len(task.train.ids)))
    logits = network.texts(batch, weights, mask, soft=True)
    return [*map(np.asarray, found), d_q, logits, *network.texts_back(batch, weights, mask, logits)]


def soft_masks(logits: np.ndarray, uniform: np.ndarray) -> list[np.ndarray]:
    """Return drawn gates, their slopes, and what they cost."""
    ones, first = floats(WIDTH), integers(2)
    ones[:WIDTH], first[1] = 1, 1
    d_apart, d_rate, margins, mask, slopes, hard, hard_slopes = (floats(2 * WIDTH) for _ in range(7))
    apart = gates.bernoulli_divergence(1, first, ones, uniform, logits, 0.5, d_apart)
    rate = gates.gate_rate(1, first, ones, ones, logits, WIDTH, 0.5, d_rate)
    gates.gate_margins(1, logits, WIDTH, margins)
    gates.draw_concrete(1, logits, uniform, ones, 0.3, mask, slopes)
    gates.draw_hard_gates(1, logits, WIDTH, uniform, ones, hard, hard_slopes)
    return [np.array([apart, rate]), d_apart, d_rate, margins, mask, slopes, hard, hard_slopes]


def hashes(workers: int) -> list[str]:
    """Return one hash for the population, one for climbs, one for the gradient methods, one for the rest."""
    found = []
    for numbers in (population(workers), climbs(workers), gradient_methods(), other_kernels()):
        found.append(hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in numbers)).hexdigest())
    return found


if __name__ == "__main__":
    print(*hashes(int(sys.argv[1])))
