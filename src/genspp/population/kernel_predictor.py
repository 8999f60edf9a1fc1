"""Training and validating one predictor behind fixed highlights."""

import math

from genspp.population.kernel_batch import (
    Longs,
    Space,
    Texts,
    Words,
    classify,
    clear,
    enter,
    forget_words,
    leave,
    pool,
    project_words,
    rank,
    turn_back,
)
from genspp.population.kernel_cell import Floats, Ints, Sizes, Table, forward, forward_prefix
from genspp.population.kernel_collect import collect, collect_inputs
from genspp.population.kernel_gradient import backward, backward_prefix, sum_biases, sum_inputs, sum_recurrent
from genspp.population.kernel_lanes import QUAD, WIDTH, compiled, square_root, subroutine
from genspp.population.kernel_memory import load, store


@compiled
def survey(words: Ints, starts: Longs, first: Ints, span: Ints, picked: Ints, picks: Longs) -> None:
    """Fill in the rest of `Texts`, whose `words` and `starts` are given."""
    count = 0
    for text in range(len(starts) - 1):
        begin, end = starts[text], starts[text + 1]
        picks[text] = count
        for token in range(begin, end):
            picked[count] = words[token]
            count += words[token] != 0
        while begin < end and words[begin] == 0:
            begin += 1
        while end > begin and words[end - 1] == 0:
            end -= 1
        span[text] = end - begin
        first[text] = begin - starts[text] if end > begin else 0
    picks[len(starts) - 1] = count


@subroutine
def _longest_prefix(rows: Longs, first: Ints) -> int:
    prefix = 0
    for row in rows:
        prefix = max(prefix, first[row])
    return prefix


@subroutine
def _share_out(begin: int, end: int, mass: float, labels: Ints, class_weights: Floats, space: Space) -> None:
    """Note the classes of the texts in lockstep and their shares of the batch's loss."""
    marks, shares, ranked = space.marks, space.shares, space.ranked
    clear(shares, WIDTH)
    for lane in range(end - begin):
        label = labels[ranked[begin + lane]]
        marks[lane] = label
        shares[lane] = class_weights[label] / mass


@subroutine
def _find_gradient(
    rows: Longs,
    texts: Texts,
    class_weights: Floats,
    table: Table,
    sizes: Sizes,
    weights: Floats,
    words: Words,
    space: Space,
    gradient: Floats,
) -> None:
    """Write the gradient of the weighted mean cross-entropy of a batch."""
    hidden, labels = sizes.hidden, texts.labels
    states, gates, cells, turned, slope = space.states, space.gates, space.cells, space.turned, space.slope
    prefix_states, prefix_gates, prefix_slope = space.prefix_states, space.prefix_gates, space.prefix_slope
    rank(rows, texts.span, space.counts, space.ranked)
    count = project_words(rows, texts.picked, texts.picks, table, sizes, weights, words)
    prefix = _longest_prefix(rows, texts.first)
    forward_prefix(prefix, sizes, weights, words.projected, prefix_states, prefix_gates)
    clear(words.drawn, (count + 1) * 3 * hidden)
    clear(prefix_slope, (prefix + 1) * hidden)
    clear(space.recurrent_sums, hidden // QUAD * 3 * hidden * WIDTH)
    clear(space.bias_sums, hidden * WIDTH)
    clear(space.output_sums, (sizes.classes * hidden // QUAD + sizes.classes) * WIDTH)
    mass = 0.0
    for row in rows:
        mass += class_weights[labels[row]]
    for begin in range(0, len(rows), WIDTH):
        end = min(begin + WIDTH, len(rows))
        steps = enter(begin, end, texts, words.slots, hidden, space)
        _share_out(begin, end, mass, labels, class_weights, space)
        forward(steps, sizes, weights, words.projected, cells, states, gates, 1)
        pool(steps, hidden, states, cells, space.pooled, space.when)
        classify(sizes, weights, space.pooled, space.logits)
        turn_back(sizes, weights, space)
        backward(steps, sizes, weights, states, gates, space.when, space.pull, slope)
        sum_recurrent(steps, hidden, states, gates, space.recurrent_sums)
        sum_biases(steps, hidden, gates, space.bias_sums)
        sum_inputs(steps, hidden, cells, gates, turned, words.drawn)
        leave(end - begin, hidden, space.leaves, slope, turned, prefix_slope)
    collect_inputs(count, table, sizes, words, gradient)
    collect(sizes, space, gradient)
    backward_prefix(prefix, sizes, weights, prefix_states, prefix_gates, prefix_slope, gradient)
    forget_words(count, words.slots, words.used)


@subroutine
def _adam(step: int, rate: float, weights: Floats, gradient: Floats, moments: Floats, squares: Floats) -> None:
    """Update all weights as torch.optim.Adam does, with its default constants; `step` counts from 1."""
    size = rate / (1 - 0.9**step)
    correction = math.sqrt(1 - 0.999**step)
    for at in range(0, len(weights), WIDTH):
        slope, moment = load(gradient, at), load(moments, at)
        moment = moment + (slope - moment) * (1 - 0.9)
        square = load(squares, at) * 0.999 + slope * slope * (1 - 0.999)
        store(moments, at, moment)
        store(squares, at, square)
        store(weights, at, load(weights, at) - size * moment / (square_root(square) / correction + 1e-8))


@compiled
def train_epoch(
    order: Longs,
    batch_size: int,
    rate: float,
    step: int,
    texts: Texts,
    class_weights: Floats,
    table: Table,
    sizes: Sizes,
    words: Words,
    space: Space,
    weights: Floats,
    gradient: Floats,
    moments: Floats,
    squares: Floats,
) -> int:
    """Train on all batches of an order and return the number of steps taken so far."""
    for begin in range(0, len(order), batch_size):
        rows = order[begin : begin + batch_size]
        _find_gradient(rows, texts, class_weights, table, sizes, weights, words, space, gradient)
        step += 1
        _adam(step, rate, weights, gradient, moments, squares)
    return step


@subroutine
def _cross_entropy(label: int, lane: int, classes: int, logits: Floats) -> float:
    highest = float(logits[lane])
    for other in range(1, classes):
        highest = max(highest, float(logits[other * WIDTH + lane]))
    sum_ = 0.0
    for other in range(classes):
        sum_ += math.exp(float(logits[other * WIDTH + lane]) - highest)
    return math.log(sum_) + highest - float(logits[label * WIDTH + lane])


@compiled
def validate(
    order: Longs,
    chunk: int,
    texts: Texts,
    class_weights: Floats,
    table: Table,
    sizes: Sizes,
    words: Words,
    space: Space,
    weights: Floats,
) -> float:
    """Return the weighted mean cross-entropy over all rows of an order, best one that is sorted by span."""
    loss, mass, prefix = 0.0, 0.0, _longest_prefix(order, texts.first)
    for at in range(0, len(order), chunk):
        rows = order[at : at + chunk]
        rank(rows, texts.span, space.counts, space.ranked)
        count = project_words(rows, texts.picked, texts.picks, table, sizes, weights, words)
        if at == 0:
            forward_prefix(prefix, sizes, weights, words.projected, space.prefix_states, space.prefix_gates)
        for begin in range(0, len(rows), WIDTH):
            end = min(begin + WIDTH, len(rows))
            steps = enter(begin, end, texts, words.slots, sizes.hidden, space)
            forward(steps, sizes, weights, words.projected, space.cells, space.states, space.gates, 0)
            pool(steps, sizes.hidden, space.states, space.cells, space.pooled, space.when)
            classify(sizes, weights, space.pooled, space.logits)
            for lane in range(end - begin):
                label = texts.labels[space.ranked[begin + lane]]
                weight = float(class_weights[label])
                loss += weight * _cross_entropy(label, lane, sizes.classes, space.logits)
                mass += weight
        forget_words(count, words.slots, words.used)
    return loss / mass
