from dataclasses import astuple, replace

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from conftest import make_task
from genspp.data.encode import Encoded
from genspp.model.weights import draw, flatten, load_flat
from genspp.population.evaluator import Training, fresh_predictor
from genspp.population.sequential import SequentialEvaluator
from genspp.streams import Purpose, epoch_order, stream


def random_genomes(task, count):
    return np.stack([draw(stream(1, Purpose.GENOME, i), task.generator()) for i in range(count)])


def test_one_and_two_workers_agree_to_the_bit(task):
    genomes = random_genomes(task, 4)
    alone, pair = SequentialEvaluator(task), SequentialEvaluator(task, workers=2)
    try:
        one, two = (list(map(astuple, each.evaluate(genomes, [1, 2, 3, 4]))) for each in (alone, pair))
        np.testing.assert_array_equal(one, two)  # without an adversary its loss is NaN
    finally:
        pair.close()


def test_an_evaluation_depends_on_its_genome_and_seed_alone(task):
    genomes = random_genomes(task, 3)
    evaluator = SequentialEvaluator(task)
    together = evaluator.evaluate(genomes, [1, 2, 3])
    assert evaluator.evaluate(genomes[::-1], [3, 2, 1]) == together[::-1]
    assert evaluator.evaluate(genomes[:1], [9])[0].task_loss != together[0].task_loss


def test_it_is_plain_training_with_torchs_adam():
    task = make_task(training=Training(epochs=1, batch_size=90), class_weights=[1.0, 2.0, 0.5])
    everything = np.ones(len(task.train.ids), np.uint8)
    val_everything = np.ones(len(task.val.ids), np.uint8)
    trained = SequentialEvaluator(task).train_predictors(everything, val_everything, [5])[0]

    predictor = task.predictor()
    load_flat(predictor, fresh_predictor(5, task))
    order = epoch_order(5, 0, len(task.train))
    optimizer = torch.optim.Adam(predictor.parameters(), lr=1e-2)
    weights = torch.tensor([1.0, 2.0, 0.5])
    logits = []
    for row in order:  # one text at a time: nothing is padded
        ids = torch.from_numpy(task.train.ids[task.train.starts[row] : task.train.starts[row + 1]].astype(int))
        vectors = torch.from_numpy(task.vectors)[ids][None]
        everything = torch.ones(1, len(ids))
        logits.append(predictor(vectors, everything.bool(), everything)[0])
    loss = F.cross_entropy(torch.stack(logits), torch.from_numpy(task.train.labels[order].astype(int)), weights)
    loss.backward()
    optimizer.step()
    np.testing.assert_allclose(trained.weights, flatten(predictor), atol=1e-5)


def test_patience_returns_the_best_epoch(task):
    masks = np.ones(len(task.train.ids), np.uint8), np.ones(len(task.val.ids), np.uint8)
    evaluator = SequentialEvaluator(task)
    losses = [evaluator.train_predictors(*masks, [1], Training(n, 16, 0.1))[0].task_loss for n in range(1, 13)]
    best = evaluator.train_predictors(*masks, [1], Training(12, 16, 0.1, patience=12))[0]
    assert best.task_loss == min(losses)
    assert best.epochs == 12
    again = evaluator.train_predictors(*masks, [1], Training(losses.index(min(losses)) + 1, 16, 0.1))[0]
    np.testing.assert_array_equal(best.weights, again.weights)


def test_patience_ends_early(task):
    masks = np.ones(len(task.train.ids), np.uint8), np.ones(len(task.val.ids), np.uint8)
    evaluator = SequentialEvaluator(task)
    stopped = evaluator.train_predictors(*masks, [1], Training(400, 16, 0.3, patience=2))[0]
    assert stopped.epochs < 100


def test_selection_rate_is_the_mean_over_texts(task):
    data = Encoded(np.ones(7, np.int32), np.array([0, 1, 5, 7]), np.zeros(3, np.int32))
    mask = np.array([1, 1, 0, 0, 0, 0, 0], np.uint8)
    assert replace(task, val=data).selection_rate(mask) == pytest.approx((1 + 0.25 + 0) / 3)
    labelled = replace(data, labels=np.array([0, 1, 1], np.int32))
    costs = np.array([1, 3, 1], np.float32)  # what a mark costs in a text of a class
    found = replace(task, val=labelled, mark_costs=costs).selection_rate(mask)
    assert found == pytest.approx((1 + 3 * 0.25 + 0) / 3)


def test_it_leaves_the_callers_threads_alone(task):
    before = torch.get_num_threads()
    SequentialEvaluator(task).evaluate(random_genomes(task, 1), [1])
    assert torch.get_num_threads() == before


def test_it_learns():
    task = make_task(rows=300, training=Training(epochs=12, batch_size=16))
    masks = np.ones(len(task.train.ids), np.uint8), np.ones(len(task.val.ids), np.uint8)
    evaluator = SequentialEvaluator(task)
    short = evaluator.train_predictors(*masks, [1], Training(1, 300, 1e-5))[0]
    assert evaluator.train_predictors(*masks, [1])[0].task_loss < 0.75 * short.task_loss
