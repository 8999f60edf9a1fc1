import numpy as np
import torch

from genspp.kernels.attention import token_softmax, token_softmax_back
from genspp.kernels.memory import floats
from genspp.methods.rnp import RNP
from gradient_tools import lanes, prepared


def test_attention_is_a_softmax_over_the_tokens_of_a_text():
    (_, _, batch), rng = prepared(RNP), np.random.default_rng(0)
    cells = batch.cells
    logits, attention, slope, gradient = floats(2 * cells), floats(cells), floats(cells), floats(2 * cells)
    logits[: 2 * cells], slope[:cells] = 3 * rng.normal(size=2 * cells), rng.normal(size=cells)
    token_softmax(batch.groups, batch.layout.first, cells, logits, batch.real, attention)
    token_softmax_back(batch.groups, batch.layout.first, cells, attention, slope.copy(), gradient)
    x, loss = torch.from_numpy(logits.copy()).requires_grad_(), torch.zeros(())
    for _, own in lanes(batch):
        real = own[batch.real[own] > 0]
        right = (x[real + cells] - x[real]).softmax(0)
        np.testing.assert_allclose(attention[real], right.detach(), atol=1e-6)
        assert not attention[own[len(real) :]].any()
        loss = loss + (right * torch.from_numpy(slope[real])).sum()
    loss.backward()
    np.testing.assert_allclose(gradient[: 2 * cells], x.grad.numpy()[: 2 * cells], atol=1e-6)
