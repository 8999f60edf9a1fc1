"""Weights as one flat vector and back, in torch's order of parameters.

For a GRU of one direction: input weights (3H x D; reset, update, new), recurrent weights (3H x H), input biases
(3H), recurrent biases (3H), output weights, output bias. A second direction follows the first, before the output.
"""

import math

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from genspp.model.spp import Shape

Weights = npt.NDArray[np.float32]


def _gru(shape: Shape, suffix: str = "") -> dict[str, tuple[int, ...]]:
    gates, inputs, hidden = 3 * shape.hidden, shape.inputs, shape.hidden
    return {
        f"gru.weight_ih_l0{suffix}": (gates, inputs),
        f"gru.weight_hh_l0{suffix}": (gates, hidden),
        f"gru.bias_ih_l0{suffix}": (gates,),
        f"gru.bias_hh_l0{suffix}": (gates,),
    }


def generator_parts(shape: Shape) -> dict[str, tuple[int, ...]]:
    """Return the names and shapes of a generator's weights, in the order of its genome."""
    both = shape.cell == "bigru"
    parts = _gru(shape) | (_gru(shape, "_reverse") if both else {})
    return parts | {"output.weight": (1, shape.hidden * (2 if both else 1)), "output.bias": (1,)}


def predictor_parts(shape: Shape) -> dict[str, tuple[int, ...]]:
    """Return the names and shapes of a predictor's weights, in their flat order."""
    return _gru(shape) | {"output.weight": (shape.classes, shape.hidden), "output.bias": (shape.classes,)}


def count(parts: dict[str, tuple[int, ...]]) -> int:
    """Return how many numbers the parts hold together."""
    return sum(math.prod(size) for size in parts.values())


def unflatten(flat: Weights, parts: dict[str, tuple[int, ...]]) -> dict[str, Weights]:
    """Return named views of a flat vector."""
    named, position = {}, 0
    for name, size in parts.items():
        length = math.prod(size)
        named[name] = flat[position : position + length].reshape(size)
        position += length
    return named


def load_flat(module: nn.Module, flat: Weights, parts: dict[str, tuple[int, ...]]) -> None:
    """Copy a flat vector into a module's parameters."""
    named = unflatten(np.asarray(flat, dtype=np.float32), parts)
    module.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in named.items()})


def flatten(module: nn.Module, parts: dict[str, tuple[int, ...]]) -> Weights:
    """Return a module's parameters as one flat vector."""
    state = module.state_dict()
    return np.concatenate([state[name].numpy().ravel() for name in parts]).astype(np.float32)


def draw(stream: np.random.Generator, shape: Shape, parts: dict[str, tuple[int, ...]]) -> Weights:
    """Draw fresh weights as torch does by default: U(-1/sqrt(fan), 1/sqrt(fan)).

    The fan is the hidden size, and the number of inputs for the output layer (twice the hidden size behind a
    bidirectional GRU).
    """
    fan_out = parts["output.weight"][1]
    drawn = []
    for name, size in parts.items():
        bound = 1 / math.sqrt(fan_out if name.startswith("output") else shape.hidden)
        drawn.append(stream.uniform(-bound, bound, math.prod(size)))
    return np.concatenate(drawn).astype(np.float32)
