"""Soft masks and what they cost, against torch."""

import numpy as np
import pytest
import torch
from torch.distributions import Bernoulli, kl_divergence

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
    margins, uniform, there, mask, slopes = drawn(2), uniform_numbers(), counted(), floats(CELLS), floats(CELLS)
    gates.draw_concrete(PLACES, margins, uniform, there, 0.4, mask, slopes)
    x = graph(margins)
    right = torch.sigmoid((x + torch.logit(torch.tensor(uniform[:CELLS]).double())) / 0.4) * torch.tensor(there[:CELLS])
    right.sum().backward()
    np.testing.assert_allclose(mask[:CELLS], right.detach(), atol=1e-5)
    np.testing.assert_allclose(slopes[:CELLS], x.grad, atol=1e-5)
    assert mask.min(where=there > 0, initial=1) > 0 and mask.max() < 1


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


@pytest.mark.parametrize("prior", [0.0, 1.0])
def test_a_prior_of_nothing_or_everything_is_finite(prior):
    first, priors, gradient = integers(2), floats(WIDTH), floats(CELLS)
    first[:2], priors[:WIDTH] = (0, PLACES), prior
    assert np.isfinite(gates.bernoulli_divergence(1, first, counted(), priors, drawn(9), 0.1, gradient))
    assert np.isfinite(gradient).all()
