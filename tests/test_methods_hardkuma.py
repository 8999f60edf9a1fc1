import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from genspp.kernels.memory import floats
from genspp.methods.hardkuma import HardKuma
from genspp.methods.in_training import Tally
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
    masked,
    omega,
    prepared,
    scatter,
    vectors_of,
)


def shapes(logits):
    """Return a and b of every cell."""
    return F.softplus(torch.from_numpy(logits).double()).numpy()


def gates_of(logits, batch, noise):
    """Return drawn gates, of padding too where that counts."""
    uniform = noise.random(batch.cells, dtype=np.float32).astype(np.float64).clip(0.001, 0.999)
    a, b = shapes(logits)
    number, gates = (1 - (1 - uniform) ** (1 / b)) ** (1 / a), floats(batch.cells)
    gates[: batch.cells] = (1.2 * number - 0.1).clip(0, 1) * batch.counted[: batch.cells]
    return gates


def rate_of(logits, batch):
    """Return the expected share of gates above 0, weighted with what marks cost."""
    a, b = shapes(logits)
    chances, total = (1 - (1 / 12) ** a) ** b, 0.0
    for text, cells in lanes(batch):
        total += MARK_COSTS[TEXTS.labels[text]] * chances[cells[batch.counted[cells] > 0]].sum()
    return total / LENGTHS.sum()


@each_reading
def test_losses_and_multipliers_are_the_hand_computed_ones(reading):
    model, session, batch = prepared(HardKuma, **reading, lambda_0=0.8, eta=5.0, learning_rate=1e-9)
    logits, noise = choices(model.model_.generator, batch), again(session)
    multiplier, excess = 0.8, 0.0
    for _ in range(3):
        gates = gates_of(logits, batch, noise)
        excess = 0.99 * excess + 0.01 * (rate_of(logits, batch) - 0.3)
        multiplier *= math.exp(5 * excess)
        expected = cross_entropy(classified(model.model_.predictor, batch, gates), batch)
        expected += scatter(gates, batch, session.losses) + multiplier * excess
        assert model._update(session, batch) == pytest.approx(expected, rel=1e-4)
    assert 0.8 < session.memory["multiplier"] == pytest.approx(multiplier, rel=1e-5)


@pytest.mark.parametrize(("start", "eta", "end"), [(4.9, 1e3, 5.0), (1e-11, -1e5, 1e-12)])
def test_the_multiplier_keeps_within_bounds(start, eta, end):
    model, session, batch = prepared(HardKuma, lambda_0=start)
    session.settings["eta"] = eta
    model._update(session, batch)
    assert session.memory["multiplier"] == end


def test_the_rate_teaches_the_generator_alone_and_makes_it_select_less():
    found = []
    for multiplier in (1e-9, 5.0):
        model, session, batch = prepared(HardKuma, lambda_0=multiplier, eta=0.0, learning_rate=0.001)
        before = rate_of(choices(model.model_.generator, batch), batch)
        model._update(session, batch)
        (optimizer,) = session.optimizers
        assert all(optimizer.gradient[optimizer.vector.places([p])].any() for p in model.model_.parameters())
        parts = model.model_.generator, model.model_.predictor
        found.append([optimizer.gradient[optimizer.vector.places(part.parameters())] for part in parts])
        optimizer.put()
    assert not np.array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
    assert rate_of(choices(model.model_.generator, batch), batch) < before  # at the multiplier of 5


def test_validation_and_highlights_are_gates_that_are_likelier_above_one_half():
    model, session, batch = prepared(HardKuma)
    a, b = shapes(choices(model.model_.generator, batch))
    mask, tally = masked((1 - 0.5**a) ** b >= 0.5, batch), Tally(session.losses)
    model._measure(session, batch, tally)
    expected = cross_entropy(classified(model.model_.predictor, batch, mask), batch)
    assert tally.loss() == pytest.approx(expected + omega(mask, batch, session.losses), rel=1e-5)
    masks = TEXTS.split(select(on_kernels(model.model_), TEXTS))
    for text, cells in lanes(batch):
        assert masks[text].tolist() == mask[cells[: LENGTHS[text]]].tolist()
        every = torch.ones(1, int(LENGTHS[text]), dtype=torch.bool)
        assert model.model_.generator.select(vectors_of(text)[None], every)[0].tolist() == masks[text].tolist()
