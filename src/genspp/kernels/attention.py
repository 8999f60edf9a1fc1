"""Attention: scores of tokens, the softmax over those of a text, and sums weighted with it; and back.

    score     w gelu(x) + c, one number per token    (nn.GELU, nn.Linear), gelu(x) = x Phi(x)
    softmax   over the tokens of a text

Features of tokens are (places, wide, WIDTH) in the slots that `gru` describes, the first of which stays empty; numbers
of tokens are (places, WIDTH), those of a group from `at` on. Sums over tokens are kept lane by lane, (wide, WIDTH).
"""

from genspp.kernels.compile import kernel, routine
from genspp.kernels.gru import slot
from genspp.kernels.lanes import QUAD, WIDTH, fma, larger, where_greater
from genspp.kernels.layers import LOWEST
from genspp.kernels.math import exponential, normal
from genspp.kernels.memory import Floats, Ints, across, fill, fill_quad, load, load_quad, quad, store, vector


@routine
def score(
    places: int, wide: int, weights: Floats, start: int, x: Floats, values: Floats, scores: Floats, at: int
) -> None:
    """Write w gelu(x) + c and gelu(x), and replace x by the slope Phi(x) + x phi(x). w and c: from `start` on."""
    for place in range(places):
        found = quad(0.0)
        for unit in range(0, wide, QUAD):
            here = (place + 1) * slot(wide) + unit * WIDTH
            number = load_quad(x, here)
            below, density = normal(number)
            value = number * below
            store(values, here, value)
            store(x, here, fma(number, density, below))
            found = fma(fill_quad(weights, start + unit, 1), value, found)
        store(scores, at + place * WIDTH, across(found) + fill(weights, start + wide, 0))


@routine
def score_back(
    places: int, wide: int, weights: Floats, start: int, values: Floats, slopes: Floats, d_scores: Floats, at: int,
    d_x: Floats, sums: Floats, to: int,
) -> None:  # fmt: skip
    """Write the gradient at x, and add to those of w and, behind it, c."""
    for unit in range(0, wide, QUAD):
        weight, d_weight = fill_quad(weights, start + unit, 1), load_quad(sums, to + unit * WIDTH)
        for place in range(places):
            here, d = (place + 1) * slot(wide) + unit * WIDTH, load(d_scores, at + place * WIDTH)
            store(d_x, here, weight * d * load_quad(slopes, here))
            d_weight = fma(load_quad(values, here), d, d_weight)
        store(sums, to + unit * WIDTH, d_weight)
    found = load(sums, to + wide * WIDTH)
    for place in range(places):
        found = found + load(d_scores, at + place * WIDTH)
    store(sums, to + wide * WIDTH, found)


@routine
def softmax(places: int, real: Floats, scores: Floats, at: int) -> None:
    """Turn scores into the softmax over the tokens of every text, in place; 0 where there is no token."""
    highest, mass = vector(LOWEST), vector(0.0)
    for here in range(at, at + places * WIDTH, WIDTH):
        highest = larger(highest, where_greater(load(real, here), 0.0, load(scores, here), LOWEST))
    for here in range(at, at + places * WIDTH, WIDTH):
        part = exponential(load(scores, here) - highest) * load(real, here)
        store(scores, here, part)
        mass = mass + part
    mass = larger(1e-30, mass)  # no text, no mass
    for here in range(at, at + places * WIDTH, WIDTH):
        store(scores, here, load(scores, here) / mass)


@routine
def softmax_back(places: int, shares: Floats, d: Floats, at: int) -> None:
    """Turn the gradient at the shares of a softmax into that at the scores, in place."""
    mean = vector(0.0)
    for here in range(at, at + places * WIDTH, WIDTH):
        mean = fma(load(shares, here), load(d, here), mean)
    for here in range(at, at + places * WIDTH, WIDTH):
        store(d, here, load(shares, here) * (load(d, here) - mean))


@routine
def gelu_of_share(
    places: int, wide: int, weights: Floats, start: int, attention: Floats, at: int, x: Floats, slopes: Floats,
    y: Floats,
) -> None:  # fmt: skip
    """Write gelu(a x + p), x = P s, and the slope of gelu there; p: from `start` on."""
    for place in range(places):
        share = load(attention, at + place * WIDTH)
        for unit in range(0, wide, QUAD):
            here = (place + 1) * slot(wide) + unit * WIDTH
            number = fma(load_quad(x, here), share, fill_quad(weights, start + unit, 1))
            below, density = normal(number)
            store(y, here, number * below)
            store(slopes, here, fma(number, density, below))


@routine
def gelu_of_share_back(
    places: int, wide: int, attention: Floats, at: int, x: Floats, slopes: Floats, d: Floats, d_attention: Floats,
    sums: Floats, to: int,
) -> None:  # fmt: skip
    """Turn the gradient at gelu(a x + p) into that at x, in place; write that at a, and add to that of p."""
    for place in range(places):
        found, share = quad(0.0), load(attention, at + place * WIDTH)
        for unit in range(0, wide, QUAD):
            here, own = (place + 1) * slot(wide) + unit * WIDTH, to + unit * WIDTH
            slope = load_quad(d, here) * load_quad(slopes, here)
            store(d, here, slope * share)
            store(sums, own, load_quad(sums, own) + slope)
            found = fma(slope, load_quad(x, here), found)
        store(d_attention, at + place * WIDTH, across(found))


@routine
def weighted_sum(places: int, wide: int, shares: Floats, at: int, x: Floats, pooled: Floats) -> None:
    """Write the sum over tokens of share x."""
    for unit in range(0, wide, QUAD):
        found = quad(0.0)
        for place in range(places):
            value = load_quad(x, (place + 1) * slot(wide) + unit * WIDTH)
            found = fma(value, load(shares, at + place * WIDTH), found)
        store(pooled, unit * WIDTH, found)


@routine
def weighted_sum_back(
    places: int, wide: int, shares: Floats, at: int, x: Floats, d_pooled: Floats, d_x: Floats, d_shares: Floats
) -> None:
    """Write the gradients at x and at the shares."""
    for place in range(places):
        found, share = quad(0.0), load(shares, at + place * WIDTH)
        for unit in range(0, wide, QUAD):
            here, d = (place + 1) * slot(wide) + unit * WIDTH, load_quad(d_pooled, unit * WIDTH)
            store(d_x, here, d * share)
            found = fma(d, load_quad(x, here), found)
        store(d_shares, at + place * WIDTH, across(found))


@kernel
def token_softmax(groups: int, first: Ints, rows: int, logits: Floats, real: Floats, attention: Floats) -> None:
    """Write softmax(logit 1 - logit 0) over the tokens of every text; 0 where there is no token."""
    for at in range(0, first[groups] * WIDTH, WIDTH):
        store(attention, at, load(logits, rows + at) - load(logits, at))
    for group in range(groups):
        softmax(first[group + 1] - first[group], real, attention, first[group] * WIDTH)


@kernel
def token_softmax_back(
    groups: int, first: Ints, rows: int, attention: Floats, d_attention: Floats, d_logits: Floats
) -> None:
    """Add the gradient of both logits; that of the attention becomes that of their difference, in place."""
    for group in range(groups):
        softmax_back(first[group + 1] - first[group], attention, d_attention, first[group] * WIDTH)
    for at in range(0, first[groups] * WIDTH, WIDTH):
        store(d_logits, rows + at, load(d_logits, rows + at) + load(d_attention, at))
        store(d_logits, at, load(d_logits, at) - load(d_attention, at))
