"""The compiled guider against torch's graph, for texts of unequal length, whole and partial groups, any hidden size."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from genspp.kernels.memory import floats
from genspp.methods.grat import Guide, Guider
from genspp.methods.in_training import PredictorInTraining
from genspp.model.networks import Encoder, Predictor, Shape
from genspp.model.optimizer import Adam
from guider_tools import WEIGHTS, by_text, gradient_of, laid_out, logits_of, shaken


def guided(hidden, lengths, *, inputs=7, classes=3, onehot=False, padded=False):
    """Return a guider on kernels and in torch, a batch on kernels, and the same texts as torch has them."""
    random = np.random.default_rng(2)
    vectors = np.eye(inputs, dtype=np.float32) if onehot else random.normal(size=(11, inputs)).astype(np.float32)
    table, batch, texts = laid_out(lengths, hidden, classes, vectors, padded=padded)
    torch.manual_seed(3)
    module = Guider(Shape(inputs, hidden, classes))
    shaken(module)
    return Guide(module, Adam([(module, 1e-3)]), table), module, batch, texts


CASES = [
    (8, [5, 3, 9, 1, 1, 4, 7, 2], {}),
    (16, [5, 3, 9, 1, 12, 4, 7, 2, 6, 6, 8], {"classes": 2, "padded": True}),
    (3, [4, 1, 6, 2, 2], {"classes": 4}),
    (5, [1], {}),
    (11, list(range(1, 20)), {"onehot": True}),
]


@pytest.mark.parametrize(("hidden", "lengths", "more"), CASES)
def test_attention_and_logits_are_those_of_torch(hidden, lengths, more):
    guide, module, batch, (vectors, real, _) = guided(hidden, lengths, **more)
    attention, logits = guide.look(batch)
    with torch.no_grad():
        expected, answer = module(vectors, real)
    torch.testing.assert_close(by_text(batch, attention, max(lengths)), expected, atol=2e-6, rtol=1e-5)
    torch.testing.assert_close(logits_of(batch, logits, answer.shape[1]), answer, atol=5e-6, rtol=1e-5)
    assert not attention[: batch.cells][batch.real[: batch.cells] == 0].any()


@pytest.mark.parametrize(("hidden", "lengths", "more"), CASES)
def test_loss_and_gradient_are_those_of_torch(hidden, lengths, more):
    guide, module, batch, (vectors, real, labels) = guided(hidden, lengths, **more)
    noise = floats(batch.cells)
    noise[:] = np.abs(np.random.default_rng(1).normal(size=len(noise)))
    _, answer = module(vectors, real, by_text(batch, noise, max(lengths)))
    loss = F.cross_entropy(answer, labels, torch.from_numpy(WEIGHTS[: answer.shape[1]]))
    loss.backward()
    for _ in range(2):  # memory that was used before is as good as new
        guide.optimizer.clear()
        assert guide.fit(batch, noise) == pytest.approx(float(loss.detach()), rel=1e-5)
    for name, parameter in module.named_parameters():
        found = gradient_of(guide.optimizer, parameter)
        torch.testing.assert_close(found, parameter.grad, atol=3e-6, rtol=2e-4, msg=lambda text, n=name: f"{n}: {text}")


def test_memory_grows_with_the_batches():
    guide, *_ = guided(8, [3, 2])
    for lengths in ([2], [4, 9, 3], [30, 1], [1] * 40):
        fresh, _, batch, _ = guided(8, lengths)
        guide._table = fresh._table
        for grown, made in zip(guide.look(batch), fresh.look(batch), strict=True):
            np.testing.assert_array_equal(grown, made)


def test_lanes_without_text_and_padding_take_no_part():
    guide, _, batch, _ = guided(8, [4, 2, 1])
    quiet, loud = floats(batch.cells), floats(batch.cells)
    loud[: batch.cells] = np.where(batch.real[: batch.cells] > 0, 0, 1e6)
    gradients = []
    for noise in (quiet, loud):
        guide.optimizer.clear()
        guide.fit(batch, noise)
        gradients.append(guide.optimizer.gradient[: guide.optimizer.vector.size].copy())
    np.testing.assert_array_equal(*gradients)


def test_an_empty_lane_of_a_predictor_holds_numbers():
    vectors = np.random.default_rng(2).normal(size=(11, 7)).astype(np.float32)
    table, batch, _ = laid_out([4, 2, 1], 4, 3, vectors)
    predictor = Predictor(Encoder(Shape(7, 4, 3), "bigru"), 3, selected=False)
    with torch.no_grad():
        predictor.output.weight.fill_(2.0)  # the sum over features of an endless value is none
    predictor = PredictorInTraining(predictor, Adam([(predictor, 1e-3)]), table)
    loss, d_mask = predictor.fit(batch, batch.real)
    assert np.isfinite(loss)
    assert np.isfinite(d_mask).all()
