"""The first generators of a search: random ones, and such as know the task."""

from typing import Any

import numpy as np
import numpy.typing as npt

from genspp.data.encode import Mask
from genspp.evolution.individuals import Genomes
from genspp.kernels.losses import exponentials, logarithms
from genspp.methods.lesson import Lesson
from genspp.model.weights import count, draw
from genspp.population.evaluator import Climb, Evaluator, Task, Terms
from genspp.streams import Purpose, seed_of, stream

# How they come by what they know: Adam steps and their rate.
_LISTED, _CLIMBED, _RATE = 200, 300, 1e-2
_SHORTEST, _LONGEST = 0.02, 0.3  # of the tokens: the word lists that first generators learn
_PRESSURES = 0.1, 1.5  # the least and the most that one which climbs is under
_FINE, _COARSE = 3e-3, 1e-2  # rates of climbs from word lists, which are good already, and from anywhere else


def initial_genomes(seed: int, population: int, task: Task) -> Genomes:
    """Draw the first population, (individuals, genes), every individual from its own stream."""
    generator = task.generator()
    return np.stack([draw(stream(seed, Purpose.GENOME, i), generator) for i in range(population)])


def informed_genomes(
    settings: dict[str, Any], count: int, lesson: Lesson, evaluator: Evaluator, terms: Terms
) -> Genomes:
    """Return a first population that knows the task: one half has learnt word lists, the other has climbed.

    Word lists of several lengths, made from the labels alone, by what words say for as much as they count; where no
    words' weights are learnt, all climb, under several pressures, between the readers that no generator has touched.
    """
    genomes, seed = initial_genomes(settings["seed"], count, evaluator.task), settings["seed"]
    listed = count // 2 if knows_lists(settings, lesson) else 0
    climbs = [
        Climb(_LISTED if i < listed else _CLIMBED, _RATE, pressure, seed_of(seed, Purpose.CLIMB, 0, i))
        for i, pressure in enumerate([*_ladder(*_PRESSURES, listed), *_ladder(*_PRESSURES, count - listed)])
    ]
    parts = []
    if listed:
        worth = lesson.evidence_of(lesson.train) / evaluator.task.token_costs(lesson.train)
        lists = [above(worth, least) for least in list_thresholds(worth, listed)]
        parts.append(evaluator.imitate(genomes[:listed], lists, climbs[:listed]))
    parts.append(evaluator.climb(genomes[listed:], climbs[listed:], terms))
    return np.concatenate(parts)


def all_marking(task: Task) -> Genomes:
    """Return, as a population of one, a generator that marks everything."""
    genome = np.zeros((1, count(task.generator())), np.float32)
    genome[:, -1] = 1  # its bias
    return genome


def knows_lists(settings: dict[str, Any], lesson: Lesson) -> bool:
    """Tell whether some of the first generators have learnt word lists."""
    copies = settings["skew_sigma"] is not None  # all are copies of a skewed one then
    return settings["start"] == "informed" and not copies and lesson.evidence is not None


def climb_rate(settings: dict[str, Any], lesson: Lesson) -> float:
    """Return the rate that children climb at, at first: steps from a good list are small, lest they lead away."""
    return float(settings["climb_rate"] or (_FINE if knows_lists(settings, lesson) else _COARSE))


def list_thresholds(evidence: npt.NDArray[np.float32], count: int, longest: float = _LONGEST) -> list[float]:
    """Return the least evidence of a token that word lists of several lengths hold, the shortest list first.

    longest: of the tokens. Where so many do not speak for anything, the last ones are alike.
    """
    ranked = np.sort(evidence[evidence > 0])[::-1]
    if not len(ranked):
        return [0.0] * count
    places = [min(len(ranked) - 1, int(share * len(evidence))) for share in _ladder(_SHORTEST, longest, count)]
    return [float(ranked[place]) for place in places]


def above(evidence: npt.NDArray[np.float32], least: float) -> Mask:
    """Return which tokens say as much, as a flat mask; those that speak against are never among them."""
    return np.asarray((evidence >= least) & (evidence > 0)).view(np.uint8)


def _ladder(least: float, most: float, rungs: int) -> list[float]:
    """Return numbers from the least to the most, each as many times the last one."""
    first, last = logarithms(np.array([least, most]))
    return [float(rung) for rung in exponentials(np.linspace(first, last, rungs))]
