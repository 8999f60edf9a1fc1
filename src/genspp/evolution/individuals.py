"""Individuals as arrays: row i of each array belongs to individual i."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from genspp.population.evaluator import Evaluation

Genome = npt.NDArray[np.float32]
Genomes = npt.NDArray[np.float32]
_FIELD = "evaluation."  # what the name of a field of `Evaluation` begins with in a state


@dataclass(frozen=True, slots=True)
class Individual:
    """A genome, the seed of the predictor that it was judged with, and what it was worth."""

    genome: Genome
    seed: int
    evaluation: Evaluation


@dataclass(frozen=True)
class Individuals:
    """Some individuals. genomes: (individuals, genes). evaluations: one array per field of `Evaluation`."""

    genomes: Genomes
    seeds: npt.NDArray[np.int64]
    evaluations: dict[str, npt.NDArray[np.float64]]

    @classmethod
    def of(cls, genomes: Genomes, seeds: Sequence[int], evaluations: Sequence[Evaluation]) -> "Individuals":
        """Put together what was asked for and what was told of it."""
        told = {
            field.name: np.array([getattr(evaluation, field.name) for evaluation in evaluations], np.float64)
            for field in fields(Evaluation)
        }
        return cls(genomes, np.array(seeds, np.int64), told)

    def __len__(self) -> int:
        return len(self.genomes)

    def __getitem__(self, row: int) -> Individual:
        evaluation = Evaluation(**{name: float(values[row]) for name, values in self.evaluations.items()})
        return Individual(self.genomes[row], int(self.seeds[row]), evaluation)

    def __iter__(self) -> Iterator[Individual]:
        return (self[row] for row in range(len(self)))

    def take(self, rows: npt.NDArray[np.int64] | slice) -> "Individuals":
        """Return some of them, in the order of `rows`."""
        evaluations = {name: values[rows] for name, values in self.evaluations.items()}
        return Individuals(self.genomes[rows], self.seeds[rows], evaluations)

    def join(self, others: "Individuals") -> "Individuals":
        """Return these, then others."""
        return Individuals(
            np.concatenate([self.genomes, others.genomes]),
            np.concatenate([self.seeds, others.seeds]),
            {name: np.concatenate([own, others.evaluations[name]]) for name, own in self.evaluations.items()},
        )

    def state(self) -> dict[str, Any]:
        """Return the arrays by name."""
        evaluations = {_FIELD + name: values for name, values in self.evaluations.items()}
        return {"genomes": self.genomes, "seeds": self.seeds, **evaluations}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> "Individuals":
        """Return the individuals of a state."""
        evaluations = {field.name: np.asarray(state[_FIELD + field.name], np.float64) for field in fields(Evaluation)}
        return cls(np.asarray(state["genomes"], np.float32), np.asarray(state["seeds"], np.int64), evaluations)
