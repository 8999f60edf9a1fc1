import numpy as np
import pytest

from genspp.methods.fr import FR
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
    assert (parameter_count(FR, "toy"), parameter_count(FR, "hatexplain")) == (1797, 4324)


@each_reading
def test_the_loss_is_the_hand_computed_one(reading):
    model, session, batch = prepared(FR, **reading)
    mask = drawn(choices(model.model_.generator, batch), batch, again(session))
    expected = cross_entropy(classified(model.model_.predictor, batch, mask), batch) + omega(
        mask, batch, session.losses
    )
    assert model._update(session, batch) == pytest.approx(expected, rel=1e-5)


def test_the_one_encoder_gets_the_gradients_of_both_readings():
    model, session, batch = prepared(FR)
    network, (optimizer,) = model.model_, session.optimizers
    assert network.generator.encoder is network.predictor.encoder
    shared = optimizer.vector.places(network.generator.encoder.parameters())
    generator, predictor = session.generators[0], session.predictors[0]
    mask = generator.draw(batch, again(session))
    _, d_mask = predictor.fit(batch, mask.numbers)
    reading = optimizer.gradient[shared].copy()
    optimizer.clear()
    generator.learn_from(batch, mask.back(d_mask + session.losses.omega(batch, mask.numbers)[1]))
    choosing = optimizer.gradient[shared].copy()
    model._update(session, batch)
    assert reading.any()
    assert choosing.any()
    np.testing.assert_allclose(optimizer.gradient[shared], reading + choosing, atol=1e-6)


def test_the_full_text_predictor_has_an_encoder_of_its_own():
    model, _, _ = prepared(FR)
    assert not set(model.full_text_.parameters()) & set(model.model_.parameters())
