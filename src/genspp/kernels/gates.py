"""Soft masks: gates between 0 and 1 that are drawn for tokens, with the slopes that gradients go back through.

    concrete     sigma((margin + logit u) / temperature), u uniform: a relaxed draw of Bernoulli(sigma(margin))
    divergence   KL(Bernoulli(sigma(margin)) || Bernoulli(prior))
    hard gate    Kumaraswamy(a, b), a = softplus(logit 0), b = softplus(logit 1), stretched to (-0.1, 1.1) and cut off
                 at 0 and 1; P(Kumaraswamy > x) = (1 - x**a)**b

Numbers of tokens are (places, WIDTH), logits (outputs, places, WIDTH).
"""

import math
from typing import Any

from genspp.kernels.compile import inlined, kernel
from genspp.kernels.lanes import WIDTH, fma, larger, smaller, where_greater
from genspp.kernels.losses import logistic
from genspp.kernels.math import exponential, logarithm, sigmoid, softplus
from genspp.kernels.memory import Floats, Ints, load, store, total, vector

_BEYOND = 0.1  # how far a gate is stretched to either side
_LOG_ZERO = math.log(_BEYOND / (1 + 2 * _BEYOND))  # of the highest number that becomes a gate of 0
_LOG_HALF = math.log(0.5)  # of the one that becomes a gate of 1/2


@kernel
def draw_concrete(
    places: int, margins: Floats, uniform: Floats, counted: Floats, temperature: float, mask: Floats, slopes: Floats
) -> None:
    """Write relaxed draws, and their slopes in the margins; both are 0 where `counted` is, and where a gate is tiny."""
    for at in range(0, places * WIDTH, WIDTH):
        gate = sigmoid((load(margins, at) + logistic(load(uniform, at))) / temperature)
        there = where_greater(gate, 0.00001, load(counted, at), 0.0)
        store(mask, at, gate * there)
        store(slopes, at, gate * (1.0 - gate) / temperature * there)


@kernel
def bernoulli_divergence(
    groups: int, first: Ints, counted: Floats, priors: Floats, margins: Floats, share: float, gradient: Floats
) -> float:
    """Return the sum over counted tokens of share KL(Bernoulli(p) || Bernoulli(prior)), and write that of the margins.

    With x = logit p and y that of the prior, (groups, WIDTH), it is p (x - y) - ln(1 + e**x) - ln(1 - prior), and its
    slope in x is p (1 - p) (x - y).
    """
    loss = vector(0.0)
    for group in range(groups):
        prior = smaller(0.999999, larger(0.000001, load(priors, group * WIDTH)))
        unselected = logarithm(1.0 - prior)
        y = logarithm(prior) - unselected
        for at in range(first[group] * WIDTH, first[group + 1] * WIDTH, WIDTH):
            x, there = load(margins, at), share * load(counted, at)
            p = sigmoid(x)
            loss = fma(fma(p, x - y, 0.0 - softplus(x) - unselected), there, loss)
            store(gradient, at, p * (1.0 - p) * (x - y) * there)
    return float(total(loss))


@inlined
def _shape(logit: Any) -> Any:
    """softplus(logit), kept from 1e-4 to 100, and its slope."""
    value = softplus(logit)
    slope = where_greater(value, 100.0, 0.0, where_greater(0.0001, value, 0.0, sigmoid(logit)))
    return smaller(100.0, larger(0.0001, value)), slope


@inlined
def _log_above(a: Any, b: Any, log_x: float) -> Any:
    """ln P(Kumaraswamy(a, b) > x), its slopes in a and b."""
    power = exponential(a * log_x)
    log_not = logarithm(larger(1.0 - power, 1e-7))
    return b * log_not, 0.0 - b * power * log_x / larger(1.0 - power, 1e-7), log_not


@kernel
def draw_hard_gates(
    places: int, logits: Floats, rows: int, uniform: Floats, counted: Floats, gates: Floats, slopes: Floats
) -> None:
    """Write hard gates, (1 - (1 - u)**(1/b))**(1/a) stretched and cut off, and their slopes in both logits."""
    for at in range(0, places * WIDTH, WIDTH):
        a, slope_a = _shape(load(logits, at))
        b, slope_b = _shape(load(logits, rows + at))
        log_u = logarithm(1.0 - smaller(0.999, larger(0.001, load(uniform, at))))
        power = exponential(log_u / b)
        log_rest = logarithm(larger(1.0 - power, 1e-7))
        number, there = exponential(log_rest / a), load(counted, at)
        gate = fma(number, 1 + 2 * _BEYOND, -_BEYOND)
        inside = where_greater(gate, 0.0, where_greater(1.0, gate, (1 + 2 * _BEYOND) * there, 0.0), 0.0)
        in_b = power * log_u / (b * b * larger(1.0 - power, 1e-7))
        store(gates, at, smaller(1.0, larger(0.0, gate)) * there)
        store(slopes, at, 0.0 - number * log_rest / (a * a) * slope_a * inside)
        store(slopes, rows + at, number * in_b / a * slope_b * inside)


@kernel
def gate_rate(
    groups: int, first: Ints, counted: Floats, costs: Floats, logits: Floats, rows: int, share: float, gradient: Floats
) -> float:
    """Return the sum over counted tokens of share cost P(gate > 0), and write its gradient in both logits.

    costs: (groups, WIDTH) what a selected token of a text counts.
    """
    rate = vector(0.0)
    for group in range(groups):
        for at in range(first[group] * WIDTH, first[group + 1] * WIDTH, WIDTH):
            a, slope_a = _shape(load(logits, at))
            b, slope_b = _shape(load(logits, rows + at))
            log_chance, in_a, in_b = _log_above(a, b, _LOG_ZERO)
            chance = exponential(log_chance) * share * load(costs, group * WIDTH) * load(counted, at)
            rate = rate + chance
            store(gradient, at, chance * in_a * slope_a)
            store(gradient, rows + at, chance * in_b * slope_b)
    return float(total(rate))


@kernel
def gate_margins(places: int, logits: Floats, rows: int, margins: Floats) -> None:
    """Write ln P(gate > 1/2) - ln(1/2): at least 0 where a gate is as likely above one half as below."""
    for at in range(0, places * WIDTH, WIDTH):
        a, _ = _shape(load(logits, at))
        b, _ = _shape(load(logits, rows + at))
        log_chance, _, _ = _log_above(a, b, _LOG_HALF)
        store(margins, at, log_chance - _LOG_HALF)
