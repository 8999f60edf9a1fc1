"""A bidirectional GRU for small sizes on one core: torch's mathematics and parameter names, compiled.

With 64 texts and 8 or 16 hidden units `nn.GRU` spends its time on calling operators, not on numbers. Here everything
is a compiled loop over feature-major arrays (see `fast_math`). Word vectors are frozen: the gradient stops at the mask
that they are multiplied by.

Texts of different lengths need no packing here: they come longest first, and at every step only the texts that have
a token there move. The others keep a state of zero (before the backward direction has reached them) or are done
(forward), so padding changes nothing; its states are zeros.

The weights of a GRU are one vector, in the order of `nn.GRU`'s parameters: input weights, recurrent weights, input
biases, recurrent biases of the forward direction, then of the backward one.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from genspp.methods.fast_math import Counts, Floats, add_inner, add_product, fill, kernel, routine, sigmoid, tanh, total

_ZERO, _ONE = np.float32(0), np.float32(1)
_NUMBERS = (6, 8, 2, 2)  # projections, gates, states and their gradients, a token and hidden unit


@routine
def gru_size(inputs: int, hidden: int) -> int:
    """Return the number of weights."""
    return 6 * hidden * (inputs + hidden + 2)


@routine
def _direction(weights: Floats, inputs: int, hidden: int, way: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the weights of one direction: (3 hidden, inputs), (3 hidden, hidden), (3 hidden,), (3 hidden,)."""
    rows = 3 * hidden
    at = way * (gru_size(inputs, hidden) // 2)
    recurrent, biases = at + rows * inputs, at + rows * (inputs + hidden)
    return (
        weights[at:recurrent].reshape(rows, inputs),
        weights[recurrent:biases].reshape(rows, hidden),
        weights[biases : biases + rows],
        weights[biases + rows : biases + 2 * rows],
    )


@kernel
def project(weights: Floats, vectors: Floats, projected: Floats) -> None:
    """Fill in projected (2, 3 hidden, tokens, texts): the input weights times vectors (inputs, tokens, texts)."""
    _, rows, tokens, texts = projected.shape
    flat = vectors.reshape(len(vectors), tokens * texts)
    fill(projected.reshape(projected.size), 0, projected.size, _ZERO)
    for way in range(2):
        of_inputs, _, _, _ = _direction(weights, len(vectors), rows // 3, way)
        add_product(of_inputs, flat, projected[way].reshape(rows, tokens * texts))


@routine
def _add_step(weights: Floats, states: Floats, t: int, sums: Floats, texts: int) -> None:
    """Add weights (rows, units) times states (units, tokens, texts) at t to sums (rows, texts), for `texts` of them."""
    rows, units = weights.shape
    for row in range(rows):
        found = sums[row]
        unit = 0
        while unit + 4 <= units:  # four at a time: a sum is loaded and stored a quarter as often
            w0, w1, w2, w3 = weights[row, unit], weights[row, unit + 1], weights[row, unit + 2], weights[row, unit + 3]
            s0, s1, s2, s3 = states[unit, t], states[unit + 1, t], states[unit + 2, t], states[unit + 3, t]
            for i in range(texts):
                found[i] += w0 * s0[i] + w1 * s1[i] + w2 * s2[i] + w3 * s3[i]
            unit += 4
        while unit < units:
            weight, state = weights[row, unit], states[unit, t]
            for i in range(texts):
                found[i] += weight * state[i]
            unit += 1


@routine
def _run_direction(
    inputs: Floats,
    mask: Floats,
    weights: Floats,
    input_biases: Floats,
    biases: Floats,
    active: Counts,
    step: int,
    gates: Floats,
    states: Floats,
) -> None:
    """Run one direction: step is 1, or -1 for the backward one.

    inputs: (3 hidden, tokens, texts), projected, without mask and biases; gates in torch's order: reset, update, new.
    mask: (tokens, texts). weights: (3 hidden, hidden). active: (tokens,), how many texts have a token there.
    Filled in: gates (4 hidden, tokens, texts), the recurrent part of the new gate, then reset, update and new; states
    (hidden, tokens, texts).
    """
    hidden, tokens, texts = states.shape
    recurrent = np.empty((3 * hidden, texts), np.float32)
    state = np.zeros((hidden, texts), np.float32)
    for place in range(tokens):
        t = place if step > 0 else tokens - 1 - place
        count, seen = active[t], mask[t]
        for row in range(3 * hidden):
            fill(recurrent[row], 0, count, biases[row] + (input_biases[row] if row < 2 * hidden else _ZERO))
        if place > 0:
            _add_step(weights, states, t - step, recurrent, count)
        for j in range(hidden):
            k, m = hidden + j, 2 * hidden + j
            in_r, in_z, in_n, bias = inputs[j, t], inputs[k, t], inputs[m, t], input_biases[m]
            re_r, re_z, re_n = recurrent[j], recurrent[k], recurrent[m]
            out_re, out_r, out_z, out_n = gates[j, t], gates[k, t], gates[m, t], gates[hidden + m, t]
            now, out = state[j], states[j, t]
            for i in range(count):
                r = sigmoid(seen[i] * in_r[i] + re_r[i])
                z = sigmoid(seen[i] * in_z[i] + re_z[i])
                n = tanh(seen[i] * in_n[i] + bias + r * re_n[i])
                out_re[i], out_r[i], out_z[i], out_n[i] = re_n[i], r, z, n
                now[i] = n + z * (now[i] - n)
            for i in range(count):
                out[i] = now[i]
            fill(out, count, texts, _ZERO)


@kernel
def run(
    weights: Floats,
    vectors: Floats,
    projected: Floats,
    mask: Floats,
    active: Counts,
    gates: Floats,
    states: Floats,
) -> None:
    """Run both directions.

    projected: what `project` filled in from the vectors. mask: (tokens, texts), what the vectors are multiplied by.
    active: how many texts have a token at each place. Filled in: gates (2, 4 hidden, tokens, texts), for `run_back`;
    states (2 hidden, tokens, texts).
    """
    hidden = len(states) // 2
    for way in range(2):
        _, of_states, input_biases, biases = _direction(weights, len(vectors), hidden, way)
        found = states[way * hidden : (way + 1) * hidden]
        _run_direction(projected[way], mask, of_states, input_biases, biases, active, 1 - 2 * way, gates[way], found)


@routine
def _run_direction_back(
    d_states: Floats,
    inputs: Floats,
    weights: Floats,
    active: Counts,
    step: int,
    gates: Floats,
    states: Floats,
    d_mask: Floats,
) -> None:
    """Run one direction back; arguments as in `_run_direction`.

    The gates are replaced by their gradients, which are those of the sums behind them: what the new gate has from
    the recurrence, reset, update, what the new gate has from the inputs. d_mask (tokens, texts) is added to.
    """
    hidden, tokens, texts = states.shape
    turned = np.empty((hidden, 3 * hidden), np.float32)  # the weights, from the gates in the order above
    for j in range(hidden):
        for row in range(3 * hidden):
            turned[j, (row + hidden) % (3 * hidden)] = weights[row, j]
    d_state = np.zeros((hidden, texts), np.float32)
    nothing = np.zeros(texts, np.float32)
    for place in range(tokens - 1, -1, -1):
        t = place if step > 0 else tokens - 1 - place
        count, d_seen = active[t], d_mask[t]
        for j in range(hidden):
            k, m = hidden + j, 2 * hidden + j
            g_re, g_r, g_z, g_n = gates[j, t], gates[k, t], gates[m, t], gates[hidden + m, t]
            before = states[j, t - step] if place > 0 else nothing
            d_out, d_now = d_states[j, t], d_state[j]
            for i in range(count):
                d_now[i] += d_out[i]
            for i in range(count):
                r, z, n, d_h = g_r[i], g_z[i], g_n[i], d_now[i]
                d_n = d_h * (_ONE - z) * (_ONE - n * n)
                g_r[i] = d_n * g_re[i] * r * (_ONE - r)
                g_z[i] = d_h * (before[i] - n) * z * (_ONE - z)
                g_re[i] = d_n * r
                g_n[i] = d_n
                d_now[i] = d_h * z
            in_r, in_z, in_n = inputs[j, t], inputs[k, t], inputs[m, t]
            for i in range(count):
                d_seen[i] += g_r[i] * in_r[i] + g_z[i] * in_z[i] + g_n[i] * in_n[i]
            for gate in (g_re, g_r, g_z, g_n):
                fill(gate, count, texts, _ZERO)
        _add_step(turned, gates, t, d_state, count)


@kernel
def run_back(
    weights: Floats,
    vectors: Floats,
    projected: Floats,
    mask: Floats,
    active: Counts,
    gates: Floats,
    states: Floats,
    d_states: Floats,
    d_mask: Floats,
    d_weights: Floats,
) -> None:
    """Run both directions back. The gates are written over.

    Arguments as in `run`; d_states (2 hidden, tokens, texts). Added to: d_mask and d_weights.
    """
    inputs, tokens, texts = vectors.shape
    hidden, size = len(states) // 2, tokens * texts
    words, seen = vectors.reshape(inputs, size), mask.reshape(size)
    for way in range(2):
        step, own = 1 - 2 * way, slice(way * hidden, (way + 1) * hidden)
        _, of_states, _, _ = _direction(weights, inputs, hidden, way)
        d_of_inputs, d_of_states, d_input_biases, d_biases = _direction(d_weights, inputs, hidden, way)
        _run_direction_back(d_states[own], projected[way], of_states, active, step, gates[way], states[own], d_mask)
        rows, units = gates[way].reshape(4 * hidden, size), states[own].reshape(hidden, size)
        # A state met the weights at the next place.
        add_inner(rows[:hidden], units, step * texts, d_of_states[2 * hidden :])
        add_inner(rows[hidden : 3 * hidden], units, step * texts, d_of_states[: 2 * hidden])
        for j in range(hidden):
            d_biases[2 * hidden + j] += total(rows[j])
        for j in range(3 * hidden):
            row = rows[hidden + j]
            found = total(row)
            d_input_biases[j] += found
            if j < 2 * hidden:
                d_biases[j] += found
            for i in range(size):
                row[i] *= seen[i]
        add_inner(rows[hidden:], words, 0, d_of_inputs)


class Tape:
    """What both ways over a batch go through. The arrays of one batch are those of the next: they stay in the cache.

    states: (2 hidden, tokens, texts), those of the last batch. d_states: space of that size, where a caller may compute
    the gradient that it hands to `back`.
    """

    def __init__(self, hidden: int) -> None:
        self._hidden, self._space = hidden, np.empty(0, np.float32)
        self._shape: tuple[int, ...] = ()

    def run(self, weights: Floats, vectors: Floats, mask: Floats | None, active: Counts) -> Floats:
        """Return the states, (2 hidden, tokens, texts); arguments as in `run`."""
        self._cut(vectors.shape[1:])
        self._given = (vectors, self._projected, np.ones(self._shape, np.float32) if mask is None else mask, active)
        project(weights, vectors, self._projected)
        run(weights, *self._given, self._gates, self.states)
        return self.states

    def back(self, weights: Floats, d_states: Floats, d_weights: Floats, *, last: bool = False) -> Floats:
        """Add to the gradient of the weights, and return that of the mask. `last`: nobody will go back again."""
        d_mask, gates = np.zeros(self._shape, np.float32), self._gates if last else self._gates.copy()
        run_back(weights, *self._given, gates, self.states, d_states, d_mask, d_weights)
        return d_mask

    def _cut(self, shape: tuple[int, ...]) -> None:
        if shape == self._shape:
            return
        self._shape, unit = shape, self._hidden * math.prod(shape)
        if len(self._space) < sum(_NUMBERS) * unit:
            self._space = np.empty(sum(_NUMBERS) * unit, np.float32)
        *parts, _ = np.split(self._space, unit * np.cumsum(_NUMBERS))
        self._projected, self._gates = (part.reshape(2, -1, *shape) for part in parts[:2])
        self.states, self.d_states = (part.reshape(-1, *shape) for part in parts[2:])


class _States(torch.autograd.Function):
    """The states of a GRU as one step of the graph."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, active: Counts, *parameters: Tensor) -> Tensor:
        """Return the states, (2 hidden, tokens, texts)."""
        ctx.weights, ctx.parameters, ctx.tape = joined(parameters), parameters, Tape(parameters[1].shape[1])
        return torch.from_numpy(ctx.tape.run(ctx.weights, vectors.contiguous().numpy(), None, active))

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, d_states: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of the parameters."""
        d_weights = np.zeros_like(ctx.weights)
        ctx.tape.back(ctx.weights, d_states.contiguous().numpy(), d_weights)
        return None, None, *parted(d_weights, ctx.parameters)


def joined(parameters: Sequence[Tensor]) -> Floats:
    """Return the parameters as one vector."""
    return torch.cat([parameter.reshape(-1) for parameter in parameters]).numpy()


def parted(vector: Floats, parameters: Sequence[Tensor]) -> list[Tensor]:
    """Return a vector as tensors of the parameters' shapes."""
    parts = torch.from_numpy(vector).split([parameter.numel() for parameter in parameters])  # type: ignore[no-untyped-call]
    return [part.view_as(parameter) for part, parameter in zip(parts, parameters, strict=True)]


class BiGRU(nn.Module):
    """GRU(inputs -> hidden) in both directions: `nn.GRU(inputs, hidden, bidirectional=True)`, names and all."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        shapes = {
            "weight_ih": (3 * hidden, inputs),
            "weight_hh": (3 * hidden, hidden),
            "bias_ih": (3 * hidden,),
            "bias_hh": (3 * hidden,),
        }
        bound = hidden**-0.5
        for suffix in ("l0", "l0_reverse"):
            for name, shape in shapes.items():
                self.register_parameter(f"{name}_{suffix}", nn.Parameter(torch.empty(shape).uniform_(-bound, bound)))

    def forward(self, vectors: Tensor, active: Counts) -> Tensor:
        """Return the states, (2 hidden, tokens, texts), zero where there is padding.

        vectors: (inputs, tokens, texts), frozen, texts longest first. active: how many texts have a token at each
        place.
        """
        return _States.apply(vectors, active, *self.parameters())  # type: ignore[no-any-return,no-untyped-call]
