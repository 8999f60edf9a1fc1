"""The contract of the search strategies: ask for genomes, tell what they were worth.

A strategy is one file in this package: a subclass of `Search` that is registered under a name, declares its own
settings, and says what to judge next (`_propose`) and what follows from it (`_learn`). It knows nothing of text.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from genspp.evolution.fitness import Objective
from genspp.evolution.individuals import Genomes, Individual, Individuals
from genspp.population.evaluator import Climb, Evaluation
from genspp.registry import Registry
from genspp.settings import Setting, whole
from genspp.streams import Purpose, seed_of

State = dict[str, Any]
Draw = Callable[[int], Genomes]
Ascent = Callable[[Genomes, Sequence[Climb]], Genomes]


class Search(ABC):
    """A strategy.

    draw: returns so many genomes, (individuals, genes), for the start. settings: the run's `seed` and `generations`,
    and all that the strategy declares. climb: returns where steps by gradient lead from genomes, if there is any.
    """

    own: ClassVar[dict[str, Setting]] = {
        "population": Setting(
            6, whole(2, 10_000, even=True), "individuals per generation; without gradients it takes many", paper=50
        ),
    }

    def __init__(
        self, draw: Draw, objective: Objective, settings: Mapping[str, Any], climb: Ascent | None = None
    ) -> None:
        self.draw, self.objective, self.settings, self.climb = draw, objective, settings, climb
        self.generation = -1  # the last that was told; the first population is 0
        self.individuals = Individuals.of(np.zeros((0, 0), np.float32), [], [])  # those that matter now, best first
        self._asked: tuple[Genomes, list[int]] = (self.individuals.genomes, [])

    # ------------------------------------------------------------------ what a strategy provides

    @abstractmethod
    def _propose(self) -> Genomes:
        """Return the genomes to judge in the next generation, (individuals, genes)."""

    @abstractmethod
    def _learn(self, told: Individuals) -> None:
        """Take what was proposed last, judged, and leave in `individuals` those that matter now, best first."""

    @abstractmethod
    def _memory(self) -> State:
        """Return what it remembers besides `individuals`: arrays, and values that JSON can hold."""

    @abstractmethod
    def _remember(self, memory: Mapping[str, Any]) -> None:
        """Take back what `_memory` returned."""

    # ------------------------------------------------------------------ what everybody asks for

    def ask(self) -> tuple[Genomes, list[int]]:
        """Return the genomes to judge next, (individuals, genes), and the seed of each one's predictor."""
        genomes = self._propose()
        seeds = [self.seed(Purpose.INDIVIDUAL, self.generation + 1, i) for i in range(len(genomes))]
        self._asked = genomes, seeds
        return self._asked

    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        """Take the evaluations of what was asked, in the same order."""
        self.generation += 1
        self._learn(Individuals.of(*self._asked, evaluations))

    @property
    def finished(self) -> bool:
        """Whether all generations have been told."""
        return self.generation >= int(self.settings["generations"])

    def best(self) -> Individual:
        """Return the fittest individual."""
        return self.individuals[0]

    def progress(self) -> dict[str, float]:
        """Return what a log says of a generation: the best and the mean fitness, and the share of the feasible."""
        fitness = self.fitness(self.individuals)
        feasible = [self.objective.feasible(one.evaluation) for one in self.individuals]
        return {
            "best_fitness": float(fitness[0]),
            "mean_fitness": float(fitness.mean()),
            "feasible": float(np.mean(feasible)),
        }

    def state(self) -> State:
        """Return all that the rest of the search depends on; to be called after `tell`."""
        return {"generation": self.generation, **self.individuals.state(), **self._memory()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a state, so that what follows is what would have followed then."""
        self.generation = int(state["generation"])
        self.individuals = Individuals.restored(state)
        self._remember(state)

    # ------------------------------------------------------------------ what strategies share

    def seed(self, purpose: Purpose, *numbers: int) -> int:
        """Return the seed that belongs to the run's, a purpose and numbers."""
        return seed_of(self.settings["seed"], purpose, *numbers)

    def fitness(self, individuals: Individuals) -> npt.NDArray[np.float64]:
        """Return the fitness of every individual."""
        return np.array([self.objective.fitness(one.evaluation) for one in individuals])

    def ranked(self, individuals: Individuals) -> Individuals:
        """Return individuals best first; equals stay in the order that they had."""
        return individuals.take(np.argsort(-self.fitness(individuals), kind="stable"))


STRATEGIES: Registry[type[Search]] = Registry("search", "genspp.evolution")


def settings_of(strategy: type[Search]) -> dict[str, Setting]:
    """Return the settings of a strategy, those of its parents first."""
    found: dict[str, Setting] = {}
    for kind in reversed(strategy.__mro__):
        found |= vars(kind).get("own", {})
    return found


def strategy_settings() -> dict[str, Setting]:
    """Return the settings of all strategies; one that several have in common stands once."""
    found: dict[str, Setting] = {}
    for strategy in STRATEGIES.values():
        for name, setting in settings_of(strategy).items():
            if found.setdefault(name, setting) is not setting:
                raise ValueError(f"two searches declare {name!r}; give one of them another name")
    return found
