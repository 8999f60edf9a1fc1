"""Training and validating one predictor behind fixed highlights, in one go: what the population engine does all day.

A text takes part from its first selected token to its last: before, all texts share one sequence of states (the
prefix); after, nothing reaches the pooled values. The passes are those of `network`, a group at a time, so that the
history of a group stays in the nearest cache.
"""

from typing import NamedTuple

from genspp.kernels.adam import Powers, adam
from genspp.kernels.compile import inlined, kernel, routine
from genspp.kernels.gru import Sizes, backward_prefix, forward, forward_prefix
from genspp.kernels.inputs import Table
from genspp.kernels.lanes import QUAD, WIDTH
from genspp.kernels.layers import linear, linear_back, pool, pool_back
from genspp.kernels.losses import cross_entropy, log_softmax
from genspp.kernels.memory import (
    Floats,
    Ints,
    Longs,
    clear,
    floats,
    gather,
    load,
    load_quad,
    store,
    store_turned,
)
from genspp.kernels.network import begin, clear_sums, collect, run_group_back
from genspp.kernels.space import Space, parts
from genspp.kernels.texts import Layout, Texts, forget, lay_out


class Prefix(NamedTuple):
    """The states, gates and gradients of the text that nothing is seen of; logits of a group, and their gradient."""

    states: Floats
    gates: Floats
    d_states: Floats
    logits: Floats
    d_logits: Floats


def make_prefix(sizes: Sizes, longest: int) -> Prefix:
    """Return the memory for texts of at most `longest` tokens."""
    hidden = sizes.hidden
    numbers = [(longest + 1) * hidden, (longest + 1) * 4 * hidden, (longest + 1) * hidden]
    return Prefix(*map(floats, [*numbers, sizes.outputs * WIDTH, sizes.outputs * WIDTH]))


@routine
def _longest_lead(rows: Longs, lead: Ints) -> int:
    longest = 0
    for row in rows:
        longest = max(longest, lead[row])
    return longest


@inlined
def _read(
    group: int, sizes: Sizes, layout: Layout, weights: Floats, space: Space, prefix: Prefix, keep: int
) -> int:  # fmt: skip
    """Write the logits of a group's texts, and return its number of places."""
    start = layout.first[group]
    places, at, wide = layout.first[group + 1] - start, start * WIDTH, sizes.hidden
    _, head, _ = parts(sizes)
    for unit in range(0, sizes.hidden, QUAD):
        store(space.states, unit * WIDTH, gather(prefix.states, layout.lead, group * WIDTH, unit))
    forward(
        sizes, 0, places, layout.cells, layout.real, at, weights, space.projected, 0, space.states, 0, space.gates, 0,
        keep,
    )  # fmt: skip
    pool(sizes, places, space.states, 0, 0, space.scale, space.shift, layout.cells, at, 0.0, space.pooled, space.argmax)
    linear(wide, sizes.outputs, weights, head, space.pooled, 0, prefix.logits, 0)
    return int(places)


@inlined
def _hand_to_prefix(group: int, hidden: int, layout: Layout, space: Space, prefix: Prefix) -> None:
    """Hand the gradient at the first states of a group's texts to the prefix."""
    for unit in range(0, hidden, QUAD):
        store_turned(space.gate_rows, unit, hidden, load_quad(space.d_state, unit * WIDTH))
    for lane in range(WIDTH):
        for unit in range(0, hidden, WIDTH):
            at = layout.lead[group * WIDTH + lane] + unit
            store(prefix.d_states, at, load(prefix.d_states, at) + load(space.gate_rows, lane * hidden + unit))


@routine
def _find_gradient(
    rows: Longs, texts: Texts, class_weights: Floats, table: Table, sizes: Sizes, layout: Layout, space: Space,
    prefix: Prefix, weights: Floats, gradient: Floats, nothing: Floats,
) -> None:  # fmt: skip
    """Write the gradient of the weighted mean cross-entropy of a batch."""
    count = lay_out(rows, texts, class_weights, 3 * sizes.hidden, False, layout)
    begin(count, sizes, layout, table, weights, space)
    steps, (_, head, _) = _longest_lead(rows, texts.lead), parts(sizes)
    forward_prefix(steps, sizes, weights, space.projected, prefix.states, prefix.gates)
    clear(prefix.d_states, 0, (steps + 1) * sizes.hidden)
    clear_sums(count, sizes, space)
    for group in range(-(-len(rows) // WIDTH)):
        places = _read(group, sizes, layout, weights, space, prefix, 1)
        labels, shares = load(layout.labels, group * WIDTH), load(layout.shares, group * WIDTH)
        cross_entropy(sizes.outputs, prefix.logits, 0, labels, shares, prefix.d_logits, 0)
        linear_back(
            sizes.hidden, sizes.outputs, weights, head, space.pooled, 0, prefix.d_logits, 0, space.d_pooled, 0,
            space.head_sums,
        )  # fmt: skip
        pool_back(
            sizes, places, space.states, 0, 0, space.scale, space.argmax, space.d_pooled, space.d_features,
            space.scale_sums, space.shift_sums,
        )  # fmt: skip
        run_group_back(sizes, layout, group, 0, 0, layout.real, layout.real, weights, space, True, nothing, nothing)
        _hand_to_prefix(group, sizes.hidden, layout, space, prefix)
    collect(count, sizes, layout, table, space, gradient)
    backward_prefix(steps, sizes, weights, prefix.states, prefix.gates, prefix.d_states, gradient)
    forget(count, layout)


@kernel
def train_epoch(
    order: Longs, batch_size: int, rates: Floats, texts: Texts, class_weights: Floats, table: Table, sizes: Sizes,
    layout: Layout, space: Space, prefix: Prefix, weights: Floats, gradient: Floats, moments: Floats, squares: Floats,
    powers: Powers, nothing: Floats,
) -> None:  # fmt: skip
    """Train on all batches of an order with Adam."""
    for begin_ in range(0, len(order), batch_size):
        rows = order[begin_ : begin_ + batch_size]
        _find_gradient(rows, texts, class_weights, table, sizes, layout, space, prefix, weights, gradient, nothing)
        adam(rates, weights, gradient, moments, squares, powers)


@kernel
def validate(
    order: Longs, chunk: int, texts: Texts, class_weights: Floats, table: Table, sizes: Sizes, layout: Layout,
    space: Space, prefix: Prefix, weights: Floats, beliefs: Floats, sharpness: float,
) -> float:  # fmt: skip
    """Return the weighted mean cross-entropy over all rows of an order, best one that is sorted by span.

    beliefs: (texts, classes) the weight of every class of every text, 1 in all; nothing: those of the labels.
    sharpness: what logits are multiplied by where there are beliefs.
    """
    loss, mass, steps = 0.0, 0.0, _longest_lead(order, texts.lead)
    for row in order:
        mass += class_weights[texts.labels[row]]
    for at in range(0, len(order), chunk):
        rows = order[at : at + chunk]
        count = lay_out(rows, texts, class_weights, 3 * sizes.hidden, False, layout)
        begin(count, sizes, layout, table, weights, space)
        if at == 0:
            forward_prefix(steps, sizes, weights, space.projected, prefix.states, prefix.gates)
        share = 0.0
        for row in rows:
            share += class_weights[texts.labels[row]]
        found = 0.0
        for group in range(-(-len(rows) // WIDTH)):
            _read(group, sizes, layout, weights, space, prefix, 0)
            if len(beliefs) > 0:
                loss += _disbelief(group, len(rows), sizes.outputs, layout, prefix, beliefs, sharpness)
                continue
            labels, shares = load(layout.labels, group * WIDTH), load(layout.shares, group * WIDTH)
            found += cross_entropy(sizes.outputs, prefix.logits, 0, labels, shares, prefix.d_logits, 0)
        loss += found * share
        forget(count, layout)
    if len(beliefs) > 0:
        return loss
    return loss / mass if mass > 0 else 0.0


@routine
def _disbelief(
    group: int, rows: int, classes: int, layout: Layout, prefix: Prefix, beliefs: Floats, sharpness: float
) -> float:
    """Return the sum over the texts of a group and over classes of belief * -log softmax(sharpness * logits)."""
    for at in range(0, classes * WIDTH, WIDTH):
        store(prefix.d_logits, at, load(prefix.logits, at) * sharpness)
    log_softmax(classes, prefix.d_logits, 0, prefix.d_logits, 0)
    loss = 0.0
    for lane in range(min(WIDTH, rows - group * WIDTH)):
        text = layout.rows[group * WIDTH + lane]
        for label in range(classes):
            loss -= beliefs[text * classes + label] * prefix.d_logits[label * WIDTH + lane]
    return loss
