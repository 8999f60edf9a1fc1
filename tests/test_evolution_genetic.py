from itertools import pairwise

import numpy as np
import pytest

from genspp.evolution.genetic import GeneticSearch
from genspp.population.evaluator import Evaluation
from test_evolution_search import OBJECTIVE, SETTINGS, advance, sphere, start


def starting_from(initial, **options):
    return GeneticSearch(lambda count: initial, OBJECTIVE, SETTINGS | {"population": len(initial)} | options)


def test_it_never_loses_the_best():
    search = advance(start("genetic"), 1)
    bests = [search.progress()["best_fitness"]]
    for _ in range(60):
        bests.append(advance(search, 1).progress()["best_fitness"])
    assert all(later >= earlier for earlier, later in pairwise(bests))


def test_the_population_is_sorted_and_keeps_its_size():
    search = advance(start("genetic"), 5)
    assert search.individuals.genomes.shape == (8, 12)
    assert (np.diff(search.fitness(search.individuals)) <= 0).all()


def test_the_better_half_always_survives():
    search = advance(start("genetic"), 1)
    parents = search.individuals.genomes.copy()
    children, _ = search.ask()
    both = np.concatenate([parents, children])
    fitness = np.array([OBJECTIVE.fitness(e) for e in sphere(both)])
    search.tell(sphere(children))
    elite = both[np.argsort(-fitness, kind="stable")[:4]]
    np.testing.assert_array_equal(search.individuals.genomes[:4], elite)


def test_children_are_crossed_at_one_point_and_mutated():
    search = starting_from(np.repeat([[0.0], [1.0]], 5, axis=1).astype(np.float32), seed=3, mutation_sigma=1e-3)
    search.tell([Evaluation(0.0, 0.5)] * len(search.ask()[0]))
    seen = set()
    for _ in range(40):
        children, _ = search.ask()
        first = children.round()[0]
        assert (np.abs(np.diff(first)) > 0.5).sum() <= 1  # one point at the most
        assert (children != children.round()).all()  # p_m = 1: every gene of every child
        seen.add(tuple(first))
    assert len(seen) > 4


def test_mutation_has_the_given_deviation_and_a_separate_one_for_the_output_bias():
    search = starting_from(np.zeros((100, 50), np.float32), mutation_sigma=0.05, bias_sigma=0.10)
    search.tell(sphere(search.ask()[0]))
    children, _ = search.ask()
    assert children[:, :-1].std() == pytest.approx(0.05, rel=0.05)
    assert children[:, -1].std() == pytest.approx(0.10, rel=0.25)


def test_mutation_probability():
    search = starting_from(np.zeros((50, 50), np.float32), mutation_probability=0.2)
    search.tell(sphere(search.ask()[0]))
    assert (search.ask()[0] != 0).mean() == pytest.approx(0.2, abs=0.04)


def test_the_roulette_favours_the_fit():
    search = starting_from(np.arange(4, dtype=np.float32)[:, None].repeat(3, axis=1), mutation_sigma=1e-9)
    search.ask()
    search.tell([Evaluation(0.0, 0.01), *[Evaluation(0.0, 0.9)] * 3])
    parents = np.concatenate([search.ask()[0].round() for _ in range(200)])
    share = (parents == 0).mean()
    h = [1 / 0.004987, *[1 / 0.68377] * 3]  # 1 - sqrt(1 - rate)
    assert share == pytest.approx(h[0] / sum(h), abs=0.02)


def test_ties_go_to_the_older():
    search = start("genetic")
    search.tell([Evaluation(0.0, 0.5)] * len(search.ask()[0]))
    parents = search.individuals.genomes.copy()
    search.tell([Evaluation(0.0, 0.5)] * len(search.ask()[0]))
    np.testing.assert_array_equal(search.individuals.genomes[:4], parents[:4])


def test_nan_never_survives_while_there_are_others():
    search = advance(start("genetic"), 1)
    advance(search, 5, lambda genomes: [Evaluation(float("nan"), 0.1)] * len(genomes))
    assert np.isfinite(search.individuals.evaluations["task_loss"]).all()


def test_elites_can_be_judged_again():
    search = start("genetic", reevaluate_elites=True)
    search.ask()
    search.tell([Evaluation(0.0, 0.001), *[Evaluation(0.0, 0.5)] * 7])  # one was lucky
    lucky = search.best().genome.copy()
    genomes, seeds = search.ask()
    assert len(genomes) == 16
    np.testing.assert_array_equal(genomes[8], lucky)
    search.tell([Evaluation(0.0, 0.4)] * 8 + [Evaluation(0.0, 0.9)] * 8)
    assert search.best().evaluation.selection_rate == 0.4
    assert search.best().seed in seeds
