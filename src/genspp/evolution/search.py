"""The contract of the search strategies: ask for genomes, tell what they were worth."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from genspp.population.evaluator import Evaluation

Genomes = npt.NDArray[np.float32]
State = dict[str, Any]


class Search(Protocol):
    """A strategy. It knows nothing of text, and its state is plain arrays and numbers."""

    def ask(self) -> tuple[Genomes, list[int]]:
        """Return the genomes to judge next, (individuals, genes), and the seed of each one's predictor."""
        ...

    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        """Take the evaluations of what was asked, in the same order."""
        ...

    def state(self) -> State:
        """Return everything that the rest of the search depends on: arrays, and values that JSON can hold."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a state, so that what follows is what would have followed then."""
        ...
