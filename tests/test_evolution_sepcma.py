import sys

import numpy as np
import pytest

from genspp.errors import SettingsError
from genspp.evolution.sepcma import SepCMASearch
from test_evolution_search import advance, draw, sphere, start


def test_the_distribution_starts_as_the_first_population_and_moves_to_its_better_half():
    search = advance(start("sepcma", population=400), 1)
    first = draw(400)
    better = sorted(first, key=lambda genome: sphere([genome])[0].selection_rate)[:200]
    genomes, _ = search.ask()
    # The best weigh most, so that the step is a little longer than to the plain mean of the better half.
    assert first.mean() < np.mean(better) <= genomes.mean() < 0.5
    given = advance(start("sepcma", population=400, cma_sigma=0.05), 1)
    assert given.state()["cma.sigma"] != search.state()["cma.sigma"]


def test_the_best_so_far_stays_when_a_generation_is_worse():
    search = advance(start("sepcma"), 5)
    best = search.best()
    search.tell(sphere(search.ask()[0] + 5))
    assert search.best().seed == best.seed
    assert search.best().evaluation == best.evaluation


def test_without_the_package_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cmaes", None)  # importing it now fails
    with pytest.raises(
        SettingsError, match=r"^search is 'sepcma', which needs the package cmaes; install genspp\[cmaes\]\.$"
    ):
        start("sepcma")


def test_the_package_is_imported_only_when_it_is_used():
    assert SepCMASearch.own.keys() == {"cma_sigma"}
    assert "cmaes" not in vars(sys.modules[SepCMASearch.__module__])
