"""Behind the recurrence: layer norm, the highest state of a text, linear layers; WIDTH texts at a time, and back.

    norm     x -> (x - mean) / sqrt(variance + 1e-5) over the features of a token, then scale and shift (nn.LayerNorm)
    pool     the highest value of a feature over the tokens of a text
    linear   W x + b (nn.Linear)

Features are the states of one or both directions, in the slots that `gru` describes; a network without a norm has
scale 1 and shift 0. `ways` is how far apart the slots of two directions are.
"""

from genspp.kernels.compile import routine
from genspp.kernels.gru import Sizes, slot
from genspp.kernels.lanes import QUAD, WIDTH, fma, square_root, where_equal, where_greater
from genspp.kernels.memory import (
    Floats,
    Ints,
    fill,
    fill_quad,
    load,
    load_quad,
    quad,
    store,
    vector,
    where_cell,
)

# Below every feature, but far from overflow: a lane without text pools to it, and inf times its share, 0, would be NaN.
LOWEST = -1e30


@routine
def normalise(
    sizes: Sizes, places: int, states: Floats, slots: int, ways: int, real: Floats, at: int, normal: Floats,
    deviations: Floats,
) -> None:  # fmt: skip
    """Write (x - mean) / sqrt(variance + 1e-5), and 1 / sqrt(...) to deviations; where there is no token, x is 0."""
    share = 1.0 / (sizes.ways * sizes.units)
    for place in range(places):
        here, there = slots + (place + 1) * slot(sizes.hidden), load(real, at + place * WIDTH)
        mean, spread = vector(0.0), vector(0.0)
        for way in range(sizes.ways):
            for unit in range(sizes.units):
                mean = mean + load(states, way * ways + here + unit * WIDTH)
        mean = mean * there * share
        for way in range(sizes.ways):
            for unit in range(sizes.units):
                x = fma(load(states, way * ways + here + unit * WIDTH), there, 0.0 - mean)
                store(normal, way * ways + here + unit * WIDTH, x)
                spread = fma(x, x, spread)
        inverse = 1.0 / square_root(fma(spread, share, 1e-5))
        store(deviations, at + place * WIDTH, inverse)
        for way in range(sizes.ways):
            for unit in range(sizes.units):
                position = way * ways + here + unit * WIDTH
                store(normal, position, load(normal, position) * inverse)


@routine
def normalise_back(
    sizes: Sizes, places: int, normal: Floats, d_normal: Floats, slots: int, ways: int, real: Floats, at: int,
    deviations: Floats,
) -> None:  # fmt: skip
    """Turn the gradient at the normalised features into that at the states, in place."""
    share = 1.0 / (sizes.ways * sizes.units)
    for place in range(places):
        here = slots + (place + 1) * slot(sizes.hidden)
        inverse = load(deviations, at + place * WIDTH) * load(real, at + place * WIDTH)
        mean, slope = vector(0.0), vector(0.0)
        for way in range(sizes.ways):
            for unit in range(sizes.units):
                position = way * ways + here + unit * WIDTH
                d = load(d_normal, position)
                mean, slope = mean + d, fma(d, load(normal, position), slope)
        mean, slope = mean * share, slope * share
        for way in range(sizes.ways):
            for unit in range(sizes.units):
                position = way * ways + here + unit * WIDTH
                d = fma(load(normal, position), 0.0 - slope, load(d_normal, position) - mean)
                store(d_normal, position, d * inverse)


@routine
def pool(
    sizes: Sizes, places: int, features: Floats, slots: int, ways: int, scale: Floats, shift: Floats, cells: Ints,
    at: int, floor: float, pooled: Floats, argmax: Floats,
) -> None:  # fmt: skip
    """Write the highest of `floor` and the features of the tokens that cells name, and its place (-1 for the floor).

    A lane without any token has 0, not the floor of no limit, which later sums would carry beyond all numbers.
    """
    for way in range(sizes.ways):
        for unit in range(0, sizes.hidden, QUAD):
            feature = way * sizes.hidden + unit
            factor, summand = fill_quad(scale, feature, 1), fill_quad(shift, feature, 1)
            best, origin, nothing = quad(floor), quad(-1.0), quad(LOWEST)
            for place in range(places):
                position = way * ways + slots + (place + 1) * slot(sizes.hidden) + unit * WIDTH
                value = fma(load_quad(features, position), factor, summand)
                value = where_cell(cells, at + place * WIDTH, value, nothing)
                origin = where_greater(value, best, float(place), origin)
                best = where_greater(value, best, value, best)
            store(pooled, feature * WIDTH, where_greater(best, LOWEST, best, 0.0))
            store(argmax, feature * WIDTH, origin)


@routine
def pool_back(
    sizes: Sizes, places: int, features: Floats, slots: int, ways: int, scale: Floats, argmax: Floats, d_pooled: Floats,
    d_features: Floats, scale_sums: Floats, shift_sums: Floats,
) -> None:  # fmt: skip
    """Write the gradient at the features of every token, and add to that of scale and shift, lane by lane."""
    for way in range(sizes.ways):
        for unit in range(0, sizes.hidden, QUAD):
            feature = way * sizes.hidden + unit
            factor, origin = fill_quad(scale, feature, 1), load_quad(argmax, feature * WIDTH)
            d_scale, d_shift = load_quad(scale_sums, feature * WIDTH), load_quad(shift_sums, feature * WIDTH)
            pooled = load_quad(d_pooled, feature * WIDTH)
            for place in range(places):
                position = way * ways + slots + (place + 1) * slot(sizes.hidden) + unit * WIDTH
                d = where_equal(origin, float(place), pooled, 0.0)
                store(d_features, position, d * factor)
                if sizes.normed:
                    d_scale, d_shift = fma(d, load_quad(features, position), d_scale), d_shift + d
            store(scale_sums, feature * WIDTH, d_scale)
            store(shift_sums, feature * WIDTH, d_shift)


@routine
def linear(inputs: int, outputs: int, weights: Floats, start: int, x: Floats, at: int, y: Floats, out: int) -> None:
    """Write y = W x + b, one vector of texts per feature: weights (outputs, inputs) and biases from `start` on."""
    for row in range(outputs):
        sum_ = fill(weights, start + outputs * inputs + row, 0)
        for k in range(inputs):
            sum_ = fma(fill(weights, start + row * inputs + k, 0), load(x, at + k * WIDTH), sum_)
        store(y, out + row * WIDTH, sum_)


@routine
def linear_back(
    inputs: int, outputs: int, weights: Floats, start: int, x: Floats, at: int, d_y: Floats, out: int, d_x: Floats,
    d_at: int, sums: Floats,
) -> None:  # fmt: skip
    """Write the gradient at x, and add to that of weights and biases, lane by lane."""
    for k in range(inputs):
        sum_, value = vector(0.0), load(x, at + k * WIDTH)
        for row in range(outputs):
            d, here = load(d_y, out + row * WIDTH), (row * inputs + k) * WIDTH
            sum_ = fma(fill(weights, start + row * inputs + k, 0), d, sum_)
            store(sums, here, fma(value, d, load(sums, here)))
        store(d_x, d_at + k * WIDTH, sum_)
    for row in range(outputs):
        here = (outputs * inputs + row) * WIDTH
        store(sums, here, load(sums, here) + load(d_y, out + row * WIDTH))


@routine
def token_logits(
    sizes: Sizes, places: int, features: Floats, slots: int, ways: int, scale: Floats, shift: Floats, weights: Floats,
    start: int, logits: Floats, at: int, rows: int,
) -> None:  # fmt: skip
    """Write W (scale x + shift) + b of every token: logits (outputs, WIDTH) per place, outputs `rows` apart."""
    wide = sizes.ways * sizes.hidden
    for output in range(sizes.outputs):
        bias = fill(weights, start + sizes.outputs * wide + output, 0)
        for place in range(places):
            sum_ = bias
            for way in range(sizes.ways):
                for unit in range(sizes.units):
                    feature = way * sizes.hidden + unit
                    x = load(features, way * ways + slots + (place + 1) * slot(sizes.hidden) + unit * WIDTH)
                    x = fma(x, fill(scale, feature, 0), fill(shift, feature, 0))
                    sum_ = fma(fill(weights, start + output * wide + feature, 0), x, sum_)
            store(logits, output * rows + at + place * WIDTH, sum_)


@routine
def token_logits_back(
    sizes: Sizes, places: int, features: Floats, slots: int, ways: int, scale: Floats, shift: Floats, weights: Floats,
    start: int, d_logits: Floats, at: int, rows: int, d_features: Floats, scale_sums: Floats, shift_sums: Floats,
    sums: Floats,
) -> None:  # fmt: skip
    """Write the gradient at the features, and add to that of scale, shift, weights and biases, lane by lane."""
    wide = sizes.ways * sizes.hidden
    for way in range(sizes.ways):
        for unit in range(sizes.units):
            feature = way * sizes.hidden + unit
            factor, summand = fill(scale, feature, 0), fill(shift, feature, 0)
            d_scale, d_shift = load(scale_sums, feature * WIDTH), load(shift_sums, feature * WIDTH)
            for place in range(places):
                position = way * ways + slots + (place + 1) * slot(sizes.hidden) + unit * WIDTH
                d, x = vector(0.0), load(features, position)
                for output in range(sizes.outputs):
                    given = load(d_logits, output * rows + at + place * WIDTH)
                    d = fma(fill(weights, start + output * wide + feature, 0), given, d)
                store(d_features, position, d * factor)
                d_scale, d_shift = fma(d, x, d_scale), d_shift + d
            store(scale_sums, feature * WIDTH, d_scale)
            store(shift_sums, feature * WIDTH, d_shift)
            for output in range(sizes.outputs):
                here = (output * wide + feature) * WIDTH
                sum_ = load(sums, here)
                for place in range(places):
                    position = way * ways + slots + (place + 1) * slot(sizes.hidden) + unit * WIDTH
                    x = fma(load(features, position), factor, summand)
                    sum_ = fma(load(d_logits, output * rows + at + place * WIDTH), x, sum_)
                store(sums, here, sum_)
    for output in range(sizes.outputs):
        here = (sizes.outputs * wide + output) * WIDTH
        sum_ = load(sums, here)
        for place in range(places):
            sum_ = sum_ + load(d_logits, output * rows + at + place * WIDTH)
        store(sums, here, sum_)
