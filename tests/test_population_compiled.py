"""The compiled engine against the sequential one, which is plain `nn.GRU` and defines what is right."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from genspp.data.encode import Encoded, pad
from genspp.errors import DataError
from genspp.kernels.network import tokens_forward
from genspp.kernels.predictor import train_epoch, validate
from genspp.kernels.texts import lay_out_batch, survey
from genspp.model.forms import kernel_order, unpack
from genspp.model.networks import Shape, one_thread
from genspp.model.passes import prepare
from genspp.model.weights import draw, load_flat
from genspp.population.compiled import CompiledEvaluator, TrainablePredictor, predictor_memory
from genspp.population.evaluator import Task, Training, fresh_predictor
from genspp.population.sequential import SequentialEvaluator
from genspp.streams import Purpose, stream

KERNELS = (survey, lay_out_batch, train_epoch, validate, tokens_forward)


def random_texts(rng, lengths, words, classes):
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    ids = rng.integers(1, words + 1, starts[-1]).astype(np.int32)
    return Encoded(ids, starts, rng.integers(0, classes, len(lengths)).astype(np.int32))


def random_task(seed=0, hidden=8, classes=3, cell="gru", one_hot=True, longest=24, texts=150, **training):
    rng = np.random.default_rng(seed)
    inputs, words = (26, 26) if one_hot else (7, 60)
    vectors = np.eye(words, dtype=np.float32) if one_hot else rng.normal(size=(words, inputs))
    vectors = np.concatenate([np.zeros((1, inputs)), vectors]).astype(np.float32)
    if one_hot:
        vectors[3] = 1 / 26  # as the row of unknown words is: dense, among one-hot rows
    train, val = (random_texts(rng, rng.integers(1, longest + 1, n), words, classes) for n in (texts, 70))
    weights = rng.uniform(0.5, 2, classes).astype(np.float32)
    settings = Training(**{"epochs": 1, "batch_size": 64} | training)
    return Task(Shape(inputs, hidden, classes), cell, vectors, train, val, weights, settings)


def random_masks(task, density, seed=0):
    rng = np.random.default_rng(seed)
    return tuple((rng.random(len(data.ids)) < density).astype(np.uint8) for data in (task.train, task.val))


def random_genomes(task, count, seed=0):
    return np.stack([draw(stream(seed, Purpose.GENOME, i), task.generator()) for i in range(count)])


def logits_of(task, genome, data):
    generator = task.generator()
    load_flat(generator, genome)
    ids, real = data.padded(np.arange(len(data)))
    with one_thread(), torch.inference_mode():
        return generator(torch.from_numpy(task.vectors)[ids], torch.from_numpy(real))[..., 0].numpy()[real]


def batch_gradient(task, mask, rows, flat):
    """Return the gradient of the loss of one batch, in torch's order."""
    table, (train,) = prepare(task.vectors, task.shape.classes, task.train)
    memory = predictor_memory(task, len(rows), train.longest, len(table.column))
    predictor = TrainablePredictor(task, flat, table, replace(task.training, batch_size=len(rows)), memory)
    predictor.train(train.behind(mask), rows)
    return unpack(predictor.gradient, kernel_order(predictor.sizes))


def assert_masks_agree(task, engine, genome, data):
    logits, mask = logits_of(task, genome, data), engine.select(genome, data)
    clear = np.abs(logits) >= 1e-5
    np.testing.assert_array_equal(mask[clear], (logits >= 0)[clear])
    assert mask.dtype == np.uint8 and clear.mean() > 0.99


def assert_training_agrees(task, masks, seed=5, training=None):
    right = SequentialEvaluator(task).train_predictors(*masks, [seed], training)[0]
    ours = CompiledEvaluator(task, 1).train_predictors(*masks, [seed], training)[0]
    np.testing.assert_allclose(ours.weights, right.weights, atol=1e-4)
    assert ours.task_loss == pytest.approx(right.task_loss, abs=1e-4)
    assert ours.epochs == right.epochs


@pytest.mark.parametrize("one_hot", [True, False])
@pytest.mark.parametrize("density", [0.0, 0.12, 0.5, 1.0])
@pytest.mark.parametrize(("hidden", "classes"), [(8, 3), (5, 2)])
def test_gradients_are_those_of_autograd(one_hot, density, hidden, classes):
    task = random_task(1, hidden, classes, one_hot=one_hot)
    mask, rows = random_masks(task, density)[0], np.arange(37)
    flat, predictor = fresh_predictor(3, task), task.predictor()
    load_flat(predictor, flat)
    (ids, real), chosen = task.train.padded(rows), pad(mask, task.train.starts, rows)[0]
    logits = predictor(torch.from_numpy(task.vectors)[ids], torch.from_numpy(real), torch.from_numpy(chosen))
    labels = torch.from_numpy(task.train.labels[rows].astype(np.int64))
    F.cross_entropy(logits, labels, torch.from_numpy(task.class_weights)).backward()
    right = np.concatenate([weight.grad.numpy().ravel() for weight in predictor.parameters()])
    np.testing.assert_allclose(batch_gradient(task, mask, rows, flat), right, atol=1e-6)


@pytest.mark.parametrize("density", [0.0, 0.12, 0.5, 1.0])
@pytest.mark.parametrize("one_hot", [True, False])
def test_an_epoch_ends_with_the_weights_and_the_loss_of_torch(density, one_hot):
    task = random_task(2, one_hot=one_hot)
    assert_training_agrees(task, random_masks(task, density))


@pytest.mark.parametrize("cell", ["gru", "bigru"])
@pytest.mark.parametrize("one_hot", [True, False])
def test_masks_are_those_of_torch(cell, one_hot):
    task = random_task(3, cell=cell, one_hot=one_hot)
    engine = CompiledEvaluator(task, 1)
    for genome in random_genomes(task, 4):
        assert_masks_agree(task, engine, genome, task.val)
        assert_masks_agree(task, engine, genome, task.train)


def test_a_random_search_finds_no_disagreement():
    rng = np.random.default_rng(7)
    for trial in range(25):
        task = random_task(
            seed=trial,
            hidden=int(rng.choice([3, 8, 16, 20])),
            classes=int(rng.integers(2, 7)),
            cell=str(rng.choice(["gru", "bigru"])),
            one_hot=bool(rng.random() < 0.5),
            longest=int(rng.integers(1, 40)),
            texts=int(rng.integers(1, 140)),
            batch_size=int(rng.integers(1, 70)),
        )
        assert_masks_agree(task, CompiledEvaluator(task, 1), random_genomes(task, 1, trial)[0], task.train)
        assert_training_agrees(task, random_masks(task, rng.random(), trial), seed=trial)


def test_threads_company_and_order_do_not_change_a_bit():
    task = random_task(4, epochs=2)
    genomes, seeds = random_genomes(task, 6), list(range(6))
    alone = CompiledEvaluator(task, 1).evaluate(genomes, seeds)
    assert CompiledEvaluator(task, 2).evaluate(genomes, seeds) == alone
    engine = CompiledEvaluator(task, 2)
    assert engine.evaluate(genomes[::-1], seeds[::-1]) == alone[::-1]
    assert [engine.evaluate(genomes[i : i + 1], [i])[0] for i in seeds] == alone


def test_an_evaluation_is_that_of_the_sequential_engine():
    task = random_task(5, cell="bigru", one_hot=False, epochs=2)
    genomes = random_genomes(task, 3)
    right = SequentialEvaluator(task).evaluate(genomes, [1, 2, 3])
    for mine, theirs in zip(CompiledEvaluator(task).evaluate(genomes, [1, 2, 3]), right, strict=True):
        assert mine.task_loss == pytest.approx(theirs.task_loss, abs=1e-4)
        assert mine.selection_rate == pytest.approx(theirs.selection_rate, abs=1e-3)


def test_long_texts_work_and_memory_does_not_grow_with_the_data():
    task = random_task(6, longest=12, texts=40)
    rng = np.random.default_rng(0)
    task = replace(task, train=random_texts(rng, [1000, 3, 400], 26, 3), val=random_texts(rng, [1, 1000], 26, 3))
    assert_training_agrees(task, random_masks(task, 0.3))
    assert_masks_agree(task, CompiledEvaluator(task, 1), random_genomes(task, 1)[0], task.train)
    small, large = (CompiledEvaluator(random_task(6, texts=n), 1) for n in (100, 5000))
    sizes = [sum(np.asarray(a).nbytes for part in e._memory(e.task.training) for a in part) for e in (small, large)]
    assert sizes[1] <= sizes[0]


def test_a_single_text_is_enough():
    task = random_task(8)
    one = Encoded(np.array([4], np.int32), np.array([0, 1]), np.array([2], np.int32))
    assert_training_agrees(replace(task, train=one, val=one), (np.ones(1, np.uint8), np.zeros(1, np.uint8)))


def test_patience_stops_and_returns_the_best_epoch():
    task = random_task(9, texts=90)
    masks = random_masks(task, 0.5)
    training = Training(30, 32, 3e-2, patience=2)
    fitted = CompiledEvaluator(task, 1).train_predictors(*masks, [1], training)[0]
    assert fitted.epochs < 30
    assert_training_agrees(task, masks, 1, training)
    best = CompiledEvaluator(task, 1).train_predictors(
        *masks, [1], replace(training, epochs=fitted.epochs - 2, patience=None)
    )[0]
    np.testing.assert_array_equal(best.weights, fitted.weights)


def test_an_individual_that_diverges_has_a_nan_loss_and_harms_no_other():
    task = random_task(10)
    masks, good = random_masks(task, 0.5), Training(1)
    engine = CompiledEvaluator(task, 1)
    before = engine.train_predictors(*masks, [1], good)[0]
    assert np.isnan(engine.train_predictors(*masks, [1], Training(1, learning_rate=float("inf")))[0].task_loss)
    np.testing.assert_array_equal(engine.train_predictors(*masks, [1], good)[0].weights, before.weights)


def test_ids_and_labels_outside_the_task_are_refused():
    task = random_task(11)
    stray = Encoded(np.array([99], np.int32), np.array([0, 1]), np.array([0], np.int32))
    with pytest.raises(DataError, match="99"):
        CompiledEvaluator(task, 1).select(random_genomes(task, 1)[0], stray)
    with pytest.raises(DataError, match="3 classes"):
        CompiledEvaluator(replace(task, val=replace(task.val, labels=task.val.labels + 3)), 1)


def test_read_only_arrays_need_no_compilation_of_their_own():
    task = random_task(12)
    for data in (task.train, task.val):
        for array in (data.ids, data.starts, data.labels):
            array.flags.writeable = False
    task.class_weights.flags.writeable = False
    CompiledEvaluator(task, 1).evaluate(random_genomes(task, 1), [0])
    assert [len(kernel.signatures) for kernel in KERNELS] == [1] * len(KERNELS)


def test_a_second_process_compiles_nothing():
    code = """
import numpy as np
from conftest import make_task
from genspp.kernels.network import tokens_forward
from genspp.kernels.predictor import train_epoch, validate
from genspp.population.compiled import CompiledEvaluator
task = make_task()
genome = np.zeros((1, sum(p.numel() for p in task.generator().parameters())), np.float32)
CompiledEvaluator(task, 1).evaluate(genome, [0])
print([sum(kernel.stats.cache_misses.values()) for kernel in (train_epoch, validate, tokens_forward)])
"""
    command = [sys.executable, "-c", code]
    outputs = [
        subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True).stdout.strip()
        for _ in range(2)
    ]
    assert outputs[-1] == "[0, 0, 0]"


@pytest.mark.skipif(not torch.set_flush_denormal(False), reason="this machine cannot flush denormal numbers")
def test_fading_gradients_do_not_become_denormal_numbers(task):
    """They cost ten times the time of others; without this, texts of 1,000 tokens crawl."""
    evaluator = CompiledEvaluator(task, workers=1)
    try:
        tiny = np.full(1, 1e-38, np.float32)
        assert (tiny * np.float32(1e-3))[0] > 0  # the caller's own arithmetic is left alone
        assert evaluator._pool.submit(lambda: tiny * np.float32(1e-3)).result()[0] == 0
    finally:
        evaluator.close()
