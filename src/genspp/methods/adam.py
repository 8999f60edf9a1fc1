"""torch's Adam for a few thousand weights, in one compiled loop.

All weights that an optimizer moves lie end to end in one vector, and so do their gradients and moments; the
parameters of the modules, and their gradients, are views of these. torch's own optimizer spends its time on
finding its parameters, not on moving so few of them.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from genspp.methods.fast_math import Floats, kernel


@kernel
def _move(step: int, rates: Floats, weights: Floats, gradient: Floats, moments: Floats, squares: Floats) -> None:
    """Update all weights as torch.optim.Adam does, with its default constants; `step` counts from 1."""
    size, correction = np.float32(1 / (1 - 0.9**step)), np.float32(1 / math.sqrt(1 - 0.999**step))
    keep, add, keep_square, add_square = np.float32(0.9), np.float32(0.1), np.float32(0.999), np.float32(0.001)
    least = np.float32(1e-8)
    for i in range(len(weights)):
        slope = gradient[i]
        moments[i] = keep * moments[i] + add * slope
        squares[i] = keep_square * squares[i] + add_square * slope * slope
        weights[i] -= rates[i] * size * moments[i] / (np.sqrt(squares[i]) * correction + least)


class Adam:
    """Adam over groups of parameters, each with a learning rate of its own.

    weights, gradient: one vector each; the parameters and their gradients are views of them from now on.
    steps, moments, squares: what the next step depends on besides.
    """

    def __init__(self, groups: Sequence[tuple[Iterable[nn.Parameter], float]]) -> None:
        pairs = [(parameter, rate) for parameters, rate in groups for parameter in parameters]
        self.parameters = [parameter for parameter, _ in pairs]
        sizes = [parameter.numel() for parameter in self.parameters]
        self.weights = torch.cat([parameter.detach().reshape(-1) for parameter in self.parameters]).numpy()
        self.gradient = np.zeros_like(self.weights)
        self.moments, self.squares = np.zeros_like(self.weights), np.zeros_like(self.weights)
        self.steps = 0
        self._rates = np.repeat(np.array([rate for _, rate in pairs], np.float32), sizes)
        self._starts = dict(zip(map(id, self.parameters), np.cumsum([0, *sizes]).tolist(), strict=False))
        self._places: dict[tuple[int, ...], npt.NDArray[np.int64]] = {}
        for parameter in self.parameters:
            own = slice(self._starts[id(parameter)], self._starts[id(parameter)] + parameter.numel())
            parameter.data = torch.from_numpy(self.weights[own]).view_as(parameter)
            parameter.grad = torch.from_numpy(self.gradient[own]).view_as(parameter)

    def places(self, parameters: tuple[Tensor, ...]) -> npt.NDArray[np.int64]:
        """Return where the numbers of some parameters lie, one parameter after the other."""
        key = tuple(map(id, parameters))
        if key not in self._places:
            starts = [(self._starts[one], parameter.numel()) for one, parameter in zip(key, parameters, strict=True)]
            self._places[key] = np.concatenate([np.arange(start, start + size) for start, size in starts])
        return self._places[key]

    def clear(self) -> None:
        """Set the gradient to zero."""
        self.gradient[:] = 0

    def step(self) -> None:
        """Move the weights down their gradient."""
        self.steps += 1
        _move(self.steps, self._rates, self.weights, self.gradient, self.moments, self.squares)

    def state(self) -> dict[str, Any]:
        """Return all that the next step depends on, besides weights and gradient, by torch's names."""
        return {"steps": self.steps, "exp_avg": self.moments.copy(), "exp_avg_sq": self.squares.copy()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to what `state` returned."""
        self.steps = state["steps"]
        self.moments[:], self.squares[:] = state["exp_avg"], state["exp_avg_sq"]


def descend(loss: Tensor, *optimizers: Adam) -> float:
    """Take one step of every optimizer down one loss, and return the loss as a number."""
    for optimizer in optimizers:
        optimizer.clear()
    loss.backward()  # type: ignore[no-untyped-call]
    for optimizer in optimizers:
        optimizer.step()
    return float(loss.detach())
