"""The GRU cell forwards: activations, input projections, texts in lockstep, and the prefix that texts share.

Weights are one flat float32 array in the order of `Sizes.layout`: input weights (inputs x gates), input biases,
recurrent weights (hidden x gates), recurrent biases, output weights (classes x hidden), output biases. Gates are
reset, update, new; `hidden` is padded to a multiple of 8 with units whose weights, states and gradients are zero.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from genspp.population.kernel_lanes import QUAD, ROW, WIDTH, inlined, larger, power_of_two, smaller, subroutine
from genspp.population.kernel_memory import fill_quad, fill_row, gather, load, load_quad, load_row, store

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]


class Sizes(NamedTuple):
    """The sizes of a cell and its output layer, `hidden` padded."""

    inputs: int
    hidden: int
    classes: int


class Table(NamedTuple):
    """The word vectors, flat, and for a row that is one-hot the number of its column, otherwise -1."""

    vectors: Floats
    column: Ints


def layout_of(sizes: Sizes) -> tuple[int, int, int, int, int, int]:
    """Return where the parts of the weights begin, the input weights at 0, and where they end."""
    gates = 3 * sizes.hidden
    input_bias = sizes.inputs * gates
    recurrent = input_bias + gates
    recurrent_bias = recurrent + sizes.hidden * gates
    output = recurrent_bias + gates
    output_bias = output + sizes.classes * sizes.hidden
    return input_bias, recurrent, recurrent_bias, output, output_bias, output_bias + sizes.classes


layout = inlined(layout_of)


def state_size_of(hidden: int) -> int:
    """Return how far apart the states of two steps are: one vector more than they hold.

    At a distance of a power of two, the steps would compete for the same few places in the cache.
    """
    return (hidden + 1) * WIDTH


def gate_size_of(hidden: int) -> int:
    """Return how far apart the gates of two steps are."""
    return (4 * hidden + 1) * WIDTH


state_size, gate_size = inlined(state_size_of), inlined(gate_size_of)


# tanh(x) is x P(x^2) / Q(x^2) to 1.1e-8 for |x| < 8.5, where it rounds to 1: a minimax fit of our own (weighted
# least squares, repeated), so that it costs a dozen vector instructions where the library call is scalar.
@inlined
def _ratio(x: Any) -> Any:
    y = x * x
    above = 1.409922246e-08 * y + 2.112154821e-05
    above = above * y + 3.525817639e-03
    above = above * y + 1.340620456e-01
    above = above * y + 9.999999455e-01
    below = 8.073608151e-07 * y + 3.335687849e-04
    below = below * y + 2.599112903e-02
    below = below * y + 4.673951595e-01
    below = below * y + 1.0
    return x * above, below


@inlined
def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent."""
    above, below = _ratio(smaller(8.5, larger(-8.5, x)))
    return above / below


@inlined
def sigmoids(a: Any, b: Any) -> Any:
    """Return two logistic functions, 1/2 + tanh(x/2)/2, with one division, which is the slowest instruction."""
    above, below = _ratio(0.5 * smaller(17.0, larger(-17.0, a)))
    above_, below_ = _ratio(0.5 * smaller(17.0, larger(-17.0, b)))
    half = 0.5 / (below * below_)
    return 0.5 + above * (below_ * half), 0.5 + above_ * (below * half)


@inlined
def exponential(x: Any) -> Any:
    """Return e**x for x <= 0."""
    x = larger(-87.0, x)
    shifted = x * 1.4426950408889634 + 12582912.0  # 1.5 * 2**23 rounds to a whole number
    n = shifted - 12582912.0
    f = (x - n * 0.693359375) + n * 2.12194440e-4  # ln 2 in two parts: no digits are lost
    p = f * (1 / 5040) + 1 / 720
    p = p * f + 1 / 120
    p = p * f + 1 / 24
    p = p * f + 1 / 6
    p = p * f + 0.5
    p = p * f + 1.0
    return (p * f + 1.0) * power_of_two(shifted)


@subroutine
def project_nothing(sizes: Sizes, weights: Floats, projected: Floats) -> None:
    """Write row 0 of the projections, that of an unselected token: the biases alone.

    The recurrent biases of reset and update are added here as well; that of `new` stands behind the reset gate.
    """
    input_bias, _, recurrent_bias, _, _, _ = layout(sizes)
    for gate in range(0, 3 * sizes.hidden, ROW):
        bias = load_row(weights, input_bias + gate)
        if gate < 2 * sizes.hidden:
            bias = bias + load_row(weights, recurrent_bias + gate)
        store(projected, gate, bias)


@subroutine
def project(
    sizes: Sizes, weights: Floats, vectors: Floats, column: int, word: int, projected: Floats, row: int
) -> None:
    """Write the input projection of a word: a column of the weights if its vector is one-hot."""
    hidden, size = sizes.hidden, 3 * sizes.hidden
    for unit in range(0, hidden, ROW):
        a, b, c = load_row(projected, unit), load_row(projected, hidden + unit), load_row(projected, 2 * hidden + unit)
        if column >= 0:
            at = column * size + unit
            a = a + load_row(weights, at)
            b = b + load_row(weights, at + hidden)
            c = c + load_row(weights, at + 2 * hidden)
        else:
            for i in range(sizes.inputs):
                number, at = fill_row(vectors, word * sizes.inputs + i, 0), i * size + unit
                a = a + number * load_row(weights, at)
                b = b + number * load_row(weights, at + hidden)
                c = c + number * load_row(weights, at + 2 * hidden)
        at = row * size + unit
        store(projected, at, a)
        store(projected, at + hidden, b)
        store(projected, at + 2 * hidden, c)


@subroutine
def forward(
    steps: int, sizes: Sizes, weights: Floats, projected: Floats, cells: Ints, states: Floats, gates: Floats, keep: int
) -> None:
    """Advance WIDTH texts in lockstep.

    projected: input projections, a row of 3 x hidden a word. cells: (steps, WIDTH) where in `projected` a token's
    row begins. states: (steps + 1, hidden, WIDTH), the first given. gates: (steps, 4, hidden, WIDTH) reset, update,
    new and the recurrent part of new, for the way back; with `keep` 0 the steps overwrite each other.
    """
    hidden, row = sizes.hidden, 3 * sizes.hidden
    _, recurrent, recurrent_bias, _, _, _ = layout(sizes)
    for step in range(steps):
        state, gate, cell = step * state_size(hidden), keep * step * gate_size(hidden), step * WIDTH
        for unit in range(0, hidden, QUAD):
            r = gather(projected, cells, cell, unit)
            z = gather(projected, cells, cell, hidden + unit)
            q = fill_quad(weights, recurrent_bias + 2 * hidden + unit, 1)
            for k in range(hidden):
                value, weight = load(states, state + k * WIDTH), recurrent + k * row + unit
                r = r + fill_quad(weights, weight, 1) * value
                z = z + fill_quad(weights, weight + hidden, 1) * value
                q = q + fill_quad(weights, weight + 2 * hidden, 1) * value
            r, z = sigmoids(r, z)
            n = tanh(gather(projected, cells, cell, 2 * hidden + unit) + r * q)
            old = load_quad(states, state + unit * WIDTH)
            store(states, state + state_size(hidden) + unit * WIDTH, n + z * (old - n))
            store(gates, gate + unit * WIDTH, r)
            store(gates, gate + (hidden + unit) * WIDTH, z)
            store(gates, gate + (2 * hidden + unit) * WIDTH, n)
            store(gates, gate + (3 * hidden + unit) * WIDTH, q)


@subroutine
def forward_prefix(steps: int, sizes: Sizes, weights: Floats, projected: Floats, states: Floats, gates: Floats) -> None:
    """Advance one text that is not selected anywhere: every text is that text before its first selected token.

    states: (steps + 1, hidden), the first one zero. gates: (steps, 4, hidden). Here a lane is a hidden unit.
    """
    hidden, row = sizes.hidden, 3 * sizes.hidden
    _, recurrent, recurrent_bias, _, _, _ = layout(sizes)
    states[:hidden] = 0
    for step in range(steps):
        state, gate = step * hidden, step * 4 * hidden
        for unit in range(0, hidden, ROW):
            r, z = load_row(projected, unit), load_row(projected, hidden + unit)
            n = load_row(projected, 2 * hidden + unit)
            q = load_row(weights, recurrent_bias + 2 * hidden + unit)
            for k in range(hidden):
                value, weight = fill_row(states, state + k, 0), recurrent + k * row + unit
                r = r + load_row(weights, weight) * value
                z = z + load_row(weights, weight + hidden) * value
                q = q + load_row(weights, weight + 2 * hidden) * value
            r, z = sigmoids(r, z)
            n = tanh(n + r * q)
            store(states, state + hidden + unit, n + z * (load_row(states, state + unit) - n))
            store(gates, gate + unit, r)
            store(gates, gate + hidden + unit, z)
            store(gates, gate + 2 * hidden + unit, n)
            store(gates, gate + 3 * hidden + unit, q)
