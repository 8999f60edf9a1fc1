import math
from dataclasses import replace

import pytest

from genspp.evolution.fitness import EvidenceObjective, PaperObjective, combined_loss
from genspp.population.evaluator import Evaluation, Terms


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


# 0.016 and two hundredths of the full text's loss are free: 0.02.
# Of 0.8 nats that texts tell each costs 0.8 times 6.25: 5.
EVIDENCE = EvidenceObjective(chance=1.0, full=0.2, completeness=0.4, insufficiency=6.25, epsilon=0.016)


@pytest.mark.parametrize(
    ("evaluation", "cost"),
    [
        (Evaluation(0.2, 0.1, 1.0), 0.1),  # as good as the full text, and nothing left: what it selects
        (Evaluation(0.0, 0.1, 1.7), 0.1),  # better than that is worth nothing
        (Evaluation(0.22, 0.1, 1.0), 0.1),  # a little is free
        (Evaluation(0.32, 0.1, 1.0), 0.1 + 5 * 0.1),
        (Evaluation(0.2, 0.1, 0.6), 0.1 + 0.4 * 0.5),  # half of 0.8 nats is left over
        (Evaluation(0.2, 0.1, 0.2), 0.1 + 0.4),
        (Evaluation(0.42, 0.3, 0.8), 0.3 + 5 * 0.2 + 0.4 * 0.25),
        (Evaluation(1.0, 0.0, 0.2), 0.0 + 5 * 0.78 + 0.4),  # nothing selected
    ],
)
def test_the_cost_of_evidence_by_hand(evaluation, cost):
    assert EVIDENCE.cost(evaluation) == pytest.approx(cost)
    assert EVIDENCE.fitness(evaluation) == pytest.approx(1 / (cost + 1e-8))


def test_shares_feasibility_and_terms_of_evidence():
    shares = EVIDENCE.shares(Evaluation(0.4, 0.1, 0.8))
    assert shares == {"sufficiency": pytest.approx(0.75), "left_over": pytest.approx(0.25)}
    assert EVIDENCE.feasible(Evaluation(0.2199, 0.1, 1.0)) and not EVIDENCE.feasible(Evaluation(0.221, 0.1, 1.0))
    assert EVIDENCE.terms == Terms(pytest.approx(5.0), pytest.approx(0.4 / 0.8), 1.0)
    assert EVIDENCE.first_terms == Terms(pytest.approx(0.4 / 0.8), pytest.approx(0.4 / 0.8), 1.0)
    assert EvidenceObjective(1.0, 0.2, 0.0, 5.0, 0.02).first_terms.task == pytest.approx(0.4 / 0.8)


def test_evidence_that_is_no_number_is_worst():
    for loss in (math.nan, math.inf):
        assert EVIDENCE.cost(Evaluation(loss, 0.1, 1.0)) == math.inf
        assert EVIDENCE.cost(Evaluation(0.2, 0.1, loss)) == math.inf  # an adversary that diverged proves nothing
        assert EVIDENCE.fitness(Evaluation(loss, 0.1, 1.0)) == EVIDENCE.fitness(Evaluation(0.2, 0.1, loss)) == 0.0
    assert not EVIDENCE.feasible(Evaluation(math.nan, 0.1, 1.0))
    alone = EvidenceObjective(1.0, 0.2, 0.0, 5.0, 0.02)  # without an adversary nobody asks for its loss
    assert alone.cost(Evaluation(0.2, 0.1)) == 0.1
    assert alone.shares(Evaluation(0.2, 0.1)) == {"sufficiency": pytest.approx(1.0)}


@pytest.mark.parametrize(
    ("full", "price"),
    [(2.98, 30.0), (2.9, 6.0), (2.8, 3.5), (2.65, 3.5), (2.5, 5.0), (2.2, 8.0), (2.0, 10.0), (0.5, 10.0)],
)
def test_a_nat_costs_less_where_texts_tell_less_than_one(full, price):
    objective = EvidenceObjective(chance=3.0, full=full, completeness=0.0, insufficiency=10.0, epsilon=0.0)
    assert objective.price == objective.terms.task == pytest.approx(price)
    evaluation = Evaluation(full + objective.free + 0.1, 0.2)
    assert objective.cost(evaluation) == pytest.approx(0.2 + price * 0.1)


def test_where_the_full_text_tells_nothing_no_cost_explodes():
    lost = EvidenceObjective(chance=1.0, full=1.3, completeness=0.4, insufficiency=5.0, epsilon=0.02)
    assert lost.gap == pytest.approx(1e-3)
    assert math.isfinite(lost.cost(Evaluation(1.0, 0.1, 1.0))) and math.isfinite(lost.terms.rest)
    assert lost.shares(Evaluation(1.0, 0.1, 1.0)) == {}  # there is nothing to have a share of


def test_where_judges_are_blind_the_best_is_to_leave_nothing_out():
    blind = replace(EVIDENCE, blind=True)
    costs = [blind.cost(Evaluation(loss, rate, 0.5)) for loss, rate in ((0.1, 0.0), (2.0, 0.5), (1.0, 1.0), (1.0, 3.0))]
    assert costs == sorted(costs, reverse=True) and costs[-1] > 0
    assert blind.shares(Evaluation(0.3, 0.5, 0.5)) == {}


@pytest.mark.parametrize(("full", "free"), [(0.0, 0.01), (0.5, 0.02), (0.6, 0.15 * 0.1), (0.8, 0.15 * 1e-3)])
def test_what_may_be_lacking_grows_with_doubt_and_is_a_share_of_what_texts_tell_at_most(full, free):
    objective = EvidenceObjective(chance=0.7, full=full, completeness=0.4, insufficiency=10.0, epsilon=0.01)
    assert objective.free == pytest.approx(free)
