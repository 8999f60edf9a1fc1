"""The GRU of `torch.nn.GRU`, one or two directions, WIDTH texts in lockstep, forwards and back.

    r = sigma(W_ir x + b_ir + W_hr h + b_hr)        z likewise        q = W_hn h + b_hn
    n = tanh(W_in x + b_in + r q)                   h' = h + moved (1 - z) (n - h)

`moved` is 1 where the text has a token, and 0 beyond its end, where the state rests: torch's packed sequences.

A direction's weights are one stretch of a flat array: input weights (inputs x 3 hidden), input biases, recurrent
weights (hidden x 3 hidden), recurrent biases; gates in torch's order, reset, update, new. `hidden` is padded to a
multiple of WIDTH with units whose weights, states and gradients are zero.

The history of a group of texts is a row of slots: a state that is given, one state per place, and a state that is given
again, for the direction that begins at the end. Every place keeps r, z, n and q; on the way back these are overwritten
with the gradients at the sums behind them (W_hn h + b_hn has the last one).
"""

from typing import Any, NamedTuple

from genspp.kernels.compile import inlined, routine
from genspp.kernels.lanes import QUAD, WIDTH, fma
from genspp.kernels.math import sigmoids, tanh
from genspp.kernels.memory import (
    Floats,
    Ints,
    across,
    fill,
    fill_quad,
    fold,
    gather,
    load,
    load_quad,
    quad,
    store,
    store_sums,
    total,
)


class Sizes(NamedTuple):
    """The sizes of a network: of `hidden` padded units per direction, `units` are real. normed: has a layer norm."""

    inputs: int
    hidden: int
    units: int
    ways: int
    outputs: int
    normed: bool


def gru_layout(sizes: Sizes) -> tuple[int, int, int, int]:
    """Return where a direction's input biases, recurrent weights and recurrent biases begin, and where they end."""
    gates = 3 * sizes.hidden
    input_bias = sizes.inputs * gates
    recurrent = input_bias + gates
    recurrent_bias = recurrent + sizes.hidden * gates
    return input_bias, recurrent, recurrent_bias, recurrent_bias + gates


def state_size(hidden: int) -> int:
    """Return how far apart two slots are: one vector more than a state has.

    At a distance of a power of two, the steps would compete for the same few places in the cache.
    """
    return (hidden + 1) * WIDTH


def gate_size(hidden: int) -> int:
    """Return how far apart the gates of two places are."""
    return (4 * hidden + 1) * WIDTH


gru_parts, slot, gate_slot = inlined(gru_layout), inlined(state_size), inlined(gate_size)


@inlined
def cell(r: Any, z: Any, x: Any, q: Any, old: Any, moved: Any) -> Any:
    """Return the gates r, z, n and the next state from the sums behind r and z, W_in x + b_in, q and the last state."""
    r, z = sigmoids(r, z)
    n = tanh(fma(r, q, x))
    return r, z, n, fma(moved * (1.0 - z), n - old, old)


@inlined
def cell_back(d: Any, r: Any, z: Any, n: Any, q: Any, old: Any, moved: Any) -> Any:
    """Return the gradients at the sums behind r, z, n and at q, and what of `d` goes straight to the last state."""
    at_new = d * moved * (1.0 - z)
    dn = at_new * (1.0 - n * n)
    dr = dn * q * r * (1.0 - r)
    dz = d * moved * (old - n) * z * (1.0 - z)
    return dr, dz, dn, dn * r, d - at_new


@routine
def forward(
    sizes: Sizes,
    way: int,
    places: int,
    cells: Ints,
    moved: Floats,
    at: int,
    weights: Floats,
    projected: Floats,
    table: int,
    states: Floats,
    slots: int,
    gates: Floats,
    history: int,
    keep: int,
) -> None:
    """Run a direction over a group.

    cells, moved: (places, WIDTH) from `at` on. projected: one row of 3 x hidden per word, that of a cell from `table` +
    cell on. states: from
    `slots` on, the given one first. gates: from `history` on; with `keep` 0 the places overwrite each other.
    """
    hidden, row = sizes.hidden, 3 * sizes.hidden
    _, recurrent, recurrent_bias, size = gru_parts(sizes)
    recurrent, recurrent_bias = way * size + recurrent, way * size + recurrent_bias
    for step in range(places):
        place = step if way == 0 else places - 1 - step
        state = slots + (place + 1) * slot(hidden)
        before = state - slot(hidden) if way == 0 else state + slot(hidden)
        gate = history + keep * place * gate_slot(hidden)
        here, move = at + place * WIDTH, load(moved, at + place * WIDTH)
        for unit in range(0, hidden, QUAD):
            r = gather(projected, cells, here, table + unit)
            z = gather(projected, cells, here, table + hidden + unit)
            q = fill_quad(weights, recurrent_bias + 2 * hidden + unit, 1)
            for k in range(hidden):
                value, weight = load(states, before + k * WIDTH), recurrent + k * row + unit
                r = fma(fill_quad(weights, weight, 1), value, r)
                z = fma(fill_quad(weights, weight + hidden, 1), value, z)
                q = fma(fill_quad(weights, weight + 2 * hidden, 1), value, q)
            old, x = load_quad(states, before + unit * WIDTH), gather(projected, cells, here, table + 2 * hidden + unit)
            r, z, n, new = cell(r, z, x, q, old, move)
            store(states, state + unit * WIDTH, new)
            store(gates, gate + unit * WIDTH, r)
            store(gates, gate + (hidden + unit) * WIDTH, z)
            store(gates, gate + (2 * hidden + unit) * WIDTH, n)
            store(gates, gate + (3 * hidden + unit) * WIDTH, q)


@routine
def backward(
    sizes: Sizes,
    way: int,
    places: int,
    moved: Floats,
    at: int,
    weights: Floats,
    states: Floats,
    d_states: Floats,
    slots: int,
    gates: Floats,
    history: int,
    d_state: Floats,
    d_moved: Floats,
) -> None:
    """Go back through a direction; arguments as in `forward`.

    d_states: the gradient at every state, in the same slots. d_state: (hidden, WIDTH), zero at first, ends as the
    gradient at the given state. d_moved: what the gradient of `moved` is added to, unless it is empty.
    """
    hidden, row, asked = sizes.hidden, 3 * sizes.hidden, len(d_moved) > 0
    _, recurrent, _, size = gru_parts(sizes)
    recurrent += way * size
    for step in range(places):
        place = places - 1 - step if way == 0 else step
        state = slots + (place + 1) * slot(hidden)
        before = state - slot(hidden) if way == 0 else state + slot(hidden)
        gate = history + place * gate_slot(hidden)
        move, steps = load(moved, at + place * WIDTH), quad(0.0)
        for unit in range(0, hidden, QUAD):
            here, lane = gate + unit * WIDTH, unit * WIDTH
            d = load_quad(d_state, lane) + load_quad(d_states, state + lane)
            r, z = load_quad(gates, here), load_quad(gates, here + hidden * WIDTH)
            n, q = load_quad(gates, here + 2 * hidden * WIDTH), load_quad(gates, here + 3 * hidden * WIDTH)
            old = load_quad(states, before + lane)
            dr, dz, dn, dq, rest = cell_back(d, r, z, n, q, old, move)
            if asked:
                steps = fma(d * (1.0 - z), n - old, steps)
            store(gates, here, dr)
            store(gates, here + hidden * WIDTH, dz)
            store(gates, here + 2 * hidden * WIDTH, dn)
            store(gates, here + 3 * hidden * WIDTH, dq)
            store(d_state, lane, rest)
        if asked:
            store(d_moved, at + place * WIDTH, load(d_moved, at + place * WIDTH) + across(steps))
        for k in range(0, hidden, QUAD):
            # Three sums of four vectors each, because one sum would wait for its own last addition.
            a, b, c = load_quad(d_state, k * WIDTH), quad(0.0), quad(0.0)
            for unit in range(hidden):
                weight, here = recurrent + k * row + unit, gate + unit * WIDTH
                a = fma(fill_quad(weights, weight, row), load(gates, here), a)
                b = fma(fill_quad(weights, weight + hidden, row), load(gates, here + hidden * WIDTH), b)
                c = fma(fill_quad(weights, weight + 2 * hidden, row), load(gates, here + 3 * hidden * WIDTH), c)
            store(d_state, k * WIDTH, a + (b + c))


@routine
def sum_recurrent(
    sizes: Sizes, way: int, places: int, states: Floats, slots: int, gates: Floats, history: int, sums: Floats
) -> None:
    """Add dL/dW_h = sum over places of (gradient at the gates) h^T to sums, (hidden / 4, 3 hidden, WIDTH), folded."""
    hidden = sizes.hidden
    given = 0 if way == 0 else 2  # the slot of the state before a place, counted from the place
    for k in range(0, hidden, QUAD):
        for unit in range(hidden):
            a, b, c = quad(0.0), quad(0.0), quad(0.0)
            for place in range(places):
                value = load_quad(states, slots + (place + given) * slot(hidden) + k * WIDTH)
                here = history + place * gate_slot(hidden) + unit * WIDTH
                a = fma(value, load(gates, here), a)
                b = fma(value, load(gates, here + hidden * WIDTH), b)
                c = fma(value, load(gates, here + 3 * hidden * WIDTH), c)
            here = (way * hidden // QUAD * 3 * hidden + k // QUAD * 3 * hidden + unit) * WIDTH
            store(sums, here, load(sums, here) + fold(a))
            store(sums, here + hidden * WIDTH, load(sums, here + hidden * WIDTH) + fold(b))
            store(sums, here + 2 * hidden * WIDTH, load(sums, here + 2 * hidden * WIDTH) + fold(c))


@routine
def sum_biases(sizes: Sizes, way: int, places: int, gates: Floats, history: int, sums: Floats) -> None:
    """Add the gradients at the four sums of every unit over places to sums, (hidden, WIDTH), folded."""
    hidden = sizes.hidden
    for unit in range(0, 4 * hidden, QUAD):
        a = quad(0.0)
        for place in range(places):
            a = a + load_quad(gates, history + place * gate_slot(hidden) + unit * WIDTH)
        here = (way * hidden + unit // QUAD) * WIDTH
        store(sums, here, load(sums, here) + fold(a))


@routine
def collect_recurrent(sizes: Sizes, way: int, recurrent_sums: Floats, bias_sums: Floats, gradient: Floats) -> None:
    """Bring what the two functions above added up into the order of the weights."""
    hidden, row = sizes.hidden, 3 * sizes.hidden
    input_bias, recurrent, recurrent_bias, size = gru_parts(sizes)
    base = way * size
    for k in range(0, hidden, QUAD):
        for gate in range(row):
            folded = load(recurrent_sums, (way * hidden // QUAD * row + k // QUAD * row + gate) * WIDTH)
            store_sums(gradient, base + recurrent + k * row + gate, row, folded)
    for unit in range(0, row, QUAD):
        store_sums(gradient, base + input_bias + unit, 1, load(bias_sums, (way * hidden + unit // QUAD) * WIDTH))
        # Reset and update gates add both biases; behind the reset gate, `new` has its own.
        other = unit if unit < 2 * hidden else unit + hidden
        store_sums(gradient, base + recurrent_bias + unit, 1, load(bias_sums, (way * hidden + other // QUAD) * WIDTH))


@routine
def forward_prefix(steps: int, sizes: Sizes, weights: Floats, projected: Floats, states: Floats, gates: Floats) -> None:
    """Advance one text that nothing is seen of: every text is that text before its first token that is seen.

    states: (steps + 1, hidden), the first one zero. gates: (steps, 4, hidden). Here a lane is a hidden unit.
    """
    hidden, row = sizes.hidden, 3 * sizes.hidden
    _, recurrent, recurrent_bias, _ = gru_parts(sizes)
    for unit in range(hidden):
        states[unit] = 0
    for step in range(steps):
        state, gate = step * hidden, step * 4 * hidden
        for unit in range(0, hidden, WIDTH):
            r, z = load(projected, unit), load(projected, hidden + unit)
            q = load(weights, recurrent_bias + 2 * hidden + unit)
            for k in range(hidden):
                value, weight = fill(states, state + k, 0), recurrent + k * row + unit
                r = fma(load(weights, weight), value, r)
                z = fma(load(weights, weight + hidden), value, z)
                q = fma(load(weights, weight + 2 * hidden), value, q)
            r, z, n, new = cell(r, z, load(projected, 2 * hidden + unit), q, load(states, state + unit), 1.0)
            store(states, state + hidden + unit, new)
            store(gates, gate + unit, r)
            store(gates, gate + hidden + unit, z)
            store(gates, gate + 2 * hidden + unit, n)
            store(gates, gate + 3 * hidden + unit, q)


@routine
def backward_prefix(
    steps: int, sizes: Sizes, weights: Floats, states: Floats, gates: Floats, d_state: Floats, gradient: Floats
) -> None:
    """Go back through that text once, with the summed gradient of all texts, and add to the weights'.

    d_state: (steps + 1, hidden) the gradient at each state that came from the texts which left the prefix there.
    """
    hidden, row = sizes.hidden, 3 * sizes.hidden
    input_bias, recurrent, recurrent_bias, _ = gru_parts(sizes)
    for back in range(steps):
        step = steps - 1 - back
        state, gate = step * hidden, step * 4 * hidden
        for unit in range(0, hidden, WIDTH):
            here, d = gate + unit, load(d_state, state + hidden + unit)
            r, z, n = load(gates, here), load(gates, here + hidden), load(gates, here + 2 * hidden)
            q, old = load(gates, here + 3 * hidden), load(states, state + unit)
            dr, dz, dn, dq, rest = cell_back(d, r, z, n, q, old, 1.0)
            store(gates, here, dr)
            store(gates, here + hidden, dz)
            store(gates, here + 2 * hidden, dq)
            store(d_state, state + unit, load(d_state, state + unit) + rest)
            for bias in (input_bias + unit, recurrent_bias + unit):
                store(gradient, bias, load(gradient, bias) + dr)
                store(gradient, bias + hidden, load(gradient, bias + hidden) + dz)
            last = 2 * hidden + unit
            store(gradient, input_bias + last, load(gradient, input_bias + last) + dn)
            store(gradient, recurrent_bias + last, load(gradient, recurrent_bias + last) + dq)
        for k in range(hidden):
            weight, value = recurrent + k * row, fill(states, state + k, 0)
            sum_ = load(weights, weight) * load(gates, gate)
            store(gradient, weight, fma(value, load(gates, gate), load(gradient, weight)))
            for unit in range(WIDTH, row, WIDTH):
                d = load(gates, gate + unit)
                sum_ = fma(load(weights, weight + unit), d, sum_)
                store(gradient, weight + unit, fma(value, d, load(gradient, weight + unit)))
            d_state[state + k] += total(sum_)
