"""The GRU cell backwards: through the steps, into the recurrent weights, into the inputs, through the prefix.

On the way back the history of the gates is overwritten with the gradients at their sums: reset, update, new (the
input part) and the recurrent part of new.
"""

import numpy as np

from genspp.population.kernel_cell import Floats, Ints, Sizes, gate_size, layout, state_size
from genspp.population.kernel_lanes import QUAD, ROW, WIDTH, subroutine, where_equal
from genspp.population.kernel_memory import (
    fill_quad,
    fill_row,
    fold,
    load,
    load_quad,
    load_row,
    lowest_lane,
    quad,
    selected_lanes,
    store,
    store_turned,
    total,
)


@subroutine
def backward(
    steps: int,
    sizes: Sizes,
    weights: Floats,
    states: Floats,
    gates: Floats,
    when: Floats,
    pull: Floats,
    slope: Floats,
) -> None:
    """Go back through the steps of WIDTH texts.

    when: (hidden, WIDTH) the step that gave a pooled value, pull: the gradient at that value. slope: (hidden,
    WIDTH), zero at first, ends as the gradient at the state before the first step.
    """
    hidden, row = sizes.hidden, 3 * sizes.hidden
    _, recurrent, _, _, _, _ = layout(sizes)
    for back in range(steps):
        step = steps - 1 - back
        state, gate = step * state_size(hidden), step * gate_size(hidden)
        for unit in range(0, hidden, QUAD):
            at = unit * WIDTH
            pulled = where_equal(load_quad(when, at), float(step), load_quad(pull, at), 0.0)
            d = load_quad(slope, at) + pulled
            r = load_quad(gates, gate + at)
            z = load_quad(gates, gate + hidden * WIDTH + at)
            n = load_quad(gates, gate + 2 * hidden * WIDTH + at)
            q = load_quad(gates, gate + 3 * hidden * WIDTH + at)
            dn = d * (1.0 - z) * (1.0 - n * n)
            store(gates, gate + at, dn * q * r * (1.0 - r))
            store(gates, gate + hidden * WIDTH + at, d * (load_quad(states, state + at) - n) * z * (1.0 - z))
            store(gates, gate + 2 * hidden * WIDTH + at, dn)
            store(gates, gate + 3 * hidden * WIDTH + at, dn * r)
            store(slope, at, d * z)
        for k in range(0, hidden, QUAD):
            # Three sums of four vectors each, because one sum would wait for its own last addition.
            a, b, c = load_quad(slope, k * WIDTH), quad(0.0), quad(0.0)
            for unit in range(hidden):
                weight, at = recurrent + k * row + unit, gate + unit * WIDTH
                a = a + fill_quad(weights, weight, row) * load(gates, at)
                b = b + fill_quad(weights, weight + hidden, row) * load(gates, at + hidden * WIDTH)
                c = c + fill_quad(weights, weight + 2 * hidden, row) * load(gates, at + 3 * hidden * WIDTH)
            store(slope, k * WIDTH, a + (b + c))


@subroutine
def sum_recurrent(steps: int, hidden: int, states: Floats, gates: Floats, sums: Floats) -> None:
    """Add the gradient at the recurrent weights: sums, (hidden / 4, 3 x hidden, WIDTH), as `fold` leaves them."""
    for k in range(0, hidden, QUAD):
        for unit in range(hidden):
            a, b, c = quad(0.0), quad(0.0), quad(0.0)
            for step in range(steps):
                value = load_quad(states, step * state_size(hidden) + k * WIDTH)
                at = step * gate_size(hidden) + unit * WIDTH
                a = a + value * load(gates, at)
                b = b + value * load(gates, at + hidden * WIDTH)
                c = c + value * load(gates, at + 3 * hidden * WIDTH)
            at = (k // QUAD * 3 * hidden + unit) * WIDTH
            store(sums, at, load(sums, at) + fold(a))
            store(sums, at + hidden * WIDTH, load(sums, at + hidden * WIDTH) + fold(b))
            store(sums, at + 2 * hidden * WIDTH, load(sums, at + 2 * hidden * WIDTH) + fold(c))


@subroutine
def sum_biases(steps: int, hidden: int, gates: Floats, sums: Floats) -> None:
    """Add the gradient at the four sums of a unit: sums, (hidden, WIDTH), as `fold` leaves them."""
    for unit in range(0, 4 * hidden, QUAD):
        a = quad(0.0)
        for step in range(steps):
            a = a + load_quad(gates, step * gate_size(hidden) + unit * WIDTH)
        at = unit // QUAD * WIDTH
        store(sums, at, load(sums, at) + fold(a))


@subroutine
def sum_inputs(steps: int, hidden: int, cells: Ints, gates: Floats, turned: Floats, drawn: Floats) -> None:
    """Add the gradient at the input projections, a row a word, for selected tokens alone."""
    row = 3 * hidden
    for step in range(steps):
        lanes = selected_lanes(cells, step * WIDTH)
        if lanes == 0:
            continue
        for unit in range(0, row, QUAD):
            store_turned(turned, unit, row, load_quad(gates, step * gate_size(hidden) + unit * WIDTH))
        while lanes != 0:
            lane = lowest_lane(lanes)
            lanes &= lanes - np.uint64(1)
            target, source = cells[step * WIDTH + lane], lane * row
            for gate in range(0, row, ROW):
                store(drawn, target + gate, load_row(drawn, target + gate) + load_row(turned, source + gate))


@subroutine
def backward_prefix(
    steps: int, sizes: Sizes, weights: Floats, states: Floats, gates: Floats, slope: Floats, gradient: Floats
) -> None:
    """Go back through the shared prefix once, with the summed gradient of all texts, and add to the weights'.

    slope: (steps + 1, hidden) the gradient at each state that came from the texts which left the prefix there.
    """
    hidden, row = sizes.hidden, 3 * sizes.hidden
    input_bias, recurrent, recurrent_bias, _, _, _ = layout(sizes)
    for back in range(steps):
        step = steps - 1 - back
        state, gate = step * hidden, step * 4 * hidden
        for unit in range(0, hidden, ROW):
            at, d = gate + unit, load_row(slope, state + hidden + unit)
            r, z = load_row(gates, at), load_row(gates, at + hidden)
            n, q = load_row(gates, at + 2 * hidden), load_row(gates, at + 3 * hidden)
            dn = d * (1.0 - z) * (1.0 - n * n)
            dr = dn * q * r * (1.0 - r)
            dz = d * (load_row(states, state + unit) - n) * z * (1.0 - z)
            store(gates, at, dr)
            store(gates, at + hidden, dz)
            store(gates, at + 2 * hidden, dn * r)
            store(slope, state + unit, load_row(slope, state + unit) + d * z)
            for bias in (input_bias + unit, recurrent_bias + unit):
                store(gradient, bias, load_row(gradient, bias) + dr)
                store(gradient, bias + hidden, load_row(gradient, bias + hidden) + dz)
            last = 2 * hidden + unit
            store(gradient, input_bias + last, load_row(gradient, input_bias + last) + dn)
            store(gradient, recurrent_bias + last, load_row(gradient, recurrent_bias + last) + dn * r)
        for k in range(hidden):
            weight, value = recurrent + k * row, fill_row(states, state + k, 0)
            sum_ = load_row(weights, weight) * load_row(gates, gate)
            store(gradient, weight, load_row(gradient, weight) + value * load_row(gates, gate))
            for unit in range(ROW, row, ROW):
                d = load_row(gates, gate + unit)
                sum_ = sum_ + load_row(weights, weight + unit) * d
                store(gradient, weight + unit, load_row(gradient, weight + unit) + value * d)
            slope[state + k] += total(sum_)
