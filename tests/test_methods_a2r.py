import numpy as np
import pytest

from genspp.kernels.memory import floats
from genspp.methods.a2r import A2R
from genspp.methods.in_training import Tally
from gradient_tools import (
    LENGTHS,
    choices,
    classified,
    cross_entropy,
    divergence,
    each_reading,
    lanes,
    likelier,
    omega,
    prepared,
)


def attention(logits, batch):
    """Return the softmax of the margins over the tokens of every text."""
    found = floats(batch.cells)
    for text, cells in lanes(batch):
        real = cells[: LENGTHS[text]]
        powers = np.exp((logits[1] - logits[0])[real].astype(np.float64))
        found[real] = powers / powers.sum()
    return found


def loss_of(model, session, batch, weight):
    logits = choices(model.model_.generator, batch)
    mask, soft = likelier(logits, batch), session.companions["soft"]
    hard_logits = classified(model.model_.predictor, batch, mask)
    soft_logits = classified(soft, batch, attention(logits, batch))
    apart = divergence(hard_logits, soft_logits) + divergence(soft_logits, hard_logits)
    task = cross_entropy(hard_logits, batch) + cross_entropy(soft_logits, batch)
    return task + weight * apart + omega(mask, batch, session.losses)


@each_reading
def test_the_loss_is_the_hand_computed_one(reading):
    model, session, batch = prepared(A2R, **reading, lambda_d=0.6)
    expected = loss_of(model, session, batch, 0.6)
    assert model._update(session, batch) == pytest.approx(expected, rel=1e-5)


def test_the_validation_loss_is_what_training_minimises():
    model, session, batch = prepared(A2R, lambda_d=0.6)
    tally = Tally(session.losses)
    model._measure(session, batch, tally)
    assert tally.loss() == pytest.approx(loss_of(model, session, batch, 0.6), rel=1e-5)


def test_the_generator_learns_through_the_soft_predictor_only():
    model, session, batch = prepared(A2R, lambda_s=0.0, lambda_c=0.0, lambda_d=0.0)
    model._update(session, batch)
    vector = session.optimizers[0].vector
    choosing = vector.places(model.model_.generator.parameters())
    gradient = session.optimizers[0].gradient[choosing].copy()
    other, fresh, _ = prepared(A2R, lambda_s=0.0, lambda_c=0.0, lambda_d=0.0)
    fresh.optimizers[0].vector.numbers[vector.places(model.model_.predictor.parameters())] *= 2
    other._update(fresh, batch)
    assert gradient.any()
    np.testing.assert_array_equal(fresh.optimizers[0].gradient[choosing], gradient)


def test_the_soft_predictor_is_no_part_of_the_model():
    model, _, _ = prepared(A2R)
    assert not any("soft" in name for name in model.model_.state_dict())
