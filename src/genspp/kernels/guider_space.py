"""The sizes of G-RAT's guider, where its weights lie, and the memory of its way over a batch. `guider` has the symbols.

Features are both directions' real units end to end, padded to a multiple of WIDTH with features that stay zero.
"""

from typing import NamedTuple

from genspp.kernels.gru import Sizes, gate_size, gru_layout, state_size
from genspp.kernels.lanes import QUAD, WIDTH
from genspp.kernels.memory import Floats, floats
from genspp.kernels.space import Extent, Space, make_space


class GuiderSizes(NamedTuple):
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


def guider_layout(inputs: int, hidden: int, units: int, classes: int) -> GuiderSizes:
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
    return GuiderSizes(gru, token, residual, norm, attend, project, weigh, head, head + classes * (wide + 1))


class Room(NamedTuple):
    """The memory of a guider's way over a batch and back, besides that of its GRU.

    rows, d_rows: of words, R x + r. Features of a group's tokens: plain (before a norm), then in the order of the
    symbols of `guider`; slopes are those of gelu. The numbers of all tokens: deviations, importance. The sums over
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
NORM, ATTEND, PROJECT, WEIGH, RESIDUAL, ROWS = 0, 2, 5, 6, 11, 12


def make_guider_space(sizes: GuiderSizes, extent: Extent) -> Space:
    """Return the memory of the GRU for batches of some extent."""
    return make_space(sizes.gru, extent, one=True)


def make_room(sizes: GuiderSizes, extent: Extent) -> Room:
    """Return the memory for batches of some extent."""
    wide, classes, table = sizes.token.hidden, sizes.token.outputs, (extent.words + 2) * 3 * sizes.gru.hidden
    features = (extent.longest + 1) * state_size(wide)
    fields = dict.fromkeys(Room._fields, features)
    fields |= dict.fromkeys(["rows", "d_rows"], table)
    fields |= {"d_inputs": extent.longest * gate_size(sizes.gru.hidden)}
    numbers = ["deviations", "second_deviations", "weigh_deviations", "importance", "d_scores"]
    fields |= dict.fromkeys(numbers, extent.places * WIDTH)
    fields |= dict.fromkeys(["pooled", "d_pooled"], wide * WIDTH)
    fields |= dict.fromkeys(["logits", "d_logits"], classes * WIDTH)
    fields |= dict.fromkeys(["attend_sums", "project_sums", "weigh_sums"], wide // QUAD * wide * WIDTH)
    fields |= {"sums": ROWS * wide * WIDTH, "head_sums": classes * (wide + 1) * WIDTH}
    return Room(**{name: floats(count) for name, count in fields.items()})
