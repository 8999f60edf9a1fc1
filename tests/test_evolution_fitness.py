import math

import pytest

from genspp.evolution.fitness import PaperObjective, combined_loss
from genspp.population.evaluator import Evaluation


def test_combined_loss_is_the_papers_equation():
    assert combined_loss(0.0, 0.0) == 0.0
    assert combined_loss(0.0, 1.0) == 1.0  # the two marked points of the paper's figure
    assert combined_loss(0.5, 0.5) == 0.5
    assert combined_loss(0.36, 0.19) == pytest.approx(1 - math.sqrt(0.81 * 0.64))
    assert combined_loss(3.0, 0.2) == 1.0  # the loss is capped
    assert combined_loss(0.36, 0.19, 0.0) == combined_loss(0.36, 0.19)  # a further term without a cost


def test_fitness_of_the_feasible_is_the_inverse():
    objective = PaperObjective(threshold=0.6)
    assert objective.fitness(Evaluation(0.36, 0.19)) == pytest.approx(1 / (0.28 + 1e-8))
    assert objective.fitness(Evaluation(0.0, 0.0)) == pytest.approx(1e8)


def test_the_threshold_is_strict_and_on_the_scale_of_the_loss():
    assert not PaperObjective(0.5).feasible(Evaluation(0.5, 0.1))
    assert PaperObjective(0.5, loss_scale=2.0).feasible(Evaluation(0.9, 0.1))


def test_failures_are_below_every_feasible_individual():
    graded, flat = PaperObjective(0.1), PaperObjective(0.1, graded_failures=False)
    worst_feasible = graded.fitness(Evaluation(0.0999, 1.0))
    assert graded.fitness(Evaluation(0.2, 0.0)) < worst_feasible
    assert graded.fitness(Evaluation(0.3, 0.0)) < graded.fitness(Evaluation(0.2, 0.9))
    assert flat.fitness(Evaluation(0.2, 0.0)) == flat.fitness(Evaluation(9.0, 0.5)) == pytest.approx(1.0)


@pytest.mark.parametrize("loss", [math.nan, math.inf])
@pytest.mark.parametrize("graded", [True, False])
def test_nan_is_worst(loss, graded):
    objective = PaperObjective(0.1, graded_failures=graded)
    assert objective.fitness(Evaluation(loss, 0.1)) == 0.0
    assert not objective.feasible(Evaluation(loss, 0.1))
    assert objective.fitness(Evaluation(50.0, 1.0)) > 0.0
