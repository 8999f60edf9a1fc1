"""Skipping predictors, adversaries, readers and climbs: the compiled engine against the sequential one."""

from dataclasses import replace

import numpy as np
import pytest

from genspp.population import evaluator
from genspp.population.compiled import CompiledEvaluator
from genspp.population.evaluator import Climb, Terms
from genspp.population.sequential import SequentialEvaluator
from test_population_compiled import random_genomes, random_task

TERMS = Terms(task=5.0, rest=0.4, chance=1.2)
COSTS = np.array([1, 3, 1], np.float32)


@pytest.fixture(autouse=True)
def short_readings(monkeypatch):
    monkeypatch.setattr(evaluator, "_READER_STEPS", 8)


def small_task(seed=0, **changes):
    task = random_task(seed, hidden=5, cell="bigru", one_hot=False, longest=9, texts=40, batch_size=16)
    words = np.random.default_rng(3).uniform(1, 5, len(task.vectors)).astype(np.float32)
    marks = {"mark_costs": COSTS, "word_costs": words}
    changed = {"skipping": True, "adversary": "gaps", "readers": 11} | marks | changes
    return replace(task, **changed)


def ways(count, judged, steps=6):
    ways = enumerate((1.0, 0.5, 2.0, 1.0)[:count])
    return [Climb(steps, 1e-2, 0.4, 50 + i, 20 + i if judged else None, heat) for i, heat in ways]


@pytest.mark.parametrize("readers", [None, 11])
@pytest.mark.parametrize("adversary", ["none", "gaps", "packed"])
@pytest.mark.parametrize("skipping", [True, False])
def test_evaluations_are_those_of_the_sequential_engine(skipping, adversary, readers):
    task = small_task(1, skipping=skipping, adversary=adversary, readers=readers)
    genomes, seeds = random_genomes(task, 2), [3, 4]
    right = SequentialEvaluator(task).evaluate(genomes, seeds)
    engine = CompiledEvaluator(task, 2)
    for mine, theirs in zip(engine.evaluate(genomes, seeds), right, strict=True):
        assert mine.task_loss == pytest.approx(theirs.task_loss, abs=1e-4)
        assert mine.selection_rate == pytest.approx(theirs.selection_rate, abs=1e-3)
        assert mine.rest_loss == pytest.approx(theirs.rest_loss, abs=1e-4, nan_ok=True)
        assert np.isnan(mine.rest_loss) == (adversary == "none")
    engine.close()


def test_every_part_of_a_task_counts():
    genomes = random_genomes(small_task(2), 20)
    sparing = SequentialEvaluator(small_task(2))
    genomes = [one for one in genomes if 0.2 < sparing.select(one, sparing.task.val).mean() < 0.8][:1]

    def found(**changes):
        engine = CompiledEvaluator(small_task(2, **changes), 1)
        one = engine.evaluate(genomes, [3])[0]
        engine.close()
        return one

    usual = found()
    assert found(skipping=False).task_loss != usual.task_loss
    assert found(adversary="packed").task_loss == usual.task_loss
    assert found(adversary="packed").rest_loss != usual.rest_loss
    assert found(readers=12).task_loss != usual.task_loss != found(readers=None).task_loss
    assert found(mark_costs=None).selection_rate < usual.selection_rate
    assert found(mark_costs=None).task_loss == usual.task_loss
    assert found(word_costs=None).selection_rate != usual.selection_rate
    assert found(word_costs=None).task_loss == usual.task_loss


@pytest.mark.parametrize("judged", [True, False])
@pytest.mark.parametrize(("skipping", "adversary"), [(True, "gaps"), (True, "packed"), (False, "gaps")])
def test_a_climb_leads_where_that_of_the_sequential_engine_does(skipping, adversary, judged):
    task = small_task(3, skipping=skipping, adversary=adversary)
    genomes = random_genomes(task, 2)
    engine = CompiledEvaluator(task, 2)
    mine = engine.climb(genomes, ways(2, judged), TERMS)
    engine.close()
    right = SequentialEvaluator(task).climb(genomes, ways(2, judged), TERMS)
    assert mine.dtype == np.float32 and mine.shape == genomes.shape
    np.testing.assert_allclose(mine, right, atol=5e-4)
    assert np.abs(mine - genomes).max() > 1e-2


def test_a_climb_without_an_adversary():
    task = small_task(4, adversary="none")
    genomes, terms = random_genomes(task, 1), replace(TERMS, rest=0.0)
    engine = CompiledEvaluator(task, 1)
    mine = engine.climb(genomes, ways(1, True), terms)
    np.testing.assert_allclose(mine, SequentialEvaluator(task).climb(genomes, ways(1, True), terms), atol=5e-4)
    engine.close()


def test_imitation_is_that_of_the_sequential_engine_and_learns_the_list():
    task = small_task(5)
    genomes, wanted = random_genomes(task, 2), (task.train.ids % 3 == 0).view(np.uint8)
    engine = CompiledEvaluator(task, 2)
    mine = engine.imitate(genomes, [wanted, 1 - wanted], ways(2, False))
    right = SequentialEvaluator(task).imitate(genomes, [wanted, 1 - wanted], ways(2, False))
    np.testing.assert_allclose(mine, right, atol=5e-4)
    learnt = engine.imitate(genomes[:1], [wanted], ways(1, False, steps=400))
    assert (engine.select(learnt[0], task.train) == wanted).mean() > 0.9
    engine.close()


@pytest.mark.parametrize("judged", [True, False])
def test_the_number_of_workers_does_not_change_a_bit(judged):
    task = small_task(6)
    genomes, wanted = random_genomes(task, 4), (task.train.ids % 2).astype(np.uint8)
    results = []
    for workers in (1, 2, 3):
        engine = CompiledEvaluator(task, workers)
        climbed = engine.climb(genomes, ways(4, judged), TERMS)
        imitated = engine.imitate(genomes, [wanted] * 4, ways(4, False))
        results.append((engine.evaluate(genomes, range(4)), climbed.tobytes(), imitated.tobytes()))
        engine.close()
    assert results[0] == results[1] == results[2]


def test_a_climb_after_resume_equals_one_without():
    """Judges that were forgotten, or trained in another process, are trained again: to the bit."""
    task = small_task(7)
    genomes = random_genomes(task, 2)
    engine, resumed = CompiledEvaluator(task, 1), CompiledEvaluator(task, 2)
    engine.evaluate(genomes, [20, 21])
    assert len(engine._judged) == 2 and not resumed._judged
    remembered = engine.climb(genomes, ways(2, True), TERMS)
    np.testing.assert_array_equal(resumed.climb(genomes, ways(2, True), TERMS), remembered)
    other = [replace(way, judged=way.judged + 5) for way in ways(2, True)]
    assert not np.array_equal(engine.climb(genomes, other, TERMS), remembered)
    for each in (engine, resumed):
        each.close()


@pytest.mark.parametrize("engine", [CompiledEvaluator, SequentialEvaluator])
def test_without_readers_a_climb_has_judges_of_its_own(engine):
    task = small_task(8, readers=None)
    genomes, population = random_genomes(task, 1), engine(task, 1)
    way = replace(ways(1, False)[0], pressure=0.0)  # a pressure would rise in the first only
    climbed = [population.climb(genomes, [one], TERMS) for one in (way, replace(way, judged=way.seed))]
    np.testing.assert_array_equal(*climbed)
    assert not np.array_equal(climbed[0], genomes)
    population.close()


def test_pressure_makes_highlights_small():
    task = small_task(9)
    genomes = random_genomes(task, 1)
    engine = CompiledEvaluator(task, 1)
    rates = [
        engine.select(engine.climb(genomes, [Climb(150, 1e-2, pressure, 1)], TERMS)[0], task.val).mean()
        for pressure in (1e-3, 20.0)
    ]
    engine.close()
    assert rates[1] < 0.1 < rates[0]


def test_the_pressure_of_a_climb_from_readers_rises():
    assert Climb(4, 1e-2, 1.0, 0).pressures().tolist() == [0.0, 0.5, 1.0, 1.0]
    assert Climb(4, 1e-2, 1.0, 0, judged=1).pressures().tolist() == [1.0] * 4


def test_batches_of_a_climb_are_whole_and_deal_every_text():
    dealt = list(Climb(6, 1e-2, 1.0, 3).batches(10, 4))
    assert [len(rows) for rows in dealt] == [4] * 6
    assert all(len(set(np.concatenate(dealt[i : i + 2]))) == 8 for i in (0, 2, 4))
    assert [len(rows) for rows in Climb(2, 1e-2, 1.0, 3).batches(3, 64)] == [3, 3]


def test_chance_is_the_loss_of_the_classes_frequencies():
    task = small_task(10)
    weights = task.class_weights.astype(float)
    mass = np.bincount(task.train.labels, minlength=3) * weights
    seen = np.bincount(task.val.labels, minlength=3) * weights
    assert task.chance == pytest.approx(-(seen * np.log(mass / mass.sum())).sum() / seen.sum())
