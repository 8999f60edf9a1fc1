"""The guider of G-RAT: soft attention over a bidirectional GRU; over a batch, and back. In the symbols of its layers,

    s = norm(gru(x) + R x + r)                  a = softmax over tokens of w gelu(W s + b) + c (+ noise)
    t = norm(gelu(P (a s) + p))                 i = softmax over tokens of v gelu(norm2(V t + u)) + d
    logits = O (sum over tokens of i t) + o

The two first norms are one. A group of texts goes forward and back at once, so that one history is enough.
"""

from genspp.kernels.attention import (
    gelu_of_share,
    gelu_of_share_back,
    score,
    score_back,
    softmax,
    softmax_back,
    weighted_sum,
    weighted_sum_back,
)
from genspp.kernels.compile import kernel, routine
from genspp.kernels.gru import forward, gate_slot, slot
from genspp.kernels.guider_space import ATTEND, NORM, PROJECT, RESIDUAL, ROWS, WEIGH, GuiderSizes, Room
from genspp.kernels.inputs import Table, collect_inputs, project, sum_inputs
from genspp.kernels.lanes import QUAD, WIDTH
from genspp.kernels.layers import linear, linear_back, normalise, normalise_back
from genspp.kernels.losses import cross_entropy
from genspp.kernels.memory import (
    Floats,
    Ints,
    clear,
    gather,
    load,
    load_quad,
    store,
    total,
)
from genspp.kernels.network import begin, clear_sums, collect, run_group_back
from genspp.kernels.space import Space
from genspp.kernels.texts import Layout
from genspp.kernels.tokens import add_product, affine, affine_back, collect_dense, dense, dense_back, sum_tokens

# ---- one group


@routine
def _add_residual(
    sizes: GuiderSizes, places: int, cells: Ints, at: int, states: Floats, slots: int, room: Room
) -> None:
    """Write gru(x) + R x + r."""
    wide, units, plain = sizes.token.hidden, sizes.gru.units, room.plain
    for place in range(places):
        here, state = (place + 1) * slot(wide), (place + 1) * slot(sizes.gru.hidden)
        for feature in range(0, wide, QUAD):
            store(plain, here + feature * WIDTH, gather(room.rows, cells, at + place * WIDTH, feature))
        for way in range(2):
            for unit in range(units):
                own = here + (way * units + unit) * WIDTH
                store(plain, own, load(plain, own) + load(states, way * slots + state + unit * WIDTH))


@routine
def _read(
    group: int, sizes: GuiderSizes, layout: Layout, weights: Floats, space: Space, room: Room, noise: Floats,
    attention: Floats, logits: Floats, to: int, keep: int,
) -> None:  # fmt: skip
    """Write the attention and the logits of a group."""
    start, real, token, hidden = layout.first[group], layout.real, sizes.token, sizes.gru.hidden
    places, at, wide = layout.first[group + 1] - start, start * WIDTH, sizes.token.hidden
    for way in range(2):
        slots = way * space.slots
        clear(space.states, slots + way * (places + 1) * slot(hidden), hidden * WIDTH)
        forward(
            sizes.gru, way, places, layout.cells, real, at, weights, space.projected, way * space.table, space.states,
            slots, space.gates, way * space.history, keep,
        )  # fmt: skip
    _add_residual(sizes, places, layout.cells, at, space.states, space.slots, room)
    normalise(token, places, room.plain, 0, 0, real, at, room.normal, room.deviations)
    affine(places, wide, weights, sizes.norm, room.normal, room.features)
    dense(places, wide, weights, sizes.attend, room.features, room.attend_slopes)
    last = sizes.attend + (wide + 1) * wide
    score(places, wide, weights, last, room.attend_slopes, room.attend_values, attention, at)
    if len(noise) > 0:
        for here in range(at, at + places * WIDTH, WIDTH):
            store(attention, here, load(attention, here) + load(noise, here))
    softmax(places, real, attention, at)
    clear(room.projected, 0, (places + 1) * slot(wide))
    add_product(places, wide, weights, sizes.project, wide, 1, room.features, room.projected)
    bias = sizes.project + wide * wide
    gelu_of_share(places, wide, weights, bias, attention, at, room.projected, room.project_slopes, room.plain)
    normalise(token, places, room.plain, 0, 0, real, at, room.second_normal, room.second_deviations)
    affine(places, wide, weights, sizes.norm, room.second_normal, room.second)
    dense(places, wide, weights, sizes.weigh, room.second, room.plain)
    normalise(token, places, room.plain, 0, 0, real, at, room.weigh_normal, room.weigh_deviations)
    last = sizes.weigh + (wide + 1) * wide
    affine(places, wide, weights, last, room.weigh_normal, room.weigh_slopes)
    score(places, wide, weights, last + 2 * wide, room.weigh_slopes, room.weigh_values, room.importance, at)
    softmax(places, real, room.importance, at)
    weighted_sum(places, wide, room.importance, at, room.second, room.pooled)
    linear(wide, token.outputs, weights, sizes.head, room.pooled, 0, logits, to)


@routine
def _part_ways(sizes: GuiderSizes, places: int, d: Floats, d_states: Floats, slots: int, d_inputs: Floats) -> None:
    """Hand the gradient at gru(x) + R x to the states of both directions, and to the words' rows."""
    wide, units, hidden = sizes.token.hidden, sizes.gru.units, sizes.gru.hidden
    for place in range(places):
        here, state = (place + 1) * slot(wide), (place + 1) * slot(hidden)
        for way in range(2):
            for unit in range(units):
                slope = load(d, here + (way * units + unit) * WIDTH)
                store(d_states, way * slots + state + unit * WIDTH, slope)
        for feature in range(0, wide, QUAD):
            store(d_inputs, place * gate_slot(hidden) + feature * WIDTH, load_quad(d, here + feature * WIDTH))


@routine
def _go_back(
    group: int, sizes: GuiderSizes, layout: Layout, weights: Floats, space: Space, room: Room, attention: Floats,
    nothing: Floats,
) -> None:  # fmt: skip
    """Go back from the gradient at a group's logits, and add to all sums."""
    start, real, token, sums = layout.first[group], layout.real, sizes.token, room.sums
    places, at, wide = layout.first[group + 1] - start, start * WIDTH, sizes.token.hidden
    row, d_scores = wide * WIDTH, room.d_scores
    linear_back(
        wide, token.outputs, weights, sizes.head, room.pooled, 0, room.d_logits, 0, room.d_pooled, 0, room.head_sums
    )
    # d_second: at t. d_first: at the scores' inputs, and through them at what they come from.
    weighted_sum_back(places, wide, room.importance, at, room.second, room.d_pooled, room.d_second, d_scores)
    softmax_back(places, room.importance, d_scores, at)
    last = sizes.weigh + (wide + 1) * wide
    score_back(
        places, wide, weights, last + 2 * wide, room.weigh_values, room.weigh_slopes, d_scores, at, room.d_first, sums,
        (WEIGH + 3) * row,
    )  # fmt: skip
    affine_back(places, wide, weights, last, room.weigh_normal, room.d_first, sums, (WEIGH + 1) * row)
    normalise_back(token, places, room.weigh_normal, room.d_first, 0, 0, real, at, room.weigh_deviations)
    sum_tokens(places, wide, room.d_first, sums, WEIGH * row)
    dense_back(places, wide, weights, sizes.weigh, room.second, room.d_first, room.d_second, room.weigh_sums)
    affine_back(places, wide, weights, sizes.norm, room.second_normal, room.d_second, sums, NORM * row)
    normalise_back(token, places, room.second_normal, room.d_second, 0, 0, real, at, room.second_deviations)
    gelu_of_share_back(
        places, wide, attention, at, room.projected, room.project_slopes, room.d_second, d_scores, sums, PROJECT * row
    )
    # d_third: at s.
    clear(room.d_third, 0, (places + 1) * slot(wide))
    dense_back(places, wide, weights, sizes.project, room.features, room.d_second, room.d_third, room.project_sums)
    softmax_back(places, attention, d_scores, at)
    last = sizes.attend + (wide + 1) * wide
    score_back(
        places, wide, weights, last, room.attend_values, room.attend_slopes, d_scores, at, room.d_first, sums,
        (ATTEND + 1) * row,
    )  # fmt: skip
    sum_tokens(places, wide, room.d_first, sums, ATTEND * row)
    dense_back(places, wide, weights, sizes.attend, room.features, room.d_first, room.d_third, room.attend_sums)
    affine_back(places, wide, weights, sizes.norm, room.normal, room.d_third, sums, NORM * row)
    normalise_back(token, places, room.normal, room.d_third, 0, 0, real, at, room.deviations)
    sum_tokens(places, wide, room.d_third, sums, RESIDUAL * row)
    _part_ways(sizes, places, room.d_third, space.d_features, space.slots, room.d_inputs)
    sum_inputs(
        sizes.gru, places, layout.cells, real, at, room.d_inputs, 0, space.gate_rows, room.rows, room.d_rows, 0, True,
        nothing,
    )  # fmt: skip
    run_group_back(sizes.gru, layout, group, 0, 0, real, real, weights, space, True, nothing, nothing)


@routine
def _collect_rows(count: int, sums: Floats, row: int, gradient: Floats, start: int) -> None:
    """Bring sums that are kept lane by lane, from a row on, into the order of the weights."""
    for weight in range(count):
        gradient[start + weight] = total(load(sums, (row + weight) * WIDTH))


@routine
def _collect(
    count: int, sizes: GuiderSizes, layout: Layout, table: Table, space: Space, room: Room, gradient: Floats
) -> None:
    """Bring all sums over a batch into the order of the weights."""
    wide, gate, inputs = sizes.token.hidden, 3 * sizes.gru.hidden, sizes.gru.inputs
    square = wide * wide
    collect(count, sizes.gru, layout, table, space, gradient)
    collect_inputs(count, layout.used, space.dense, table, inputs, gate, room.d_rows, 0, gradient[sizes.residual :])
    _collect_rows(wide, room.sums, RESIDUAL * wide, gradient, sizes.residual + inputs * gate)
    _collect_rows(2 * wide, room.sums, NORM * wide, gradient, sizes.norm)
    collect_dense(wide, room.attend_sums, gradient, sizes.attend)
    _collect_rows(2 * wide + 1, room.sums, ATTEND * wide, gradient, sizes.attend + square)
    collect_dense(wide, room.project_sums, gradient, sizes.project)
    _collect_rows(wide, room.sums, PROJECT * wide, gradient, sizes.project + square)
    collect_dense(wide, room.weigh_sums, gradient, sizes.weigh)
    _collect_rows(4 * wide + 1, room.sums, WEIGH * wide, gradient, sizes.weigh + square)
    _collect_rows(sizes.token.outputs * (wide + 1), room.head_sums, 0, gradient, sizes.head)


# ---- a batch, called from Python


@routine
def _begin(
    count: int, sizes: GuiderSizes, layout: Layout, table: Table, weights: Floats, space: Space, room: Room
) -> None:
    """Project a batch's words."""
    gate, inputs = 3 * sizes.gru.hidden, sizes.gru.inputs
    begin(count, sizes.gru, layout, table, weights, space)
    for unit in range(0, gate, WIDTH):
        store(room.rows, unit, load(weights, sizes.residual + inputs * gate + unit))
    project(count, layout.used, table, inputs, gate, weights[sizes.residual :], room.rows, 0)


@kernel
def attend(
    groups: int, count: int, sizes: GuiderSizes, layout: Layout, table: Table, weights: Floats, space: Space,
    room: Room, attention: Floats, logits: Floats, nothing: Floats,
) -> None:  # fmt: skip
    """Write the attention of every token, (places, WIDTH), and the logits of every text, (groups, classes, WIDTH)."""
    _begin(count, sizes, layout, table, weights, space, room)
    for group in range(groups):
        to = group * sizes.token.outputs * WIDTH
        _read(group, sizes, layout, weights, space, room, nothing, attention, logits, to, 0)


@kernel
def fit_guider(
    groups: int, count: int, sizes: GuiderSizes, layout: Layout, table: Table, weights: Floats, space: Space,
    room: Room, noise: Floats, attention: Floats, gradient: Floats, nothing: Floats,
) -> float:  # fmt: skip
    """Return the weighted mean cross-entropy of a batch at noisy attention, and write the weights' gradient."""
    wide, classes, loss = sizes.token.hidden, sizes.token.outputs, 0.0
    square = wide // QUAD * wide * WIDTH
    _begin(count, sizes, layout, table, weights, space, room)
    clear_sums(count, sizes.gru, space)
    clear(room.d_rows, 0, (count + 1) * 3 * sizes.gru.hidden)
    clear(room.attend_sums, 0, square)
    clear(room.project_sums, 0, square)
    clear(room.weigh_sums, 0, square)
    clear(room.sums, 0, ROWS * wide * WIDTH)
    clear(room.head_sums, 0, classes * (wide + 1) * WIDTH)
    for group in range(groups):
        _read(group, sizes, layout, weights, space, room, noise, attention, room.logits, 0, 1)
        labels, shares = load(layout.labels, group * WIDTH), load(layout.shares, group * WIDTH)
        loss += cross_entropy(classes, room.logits, 0, labels, shares, room.d_logits, 0)
        _go_back(group, sizes, layout, weights, space, room, attention, nothing)
    _collect(count, sizes, layout, table, space, room, gradient)
    return loss
