"""Separable CMA-ES (Ros & Hansen 2008, https://doi.org/10.1007/978-3-540-87700-4_30), by the package `cmaes`.

A normal distribution over genomes with one variance per gene; the better half of every generation moves and
shapes it. It starts at the mean of the first population, which is its first sample.

Resumed, a search goes on to the bit on the same machine; since the package computes with exponentials and dot
products, another machine's last digits may differ.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from genspp.errors import SettingsError
from genspp.evolution.fitness import Objective
from genspp.evolution.individuals import Genomes, Individuals
from genspp.evolution.search import STRATEGIES, Ascent, Draw, Search, State
from genspp.settings import Setting, number, optional
from genspp.streams import Purpose

_ARRAYS = ("mean", "C", "p_sigma", "pc")  # attributes of `SepCMA`, with an underscore in front
_MAX_SEED = 2**32  # of numpy's RandomState


@STRATEGIES.register("sepcma")
class SepCMASearch(Search):
    """Separable CMA-ES: a normal distribution over genomes that follows the better half of every generation."""

    own: ClassVar[dict[str, Setting]] = {
        "cma_sigma": Setting(
            None,
            optional(number(0, open_ends=True)),
            "sepcma: deviation of the genes that the distribution starts with; None: that of the first population",
        ),
    }

    def __init__(
        self, draw: Draw, objective: Objective, settings: Mapping[str, Any], climb: Ascent | None = None
    ) -> None:
        try:
            from cmaes import SepCMA
        except ImportError:
            raise SettingsError("search is 'sepcma', which needs the package cmaes; install genspp[cmaes].") from None
        super().__init__(draw, objective, settings, climb)
        self._make = SepCMA
        self._optimizer: Any = None  # before the first population was told

    def _propose(self) -> Genomes:
        """Return the first population, later one drawn from the distribution."""
        size = self.settings["population"]
        if self._optimizer is None:
            return self.draw(size)
        # A new seed in every generation: there is no state of a random stream to keep.
        self._optimizer.reseed_rng(self.seed(Purpose.SEARCH, self.generation + 1) % _MAX_SEED)
        return np.stack([self._optimizer.ask() for _ in range(size)]).astype(np.float32)

    def _learn(self, told: Individuals) -> None:
        """Move the distribution; keep the best individual so far in front of the generation."""
        genomes = told.genomes.astype(np.float64)
        if self._optimizer is None:
            mean = genomes.mean(axis=0)
            self._optimizer = self._start(mean, self.settings["cma_sigma"] or float((genomes - mean).std()))
        # Only the order counts. An evaluation that is no number has no fitness: it is worst.
        costs = -self.fitness(told)
        self._optimizer.tell([(genome, float(cost)) for genome, cost in zip(genomes, costs, strict=True)])
        best = self.individuals.take(slice(1))
        self.individuals = self.ranked(best.join(told) if len(best) else told)

    def _start(self, mean: npt.NDArray[np.float64], sigma: float) -> Any:
        return self._make(mean, sigma, population_size=self.settings["population"])

    def _memory(self) -> State:
        arrays = {f"cma.{name}": getattr(self._optimizer, f"_{name}").copy() for name in _ARRAYS}
        return {**arrays, "cma.sigma": float(self._optimizer._sigma), "cma.updates": self._optimizer.generation}

    def _remember(self, memory: Mapping[str, Any]) -> None:
        self._optimizer = self._start(np.array(memory["cma.mean"], np.float64), float(memory["cma.sigma"]))
        for name in _ARRAYS:
            setattr(self._optimizer, f"_{name}", np.array(memory[f"cma.{name}"], np.float64))
        self._optimizer._g = int(memory["cma.updates"])
