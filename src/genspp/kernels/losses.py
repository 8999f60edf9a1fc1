"""Losses on logits of WIDTH texts at a time, and their gradients; masks drawn from logits, and what they cost.

Logits of texts are (groups, classes, WIDTH), those of tokens (outputs, places, WIDTH). A share is the weight of a text
in a mean over texts, 0 for lanes without text; with it a sum over all lanes is a mean over texts.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from genspp.kernels.compile import inlined, kernel, routine
from genspp.kernels.lanes import WIDTH, fma, larger, magnitude, where_equal, where_greater
from genspp.kernels.layers import LOWEST
from genspp.kernels.math import exponential, logarithm, sigmoid, softplus
from genspp.kernels.memory import Floats, Ints, floats, load, store, total, vector


@routine
def log_softmax(classes: int, logits: Floats, at: int, out: Floats, to: int) -> None:
    """Write log softmax(logits) of a group."""
    highest, mass = load(logits, at), vector(0.0)
    for label in range(1, classes):
        highest = larger(highest, load(logits, at + label * WIDTH))
    for label in range(classes):
        mass = mass + exponential(load(logits, at + label * WIDTH) - highest)
    mass = logarithm(mass) + highest
    for label in range(classes):
        store(out, to + label * WIDTH, load(logits, at + label * WIDTH) - mass)


@routine
def cross_entropy(classes: int, logits: Floats, at: int, labels: Any, shares: Any, gradient: Floats, to: int) -> float:
    """Return the sum over lanes of share * -log softmax(logits)[label], and write its gradient, share (p - onehot)."""
    log_softmax(classes, logits, at, gradient, to)
    loss = vector(0.0)
    for label in range(classes):
        chance = load(gradient, to + label * WIDTH)
        own = where_equal(labels, float(label), 1.0, 0.0)
        loss = where_equal(labels, float(label), chance, loss)
        store(gradient, to + label * WIDTH, (exponential(chance) - own) * shares)
    return -float(total(loss * shares))


@kernel
def task_loss(groups: int, classes: int, logits: Floats, labels: Floats, shares: Floats, gradient: Floats) -> float:
    """Return the weighted mean cross-entropy, as torch.nn.functional.cross_entropy has it, and write its gradient."""
    loss = 0.0
    for group in range(groups):
        at = group * classes * WIDTH
        own = load(labels, group * WIDTH), load(shares, group * WIDTH)
        loss += cross_entropy(classes, logits, at, own[0], own[1], gradient, at)
    return loss


@kernel
def divergence(groups: int, classes: int, p: Floats, q: Floats, shares: Floats, d_p: Floats, d_q: Floats) -> float:
    """Return the mean over texts of KL(softmax p || softmax q), and write the gradients of both logits."""
    loss = 0.0
    for group in range(groups):
        at, share = group * classes * WIDTH, load(shares, group * WIDTH)
        log_softmax(classes, p, at, d_p, at)
        log_softmax(classes, q, at, d_q, at)
        found = vector(0.0)
        for label in range(classes):
            a, b = load(d_p, at + label * WIDTH), load(d_q, at + label * WIDTH)
            found = fma(exponential(a), a - b, found)
        for label in range(classes):
            a, b = load(d_p, at + label * WIDTH), load(d_q, at + label * WIDTH)
            chance = exponential(a)
            store(d_p, at + label * WIDTH, chance * (a - b - found) * share)
            store(d_q, at + label * WIDTH, (exponential(b) - chance) * share)
        loss += float(total(found * share))
    return loss


@kernel
def jensen_shannon(
    groups: int, classes: int, p: Floats, q: Floats, shares: Floats, d_p: Floats, spare: Floats
) -> float:
    """Return the mean over texts of KL(p || m) / 2 + KL(q || m) / 2, m = (p + q) / 2; write the gradient of p's logits.

    With a = log p, c = log m: (a - c) / 2 at p, and through the softmax p (a - c - sum p (a - c)) / 2.
    """
    loss = 0.0
    for group in range(groups):
        at, share = group * classes * WIDTH, load(shares, group * WIDTH)
        log_softmax(classes, p, at, d_p, at)
        log_softmax(classes, q, at, spare, at)
        mean, other = vector(0.0), vector(0.0)
        for label in range(classes):
            a, b = load(d_p, at + label * WIDTH), load(spare, at + label * WIDTH)
            chance, guided = exponential(a), exponential(b)
            middle = logarithm(0.5 * (chance + guided))
            mean, other = fma(chance, a - middle, mean), fma(guided, b - middle, other)
        for label in range(classes):
            a, b = load(d_p, at + label * WIDTH), load(spare, at + label * WIDTH)
            chance = exponential(a)
            middle = logarithm(0.5 * (chance + exponential(b)))
            store(d_p, at + label * WIDTH, 0.5 * share * chance * (a - middle - mean))
        loss += 0.5 * float(total((mean + other) * share))
    return loss


@kernel
def log_odds(groups: int, classes: int, logits: Floats, gradient: Floats) -> None:
    """Write the gradient of the log odds of every text's likeliest class, l - ln(sum of e**l over the others)."""
    for group in range(groups):
        at = group * classes * WIDTH
        highest, best, second, mass = load(logits, at), vector(0.0), vector(LOWEST), vector(0.0)
        for label in range(1, classes):
            logit = load(logits, at + label * WIDTH)
            best, highest = where_greater(logit, highest, float(label), best), larger(highest, logit)
        for label in range(classes):
            second = larger(second, where_equal(best, float(label), LOWEST, load(logits, at + label * WIDTH)))
        for label in range(classes):
            other = exponential(load(logits, at + label * WIDTH) - second)
            mass = mass + where_equal(best, float(label), 0.0, other)
        for label in range(classes):
            other = exponential(load(logits, at + label * WIDTH) - second) / mass
            store(gradient, at + label * WIDTH, where_equal(best, float(label), 1.0, 0.0 - other))


# ---- masks


@inlined
def logistic(uniform: Any) -> Any:
    """The logit of a uniform number: the difference of two Gumbel noises."""
    return logarithm(larger(uniform, 1.4901161e-08)) - logarithm(larger(1.0 - uniform, 1.4901161e-08))


@kernel
def draw_mask(places: int, margins: Floats, uniform: Floats, counted: Floats, mask: Floats, slopes: Floats) -> None:
    """Write 1 where selecting a token beats dropping it, by its margin and Gumbel noise, and the slope there.

    The noise is the logit of `uniform`; the slope is that of sigma(margin + noise), which gradients go back through.
    counted: 1 where a token may be selected at all; elsewhere both are 0.
    """
    for at in range(0, places * WIDTH, WIDTH):
        margin = load(margins, at) + logistic(load(uniform, at))
        chance, there = sigmoid(margin), load(counted, at)
        store(mask, at, where_greater(margin, 0.0, there, 0.0))
        store(slopes, at, chance * (1.0 - chance) * there)


@kernel
def logit_noise(places: int, uniform: Floats, noise: Floats) -> None:
    """Write the logits of uniform numbers."""
    for at in range(0, places * WIDTH, WIDTH):
        store(noise, at, logistic(load(uniform, at)))


@kernel
def _logarithms(numbers: Floats, found: Floats) -> None:
    for at in range(0, len(numbers), WIDTH):
        store(found, at, logarithm(load(numbers, at)))


@kernel
def _exponentials(numbers: Floats, found: Floats) -> None:
    for at in range(0, len(numbers), WIDTH):
        store(found, at, exponential(load(numbers, at)))


def _of_each(function: Callable[[Floats, Floats], None], numbers: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    given, found = floats(len(numbers)), floats(len(numbers))
    given[: len(numbers)] = numbers
    function(given, found)
    return found[: len(numbers)].astype(np.float64)


def logarithms(numbers: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Return the logarithms of positive numbers, to the precision of float32."""
    return _of_each(_logarithms, numbers)


def exponentials(numbers: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Return the powers of e, to the precision of float32."""
    return _of_each(_exponentials, numbers)


def softmax(logits: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Return the probabilities of classes, (texts, classes), to the precision of float32."""
    powers = exponentials((logits - logits.max(axis=1, keepdims=True)).ravel()).reshape(logits.shape)
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


class Omega(NamedTuple):
    """The regularisers of a batch's masks: rate * |costs of the selected / tokens - alpha| + scatter * switches."""

    rate: float
    scatter: float
    tokens: int
    alpha: float


@kernel
def regularise(
    groups: int, first: Ints, counted: Floats, costs: Floats, mask: Floats, omega: Omega, gradient: Floats
) -> float:
    """Return the regularisers of a mask, and write their gradient; neighbours count where the second of them does.

    costs: (groups, WIDTH) what a selected token of a text counts.
    """
    found, switches = vector(0.0), vector(0.0)
    for group in range(groups):
        for at in range(first[group] * WIDTH, first[group + 1] * WIDTH, WIDTH):
            found = fma(load(mask, at), load(costs, group * WIDTH), found)
    excess = float(total(found)) / omega.tokens - omega.alpha
    slope = omega.rate / omega.tokens * (1.0 if excess > 0 else -1.0 if excess < 0 else 0.0)
    for group in range(groups):
        for at in range(first[group] * WIDTH, first[group + 1] * WIDTH, WIDTH):
            store(gradient, at, slope * load(costs, group * WIDTH))
    for group in range(groups):
        for place in range(first[group] + 1, first[group + 1]):
            at = place * WIDTH
            step = (load(mask, at) - load(mask, at - WIDTH)) * load(counted, at)
            switches = switches + magnitude(step)
            sign = where_greater(step, 0.0, 1.0, where_greater(0.0, step, -1.0, vector(0.0)))
            store(gradient, at, fma(sign, omega.scatter, load(gradient, at)))
            store(gradient, at - WIDTH, fma(sign, -omega.scatter, load(gradient, at - WIDTH)))
    return omega.rate * abs(excess) + omega.scatter * float(total(switches))


@kernel
def press(
    groups: int, first: Ints, counts: Floats, costs: Floats, pressure: float, slopes: Floats, d_mask: Floats
) -> None:
    """Add pressure * cost * its share of its text to the gradient of every token's mask, and take it through the slope.

    counts: how much a token counts among those of its text, 0 for padding. costs: (groups, WIDTH) what a mark costs in
    a text. What comes out is the gradient of the margins.
    """
    for group in range(groups):
        whole = vector(0.0)
        for at in range(first[group] * WIDTH, first[group + 1] * WIDTH, WIDTH):
            whole = whole + load(counts, at)
        share = pressure * load(costs, group * WIDTH) / larger(whole, 1.0)
        for at in range(first[group] * WIDTH, first[group + 1] * WIDTH, WIDTH):
            store(d_mask, at, fma(share, load(counts, at), load(d_mask, at)) * load(slopes, at))


@kernel
def imitation(places: int, margins: Floats, targets: Floats, real: Floats, share: float, gradient: Floats) -> None:
    """Write the gradient of the mean cross-entropy of sigma(margin) and targets: share (sigma(margin) - target)."""
    for at in range(0, places * WIDTH, WIDTH):
        chance = sigmoid(load(margins, at))
        store(gradient, at, (chance - load(targets, at)) * share * load(real, at))


@kernel
def binary_cross_entropy(
    places: int, logits: Floats, rows: int, targets: Floats, shares: Floats, gradient: Floats
) -> float:
    """Return the sum over tokens of share * (softplus(x) - target x), x = logit 1, and write its gradient at both."""
    loss = vector(0.0)
    for at in range(0, places * WIDTH, WIDTH):
        x, target, share = load(logits, rows + at), load(targets, at), load(shares, at)
        loss = fma(share, softplus(x) - target * x, loss)
        store(gradient, at, vector(0.0))
        store(gradient, rows + at, (sigmoid(x) - target) * share)
    return float(total(loss))
