import numpy as np
import pytest

from genspp.errors import SettingsError
from genspp.evolution.guided import GuidedSearch
from genspp.population.evaluator import Evaluation
from test_evolution_search import OBJECTIVE, SETTINGS, advance, climb, draw, sphere, start


def watched(seen, **options):
    """A search whose climbs are written down, with the genomes that they start from."""

    def spy(genomes, climbs):
        seen.append((genomes.copy(), list(climbs)))
        return climb(genomes, climbs)

    return GuidedSearch(draw, OBJECTIVE, SETTINGS | options, spy)


def test_without_gradients_it_says_so():
    with pytest.raises(SettingsError, match=r"^the search 'guided' needs gradients; choose another one\.$"):
        GuidedSearch(draw, OBJECTIVE, SETTINGS)


def test_the_better_half_of_the_first_population_is_kept_and_its_size_stays():
    search = advance(start("guided"), 1)
    order = np.argsort([one.selection_rate for one in sphere(draw(16))], kind="stable")
    np.testing.assert_array_equal(search.individuals.genomes, draw(16)[order[:8]])
    assert len(advance(search, 4).individuals) == 8


def test_children_climb_between_their_parents_judges_or_between_readers():
    seen = []
    search = advance(watched(seen), 1)
    fresh = []
    for _ in range(30):
        known = {one.seed: one.genome for one in search.individuals}
        genomes, _ = search.ask()
        parents, climbs = seen[-1]
        assert len(genomes) == len(climbs) + 1 == 9
        np.testing.assert_array_equal(genomes[-1], search.best().genome)  # the best once more
        for parent, way in zip(parents, climbs, strict=True):
            fresh.append(way.judged is None)
            if way.judged is not None:
                np.testing.assert_array_equal(parent, known[way.judged])
        search.tell(sphere(genomes))
    assert 0.1 < np.mean(fresh) < 0.4
    ways = [way for _, climbs in seen for way in climbs]
    assert len({way.seed for way in ways}) == len(ways)
    assert all(5 <= way.steps <= 600 and way.learning_rate > 0 and way.pressure > 0 for way in ways)
    assert len({way.temperature for way in ways}) > 100 and all(0.2 <= way.temperature <= 5 for way in ways)


def test_a_child_inherits_its_manner_with_a_small_change():
    seen = []
    search = advance(watched(seen, climb_steps=50, climb_rate=1e-2, pressure=0.4), 1)
    search.ask()
    ways = seen[-1][1]
    for name, first in (("steps", 50), ("learning_rate", 1e-2), ("pressure", 0.4)):
        values = np.array([getattr(way, name) for way in ways])
        assert len(set(values)) > 1
        assert (values > first / 30).all() and (values < 30 * first).all()


def test_the_evaluations_of_the_best_are_averaged_so_that_luck_does_not_last():
    search = start("guided", population=2)
    search.ask()
    search.tell([Evaluation(0.0, rate, 1.0) for rate in (0.1, 0.3, 0.9, 0.9)])
    lucky, second = search.individuals.genomes.copy()

    def tell(again):
        genomes, _ = search.ask()
        np.testing.assert_array_equal(genomes[-1], lucky)
        search.tell([*[Evaluation(0.0, 0.9, 1.0)] * 2, Evaluation(0.0, again, 3.0)])

    tell(0.3)
    assert search.best().evaluation.selection_rate == pytest.approx(0.2)
    assert search.best().evaluation.rest_loss == pytest.approx(2.0)
    tell(0.38)  # the mean of 0.1, 0.3 and 0.38
    assert search.best().evaluation.selection_rate == pytest.approx(0.26)
    assert search.best().evaluation.rest_loss == pytest.approx(7 / 3)
    tell(0.9)
    np.testing.assert_array_equal(search.best().genome, second)
    assert search.best().evaluation.selection_rate == 0.3


def test_it_stops_when_it_stalls():
    search = start("guided", stall=3)
    costs = [0.5, 0.4, 0.4, 0.3999, 0.3998]  # a gain of less than 0.5 % is none
    for number, rate in enumerate(costs):
        assert not search.finished, number
        search.tell([Evaluation(0.0, rate, 1.0)] * len(search.ask()[0]))
    assert search.finished
    resumed = start("guided", stall=3)
    resumed.restore(search.state())
    assert resumed.finished


def test_a_better_individual_starts_the_count_anew():
    search = start("guided", stall=2)
    for rate in (0.5, 0.5, 0.4, 0.4, 0.3):
        assert not search.finished
        search.tell([Evaluation(0.0, rate, 1.0)] * len(search.ask()[0]))
    assert not search.finished


def test_a_search_of_nothing_but_nan_ends():
    search = start("guided", stall=2)
    while not search.finished:
        search.tell([Evaluation(float("nan"), 0.1, 1.0)] * len(search.ask()[0]))
    assert search.generation == 1


def test_of_one_founders_descendants_some_survive_while_there_are_others():
    search = advance(start("guided"), 1)
    founders = np.array([3, 3, 3, 3, 3, 3, 1, 3, 1, 2])
    assert search._survivors(np.arange(10), founders).tolist() == [0, 1, 2, 3, 4, 6, 8, 9]
    assert search._survivors(np.arange(10), np.zeros(10)).tolist() == list(range(8))
    ranked = np.arange(10)[::-1]
    assert search._survivors(ranked, founders).tolist() == [9, 8, 7, 6, 5, 4, 3, 2]
    for _ in range(5):
        advance(search, 1)
        assert len(search._founders) == 8
