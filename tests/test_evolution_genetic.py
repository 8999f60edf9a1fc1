import json
from itertools import pairwise

import numpy as np
import pytest

from genspp.evolution.fitness import Objective
from genspp.evolution.genetic import GeneticSearch, Mutation
from genspp.population.evaluator import Evaluation

OBJECTIVE = Objective(threshold=10.0)


def sphere(genomes):
    """The closer a genome is to 0.5 everywhere, the lower its selection rate."""
    return [Evaluation(0.0, min(1.0, float(np.mean(np.abs(genome - 0.5))))) for genome in genomes]


def start(seed=1, individuals=8, genes=12, **options):
    initial = np.random.RandomState(0).uniform(-1, 1, (individuals, genes)).astype(np.float32)
    return GeneticSearch(initial, OBJECTIVE, seed, **options)


def advance(search, generations):
    for _ in range(generations):
        genomes, _ = search.ask()
        search.tell(sphere(genomes))
    return search


def test_it_finds_better_individuals_and_never_loses_the_best():
    search = advance(start(), 1)
    bests = [search.fitness[0]]
    for _ in range(60):
        advance(search, 1)
        bests.append(search.fitness[0])
    assert all(later >= earlier for earlier, later in pairwise(bests))
    assert bests[-1] > 2 * bests[0]


def test_the_population_is_sorted_and_keeps_its_size():
    search = advance(start(), 5)
    assert search.genomes.shape == (8, 12)
    assert search.generation == 4
    assert (np.diff(search.fitness) <= 0).all()


def test_the_better_half_always_survives():
    search = advance(start(), 1)
    parents = search.genomes.copy()
    children, _ = search.ask()
    both = np.concatenate([parents, children])
    fitness = np.array([OBJECTIVE.fitness(e) for e in sphere(both)])
    search.tell(sphere(children))
    elite = both[np.argsort(-fitness, kind="stable")[:4]]
    np.testing.assert_array_equal(search.genomes[:4], elite)


def test_children_are_crossed_at_one_point_and_mutated():
    search = GeneticSearch(np.repeat([[0.0], [1.0]], 5, axis=1).astype(np.float32), OBJECTIVE, 3, Mutation(sigma=1e-3))
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
    initial = np.zeros((100, 50), np.float32)
    search = GeneticSearch(initial, OBJECTIVE, 0, Mutation(sigma=0.05, last_sigma=0.10))
    search.tell(sphere(search.ask()[0]))
    children, _ = search.ask()
    assert children[:, :-1].std() == pytest.approx(0.05, rel=0.05)
    assert children[:, -1].std() == pytest.approx(0.10, rel=0.25)


def test_mutation_probability():
    search = GeneticSearch(np.zeros((50, 50), np.float32), OBJECTIVE, 0, Mutation(probability=0.2))
    search.tell(sphere(search.ask()[0]))
    assert (search.ask()[0] != 0).mean() == pytest.approx(0.2, abs=0.04)


def test_the_roulette_favours_the_fit():
    initial = np.arange(4, dtype=np.float32)[:, None].repeat(3, axis=1)
    search = GeneticSearch(initial, OBJECTIVE, 0, Mutation(sigma=1e-9))
    search.ask()
    search.tell([Evaluation(0.0, 0.01), *[Evaluation(0.0, 0.9)] * 3])
    parents = np.concatenate([search.ask()[0].round() for _ in range(200)])
    share = (parents == 0).mean()
    h = [1 / 0.004987, *[1 / 0.68377] * 3]  # 1 - sqrt(1 - rate)
    assert share == pytest.approx(h[0] / sum(h), abs=0.02)


def test_ties_go_to_the_older():
    search = start()
    search.tell([Evaluation(0.0, 0.5)] * len(search.ask()[0]))
    parents = search.genomes.copy()
    search.tell([Evaluation(0.0, 0.5)] * len(search.ask()[0]))
    np.testing.assert_array_equal(search.genomes[:4], parents[:4])


def test_nan_never_survives_while_there_are_others():
    search = advance(start(), 1)
    for _ in range(5):
        genomes, _ = search.ask()
        told = [Evaluation(float("nan"), 0.1)] * len(genomes)
        search.tell(told)
    assert np.isfinite(search.evaluations[:, 0]).all()


def test_it_survives_a_generation_of_nan():
    search = start()
    search.tell([Evaluation(float("nan"), 0.1)] * len(search.ask()[0]))
    advance(search, 3)
    assert np.isfinite(search.evaluations[0]).all()


def test_same_seed_same_search_and_another_seed_another():
    one, same, other = advance(start(1), 4), advance(start(1), 4), advance(start(2), 4)
    np.testing.assert_array_equal(one.genomes, same.genomes)
    assert not np.array_equal(one.genomes, other.genomes)


def test_seeds_differ_between_individuals_and_generations():
    search = start()
    seeds = []
    for _ in range(4):
        genomes, asked = search.ask()
        seeds += asked
        search.tell(sphere(genomes))
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize("reevaluate", [False, True])
def test_restored_it_goes_on_as_if_nothing_had_happened(reevaluate):
    whole = advance(start(reevaluate_elites=reevaluate), 7)
    half = advance(start(reevaluate_elites=reevaluate), 3)
    state = half.state()
    arrays = {k: v.copy() for k, v in state.items() if isinstance(v, np.ndarray)}
    values = json.loads(json.dumps({k: v for k, v in state.items() if k not in arrays}))
    resumed = start(reevaluate_elites=reevaluate)
    resumed.restore(values | arrays)
    advance(resumed, 4)
    for name in ("genomes", "seeds", "evaluations"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(whole, name))


def test_elites_can_be_judged_again():
    search = start(reevaluate_elites=True)
    search.ask()
    search.tell([Evaluation(0.0, 0.001), *[Evaluation(0.0, 0.5)] * 7])  # one was lucky
    lucky = search.genomes[0].copy()
    genomes, seeds = search.ask()
    assert len(genomes) == 16
    np.testing.assert_array_equal(genomes[8], lucky)
    search.tell([Evaluation(0.0, 0.4)] * 8 + [Evaluation(0.0, 0.9)] * 8)
    assert search.best()[2].selection_rate == 0.4
    assert int(search.seeds[0]) in seeds
