import numpy as np
import pytest
import torch

from genspp.kernels.adam import adam_step
from genspp.kernels.memory import floats


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4])
def test_steps_are_torch_s(scale):
    rng, size = np.random.default_rng(0), 21
    weights, gradient, moments, squares, rates = (floats(size) for _ in range(5))
    weights[:size], rates[:] = rng.normal(size=size), 0.01
    powers, theirs = np.ones(2), torch.from_numpy(weights[:size].copy()).requires_grad_()
    optimizer = torch.optim.Adam([theirs], lr=0.01)
    for _ in range(300):
        gradient[:size] = scale * rng.normal(1, 1, size)
        theirs.grad = torch.from_numpy(gradient[:size].copy())
        optimizer.step()
        adam_step(rates, weights, gradient, moments, squares, powers)
    np.testing.assert_allclose(weights[:size], theirs.detach().numpy(), rtol=2e-5, atol=2e-5)
    assert powers == pytest.approx([0.9**300, 0.999**300])
    assert not weights[size:].any()


def test_each_weight_moves_at_its_own_rate():
    rates, weights, gradient = (floats(16) for _ in range(3))
    rates[:3], gradient[:3] = (0.1, 0.2, 0), (5, -7, 1)
    adam_step(rates, weights, gradient, floats(16), floats(16), np.ones(2))
    assert weights[:3].tolist() == pytest.approx([-0.1, 0.2, 0], rel=1e-5)  # the first step is the rate
