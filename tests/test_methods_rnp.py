import numpy as np
import pytest

from genspp.methods.rnp import RNP
from gradient_tools import (
    again,
    choices,
    classified,
    cross_entropy,
    drawn,
    each_reading,
    omega,
    parameter_count,
    prepared,
)


def test_parameter_counts():
    assert (parameter_count(RNP, "toy"), parameter_count(RNP, "hatexplain")) == (3509, 8516)


@each_reading
def test_the_loss_is_the_hand_computed_one(reading):
    model, session, batch = prepared(RNP, **reading)
    mask = drawn(choices(model.model_.generator, batch), batch, again(session))
    expected = cross_entropy(classified(model.model_.predictor, batch, mask), batch) + omega(
        mask, batch, session.losses
    )
    assert model._update(session, batch) == pytest.approx(expected, rel=1e-5)


def test_gradients_reach_both_networks():
    model, session, batch = prepared(RNP)
    model._update(session, batch)
    (optimizer,) = session.optimizers
    assert all(optimizer.gradient[optimizer.vector.places([p])].any() for p in model.model_.parameters())
    assert not np.isnan(optimizer.gradient).any()


def test_nothing_is_shared():
    model, _, _ = prepared(RNP)
    generator, predictor = (set(part.parameters()) for part in (model.model_.generator, model.model_.predictor))
    assert not generator & predictor
