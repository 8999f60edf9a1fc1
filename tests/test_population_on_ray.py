"""The engine whose workers are Ray's: the same bits as the compiled engine here, whatever dies."""

import asyncio
import os
import signal
import time
from dataclasses import replace
from threading import Thread

import numpy as np
import pytest

from conftest import make_task
from genspp.cluster import connect
from genspp.data.sources import load_source
from genspp.errors import DataError, RunError
from genspp.evolution.individuals import Individuals
from genspp.experiments.grid import Trial
from genspp.experiments.on_ray import on_cluster
from genspp.methods.final import everything
from genspp.methods.first_generators import initial_genomes
from genspp.population import on_ray
from genspp.population.compiled import CompiledEvaluator
from genspp.population.evaluator import Climb, Terms, Training
from genspp.population.on_ray import RayEvaluator, batch_size
from ray_tools import Killer, at_work

ray = pytest.importorskip("ray", reason="Ray is not installed (genspp[ray])")

TASK = replace(make_task(rows=120, training=Training(3, 16, patience=2)), adversary="gaps", readers=7, skipping=True)
GENOMES, SEEDS = initial_genomes(1, 9, TASK), list(range(9))
TERMS = Terms(1.0, 0.4, 1.0)


@pytest.fixture(scope="module", autouse=True)
def _left_in_the_end():
    yield
    ray.shutdown()


@pytest.fixture
def cluster():
    return connect("ray", 2)  # the same for all, until one fails


@pytest.fixture
def engines(cluster):
    here, there = CompiledEvaluator(TASK, 1), RayEvaluator(TASK, cluster)
    yield here, there
    for engine in (here, there):
        engine.close()


def same(ours, right):
    """Compare what was evaluated, to the bit: NaN is itself."""
    both = [Individuals.of(GENOMES[: len(found)], SEEDS[: len(found)], found).evaluations for found in (ours, right)]
    assert both[0].keys() == both[1].keys()
    return all(both[0][name].tobytes() == both[1][name].tobytes() for name in both[0])


def climbs(judged):
    return [Climb(5 + i, 1e-2, 0.3, seed=i, judged=i if judged else None) for i in SEEDS]


def test_evaluations_and_climbs_are_the_same(engines):
    here, there = engines
    assert same(there.evaluate(GENOMES, SEEDS), here.evaluate(GENOMES, SEEDS))
    for judged in (True, False):
        np.testing.assert_array_equal(
            there.climb(GENOMES, climbs(judged), TERMS), here.climb(GENOMES, climbs(judged), TERMS)
        )
    masks = [(np.arange(len(TASK.train.ids)) % (i + 2) == 0).view(np.uint8) for i in SEEDS]
    np.testing.assert_array_equal(
        there.imitate(GENOMES, masks, climbs(False)), here.imitate(GENOMES, masks, climbs(False))
    )


def test_judges_travel_with_their_individuals(engines, monkeypatch):
    """A climb between judges that were trained elsewhere trains none: it is handed them."""
    _, there = engines
    there.evaluate(GENOMES, SEEDS)
    sent = []
    monkeypatch.setattr(there, "spread", lambda work, columns, *shared: sent.extend(columns[2]) or list(GENOMES))
    there.climb(GENOMES, climbs(True), TERMS)
    assert all(judges is not None and judges.adversary is not None for judges in sent)


def test_predictors_and_what_is_done_here_are_the_same(engines):
    here, there = engines
    ours, right = (engine.train_predictors(*everything(TASK), [3, 4, 5], Training(4, 16)) for engine in (there, here))
    for one, other in zip(ours, right, strict=True):
        np.testing.assert_array_equal(one.weights, other.weights)
        assert (one.task_loss, one.epochs) == (other.task_loss, other.epochs)
    np.testing.assert_array_equal(there.select(GENOMES[0], TASK.val), here.select(GENOMES[0], TASK.val))
    judged = [engine.judge(*everything(TASK), 3).predictor.task_loss for engine in (there, here)]
    assert judged[0] == judged[1]


def test_a_worker_that_is_killed_changes_nothing(cluster):
    slow = replace(TASK, training=Training(1500, 16))
    killer = Killer()
    with_a_loss = RayEvaluator(slow, cluster).evaluate(GENOMES[:4], SEEDS[:4])
    killer.join(10)
    assert killer.killed is not None and not os.path.exists(f"/proc/{killer.killed}")
    assert same(with_a_loss, CompiledEvaluator(slow, 2).evaluate(GENOMES[:4], SEEDS[:4]))


def test_many_individuals_go_together_and_few_alone():
    assert [batch_size(many, 2) for many in (1, 7, 8, 15, 16, 800)] == [1, 1, 1, 1, 2, 100]


def test_data_is_put_once(cluster, monkeypatch):
    put, fresh = [], make_task(seed=3)
    monkeypatch.setattr(cluster, "put", lambda value: put.append(value) or ray.put(value))
    for task in (fresh, replace(fresh, readers=7)):
        RayEvaluator(task, cluster).evaluate(GENOMES[:2], SEEDS[:2])
    data = [value for value in put if isinstance(value, tuple) and not isinstance(value, on_ray.Kit)]
    assert [len(parts) for parts in data] == [3] and data[0][1] is fresh.train
    kits = [value for value in put if isinstance(value, on_ray.Kit)]
    assert len(kits) == 2 and all(len(kit.rest.train) == 0 for kit in kits)


def test_a_run_of_a_grid_that_fails_says_why(cluster, tmp_path):
    trial, file = Trial("table1", f"hatexplain:{tmp_path}", "fr", "sound", 1), tmp_path / "error.txt"
    assert asyncio.run(on_cluster(cluster)(trial, tmp_path / "runs", tmp_path / "out", file, None)) == 2
    assert file.read_text().startswith(f"There is no file {tmp_path / 'dataset.json'}.")
    assert list(tmp_path.iterdir()) == [file]


def test_an_error_of_ours_is_the_same_sentence(cluster):
    with pytest.raises(DataError) as here:
        load_source("nonsense")
    with pytest.raises(DataError) as there:
        cluster.gather([cluster.submit(load_source, "nonsense")])
    assert str(there.value) == str(here.value)


def test_what_ray_gives_up_is_one_sentence(cluster, monkeypatch):
    """A piece of work that kills its worker every time."""
    monkeypatch.setattr(cluster, "_work", cluster._work.options(max_retries=1))
    with pytest.raises(RunError, match=r"^ray gave a piece of work up \(\w+: .*\); see to the cluster, and go on"):
        cluster.gather([cluster.submit(os._exit, 1)])


def test_nobody_goes_on_when_nobody_waits(cluster):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt():
        while not at_work(os.getpid()):
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        cluster.gather([cluster.submit(time.sleep, 60) for _ in range(4)])
    signal.signal(signal.SIGINT, before)
    assert at_work(os.getpid()) == []
