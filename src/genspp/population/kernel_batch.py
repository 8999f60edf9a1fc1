"""The parts of a batch: its words, its texts side by side, pooling, the output layer, the gradient's last sums.

A text takes part from its first selected token to its last: before, all texts share one sequence of states; after,
nothing reaches the pooled values. Texts of a batch are sorted by that span, so that those in lockstep end together.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from genspp.population.kernel_cell import (
    Floats,
    Ints,
    Sizes,
    Table,
    exponential,
    layout,
    project,
    project_nothing,
    state_size,
)
from genspp.population.kernel_lanes import QUAD, ROW, WIDTH, larger, subroutine, where_equal, where_greater
from genspp.population.kernel_memory import (
    fill,
    fill_quad,
    fold,
    gather,
    load,
    load_quad,
    load_row,
    penalty,
    quad,
    store,
    store_turned,
    vector,
)

Longs = npt.NDArray[np.int64]


class Texts(NamedTuple):
    """Texts behind their highlights.

    words: (tokens,) rows of the word table, 0 where unselected. first, span: (texts,) the first selected token and
    the number of tokens from there to the last. picked: the selected words alone, those of a text from `picks` on.
    """

    words: Ints
    starts: Longs
    first: Ints
    span: Ints
    picked: Ints
    picks: Longs
    labels: Ints


class Words(NamedTuple):
    """The words of one batch: their input projections, a row each, and the gradient at those.

    slots: (words of the table,) where a word's row begins, 0 if it has none. used: the words that have one, from
    1. dense: room to note which of those are not one-hot.
    """

    projected: Floats
    drawn: Floats
    slots: Ints
    used: Ints
    dense: Ints


class Space(NamedTuple):
    """The history of WIDTH texts in lockstep, and the sums over a batch.

    cells: (steps, WIDTH) where a token's row of projections begins, 0 where it is unselected. leaves: (WIDTH,) where
    in the prefix a text begins. marks, shares: (WIDTH,) its class, and its share of the loss.
    """

    cells: Ints
    leaves: Ints
    states: Floats
    gates: Floats
    turned: Floats
    pooled: Floats
    when: Floats
    pull: Floats
    slope: Floats
    logits: Floats
    marks: Floats
    shares: Floats
    recurrent_sums: Floats
    bias_sums: Floats
    output_sums: Floats
    prefix_states: Floats
    prefix_gates: Floats
    prefix_slope: Floats
    counts: Ints
    ranked: Ints


@subroutine
def clear(array: Floats, count: int) -> None:
    """Set the first numbers of a workspace to zero, rounded up to whole vectors."""
    for at in range(0, count, WIDTH):
        store(array, at, vector(0.0))


@subroutine
def rank(rows: Longs, span: Ints, counts: Ints, ranked: Ints) -> None:
    """Sort the rows of a batch by span, longest first."""
    longest = 0
    for row in rows:
        longest = max(longest, span[row])
    for length in range(longest + 1):
        counts[length] = 0
    for row in rows:
        counts[span[row]] += 1
    position = 0
    for back in range(longest + 1):
        length = longest - back
        position, counts[length] = position + counts[length], position
    for row in rows:
        ranked[counts[span[row]]] = row
        counts[span[row]] += 1


@subroutine
def project_words(
    rows: Longs, picked: Ints, picks: Longs, table: Table, sizes: Sizes, weights: Floats, words: Words
) -> int:
    """Project each word that is selected in the batch, once, and return how many there are."""
    projected, slots, used = words.projected, words.slots, words.used
    vectors, columns = table.vectors, table.column
    count, size = 0, 3 * sizes.hidden
    project_nothing(sizes, weights, projected)
    for position in range(len(rows)):
        row = rows[position]
        for pick in range(picks[row], picks[row + 1]):
            word = picked[pick]
            if slots[word] == 0:
                count += 1
                slots[word] = count * size
                used[count] = word
                project(sizes, weights, vectors, columns[word], word, projected, count)
    return count


@subroutine
def forget_words(count: int, slots: Ints, used: Ints) -> None:
    """Take the rows of projections back."""
    for slot in range(1, count + 1):
        slots[used[slot]] = 0


@subroutine
def enter(begin: int, end: int, texts: Texts, slots: Ints, hidden: int, space: Space) -> int:
    """Lay out up to WIDTH texts side by side, and return the number of steps they take."""
    words, starts, first, span = texts.words, texts.starts, texts.first, texts.span
    ranked, cells, leaves = space.ranked, space.cells, space.leaves
    states, prefix = space.states, space.prefix_states
    steps = span[ranked[begin]]
    for cell in range(steps * WIDTH):
        cells[cell] = 0
    for lane in range(WIDTH):
        leaves[lane] = 0
    for lane in range(end - begin):
        text = ranked[begin + lane]
        token = starts[text] + first[text]
        for step in range(span[text]):
            cells[step * WIDTH + lane] = slots[words[token + step]]
        leaves[lane] = first[text] * hidden
    for unit in range(0, hidden, QUAD):
        store(states, unit * WIDTH, gather(prefix, leaves, 0, unit))
    return int(steps)


@subroutine
def pool(steps: int, hidden: int, states: Floats, cells: Ints, pooled: Floats, when: Floats) -> None:
    """Keep the largest of 0 and the states at selected tokens, and the step it came from (-1 for none)."""
    for unit in range(0, hidden, QUAD):
        best, origin = quad(0.0), quad(-1.0)
        for step in range(steps):
            value = load_quad(states, (step + 1) * state_size(hidden) + unit * WIDTH)
            value = value + penalty(cells, step * WIDTH)
            origin = where_greater(value, best, float(step), origin)
            best = where_greater(value, best, value, best)
        store(pooled, unit * WIDTH, best)
        store(when, unit * WIDTH, origin)


@subroutine
def classify(sizes: Sizes, weights: Floats, pooled: Floats, logits: Floats) -> None:
    """Write the logits, (classes, WIDTH)."""
    _, _, _, output, output_bias, _ = layout(sizes)
    for label in range(sizes.classes):
        sum_ = fill(weights, output_bias + label, 0)
        for k in range(sizes.hidden):
            weight = fill(weights, output + label * sizes.hidden + k, 0)
            sum_ = sum_ + weight * load(pooled, k * WIDTH)
        store(logits, label * WIDTH, sum_)


@subroutine
def turn_back(sizes: Sizes, weights: Floats, space: Space) -> None:
    """Turn logits into the gradient of the loss at them and at the pooled values; add to the output layer's."""
    _, _, _, output, _, _ = layout(sizes)
    hidden, logits, pull, pooled, sums = sizes.hidden, space.logits, space.pull, space.pooled, space.output_sums
    marks, shares = load(space.marks, 0), load(space.shares, 0)
    highest = load(logits, 0)
    for label in range(1, sizes.classes):
        highest = larger(highest, load(logits, label * WIDTH))
    sum_ = vector(0.0)
    for label in range(sizes.classes):
        power = exponential(load(logits, label * WIDTH) - highest)
        store(logits, label * WIDTH, power)
        sum_ = sum_ + power
    clear(pull, hidden * WIDTH)
    clear(space.slope, hidden * WIDTH)
    for label in range(sizes.classes):
        d = (load(logits, label * WIDTH) / sum_ - where_equal(marks, float(label), 1.0, 0.0)) * shares
        at = (sizes.classes * hidden // QUAD + label) * WIDTH
        store(sums, at, load(sums, at) + d)
        for unit in range(0, hidden, QUAD):
            weight = fill_quad(weights, output + label * hidden + unit, 1)
            store(pull, unit * WIDTH, load_quad(pull, unit * WIDTH) + weight * d)
            at = (label * hidden + unit) // QUAD * WIDTH
            store(sums, at, load(sums, at) + fold(load_quad(pooled, unit * WIDTH) * d))


@subroutine
def leave(lanes: int, hidden: int, leaves: Ints, slope: Floats, turned: Floats, prefix_slope: Floats) -> None:
    """Hand the gradient at the first states of the texts to the prefix."""
    for unit in range(0, hidden, QUAD):
        store_turned(turned, unit, hidden, load_quad(slope, unit * WIDTH))
    for lane in range(lanes):
        for unit in range(0, hidden, ROW):
            at = leaves[lane] + unit
            store(prefix_slope, at, load_row(prefix_slope, at) + load_row(turned, lane * hidden + unit))
