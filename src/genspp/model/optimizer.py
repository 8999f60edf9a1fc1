"""torch's Adam over the parameters of several modules, which lie end to end in one vector."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import nn

from genspp.kernels.adam import adam_step
from genspp.kernels.memory import Floats
from genspp.model.forms import Places
from genspp.model.weights import Vector


class Adam:
    """Adam over groups of modules, each with a learning rate of its own.

    vector: the parameters; gradient: theirs, in the same order. The modules themselves are written to by `put`.
    """

    def __init__(self, groups: Sequence[tuple[nn.Module, float]]) -> None:
        self.vector = Vector([module for module, _ in groups])
        numbers = self.vector.numbers
        self.gradient, self._moments, self._squares = (np.zeros_like(numbers) for _ in range(3))
        self._powers, self._rates, self.steps = np.ones(2), np.zeros_like(numbers), 0
        for module, rate in groups:
            self.set_rate(module, rate)

    def set_rate(self, module: nn.Module, rate: float) -> None:
        """Set the learning rate of a module's parameters."""
        self._rates[self.vector.places(module.parameters())] = rate

    def add(self, places: Places, gradient: Floats) -> None:
        """Add to the gradient of the numbers at some places; what belongs to padding is dropped."""
        self.gradient[places] += gradient[: len(places)]

    def clear(self) -> None:
        """Set the gradient to zero."""
        self.gradient[:] = 0

    def step(self) -> None:
        """Move the weights down their gradient."""
        self.gradient[self.vector.size :] = 0
        self.steps += 1
        adam_step(self._rates, self.vector.numbers, self.gradient, self._moments, self._squares, self._powers)

    def put(self) -> None:
        """Write the weights to the modules."""
        self.vector.put()

    def state(self) -> dict[str, Any]:
        """Return all that the next step depends on, besides the gradient; moments by torch's names."""
        size = self.vector.size
        return {
            "steps": self.steps,
            "weights": self.vector.numbers[:size].copy(),
            "powers": self._powers.copy(),
            "exp_avg": self._moments[:size].copy(),
            "exp_avg_sq": self._squares[:size].copy(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to what `state` returned."""
        size, self.steps = self.vector.size, state["steps"]
        self.vector.numbers[:size], self._powers[:] = state["weights"], state["powers"]
        self._moments[:size], self._squares[:size] = state["exp_avg"], state["exp_avg_sq"]
        self.put()
