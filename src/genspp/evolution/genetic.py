"""The genetic algorithm of GenSPP (Ruggeri & Signorelli, section 5.3).

Roulette-wheel selection of couples, one-point crossover, Gaussian mutation, half-elitist survival. A generation
of I individuals has I/2 couples and I children; parents keep the evaluation they had, unless they are judged again.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from genspp.evolution.fitness import Objective
from genspp.evolution.individuals import Genomes, Individuals
from genspp.evolution.search import STRATEGIES, Ascent, Draw, Search, State
from genspp.settings import FLAG, Setting, number, optional
from genspp.streams import Purpose, stream


@STRATEGIES.register("genetic")
class GeneticSearch(Search):
    """The paper's genetic algorithm: roulette wheel, one-point crossover, mutation, half-elitism."""

    own: ClassVar[dict[str, Setting]] = {
        "mutation_sigma": Setting(
            0.05, number(0, open_ends=True), "genetic: deviation of the noise on a child's genes"
        ),
        "mutation_probability": Setting(1.0, number(0, 1), "genetic: share of a child's genes that get noise"),
        "bias_sigma": Setting(
            None,
            optional(number(0)),
            "genetic: deviation of the noise on the generator's output bias, where it is to be another",
        ),
        "reevaluate_elites": Setting(
            False,
            FLAG,
            "genetic: judge surviving parents again in every generation, "
            "so that one lucky training does not keep an individual alive",
        ),
    }

    def __init__(
        self, draw: Draw, objective: Objective, settings: Mapping[str, Any], climb: Ascent | None = None
    ) -> None:
        super().__init__(draw, objective, settings, climb)
        self._stream = stream(settings["seed"], Purpose.SEARCH)

    def _propose(self) -> Genomes:
        """Return the first population, later children of the present one and, to be judged again, their parents."""
        if self.generation < 0:
            return self.draw(self.settings["population"])
        children = self._children()
        return np.concatenate([children, self.individuals.genomes]) if self.settings["reevaluate_elites"] else children

    def _learn(self, told: Individuals) -> None:
        """Let the fittest of parents and children survive."""
        if self.generation == 0:
            self.individuals = self.ranked(told)
            return
        size = len(self.individuals)
        children, judged_again = told.take(slice(size)), told.take(slice(size, None))
        # Parents stand before children, so that a stable sort settles ties by age, the older first.
        both = (judged_again if len(judged_again) else self.individuals).join(children)
        self.individuals = both.take(self._survivors(self.fitness(both), size))

    def _memory(self) -> State:
        return {"stream": self._stream.bit_generator.state}

    def _remember(self, memory: Mapping[str, Any]) -> None:
        self._stream.bit_generator.state = memory["stream"]

    def _children(self) -> Genomes:
        size, genes = self.individuals.genomes.shape
        wheel = _shares(self.fitness(self.individuals))
        parents = self._stream.choice(size, size=(size // 2, 2), p=wheel)  # with replacement: may meet itself
        cuts = self._stream.integers(genes, size=size // 2)
        before = np.arange(genes) < cuts[:, None]
        first, second = (self.individuals.genomes[parents[:, side]] for side in (0, 1))
        children = np.stack([np.where(before, first, second), np.where(before, second, first)], axis=1)
        return self._mutate(children.reshape(size, genes))

    def _mutate(self, children: Genomes) -> Genomes:
        sigma, probability, bias_sigma = (
            self.settings[name] for name in ("mutation_sigma", "mutation_probability", "bias_sigma")
        )
        noise = self._stream.normal(0.0, sigma, children.shape)
        if bias_sigma is not None:
            noise[:, -1] *= bias_sigma / sigma
        if probability < 1:
            noise *= self._stream.random(children.shape) < probability
        return (children + noise).astype(np.float32)

    def _survivors(self, fitness: npt.NDArray[np.float64], size: int) -> npt.NDArray[np.int64]:
        """Half-elitism: the best I/2, then I/2 of the rest drawn without replacement, by their fitness."""
        order = np.argsort(-fitness, kind="stable")
        elite, rest = order[: size // 2], order[size // 2 :]
        drawn = self._stream.choice(rest, size=size - len(elite), replace=False, p=_shares(fitness[rest]))
        chosen = np.concatenate([elite, drawn])
        return chosen[np.lexsort((chosen, -fitness[chosen]))]


def _shares(fitness: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Turn fitness into probabilities. Those without any (NaN losses) are drawn only where nobody else is left."""
    floor = np.finfo(np.float64).tiny / np.finfo(np.float64).eps
    weights = np.maximum(fitness, floor)
    return np.asarray(weights / weights.sum())
