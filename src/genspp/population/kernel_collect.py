"""The last sums of a batch: from lanes, steps and words to the gradient in the order of the weights."""

from genspp.population.kernel_batch import Space, Words, clear
from genspp.population.kernel_cell import Floats, Sizes, Table, layout
from genspp.population.kernel_lanes import QUAD, ROW, WIDTH, subroutine
from genspp.population.kernel_memory import fill_rows, load, load_row, octets, store, store_spaced, store_sums, total


@subroutine
def collect(sizes: Sizes, space: Space, gradient: Floats) -> None:
    """Bring the sums over texts and steps into the order of the weights, all but the input weights."""
    hidden, row = sizes.hidden, 3 * sizes.hidden
    input_bias, recurrent, recurrent_bias, output, output_bias, _ = layout(sizes)
    recurrent_sums, bias_sums, output_sums = space.recurrent_sums, space.bias_sums, space.output_sums
    for k in range(0, hidden, QUAD):
        for gate in range(row):
            folded = load(recurrent_sums, (k // QUAD * row + gate) * WIDTH)
            store_sums(gradient, recurrent + k * row + gate, row, folded)
    for unit in range(0, row, QUAD):
        store_sums(gradient, input_bias + unit, 1, load(bias_sums, unit // QUAD * WIDTH))
        # Reset and update gates add both biases; behind the reset gate, `new` has its own.
        other = unit if unit < 2 * hidden else unit + hidden
        store_sums(gradient, recurrent_bias + unit, 1, load(bias_sums, other // QUAD * WIDTH))
    for at in range(0, sizes.classes * hidden, QUAD):
        store_sums(gradient, output + at, 1, load(output_sums, at // QUAD * WIDTH))
    for label in range(sizes.classes):
        at = (sizes.classes * hidden // QUAD + label) * WIDTH
        gradient[output_bias + label] = total(load(output_sums, at))


@subroutine
def _collect_dense(count: int, table: Table, sizes: Sizes, words: Words, gradient: Floats) -> None:
    """Sum over words the products of vector and gradient, four inputs and the three gates of a unit at a time.

    Where the inputs are no multiple of four, the last rows run over into the next part, which is written later.
    """
    hidden, row = sizes.hidden, 3 * sizes.hidden
    vectors, drawn, used, dense = table.vectors, words.drawn, words.used, words.dense
    for unit in range(0, hidden, ROW):
        for i in range(0, sizes.inputs, QUAD):
            a, b, c = octets(0.0), octets(0.0), octets(0.0)
            for position in range(count):
                slot = dense[position]
                numbers, at = fill_rows(vectors, used[slot] * sizes.inputs + i, 1), slot * row + unit
                a = a + numbers * load_row(drawn, at)
                b = b + numbers * load_row(drawn, at + hidden)
                c = c + numbers * load_row(drawn, at + 2 * hidden)
            at = i * row + unit
            store_spaced(gradient, at, row, a)
            store_spaced(gradient, at + hidden, row, b)
            store_spaced(gradient, at + 2 * hidden, row, c)


@subroutine
def collect_inputs(count: int, table: Table, sizes: Sizes, words: Words, gradient: Floats) -> None:
    """Write the gradient at the input weights: that at the projections, times the word vectors.

    Comes before `collect`, because it may overwrite the beginning of the next part.
    """
    row, columns, drawn, used, dense = 3 * sizes.hidden, table.column, words.drawn, words.used, words.dense
    plain = 0
    for slot in range(1, count + 1):
        dense[plain] = slot
        plain += columns[used[slot]] < 0
    if plain > 0:
        _collect_dense(plain, table, sizes, words, gradient)
    else:
        clear(gradient, sizes.inputs * row)
    if plain == count:
        return
    for slot in range(1, count + 1):
        column = columns[used[slot]]
        if column >= 0:
            for gate in range(0, row, ROW):
                at = column * row + gate
                store(gradient, at, load_row(gradient, at) + load_row(drawn, slot * row + gate))
