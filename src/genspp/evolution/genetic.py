"""The genetic algorithm of GenSPP (Ruggeri & Signorelli, section 5.3).

Roulette-wheel selection of couples, one-point crossover, Gaussian mutation, half-elitist survival. A generation
of I individuals has I/2 couples and I children; parents keep the evaluation they had. "Individual" here is a row
of `genomes`; its evaluation, fitness and birth stand in the same row of the other arrays.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from genspp.evolution.fitness import Objective
from genspp.evolution.search import Genomes, State
from genspp.population.evaluator import INDIVIDUALS, SEARCH, Evaluation, seed_of, stream


@dataclass(frozen=True, slots=True)
class Mutation:
    """Noise on the genes of every child: with `probability`, N(0, sigma^2); `last_sigma` for the output bias."""

    sigma: float = 0.05
    probability: float = 1.0
    last_sigma: float | None = None


class GeneticSearch:
    """See `Search`. `initial`: (individuals, genes), an even number of individuals.

    `reevaluate_elites`: judge the surviving parents again, with a new predictor, beside every generation's
    children, so that one lucky training does not keep an individual alive.
    """

    def __init__(
        self,
        initial: Genomes,
        objective: Objective,
        seed: int,
        mutation: Mutation | None = None,
        reevaluate_elites: bool = False,
    ) -> None:
        self.objective = objective
        self.mutation = mutation or Mutation()
        self.reevaluate_elites = reevaluate_elites
        self.seed = seed
        self.generation = 0  # how many have been told, the initial population not counted
        self._stream = stream(seed, SEARCH)
        self._pending = initial
        self._pending_seeds: list[int] = []
        self.genomes = initial[:0]
        self.seeds = np.zeros(0, np.int64)
        self.evaluations = np.zeros((0, 2))  # task loss, selection rate
        self._started = False

    @property
    def fitness(self) -> npt.NDArray[np.float64]:
        """The fitness of every individual, best first."""
        return self._fitness(self.evaluations)

    def best(self) -> tuple[npt.NDArray[np.float32], int, Evaluation]:
        """Return the fittest individual so far: its genome, the seed of its predictor, its evaluation."""
        return self.genomes[0], int(self.seeds[0]), Evaluation(*map(float, self.evaluations[0]))

    def ask(self) -> tuple[Genomes, list[int]]:
        """Return the initial population first, children of the present one afterwards."""
        asked = self._children() if self._started else self._pending
        if self._started and self.reevaluate_elites:
            asked = np.concatenate([asked, self.genomes])
        generation = self.generation + 1 if self._started else 0
        self._pending = asked
        self._pending_seeds = [seed_of(self.seed, INDIVIDUALS, generation, i) for i in range(len(asked))]
        return asked, self._pending_seeds

    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        """Let the fittest of parents and children survive."""
        told = np.array([[e.task_loss, e.selection_rate] for e in evaluations]).reshape(-1, 2)
        seeds = np.array(self._pending_seeds, np.int64)
        if not self._started:
            self.genomes, self.seeds, self.evaluations = self._pending, seeds, told
            self._started = True
            self._keep(np.argsort(-self.fitness, kind="stable"))
            return
        size = len(self.genomes)
        if self.reevaluate_elites:
            self.seeds, self.evaluations = seeds[size:], told[size:]
            seeds, told = seeds[:size], told[:size]
        # Parents stand before children, so that a stable sort settles ties by age, the older first.
        self.genomes = np.concatenate([self.genomes, self._pending[:size]])
        self.seeds = np.concatenate([self.seeds, seeds])
        self.evaluations = np.concatenate([self.evaluations, told])
        self._keep(self._survivors(size))
        self.generation += 1

    def state(self) -> State:
        """Return the population and the random stream. To be called between `tell` and `ask`."""
        return {
            "generation": self.generation,
            "stream": self._stream.bit_generator.state,
            "genomes": self.genomes,
            "seeds": self.seeds,
            "evaluations": self.evaluations,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self.generation = int(state["generation"])
        self._stream.bit_generator.state = state["stream"]
        self.genomes = np.asarray(state["genomes"], np.float32)
        self.seeds = np.asarray(state["seeds"], np.int64)
        self.evaluations = np.asarray(state["evaluations"], np.float64)
        self._started = True

    def _fitness(self, evaluations: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.array([self.objective.fitness(Evaluation(loss, rate)) for loss, rate in evaluations])

    def _keep(self, rows: npt.NDArray[np.int64]) -> None:
        self.genomes, self.seeds, self.evaluations = (
            self.genomes[rows],
            self.seeds[rows],
            self.evaluations[rows],
        )

    def _children(self) -> Genomes:
        size, genes = self.genomes.shape
        wheel = _shares(self.fitness)
        parents = self._stream.choice(size, size=(size // 2, 2), p=wheel)  # with replacement: may meet itself
        cuts = self._stream.integers(genes, size=size // 2)
        before = np.arange(genes) < cuts[:, None]
        first, second = self.genomes[parents[:, 0]], self.genomes[parents[:, 1]]
        children = np.stack([np.where(before, first, second), np.where(before, second, first)], axis=1)
        return self._mutate(children.reshape(size, genes))

    def _mutate(self, children: Genomes) -> Genomes:
        noise = self._stream.normal(0.0, self.mutation.sigma, children.shape)
        if self.mutation.last_sigma is not None:
            noise[:, -1] *= self.mutation.last_sigma / self.mutation.sigma
        if self.mutation.probability < 1:
            noise *= self._stream.random(children.shape) < self.mutation.probability
        return (children + noise).astype(np.float32)

    def _survivors(self, size: int) -> npt.NDArray[np.int64]:
        """Half-elitism: the best I/2, then I/2 of the rest drawn without replacement, by their fitness."""
        fitness = self.fitness
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
