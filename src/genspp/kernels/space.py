"""The weights and the memory of a network: a GRU, a norm if there is one, and a linear layer.

The weights are one flat vector: those of the GRU's directions (see `gru`), scale and shift of the norm if there is
one, weights and biases of the linear layer; features are (ways, hidden), padded units included.
"""

from typing import NamedTuple

from genspp.kernels.compile import inlined
from genspp.kernels.gru import Sizes, gate_size, state_size
from genspp.kernels.lanes import WIDTH
from genspp.kernels.memory import Floats, Ints, floats, integers


def network_layout(sizes: Sizes) -> tuple[int, int, int]:
    """Return where the norm's weights and the linear layer's begin in a network's, and where they end."""
    wide = sizes.ways * sizes.hidden
    norm = 3 * wide * (sizes.inputs + sizes.hidden + 2)  # what precedes it: the directions, as `gru_layout` has them
    head = norm + (2 * wide if sizes.normed else 0)
    return norm, head, head + sizes.outputs * (wide + 1)


parts = inlined(network_layout)


class Space(NamedTuple):
    """The memory of a network's way over a batch and back.

    projected, d_projected: per direction, `table` numbers apart, a row per word. states, normal, d_features: per
    direction, `slots` numbers apart. gates: per direction, `history` numbers apart. seen: (places, WIDTH) the cells of
    the tokens that are seen. soft: rows of tokens that are seen in part. The rest belongs to layers and sums.
    """

    table: int
    slots: int
    history: int
    projected: Floats
    d_projected: Floats
    states: Floats
    gates: Floats
    normal: Floats
    deviations: Floats
    d_features: Floats
    scale: Floats
    shift: Floats
    seen: Ints
    soft: Floats
    pooled: Floats
    argmax: Floats
    d_pooled: Floats
    d_state: Floats
    gate_rows: Floats
    dense: Ints
    recurrent_sums: Floats
    bias_sums: Floats
    scale_sums: Floats
    shift_sums: Floats
    head_sums: Floats


class Extent(NamedTuple):
    """How much a batch may hold: groups, places, the places of one group, different words."""

    groups: int
    places: int
    longest: int
    words: int


def make_space(sizes: Sizes, extent: Extent, *, keep: bool = True, soft: bool = False, one: bool = False) -> Space:
    """Return the memory for batches of some extent.

    keep: whether there will be a way back. one: whether it follows after every group, so that one history is enough.
    """
    hidden, ways, row, (groups, places, longest, words) = sizes.hidden, sizes.ways, 3 * sizes.hidden, extent
    wide, table, seen = ways * hidden, (words + 2) * row, integers(places * WIDTH)
    slots = (places + 2 * groups if keep and not one else longest + 2) * state_size(hidden)
    history = (places if keep and not one else longest) * gate_size(hidden)
    return Space(
        table=table,
        slots=slots,
        history=history,
        projected=floats(ways * table),
        d_projected=floats(ways * table if keep else 0),
        states=floats(ways * slots),
        gates=floats(ways * history),
        normal=floats(ways * slots if sizes.normed else 0),
        deviations=floats(places * WIDTH),
        d_features=floats(ways * slots if keep else 0),
        scale=floats(wide),
        shift=floats(wide),
        seen=seen,
        soft=floats(ways * (len(seen) + 1) * row if soft else 0),
        pooled=floats(groups * wide * WIDTH),
        argmax=floats(groups * wide * WIDTH),
        d_pooled=floats(wide * WIDTH),
        d_state=floats(hidden * WIDTH),
        gate_rows=floats(row * WIDTH),
        dense=integers(words + 2),
        recurrent_sums=floats(ways * hidden // 4 * row * WIDTH),
        bias_sums=floats(ways * hidden * WIDTH),
        scale_sums=floats(wide * WIDTH),
        shift_sums=floats(wide * WIDTH),
        head_sums=floats(sizes.outputs * (wide + 1) * WIDTH),
    )
