"""The functions of vectors against those of float64."""

import numba
import numpy as np
import pytest
from scipy import special, stats

from genspp.kernels import math
from genspp.kernels.lanes import WIDTH
from genspp.kernels.memory import floats, load, store


def first_of_two(x):
    return math.sigmoids(x, 0.5 * x)[0]


def second_of_two(x):
    return math.sigmoids(-3.0 * x, x)[1]


def distribution(x):
    return math.normal(x)[0]


def density(x):
    return math.normal(x)[1]


def loop(function):
    """Return a compiled function on arrays."""
    inner = function if hasattr(function, "py_func") else numba.njit(function)

    @numba.njit
    def run(x, y):
        for at in range(0, len(x), WIDTH):
            store(y, at, inner(load(x, at)))

    def apply(numbers):
        x, y = floats(len(numbers)), floats(len(numbers))
        x[: len(numbers)] = numbers
        run(x, y)
        return y[: len(numbers)]

    return apply


ODD = np.array([0, -0.0, 1e-30, -1e-30, 1e-7, 0.5, 8.4, 8.5, 8.6, 17, 40, 1e30, np.inf], np.float32)
LINE = np.concatenate([np.linspace(-20, 20, 200_001, dtype=np.float32), ODD, -ODD])


@pytest.mark.parametrize(
    ("function", "right", "bound"),
    [
        (math.tanh, np.tanh, 4e-7),
        (math.sigmoid, special.expit, 3e-7),
        (first_of_two, special.expit, 3e-7),
        (second_of_two, special.expit, 3e-7),
        (distribution, stats.norm.cdf, 3e-7),
        (density, stats.norm.pdf, 3e-7),
    ],
    ids=["tanh", "sigmoid", "first of two", "second of two", "distribution", "density"],
)
def test_absolute_errors(function, right, bound):
    found = loop(function)(LINE).astype(np.float64)
    assert np.abs(found - right(LINE.astype(np.float64))).max() < bound


def test_exponential():
    x = np.linspace(-86.9, 87.9, 200_001, dtype=np.float32)
    exponential = loop(math.exponential)
    right = np.exp(x.astype(np.float64))
    assert np.abs(exponential(x) / right - 1).max() < 3e-7
    ends = exponential(np.array([-np.inf, -1e9, 1e9, np.inf], np.float32))
    assert (ends[:2] < 2e-38).all()
    assert (ends[2:] > 1e38).all()
    assert exponential(np.zeros(1))[0] == 1


def test_logarithm():
    x = np.concatenate([np.exp(np.linspace(-87, 88, 200_001)), np.linspace(0.9, 1.1, 20_001)]).astype(np.float32)
    right = np.log(x.astype(np.float64))
    logarithm = loop(math.logarithm)
    assert (np.abs(logarithm(x) - right) / np.maximum(1, np.abs(right))).max() < 2e-7
    assert logarithm(np.ones(1))[0] == 0
    assert logarithm(np.full(1, np.inf))[0] == np.inf


def test_softplus():
    x = np.linspace(-80, 80, 200_001, dtype=np.float32)
    right = np.logaddexp(0, x.astype(np.float64))
    assert (np.abs(loop(math.softplus)(x) - right) / np.maximum(1, right)).max() < 3e-7


@pytest.mark.parametrize(
    "function",
    [
        math.tanh,
        math.sigmoid,
        first_of_two,
        second_of_two,
        math.exponential,
        math.logarithm,
        math.softplus,
        distribution,
        density,
    ],
)
def test_a_nan_is_passed_on(function):
    found = loop(function)(np.array([1.0, np.nan, 2.0], np.float32))
    assert np.isnan(found).tolist() == [False, True, False]


def test_what_is_bounded_stays_within_its_bounds():
    tanh, sigmoid = loop(math.tanh)(LINE), loop(math.sigmoid)(LINE)
    assert np.abs(tanh).max() == 1
    assert sigmoid.min() == 0
    assert sigmoid.max() == 1
    for function in (first_of_two, second_of_two, distribution):
        found = loop(function)(LINE)
        assert found.min() >= 0
        assert found.max() <= 1
