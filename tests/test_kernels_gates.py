"""Soft masks and what they cost, against torch."""

import numpy as np
import pytest
import torch
from torch.distributions import Bernoulli, kl_divergence
from torch.nn import functional as F

from genspp.kernels import gates
from genspp.kernels.lanes import WIDTH
from genspp.kernels.memory import floats, integers

PLACES = 5
CELLS = PLACES * WIDTH
GROUPS = 2


def drawn(scale=1.0, seed=0, cells=CELLS):
    numbers = floats(cells)
    numbers[:cells] = scale * np.random.default_rng(seed).normal(size=cells)
    return numbers


def uniform_numbers():
    numbers = floats(CELLS)
    numbers[:CELLS] = np.random.default_rng(3).random(CELLS, dtype=np.float32)
    return numbers


def counted():
    """Return which cells count: not all."""
    there = floats(CELLS)
    there[:CELLS] = np.random.default_rng(4).random(CELLS) < 0.7
    return there


def graph(numbers):
    return torch.tensor(numbers[:CELLS], dtype=torch.float64, requires_grad=True)


def test_relaxed_draws_and_their_slopes():
    margins, uniform, there, mask, slopes = drawn(3), uniform_numbers(), counted(), floats(CELLS), floats(CELLS)
    gates.draw_concrete(PLACES, margins, uniform, there, 0.4, mask, slopes)
    x = graph(margins)
    right = torch.sigmoid((x + torch.logit(torch.tensor(uniform[:CELLS]).double())) / 0.4)
    assert (right < 1e-5).any()
    right = torch.where(right > 1e-5, right, 0) * torch.tensor(there[:CELLS])
    right.sum().backward()
    np.testing.assert_allclose(mask[:CELLS], right.detach(), atol=1e-5)
    np.testing.assert_allclose(slopes[:CELLS], x.grad, atol=1e-5)


def test_the_divergence_from_a_prior_is_torch_s():
    margins, there, gradient = drawn(3), counted(), floats(CELLS)
    first, priors = integers(GROUPS + 1), floats(GROUPS * WIDTH)
    first[: GROUPS + 1] = 0, 2, PLACES
    priors[: GROUPS * WIDTH] = np.random.default_rng(5).uniform(0.05, 0.9, GROUPS * WIDTH)
    found = gates.bernoulli_divergence(GROUPS, first, there, priors, margins, 0.1, gradient)
    x = graph(margins)
    of_cells = np.concatenate([np.tile(priors[:WIDTH], 2), np.tile(priors[WIDTH : 2 * WIDTH], PLACES - 2)])
    apart = kl_divergence(Bernoulli(logits=x), Bernoulli(torch.tensor(of_cells).double()))
    right = 0.1 * (apart * torch.tensor(there[:CELLS])).sum()
    right.backward()
    assert found == pytest.approx(right.item(), rel=1e-5)
    np.testing.assert_allclose(gradient[:CELLS], x.grad, atol=1e-6)


def shapes(logits):
    """Return both logits as a graph, and a and b."""
    x = torch.tensor(logits[: 2 * CELLS], dtype=torch.float64, requires_grad=True)
    return x, F.softplus(x[:CELLS]), F.softplus(x[CELLS:])


@pytest.mark.parametrize("scale", [0.5, 3])
def test_hard_gates_and_their_slopes(scale):
    logits, uniform, there = drawn(scale, cells=2 * CELLS), uniform_numbers(), counted()
    uniform[:2] = 0, 1 - 6e-8  # the ends of what is drawn
    mask, slopes = floats(CELLS), floats(2 * CELLS)
    gates.draw_hard_gates(PLACES, logits, CELLS, uniform, there, mask, slopes)
    x, a, b = shapes(logits)
    u = torch.tensor(uniform[:CELLS]).double().clamp(0.001, 0.999)
    number = (1 - (1 - u) ** (1 / b)) ** (1 / a)
    right = (number * 1.2 - 0.1).clamp(0, 1) * torch.tensor(there[:CELLS])
    right.sum().backward()
    np.testing.assert_allclose(mask[:CELLS], right.detach(), atol=1e-4)
    np.testing.assert_allclose(slopes[: 2 * CELLS], x.grad, atol=2e-4)
    assert {0.0, 1.0} < set(mask[:CELLS].tolist())
    assert not slopes[:CELLS][(mask[:CELLS] == 0) | (mask[:CELLS] == 1)].any()


def test_gates_are_drawn_with_the_chance_that_their_rate_says():
    logits, many = floats(2 * 1250 * WIDTH), 1250 * WIDTH
    logits[:many], logits[many : 2 * many] = -0.4, 0.9
    ones, costs, first = floats(many), floats(WIDTH), integers(2)
    gradient, mask, slopes = (floats(2 * many) for _ in range(3))
    ones[:many], costs[:WIDTH], first[:2] = 1, 1, (0, 1250)
    uniform = floats(many)
    uniform[:many] = np.random.default_rng(0).random(many, dtype=np.float32)
    gates.draw_hard_gates(1250, logits, many, uniform, ones, mask, slopes)
    selected = (mask[:many] > 0).mean()
    assert gates.gate_rate(1, first, ones, costs, logits, many, 1 / many, gradient) == pytest.approx(selected, abs=0.02)


@pytest.mark.parametrize("scale", [0.5, 3])
def test_the_expected_rate_and_its_gradient(scale):
    logits, there, gradient = drawn(scale, cells=2 * CELLS), counted(), floats(2 * CELLS)
    first, costs = integers(GROUPS + 1), floats(GROUPS * WIDTH)
    first[: GROUPS + 1] = 0, 2, PLACES
    costs[: GROUPS * WIDTH] = np.random.default_rng(5).uniform(1, 3, GROUPS * WIDTH)
    found = gates.gate_rate(GROUPS, first, there, costs, logits, CELLS, 0.1, gradient)
    x, a, b = shapes(logits)
    of_cells = np.concatenate([np.tile(costs[:WIDTH], 2), np.tile(costs[WIDTH : 2 * WIDTH], PLACES - 2)])
    right = 0.1 * ((1 - (1 / 12) ** a) ** b * torch.tensor(of_cells * there[:CELLS])).sum()
    right.backward()
    assert found == pytest.approx(right.item(), rel=1e-5)
    np.testing.assert_allclose(gradient[: 2 * CELLS], x.grad, atol=1e-6)


def test_a_margin_says_whether_a_gate_is_likelier_above_one_half():
    logits, margins = drawn(2, cells=2 * CELLS), floats(CELLS)
    gates.gate_margins(PLACES, logits, CELLS, margins)
    _, a, b = shapes(logits)
    chance = (1 - 0.5**a) ** b
    np.testing.assert_allclose(margins[:CELLS], (2 * chance).log().detach(), atol=1e-5)
    assert (margins[:CELLS] >= 0).any() and (margins[:CELLS] < 0).any()


@pytest.mark.parametrize("size", [1e3, 1e30])
def test_logits_of_any_size_give_numbers(size):
    logits, margins, mask, slopes, gradient = drawn(size, cells=2 * CELLS), *(floats(2 * CELLS) for _ in range(4))
    first, costs = integers(2), floats(WIDTH)
    first[:2], costs[:WIDTH] = (0, PLACES), 1
    gates.draw_hard_gates(PLACES, logits, CELLS, uniform_numbers(), counted(), mask, slopes)
    gates.gate_margins(PLACES, logits, CELLS, margins)
    assert np.isfinite(gates.gate_rate(1, first, counted(), costs, logits, CELLS, 0.1, gradient))
    assert all(np.isfinite(numbers).all() for numbers in (margins, mask, slopes, gradient))


@pytest.mark.parametrize("prior", [0.0, 1.0])
def test_a_prior_of_nothing_or_everything_is_finite(prior):
    first, priors, gradient = integers(2), floats(WIDTH), floats(CELLS)
    first[:2], priors[:WIDTH] = (0, PLACES), prior
    assert np.isfinite(gates.bernoulli_divergence(1, first, counted(), priors, drawn(9), 0.1, gradient))
    assert np.isfinite(gradient).all()
