"""Layers that act on every token of a group by itself, and back.

    dense     W x + b          (nn.Linear)
    affine    scale x + shift  (the second half of nn.LayerNorm)

Features of tokens are (places, wide, WIDTH) in the slots that `gru` describes, the first of which stays empty. Sums
over tokens are kept lane by lane, (wide, WIDTH), but for the products of a dense layer.
"""

from genspp.kernels.compile import routine
from genspp.kernels.gru import slot
from genspp.kernels.lanes import QUAD, WIDTH, fma
from genspp.kernels.memory import Floats, fill_quad, fold, load, load_quad, quad, store, store_sums


@routine
def add_product(
    places: int, wide: int, weights: Floats, start: int, down: int, along: int, x: Floats, y: Floats
) -> None:
    """Add W x to y: the weight of input k in output o is weights[start + k down + o along].

    Two tokens share the loads of the weights; at an odd number of places, the last one is done twice over.
    """
    for place in range(0, places, 2):
        here, beside = (place + 1) * slot(wide), (min(place + 1, places - 1) + 1) * slot(wide)
        for unit in range(0, wide, QUAD):
            a, b = load_quad(y, here + unit * WIDTH), load_quad(y, beside + unit * WIDTH)
            for k in range(wide):
                weight = fill_quad(weights, start + k * down + unit * along, along)
                a = fma(weight, load(x, here + k * WIDTH), a)
                b = fma(weight, load(x, beside + k * WIDTH), b)
            store(y, here + unit * WIDTH, a)
            store(y, beside + unit * WIDTH, b)


@routine
def dense(places: int, wide: int, weights: Floats, start: int, x: Floats, y: Floats) -> None:
    """Write y = W x + b: weights (inputs, outputs) and biases from `start` on."""
    for place in range(places):
        for unit in range(0, wide, QUAD):
            bias = fill_quad(weights, start + wide * wide + unit, 1)
            store(y, (place + 1) * slot(wide) + unit * WIDTH, bias)
    add_product(places, wide, weights, start, wide, 1, x, y)


@routine
def dense_back(
    places: int, wide: int, weights: Floats, start: int, x: Floats, d_y: Floats, d_x: Floats, sums: Floats
) -> None:
    """Add W^T d_y to d_x, and the sum over tokens of x d_y^T to sums, (wide / 4, wide, WIDTH), folded."""
    add_product(places, wide, weights, start, 1, wide, d_y, d_x)
    for k in range(0, wide, QUAD):
        for unit in range(0, wide, 2):
            a, b = quad(0.0), quad(0.0)
            for place in range(places):
                here = (place + 1) * slot(wide)
                value = load_quad(x, here + k * WIDTH)
                a = fma(value, load(d_y, here + unit * WIDTH), a)
                b = fma(value, load(d_y, here + unit * WIDTH + WIDTH), b)
            at = (k // QUAD * wide + unit) * WIDTH
            store(sums, at, load(sums, at) + fold(a))
            store(sums, at + WIDTH, load(sums, at + WIDTH) + fold(b))


@routine
def collect_dense(wide: int, sums: Floats, gradient: Floats, start: int) -> None:
    """Bring what `dense_back` added up into the order of the weights."""
    for k in range(0, wide, QUAD):
        for unit in range(wide):
            store_sums(gradient, start + k * wide + unit, wide, load(sums, (k // QUAD * wide + unit) * WIDTH))


@routine
def sum_tokens(places: int, wide: int, d: Floats, sums: Floats, to: int) -> None:
    """Add up the features of all tokens."""
    for unit in range(0, wide, QUAD):
        found = load_quad(sums, to + unit * WIDTH)
        for place in range(places):
            found = found + load_quad(d, (place + 1) * slot(wide) + unit * WIDTH)
        store(sums, to + unit * WIDTH, found)


@routine
def affine(places: int, wide: int, weights: Floats, start: int, x: Floats, y: Floats) -> None:
    """Write y = scale x + shift: both (wide,), from `start` on."""
    for unit in range(0, wide, QUAD):
        scale, shift = fill_quad(weights, start + unit, 1), fill_quad(weights, start + wide + unit, 1)
        for place in range(places):
            here = (place + 1) * slot(wide) + unit * WIDTH
            store(y, here, fma(load_quad(x, here), scale, shift))


@routine
def affine_back(
    places: int, wide: int, weights: Floats, start: int, x: Floats, d: Floats, sums: Floats, to: int
) -> None:
    """Turn the gradient at y into that at x, in place, and add to those of scale and, behind it, shift."""
    for unit in range(0, wide, QUAD):
        scale, at = fill_quad(weights, start + unit, 1), to + unit * WIDTH
        d_scale, d_shift = load_quad(sums, at), load_quad(sums, at + wide * WIDTH)
        for place in range(places):
            here = (place + 1) * slot(wide) + unit * WIDTH
            slope = load_quad(d, here)
            d_scale, d_shift = fma(slope, load_quad(x, here), d_scale), d_shift + slope
            store(d, here, slope * scale)
        store(sums, at, d_scale)
        store(sums, at + wide * WIDTH, d_shift)
