import numpy as np
import pytest
import torch
from torch.distributions import Bernoulli, kl_divergence

from genspp.kernels.memory import floats
from genspp.methods.in_training import Tally
from genspp.methods.vib import TEMPERATURE, VIB
from genspp.model.inference import select
from genspp.model.weights import on_kernels
from gradient_tools import (
    LENGTHS,
    MARK_COSTS,
    TEXTS,
    again,
    choices,
    classified,
    cross_entropy,
    each_reading,
    lanes,
    omega,
    prepared,
    scatter,
)


def relaxed(logits, batch, noise):
    """Return a binary concrete mask, of padding too where that counts."""
    uniform = noise.random(batch.cells, dtype=np.float32).astype(np.float64)
    margins = (logits[1] - logits[0] + np.log(uniform) - np.log(1 - uniform)) / TEMPERATURE
    mask = floats(batch.cells)
    gates = 1 / (1 + np.exp(-margins))
    mask[: batch.cells] = batch.counted[: batch.cells] * gates * (gates > 1e-5)
    return mask


def likeliest(logits, batch, share):
    mask = floats(batch.cells)
    for text, cells in lanes(batch):
        wanted = max(1, int(np.ceil(share * LENGTHS[text])))
        real = cells[: LENGTHS[text]]
        mask[real[np.argsort(-(logits[1] - logits[0])[real])[:wanted]]] = 1
    return mask


def bottleneck(logits, batch, alpha):
    """Return the mean over tokens of the divergence from alpha, which a mark of more weight makes smaller."""
    total = 0.0
    for text, cells in lanes(batch):
        own = cells[batch.counted[cells] > 0]
        prior = Bernoulli(torch.tensor(alpha / MARK_COSTS[TEXTS.labels[text]]))
        total += kl_divergence(Bernoulli(logits=torch.from_numpy(logits[1] - logits[0])[own]), prior).sum().item()
    return total / LENGTHS.sum()


@each_reading
def test_the_loss_is_the_hand_computed_one(reading):
    model, session, batch = prepared(VIB, **reading, lambda_s=0.6)
    logits = choices(model.model_.generator, batch)
    mask = relaxed(logits, batch, again(session))
    expected = cross_entropy(classified(model.model_.predictor, batch, mask), batch)
    expected += 0.6 * bottleneck(logits, batch, 0.3) + scatter(mask, batch, session.losses)
    assert model._update(session, batch) == pytest.approx(expected, rel=1e-5)


def test_the_validation_loss_is_at_the_likeliest_tokens():
    model, session, batch = prepared(VIB, lambda_s=0.6)
    logits, tally = choices(model.model_.generator, batch), Tally(session.losses)
    model._measure(session, batch, tally)
    mask = likeliest(logits, batch, 0.3)
    expected = cross_entropy(classified(model.model_.predictor, batch, mask), batch)
    expected += 0.6 * bottleneck(logits, batch, 0.3) + omega(mask, batch, session.losses)
    assert tally.loss() == pytest.approx(expected, rel=1e-5)


def test_gradients_reach_both_networks_and_the_bottleneck_the_generator_alone():
    found = []
    for beta in (0.0, 0.6):
        model, session, batch = prepared(VIB, lambda_s=beta)
        model._update(session, batch)
        (optimizer,) = session.optimizers
        assert all(optimizer.gradient[optimizer.vector.places([p])].any() for p in model.model_.parameters())
        parts = model.model_.generator, model.model_.predictor
        found.append([optimizer.gradient[optimizer.vector.places(part.parameters())] for part in parts])
    assert not np.array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_a_highlight_is_the_likeliest_tokens_of_its_text():
    model, _, batch = prepared(VIB)
    expected = likeliest(choices(model.model_.generator, batch), batch, 0.3)
    masks = TEXTS.split(select(on_kernels(model.model_), TEXTS))
    for text, cells in lanes(batch):
        assert masks[text].tolist() == expected[cells[: LENGTHS[text]]].tolist()
