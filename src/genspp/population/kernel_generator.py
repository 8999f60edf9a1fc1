"""The generator's logits over all texts of a data set, WIDTH texts of about one length at a time."""

import numpy as np
import numpy.typing as npt

from genspp.population.kernel_cell import (
    Floats,
    Ints,
    Sizes,
    Table,
    forward,
    layout,
    project,
    project_nothing,
    state_size,
)
from genspp.population.kernel_lanes import QUAD, WIDTH, compiled
from genspp.population.kernel_memory import fill, load, quad, store

Longs = npt.NDArray[np.int64]


@compiled
def add_logits(
    order: Longs,
    starts: Longs,
    words: Ints,
    reverse: bool,
    table: Table,
    sizes: Sizes,
    weights: Floats,
    projected: Floats,
    cells: Ints,
    states: Floats,
    gates: Floats,
    logits: Floats,
) -> None:
    """Add what one direction contributes to the logits of all tokens.

    order: the texts sorted by length, longest first. words: (tokens,) rows of `table`; every row of it is projected,
    once. The backward direction reads each text from its own last token, so that padding has no part in it.
    """
    hidden, row = sizes.hidden, 3 * sizes.hidden
    _, _, _, output, output_bias, _ = layout(sizes)
    project_nothing(sizes, weights, projected)
    vectors, columns = table.vectors, table.column
    for word in range(1, len(columns)):
        project(sizes, weights, vectors, columns[word], word, projected, word)
    for begin in range(0, len(order), WIDTH):
        end = min(begin + WIDTH, len(order))
        steps = starts[order[begin] + 1] - starts[order[begin]]
        cells[: steps * WIDTH] = 0
        for lane in range(end - begin):
            first, last = starts[order[begin + lane]], starts[order[begin + lane] + 1] - 1
            for step in range(last - first + 1):
                cells[step * WIDTH + lane] = words[last - step if reverse else first + step] * row
        for unit in range(0, hidden, QUAD):
            store(states, unit * WIDTH, quad(0.0))
        forward(steps, sizes, weights, projected, cells, states, gates, 0)
        for step in range(steps):
            sum_ = fill(weights, output_bias, 0)
            for k in range(hidden):
                value = load(states, (step + 1) * state_size(hidden) + k * WIDTH)
                sum_ = sum_ + fill(weights, output + k, 0) * value
            # The logits go where states were that have been read.
            store(states, step * WIDTH, sum_)
        for lane in range(end - begin):
            first, last = starts[order[begin + lane]], starts[order[begin + lane] + 1] - 1
            for step in range(last - first + 1):
                logits[last - step if reverse else first + step] += states[step * WIDTH + lane]
