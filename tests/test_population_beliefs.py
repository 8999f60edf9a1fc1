"""Judges that are measured against what full-text predictors believe of a text."""

from dataclasses import replace

import numpy as np
import pytest

from genspp.methods.judging import beliefs, full_text_judge, suiting_sharpness
from genspp.model.inference import classify_full_text
from genspp.model.networks import Pair
from genspp.model.weights import load_flat, on_kernels, weighed
from genspp.population.compiled import CompiledEvaluator
from genspp.population.evaluator import Training, fresh_predictor
from genspp.population.sequential import SequentialEvaluator
from test_population_compiled import random_masks, random_task

TASK = replace(random_task(4, classes=3, one_hot=False, epochs=2), skipping=True, adversary="gaps")


def of_labels(task):
    weights = np.eye(task.shape.classes)[task.val.labels] * task.class_weights
    return (weights / weights.sum()).astype(np.float32)


def drawn(task):
    weights = np.random.default_rng(1).dirichlet(np.ones(task.shape.classes), len(task.val)) * task.class_weights
    return (weights / weights.sum()).astype(np.float32)


def losses(judges):
    return judges.predictor.task_loss, judges.adversary.task_loss


def test_to_believe_in_labels_is_to_measure_against_them():
    masks, task = random_masks(TASK, 0.4), replace(TASK, beliefs=of_labels(TASK))
    right, ours = (losses(CompiledEvaluator(one, 1).judge(*masks, 3)) for one in (TASK, task))
    assert ours == pytest.approx(right, abs=1e-6)
    assert task.chance == pytest.approx(TASK.chance, abs=1e-6)


@pytest.mark.parametrize("density", [0.0, 0.4, 1.0])
def test_engines_agree(density):
    masks, task = random_masks(TASK, density), replace(TASK, beliefs=drawn(TASK))
    ours, right = (losses(engine(task, 1).judge(*masks, 3)) for engine in (CompiledEvaluator, SequentialEvaluator))
    assert ours == pytest.approx(right, abs=1e-4)
    assert ours != pytest.approx(losses(CompiledEvaluator(TASK, 1).judge(*masks, 3)), abs=1e-3)


def test_judges_are_as_sure_of_themselves_as_suits_that_of_full_texts():
    # Trained for long, it knows its texts by heart, and is far too sure of others.
    sure = replace(TASK, training=Training(60, 16, learning_rate=0.03), beliefs=drawn(TASK))
    measured = {
        sharpness: full_text_judge(CompiledEvaluator(replace(sure, sharpness=sharpness), 1), 3).task_loss
        for sharpness in (1.0, 0.7, 0.5, 0.35)
    }
    assert suiting_sharpness(CompiledEvaluator(sure, 1), 3) == min(measured, key=measured.get) < 1


def test_engines_agree_on_how_sure_a_judge_is():
    masks, task = random_masks(TASK, 0.4), replace(TASK, beliefs=drawn(TASK), sharpness=0.5)
    ours, right = (losses(engine(task, 1).judge(*masks, 3)) for engine in (CompiledEvaluator, SequentialEvaluator))
    assert ours == pytest.approx(right, abs=1e-4)
    assert ours != losses(CompiledEvaluator(replace(task, sharpness=1.0), 1).judge(*masks, 3))


def test_predictors_that_are_kept_are_measured_against_labels():
    masks, task = random_masks(TASK, 0.4), replace(TASK, beliefs=drawn(TASK))
    right, ours = (CompiledEvaluator(one, 1).train_predictors(*masks, [3])[0] for one in (TASK, task))
    assert ours.task_loss == right.task_loss


def test_beliefs_are_the_mean_of_probabilities_and_some_of_the_labels_weighted():
    import torch

    weights = [fresh_predictor(seed, TASK) for seed in (1, 2)]
    found = beliefs(TASK, weights)
    mean = 0.0
    for flat in weights:
        predictor = TASK.predictor()
        load_flat(predictor, flat)
        pair = Pair(torch.from_numpy(TASK.vectors), TASK.generator(), predictor)
        mean = mean + classify_full_text(on_kernels(pair), weighed(predictor), TASK.val) / 2
    share = len(TASK.val) / (len(TASK.val) + 1000)
    right = (share * np.eye(3)[TASK.val.labels] + (1 - share) * mean) * TASK.class_weights
    np.testing.assert_allclose(found, right / right.sum(), atol=1e-6)
    assert found.sum() == pytest.approx(1, abs=1e-5)
