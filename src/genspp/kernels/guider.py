"""The guider of G-RAT: soft attention over a bidirectional GRU; over a batch, and back. In the symbols of its layers,

    s = norm(gru(x) + R x + r)                  a = softmax over tokens of w gelu(W s + b) + c (+ noise)
    t = norm(gelu(P (a s) + p))                 i = softmax over tokens of v gelu(norm2(V t + u)) + d
    logits = O (sum over tokens of i t) + o

The two first norms are one. A group of texts goes forward and back at once, so that one history is enough. Features are
both directions' real units end to end, padded to a multiple of WIDTH with features that stay zero.
"""

from typing import NamedTuple

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
from genspp.kernels.gru import Sizes, forward, gate_size, gate_slot, gru_layout, slot, state_size
from genspp.kernels.inputs import Table, collect_inputs, project, sum_inputs
from genspp.kernels.lanes import QUAD, WIDTH
from genspp.kernels.layers import linear, linear_back, normalise, normalise_back
from genspp.kernels.losses import cross_entropy
from genspp.kernels.memory import (
    Floats,
    Ints,
    clear,
    floats,
    gather,
    load,
    load_quad,
    store,
    total,
)
from genspp.kernels.network import Extent, Space, begin, clear_sums, collect, make_space, run_group_back
from genspp.kernels.texts import Layout
from genspp.kernels.tokens import add_product, affine, affine_back, collect_dense, dense, dense_back, sum_tokens


class Guide(NamedTuple):
    """The sizes of a guider: of its GRU, and of what is behind it. Then where its weights begin, behind the GRU's:

    residual R and r (inputs + 1 rows, as wide as a gate's), norm (scale, shift), attend (W, b, then w, c), project (P,
    p), weigh (V, u, norm2, then v, d), head (O, o).
    """

    gru: Sizes
    token: Sizes
    residual: int
    norm: int
    attend: int
    project: int
    weigh: int
    head: int
    size: int


def guide_layout(inputs: int, hidden: int, units: int, classes: int) -> Guide:
    """Return the sizes of a guider whose GRU has `units` real ones among `hidden` per direction."""
    gru = Sizes(inputs, hidden, units, 2, 0, False)
    wide = -(-2 * units // WIDTH) * WIDTH
    residual = 2 * gru_layout(gru)[3]
    norm = residual + (inputs + 1) * 3 * hidden
    attend = norm + 2 * wide
    project = attend + (wide + 2) * wide + WIDTH
    weigh = project + (wide + 1) * wide
    head = weigh + (wide + 4) * wide + WIDTH
    token = Sizes(inputs, wide, 2 * units, 1, classes, True)
    return Guide(gru, token, residual, norm, attend, project, weigh, head, head + classes * (wide + 1))


class Room(NamedTuple):
    """The memory of a guider's way over a batch and back, besides that of its GRU.

    rows, d_rows: of words, R x + r. Features of a group's tokens: plain (before a norm), then in the order of the
    symbols above; slopes are those of gelu. The numbers of all tokens: deviations, attention, importance. The sums over
    a batch: of the three dense layers, of all weights that are one per feature, of the head.
    """

    rows: Floats
    d_rows: Floats
    plain: Floats
    normal: Floats
    features: Floats
    attend_slopes: Floats
    attend_values: Floats
    projected: Floats
    project_slopes: Floats
    second_normal: Floats
    second: Floats
    weigh_normal: Floats
    weigh_slopes: Floats
    weigh_values: Floats
    d_first: Floats
    d_second: Floats
    d_third: Floats
    d_inputs: Floats
    deviations: Floats
    second_deviations: Floats
    weigh_deviations: Floats
    importance: Floats
    d_scores: Floats
    pooled: Floats
    d_pooled: Floats
    logits: Floats
    d_logits: Floats
    attend_sums: Floats
    project_sums: Floats
    weigh_sums: Floats
    sums: Floats
    head_sums: Floats


# Where the sums of the weights that are one per feature begin, in rows of `wide`.
_NORM, _ATTEND, _PROJECT, _WEIGH, _RESIDUAL, _ROWS = 0, 2, 5, 6, 11, 12


def make_guide_space(guide: Guide, extent: Extent) -> Space:
    """Return the memory of the GRU for batches of some extent."""
    return make_space(guide.gru, extent, one=True)


def make_room(guide: Guide, extent: Extent) -> Room:
    """Return the memory for batches of some extent."""
    wide, classes, table = guide.token.hidden, guide.token.outputs, (extent.words + 2) * 3 * guide.gru.hidden
    features = (extent.longest + 1) * state_size(wide)
    fields = dict.fromkeys(Room._fields, features)
    fields |= dict.fromkeys(["rows", "d_rows"], table)
    fields |= {"d_inputs": extent.longest * gate_size(guide.gru.hidden)}
    numbers = ["deviations", "second_deviations", "weigh_deviations", "importance", "d_scores"]
    fields |= dict.fromkeys(numbers, extent.places * WIDTH)
    fields |= dict.fromkeys(["pooled", "d_pooled"], wide * WIDTH)
    fields |= dict.fromkeys(["logits", "d_logits"], classes * WIDTH)
    fields |= dict.fromkeys(["attend_sums", "project_sums", "weigh_sums"], wide // QUAD * wide * WIDTH)
    fields |= {"sums": _ROWS * wide * WIDTH, "head_sums": classes * (wide + 1) * WIDTH}
    return Room(**{name: floats(count) for name, count in fields.items()})


# ---- one group


@routine
def _add_residual(guide: Guide, places: int, cells: Ints, at: int, states: Floats, slots: int, room: Room) -> None:
    """Write gru(x) + R x + r."""
    wide, units, plain = guide.token.hidden, guide.gru.units, room.plain
    for place in range(places):
        here, state = (place + 1) * slot(wide), (place + 1) * slot(guide.gru.hidden)
        for feature in range(0, wide, QUAD):
            store(plain, here + feature * WIDTH, gather(room.rows, cells, at + place * WIDTH, feature))
        for way in range(2):
            for unit in range(units):
                own = here + (way * units + unit) * WIDTH
                store(plain, own, load(plain, own) + load(states, way * slots + state + unit * WIDTH))


@routine
def _read(
    group: int, guide: Guide, layout: Layout, weights: Floats, space: Space, room: Room, noise: Floats,
    attention: Floats, logits: Floats, to: int, keep: int,
) -> None:  # fmt: skip
    """Write the attention and the logits of a group."""
    start, real, token, hidden = layout.first[group], layout.real, guide.token, guide.gru.hidden
    places, at, wide = layout.first[group + 1] - start, start * WIDTH, guide.token.hidden
    for way in range(2):
        slots = way * space.slots
        clear(space.states, slots + way * (places + 1) * slot(hidden), hidden * WIDTH)
        forward(
            guide.gru, way, places, layout.cells, real, at, weights, space.projected, way * space.table, space.states,
            slots, space.gates, way * space.history, keep,
        )  # fmt: skip
    _add_residual(guide, places, layout.cells, at, space.states, space.slots, room)
    normalise(token, places, room.plain, 0, 0, real, at, room.normal, room.deviations)
    affine(places, wide, weights, guide.norm, room.normal, room.features)
    dense(places, wide, weights, guide.attend, room.features, room.attend_slopes)
    last = guide.attend + (wide + 1) * wide
    score(places, wide, weights, last, room.attend_slopes, room.attend_values, attention, at)
    if len(noise) > 0:
        for here in range(at, at + places * WIDTH, WIDTH):
            store(attention, here, load(attention, here) + load(noise, here))
    softmax(places, real, attention, at)
    clear(room.projected, 0, (places + 1) * slot(wide))
    add_product(places, wide, weights, guide.project, wide, 1, room.features, room.projected)
    bias = guide.project + wide * wide
    gelu_of_share(places, wide, weights, bias, attention, at, room.projected, room.project_slopes, room.plain)
    normalise(token, places, room.plain, 0, 0, real, at, room.second_normal, room.second_deviations)
    affine(places, wide, weights, guide.norm, room.second_normal, room.second)
    dense(places, wide, weights, guide.weigh, room.second, room.plain)
    normalise(token, places, room.plain, 0, 0, real, at, room.weigh_normal, room.weigh_deviations)
    last = guide.weigh + (wide + 1) * wide
    affine(places, wide, weights, last, room.weigh_normal, room.weigh_slopes)
    score(places, wide, weights, last + 2 * wide, room.weigh_slopes, room.weigh_values, room.importance, at)
    softmax(places, real, room.importance, at)
    weighted_sum(places, wide, room.importance, at, room.second, room.pooled)
    linear(wide, token.outputs, weights, guide.head, room.pooled, 0, logits, to)


@routine
def _part_ways(guide: Guide, places: int, d: Floats, d_states: Floats, slots: int, d_inputs: Floats) -> None:
    """Hand the gradient at gru(x) + R x to the states of both directions, and to the words' rows."""
    wide, units, hidden = guide.token.hidden, guide.gru.units, guide.gru.hidden
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
    group: int, guide: Guide, layout: Layout, weights: Floats, space: Space, room: Room, attention: Floats,
    nothing: Floats,
) -> None:  # fmt: skip
    """Go back from the gradient at a group's logits, and add to all sums."""
    start, real, token, sums = layout.first[group], layout.real, guide.token, room.sums
    places, at, wide = layout.first[group + 1] - start, start * WIDTH, guide.token.hidden
    row, d_scores = wide * WIDTH, room.d_scores
    linear_back(
        wide, token.outputs, weights, guide.head, room.pooled, 0, room.d_logits, 0, room.d_pooled, 0, room.head_sums
    )
    # d_second: at t. d_first: at the scores' inputs, and through them at what they come from.
    weighted_sum_back(places, wide, room.importance, at, room.second, room.d_pooled, room.d_second, d_scores)
    softmax_back(places, room.importance, d_scores, at)
    last = guide.weigh + (wide + 1) * wide
    score_back(
        places, wide, weights, last + 2 * wide, room.weigh_values, room.weigh_slopes, d_scores, at, room.d_first, sums,
        (_WEIGH + 3) * row,
    )  # fmt: skip
    affine_back(places, wide, weights, last, room.weigh_normal, room.d_first, sums, (_WEIGH + 1) * row)
    normalise_back(token, places, room.weigh_normal, room.d_first, 0, 0, real, at, room.weigh_deviations)
    sum_tokens(places, wide, room.d_first, sums, _WEIGH * row)
    dense_back(places, wide, weights, guide.weigh, room.second, room.d_first, room.d_second, room.weigh_sums)
    affine_back(places, wide, weights, guide.norm, room.second_normal, room.d_second, sums, _NORM * row)
    normalise_back(token, places, room.second_normal, room.d_second, 0, 0, real, at, room.second_deviations)
    gelu_of_share_back(
        places, wide, attention, at, room.projected, room.project_slopes, room.d_second, d_scores, sums, _PROJECT * row
    )
    # d_third: at s.
    clear(room.d_third, 0, (places + 1) * slot(wide))
    dense_back(places, wide, weights, guide.project, room.features, room.d_second, room.d_third, room.project_sums)
    softmax_back(places, attention, d_scores, at)
    last = guide.attend + (wide + 1) * wide
    score_back(
        places, wide, weights, last, room.attend_values, room.attend_slopes, d_scores, at, room.d_first, sums,
        (_ATTEND + 1) * row,
    )  # fmt: skip
    sum_tokens(places, wide, room.d_first, sums, _ATTEND * row)
    dense_back(places, wide, weights, guide.attend, room.features, room.d_first, room.d_third, room.attend_sums)
    affine_back(places, wide, weights, guide.norm, room.normal, room.d_third, sums, _NORM * row)
    normalise_back(token, places, room.normal, room.d_third, 0, 0, real, at, room.deviations)
    sum_tokens(places, wide, room.d_third, sums, _RESIDUAL * row)
    _part_ways(guide, places, room.d_third, space.d_features, space.slots, room.d_inputs)
    sum_inputs(
        guide.gru, places, layout.cells, real, at, room.d_inputs, 0, space.turned, room.rows, room.d_rows, 0, nothing
    )
    run_group_back(guide.gru, layout, group, 0, 0, real, weights, space, nothing)


@routine
def _collect_rows(count: int, sums: Floats, row: int, gradient: Floats, start: int) -> None:
    """Bring sums that are kept lane by lane, from a row on, into the order of the weights."""
    for weight in range(count):
        gradient[start + weight] = total(load(sums, (row + weight) * WIDTH))


@routine
def _collect(count: int, guide: Guide, layout: Layout, table: Table, space: Space, room: Room, gradient: Floats) -> None:
    """Bring all sums over a batch into the order of the weights."""
    wide, gate, inputs = guide.token.hidden, 3 * guide.gru.hidden, guide.gru.inputs
    square = wide * wide
    collect(count, guide.gru, layout, table, space, gradient)
    collect_inputs(
        count, layout.used, space.dense, table, inputs, gate, room.d_rows, 0, gradient[guide.residual :]
    )
    _collect_rows(wide, room.sums, _RESIDUAL * wide, gradient, guide.residual + inputs * gate)
    _collect_rows(2 * wide, room.sums, _NORM * wide, gradient, guide.norm)
    collect_dense(wide, room.attend_sums, gradient, guide.attend)
    _collect_rows(2 * wide + 1, room.sums, _ATTEND * wide, gradient, guide.attend + square)
    collect_dense(wide, room.project_sums, gradient, guide.project)
    _collect_rows(wide, room.sums, _PROJECT * wide, gradient, guide.project + square)
    collect_dense(wide, room.weigh_sums, gradient, guide.weigh)
    _collect_rows(4 * wide + 1, room.sums, _WEIGH * wide, gradient, guide.weigh + square)
    _collect_rows(guide.token.outputs * (wide + 1), room.head_sums, 0, gradient, guide.head)


# ---- a batch, called from Python


@routine
def _begin(count: int, guide: Guide, layout: Layout, table: Table, weights: Floats, space: Space, room: Room) -> None:
    """Project a batch's words."""
    gate, inputs = 3 * guide.gru.hidden, guide.gru.inputs
    begin(count, guide.gru, layout, table, weights, space)
    for unit in range(0, gate, WIDTH):
        store(room.rows, unit, load(weights, guide.residual + inputs * gate + unit))
    project(count, layout.used, table, inputs, gate, weights[guide.residual :], room.rows, 0)


@kernel
def attend(
    groups: int, count: int, guide: Guide, layout: Layout, table: Table, weights: Floats, space: Space, room: Room,
    attention: Floats, logits: Floats, nothing: Floats,
) -> None:  # fmt: skip
    """Write the attention of every token, (places, WIDTH), and the logits of every text, (groups, classes, WIDTH)."""
    _begin(count, guide, layout, table, weights, space, room)
    for group in range(groups):
        to = group * guide.token.outputs * WIDTH
        _read(group, guide, layout, weights, space, room, nothing, attention, logits, to, 0)


@kernel
def fit_guider(
    groups: int, count: int, guide: Guide, layout: Layout, table: Table, weights: Floats, space: Space, room: Room,
    noise: Floats, attention: Floats, gradient: Floats, nothing: Floats,
) -> float:  # fmt: skip
    """Return the weighted mean cross-entropy of a batch with noise on its attention, and write the weights' gradient."""
    wide, classes, loss = guide.token.hidden, guide.token.outputs, 0.0
    square = wide // QUAD * wide * WIDTH
    _begin(count, guide, layout, table, weights, space, room)
    clear_sums(count, guide.gru, space)
    clear(room.d_rows, 0, (count + 1) * 3 * guide.gru.hidden)
    clear(room.attend_sums, 0, square)
    clear(room.project_sums, 0, square)
    clear(room.weigh_sums, 0, square)
    clear(room.sums, 0, _ROWS * wide * WIDTH)
    clear(room.head_sums, 0, classes * (wide + 1) * WIDTH)
    for group in range(groups):
        _read(group, guide, layout, weights, space, room, noise, attention, room.logits, 0, 1)
        marks, shares = load(layout.marks, group * WIDTH), load(layout.shares, group * WIDTH)
        loss += cross_entropy(classes, room.logits, 0, marks, shares, room.d_logits, 0)
        _go_back(group, guide, layout, weights, space, room, attention, nothing)
    _collect(count, guide, layout, table, space, room, gradient)
    return loss
