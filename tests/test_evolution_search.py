"""The contract that every search strategy keeps."""

import json
from dataclasses import make_dataclass

import numpy as np
import pytest

from genspp.evolution import individuals
from genspp.evolution.fitness import PaperObjective
from genspp.evolution.search import STRATEGIES, Search, strategy_settings
from genspp.population.evaluator import Evaluation

OBJECTIVE = PaperObjective(threshold=10.0)
SETTINGS = {name: setting.default for name, setting in strategy_settings().items()}
SETTINGS |= {"seed": 1, "population": 8, "generations": 100, "climb_rate": 1e-2}
VARIANTS = [("genetic", {}), ("genetic", {"reevaluate_elites": True}), ("guided", {}), ("sepcma", {})]
every_search = pytest.mark.parametrize(
    ("name", "options"), VARIANTS, ids=lambda value: value if isinstance(value, str) else " ".join(value)
)


def draw(count, genes=12):
    return np.random.RandomState(0).uniform(-1, 1, (count, genes)).astype(np.float32)


def start(name, **options) -> Search:
    return STRATEGIES[name](draw, OBJECTIVE, SETTINGS | options, climb)


def climb(genomes, climbs):
    """Steps towards 0.5, with a noise of their own: what a gradient would do."""
    found = []
    for genome, way in zip(genomes, climbs, strict=True):
        noise = np.random.default_rng(way.seed).normal(0, 0.02, genome.shape)
        found.append(genome + way.learning_rate * way.steps / 50 * (0.5 - genome) + noise)
    return np.stack(found).astype(np.float32)


def sphere(genomes):
    """The closer a genome is to 0.5 everywhere, the lower its selection rate."""
    return [Evaluation(0.0, min(1.0, float(np.mean(np.abs(genome - 0.5)))), 1.0) for genome in genomes]


def advance(search, generations, judge=sphere):
    for _ in range(generations):
        genomes, _ = search.ask()
        search.tell(judge(genomes))
    return search


def through_a_file(state):
    """The state as a checkpoint keeps it: arrays, and the rest as JSON."""
    arrays = {name: value.copy() for name, value in state.items() if isinstance(value, np.ndarray)}
    return json.loads(json.dumps({name: value for name, value in state.items() if name not in arrays})) | arrays


def assert_same(one, other):
    state, expected = one.state(), other.state()
    assert state.keys() == expected.keys()
    for name, value in state.items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)


def test_every_strategy_is_tested_here():
    assert {name for name, _ in VARIANTS} == set(STRATEGIES)


@every_search
def test_it_finds_better_individuals(name, options):
    search = advance(start(name, **options), 1)
    first = search.progress()["best_fitness"]
    advance(search, 60)
    assert search.progress()["best_fitness"] > 2 * first
    assert search.progress()["mean_fitness"] > first
    assert search.progress()["feasible"] == 1.0


@every_search
def test_the_first_population_is_the_one_drawn(name, options):
    genomes, seeds = start(name, **options).ask()
    count = 16 if name == "guided" else 8  # of twice as many the better half is kept
    np.testing.assert_array_equal(genomes, draw(count))
    assert genomes.dtype == np.float32
    assert len(seeds) == count


@every_search
def test_generations_count_from_the_first_population(name, options):
    search = start(name, **options)
    assert search.generation == -1
    assert advance(search, 1).generation == 0
    assert advance(search, 3).generation == 3


@every_search
def test_it_is_finished_when_all_generations_were_told(name, options):
    search = advance(start(name, generations=3, **options), 3)
    assert not search.finished
    assert advance(search, 1).finished


@every_search
def test_the_best_is_one_that_was_judged(name, options):
    search, seen = start(name, **options), {}
    for _ in range(5):
        genomes, seeds = search.ask()
        seen |= {seed: genome.copy() for seed, genome in zip(seeds, genomes, strict=True)}
        search.tell(sphere(genomes))
        best = search.best()
        np.testing.assert_array_equal(best.genome, seen[best.seed])
        assert best.evaluation == sphere([best.genome])[0]
        assert OBJECTIVE.fitness(best.evaluation) == search.progress()["best_fitness"]


@every_search
def test_same_seed_same_search_and_another_seed_another(name, options):
    one, other = advance(start(name, **options), 4), advance(start(name, **options, seed=2), 4)
    assert_same(one, advance(start(name, **options), 4))
    assert not np.array_equal(one.ask()[0], other.ask()[0])


@every_search
def test_seeds_differ_between_individuals_and_generations(name, options):
    search, seeds = start(name, **options), []
    for _ in range(4):
        genomes, asked = search.ask()
        seeds += asked
        search.tell(sphere(genomes))
    assert len(set(seeds)) == len(seeds)


@every_search
@pytest.mark.parametrize("generations", [1, 3])
def test_restored_it_goes_on_as_if_nothing_had_happened(name, options, generations):
    whole = advance(start(name, **options), 7)
    half = advance(start(name, **options), generations)
    state = through_a_file(half.state())
    advance(half, 2)  # what happens later does not change a state
    resumed = start(name, **options)
    resumed.restore(state)
    assert_same(advance(resumed, 7 - generations), whole)
    np.testing.assert_array_equal(resumed.ask()[0], whole.ask()[0])


@every_search
def test_interrupted_after_every_generation_it_is_the_same_search(name, options):
    whole, search = advance(start(name, **options), 1), advance(start(name, **options), 1)
    for _ in range(5):
        state = search.state()
        search = start(name, **options)
        search.restore(through_a_file(state))
        before = through_a_file(state)
        assert_same(advance(search, 1), advance(whole, 1))
        for key, value in before.items():  # nor does what follows change a state that somebody kept
            np.testing.assert_array_equal(state[key], value, err_msg=key)


@every_search
def test_nan_is_worst(name, options):
    search = start(name, **options)
    genomes, _ = search.ask()
    search.tell([Evaluation(float("nan"), 0.0), *sphere(genomes[1:])])
    assert np.isfinite(search.best().evaluation.task_loss)
    genomes, _ = search.ask()
    search.tell([*sphere(genomes[:-1]), Evaluation(float("nan"), 0.0)])
    assert np.isfinite(search.best().evaluation.task_loss)
    assert np.isfinite(search.ask()[0]).all()


@every_search
def test_it_survives_a_generation_of_nan(name, options):
    nothing = [Evaluation(float("nan"), 0.1)]
    search = advance(start(name, **options), 2, lambda genomes: nothing * len(genomes))
    assert search.progress()["feasible"] == search.progress()["best_fitness"] == 0.0
    advance(search, 4)
    assert np.isfinite(search.best().evaluation.task_loss)


@every_search
def test_a_new_field_of_the_evaluation_is_kept_without_another_line(name, options, monkeypatch):
    richer = make_dataclass("Richer", [("patience", float, 0.0)], bases=(Evaluation,), frozen=True)
    monkeypatch.setattr(individuals, "Evaluation", richer)

    def judge(genomes):
        return [
            richer(e.task_loss, e.selection_rate, e.rest_loss, float(g[0]))
            for e, g in zip(sphere(genomes), genomes, strict=True)
        ]

    search = advance(start(name, **options), 3, judge)
    state = through_a_file(search.state())
    resumed = start(name, **options)
    resumed.restore(state)
    best = resumed.best()
    assert best.evaluation.patience == float(best.genome[0])


def test_settings_of_all_strategies_stand_once_and_a_clash_is_found(monkeypatch):
    assert {"population", "mutation_sigma", "climb_steps", "cma_sigma"} <= set(strategy_settings())

    class Clashing(Search):
        own = {"cma_sigma": SETTINGS["seed"]}  # noqa: RUF012

    monkeypatch.setitem(STRATEGIES._guests, "clashing", Clashing)
    with pytest.raises(ValueError, match="two searches declare 'cma_sigma'"):
        strategy_settings()
