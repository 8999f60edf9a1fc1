"""Activations and logarithms of vectors, each a dozen instructions where the library call is scalar.

Errors against the true functions are bounded by tests; all of them pass a NaN on.
"""

from typing import Any

from genspp.kernels.compile import inlined
from genspp.kernels.lanes import exponent, fma, larger, magnitude, mantissa, power_of_two, smaller, where_greater


@inlined
def _ratio(x: Any) -> Any:
    """tanh(x) is x P(x^2) / Q(x^2), a minimax fit of our own."""
    y = x * x
    above = fma(y, 1.409922246e-08, 2.112154821e-05)
    above = fma(above, y, 3.525817639e-03)
    above = fma(above, y, 1.340620456e-01)
    above = fma(above, y, 9.999999455e-01)
    below = fma(y, 8.073608151e-07, 3.335687849e-04)
    below = fma(below, y, 2.599112903e-02)
    below = fma(below, y, 4.673951595e-01)
    below = fma(below, y, 1.0)
    return x * above, below


@inlined
def tanh(x: Any) -> Any:
    """tanh(x), within 4e-7 and never beyond 1."""
    above, below = _ratio(smaller(8.5, larger(-8.5, x)))
    return smaller(1.0, larger(-1.0, above / below))


@inlined
def sigmoids(a: Any, b: Any) -> Any:
    """sigma(a), sigma(b) = (1 + tanh(x / 2)) / 2, within 3e-7, with one division, the slowest instruction."""
    above, below = _ratio(0.5 * smaller(17.0, larger(-17.0, a)))
    above_, below_ = _ratio(0.5 * smaller(17.0, larger(-17.0, b)))
    half = 0.5 / (below * below_)
    first, second = fma(above, below_ * half, 0.5), fma(above_, below * half, 0.5)
    return smaller(1.0, larger(0.0, first)), smaller(1.0, larger(0.0, second))


@inlined
def sigmoid(a: Any) -> Any:
    """sigma(a), as in `sigmoids`."""
    above, below = _ratio(0.5 * smaller(17.0, larger(-17.0, a)))
    return smaller(1.0, larger(0.0, fma(above / below, 0.5, 0.5)))


@inlined
def exponential(x: Any) -> Any:
    """e**x for x from -87 to 88, and what is there beyond; relative error 2e-7."""
    x = smaller(88.0, larger(-87.0, x))
    shifted = fma(x, 1.4426950408889634, 12582912.0)  # 1.5 * 2**23 rounds to a whole number
    n = shifted - 12582912.0
    f = fma(n, -0.693359375, x)
    f = fma(n, 2.12194440e-4, f)  # ln 2 in two parts: no digits are lost
    p = fma(f, 1 / 5040, 1 / 720)
    p = fma(p, f, 1 / 120)
    p = fma(p, f, 1 / 24)
    p = fma(p, f, 1 / 6)
    p = fma(p, f, 0.5)
    p = fma(p, f, 1.0)
    return fma(p, f, 1.0) * power_of_two(shifted)


@inlined
def logarithm(x: Any) -> Any:
    """ln(x) for normal positive x and inf, within 2e-7 relative to the larger of 1 and the result."""
    e, m = exponent(x), mantissa(x)
    e, m = where_greater(m, 1.4142135, e + 1.0, e), where_greater(m, 1.4142135, 0.5 * m, m)
    # ln(m) = 2 artanh(s) with s = (m - 1) / (m + 1), at most 0.172.
    s = (m - 1.0) / (m + 1.0)
    y = s * s
    p = fma(y, 2 / 11, 2 / 9)
    p = fma(p, y, 2 / 7)
    p = fma(p, y, 2 / 5)
    p = fma(p, y, 2 / 3)
    p = fma(p, y, 2.0)
    small = fma(e, -2.12194440e-4, p * s)
    # The bits of what is no number are taken apart like any others.
    return where_greater(x, 3.4028234e38, x, fma(e, 0.693359375, small))


@inlined
def softplus(x: Any) -> Any:
    """ln(1 + e**x) = max(x, 0) + ln(1 + e**-|x|)."""
    return larger(0.0, x) + logarithm(1.0 + exponential(0.0 - magnitude(x)))


@inlined
def normal(x: Any) -> Any:
    """Phi(x) and phi(x) of the normal distribution, within 2e-7: phi is exact, Phi a sum of powers of 1/(1 + p|x|)."""
    a = magnitude(x)
    density = 0.3989422804014327 * exponential(-0.5 * (x * x))
    # Abramowitz and Stegun 26.2.17
    t = 1.0 / fma(a, 0.2316419, 1.0)
    p = fma(t, 1.330274429, -1.821255978)
    p = fma(p, t, 1.781477937)
    p = fma(p, t, -0.356563782)
    p = fma(p, t, 0.319381530)
    tail = density * (p * t)
    return where_greater(x, 0.0, 1.0 - tail, tail), density
