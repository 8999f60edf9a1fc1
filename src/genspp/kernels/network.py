"""A GRU, a norm if there is one, and a linear layer: over all tokens of a batch, over its texts, and back."""

from genspp.kernels.compile import inlined, kernel, routine
from genspp.kernels.gru import (
    Sizes,
    backward,
    collect_recurrent,
    forward,
    gate_slot,
    gru_parts,
    slot,
    sum_biases,
    sum_recurrent,
)
from genspp.kernels.inputs import Table, collect_inputs, project_gates, sum_inputs
from genspp.kernels.lanes import WIDTH, fma
from genspp.kernels.layers import (
    LOWEST,
    linear,
    linear_back,
    normalise,
    normalise_back,
    pool,
    pool_back,
    token_logits,
    token_logits_back,
)
from genspp.kernels.memory import Floats, Ints, clear, fill, load, store, total, vector
from genspp.kernels.space import Space, parts
from genspp.kernels.texts import Layout

# ---- one group, forwards and back


@inlined
def begin(count: int, sizes: Sizes, layout: Layout, table: Table, weights: Floats, space: Space) -> None:
    """Project a batch's words, and take scale and shift out of the weights."""
    for way in range(sizes.ways):
        project_gates(count, layout.used, table, sizes, way, weights, space.projected, way * space.table)
    norm, _, _ = parts(sizes)
    wide = sizes.ways * sizes.hidden
    for feature in range(0, wide, WIDTH):
        store(space.scale, feature, load(weights, norm + feature) if sizes.normed else vector(1.0))
        store(space.shift, feature, load(weights, norm + wide + feature) if sizes.normed else vector(0.0))


@routine
def _blend(sizes: Sizes, layout: Layout, places: int, mask: Floats, space: Space) -> None:
    """Write a row of its own for every token, b + mask W x, behind a row of b for those that are not seen."""
    row, projected, soft, cells = 3 * sizes.hidden, space.projected, space.soft, layout.cells
    stride = (len(space.seen) + 1) * row
    for way in range(sizes.ways):
        for unit in range(0, row, WIDTH):
            store(soft, way * stride + unit, load(projected, way * space.table + unit))
        for cell in range(places * WIDTH):
            word = way * space.table + cells[cell]
            for unit in range(0, row, WIDTH):
                bias = load(projected, way * space.table + unit)
                value = fma(load(projected, word + unit) - bias, fill(mask, cell, 0), bias)
                store(soft, way * stride + (cell + 1) * row + unit, value)


@routine
def see(sizes: Sizes, layout: Layout, places: int, mask: Floats, soft: bool, space: Space) -> None:
    """Note the cells that are seen: those whose mask is not 0; in part, the rows of the tokens themselves."""
    for cell in range(places * WIDTH):
        there = layout.cells[cell] if mask[cell] != 0 else 0
        space.seen[cell] = (cell + 1) * 3 * sizes.hidden if soft and there > 0 else there


@inlined
def run_group(
    sizes: Sizes, layout: Layout, group: int, cells: Ints, moved: Floats, rows: Floats, stride: int, weights: Floats,
    space: Space, keep: int,
) -> None:  # fmt: skip
    """Run all directions over a group, from states of zero, and normalise."""
    start = layout.first[group]
    places, at = layout.first[group + 1] - start, start * WIDTH
    slots, history = keep * (start + 2 * group) * slot(sizes.hidden), keep * start * gate_slot(sizes.hidden)
    for way in range(sizes.ways):
        given = way * space.slots + slots + (0 if way == 0 else (places + 1) * slot(sizes.hidden))
        clear(space.states, given, sizes.hidden * WIDTH)
        forward(
            sizes, way, places, cells, moved, at, weights, rows, way * stride, space.states,
            way * space.slots + slots, space.gates, way * space.history + history, keep,
        )  # fmt: skip
    if sizes.normed:
        normalise(sizes, places, space.states, slots, space.slots, layout.real, at, space.normal, space.deviations)


@inlined
def clear_sums(count: int, sizes: Sizes, space: Space) -> None:
    """Set all sums over a batch to zero."""
    hidden, row, wide = sizes.hidden, 3 * sizes.hidden, sizes.ways * sizes.hidden
    for way in range(sizes.ways):
        clear(space.d_projected, way * space.table, (count + 1) * row)
    clear(space.recurrent_sums, 0, sizes.ways * hidden // 4 * row * WIDTH)
    clear(space.bias_sums, 0, wide * WIDTH)
    clear(space.scale_sums, 0, wide * WIDTH)
    clear(space.shift_sums, 0, wide * WIDTH)
    clear(space.head_sums, 0, sizes.outputs * (wide + 1) * WIDTH)


@inlined
def run_group_back(
    sizes: Sizes, layout: Layout, group: int, slots: int, history: int, moved: Floats, mask: Floats, weights: Floats,
    space: Space, learning: bool, d_moved: Floats, d_mask: Floats,
) -> None:  # fmt: skip
    """Go back from the gradient at a group's features, and add to all sums. Its history begins at slots and history.

    learning: whether anybody wants the gradient of the weights.
    """
    start = layout.first[group]
    places, at, states = layout.first[group + 1] - start, start * WIDTH, space.states
    if sizes.normed:
        normalise_back(
            sizes, places, space.normal, space.d_features, slots, space.slots, layout.real, at, space.deviations
        )
    for way in range(sizes.ways):
        own_slots, own_history = way * space.slots + slots, way * space.history + history
        clear(space.d_state, 0, sizes.hidden * WIDTH)
        backward(
            sizes, way, places, moved, at, weights, states, space.d_features, own_slots, space.gates, own_history,
            space.d_state, d_moved,
        )  # fmt: skip
        if learning:
            sum_recurrent(sizes, way, places, states, own_slots, space.gates, own_history, space.recurrent_sums)
            sum_biases(sizes, way, places, space.gates, own_history, space.bias_sums)
        if learning or len(d_mask) > 0:
            sum_inputs(
                sizes, places, layout.cells, mask, at, space.gates, own_history, space.gate_rows, space.projected,
                space.d_projected, way * space.table, learning, d_mask,
            )  # fmt: skip


@inlined
def collect(count: int, sizes: Sizes, layout: Layout, table: Table, space: Space, gradient: Floats) -> None:
    """Bring all sums over a batch into the order of the weights."""
    norm, head, _ = parts(sizes)
    _, _, _, size = gru_parts(sizes)
    wide = sizes.ways * sizes.hidden
    for way in range(sizes.ways):
        collect_inputs(
            count, layout.used, space.dense, table, sizes.inputs, 3 * sizes.hidden, space.d_projected,
            way * space.table, gradient[way * size :],
        )  # fmt: skip
        collect_recurrent(sizes, way, space.recurrent_sums, space.bias_sums, gradient)
    if sizes.normed:
        for feature in range(wide):
            gradient[norm + feature] = total(load(space.scale_sums, feature * WIDTH))
            gradient[norm + wide + feature] = total(load(space.shift_sums, feature * WIDTH))
    for weight in range(sizes.outputs * (wide + 1)):
        gradient[head + weight] = total(load(space.head_sums, weight * WIDTH))


# ---- a batch, called from Python


@kernel
def tokens_forward(
    groups: int, count: int, keep: int, sizes: Sizes, layout: Layout, table: Table, weights: Floats, space: Space,
    logits: Floats, rows: int,
) -> None:  # fmt: skip
    """Write the logits of every token, (outputs, places, WIDTH), outputs `rows` apart. keep: 0 if nobody goes back."""
    begin(count, sizes, layout, table, weights, space)
    _, head, _ = parts(sizes)
    for group in range(groups):
        run_group(sizes, layout, group, layout.cells, layout.real, space.projected, space.table, weights, space, keep)
        start = layout.first[group]
        token_logits(
            sizes, layout.first[group + 1] - start, space.normal if sizes.normed else space.states,
            keep * (start + 2 * group) * slot(sizes.hidden), space.slots, space.scale, space.shift, weights, head,
            logits, start * WIDTH, rows,
        )  # fmt: skip


@kernel
def tokens_back(
    groups: int, count: int, sizes: Sizes, layout: Layout, table: Table, weights: Floats, space: Space,
    d_logits: Floats, rows: int, gradient: Floats, nothing: Floats,
) -> None:  # fmt: skip
    """Write the gradient of the weights, given that of the logits."""
    clear_sums(count, sizes, space)
    _, head, _ = parts(sizes)
    for group in range(groups):
        start = layout.first[group]
        slots = (start + 2 * group) * slot(sizes.hidden)
        token_logits_back(
            sizes, layout.first[group + 1] - start, space.normal if sizes.normed else space.states, slots, space.slots,
            space.scale, space.shift, weights, head, d_logits, start * WIDTH, rows, space.d_features, space.scale_sums,
            space.shift_sums, space.head_sums,
        )  # fmt: skip
        history = start * gate_slot(sizes.hidden)
        run_group_back(
            sizes, layout, group, slots, history, layout.real, layout.real, weights, space, True, nothing, nothing
        )
    collect(count, sizes, layout, table, space, gradient)


@kernel
def texts_forward(
    groups: int, count: int, keep: int, sizes: Sizes, layout: Layout, table: Table, weights: Floats, space: Space,
    mask: Floats, soft: bool, selected: bool, skipping: bool, logits: Floats,
) -> None:  # fmt: skip
    """Write the logits of every text, (groups, outputs, WIDTH), at a mask (places, WIDTH).

    soft: the mask may be between 0 and 1. selected: pool the selected tokens and 0, otherwise all real tokens.
    skipping: the mask says how far a token moves the state, otherwise how much of it is seen.
    """
    begin(count, sizes, layout, table, weights, space)
    places, row, wide = layout.first[groups], 3 * sizes.hidden, sizes.ways * sizes.hidden
    see(sizes, layout, places, mask, soft and not skipping, space)
    rows, stride, cells, moved = space.projected, space.table, space.seen, layout.real
    if skipping:
        cells, moved = layout.cells, mask
    elif soft:
        _blend(sizes, layout, places, mask, space)
        rows, stride = space.soft, (len(space.seen) + 1) * row
    _, head, _ = parts(sizes)
    for group in range(groups):
        run_group(sizes, layout, group, cells, moved, rows, stride, weights, space, keep)
        start = layout.first[group]
        at, out = start * WIDTH, group * wide * WIDTH
        pool(
            sizes, layout.first[group + 1] - start, space.normal if sizes.normed else space.states,
            keep * (start + 2 * group) * slot(sizes.hidden), space.slots, space.scale, space.shift,
            space.seen if selected else layout.cells, at, 0.0 if selected else LOWEST, space.pooled[out:],
            space.argmax[out:],
        )  # fmt: skip
        linear(wide, sizes.outputs, weights, head, space.pooled, out, logits, group * sizes.outputs * WIDTH)


@kernel
def texts_back(
    groups: int, count: int, sizes: Sizes, layout: Layout, table: Table, weights: Floats, space: Space, mask: Floats,
    skipping: bool, d_logits: Floats, gradient: Floats, d_mask: Floats, nothing: Floats,
) -> None:  # fmt: skip
    """Write the gradients of the weights and of the mask, given that of the logits; an empty one is not asked for."""
    clear_sums(count, sizes, space)
    learning = len(gradient) > 0
    clear(d_mask, 0, layout.first[groups] * WIDTH if len(d_mask) > 0 else 0)
    _, head, _ = parts(sizes)
    wide = sizes.ways * sizes.hidden
    for group in range(groups):
        start = layout.first[group]
        slots, out = (start + 2 * group) * slot(sizes.hidden), group * wide * WIDTH
        linear_back(
            wide, sizes.outputs, weights, head, space.pooled, out, d_logits, group * sizes.outputs * WIDTH,
            space.d_pooled, 0, space.head_sums,
        )  # fmt: skip
        pool_back(
            sizes, layout.first[group + 1] - start, space.normal if sizes.normed else space.states, slots, space.slots,
            space.scale, space.argmax[out:], space.d_pooled, space.d_features, space.scale_sums, space.shift_sums,
        )  # fmt: skip
        history = start * gate_slot(sizes.hidden)
        if skipping:
            run_group_back(
                sizes, layout, group, slots, history, mask, layout.real, weights, space, learning, d_mask, nothing
            )
        else:
            run_group_back(
                sizes, layout, group, slots, history, layout.real, mask, weights, space, learning, nothing, d_mask
            )
    if learning:
        collect(count, sizes, layout, table, space, gradient)
