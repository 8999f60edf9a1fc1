import numpy as np
import pytest

from genspp.methods.in_training import Tally
from genspp.methods.mrd import MRD
from gradient_tools import (
    again,
    choices,
    classified,
    cross_entropy,
    divergence,
    drawn,
    each_reading,
    everything,
    likelier,
    omega,
    prepared,
    put,
    rest_of,
)


def left(network, mask, batch):
    """Return KL(full text || rest)."""
    full, rest = (classified(network.predictor, batch, seen) for seen in (everything(batch), rest_of(mask, batch)))
    return divergence(full, rest)


@each_reading
def test_both_losses_are_the_hand_computed_ones(reading):
    model, session, batch = prepared(MRD, **reading)
    network, noise = model.model_, again(session)
    mask = drawn(choices(network.generator, batch), batch, noise)
    expected = cross_entropy(classified(network.predictor, batch, mask), batch) + omega(mask, batch, session.losses)
    for seen in (everything(batch), rest_of(mask, batch)):
        expected += cross_entropy(classified(network.predictor, batch, seen), batch)
    assert model._fit(session, batch) == pytest.approx(expected, rel=1e-5)
    put(session)
    mask = drawn(choices(network.generator, batch), batch, noise)
    expected = omega(mask, batch, session.losses) - left(network, mask, batch)
    assert model._match(session, batch) == pytest.approx(expected, rel=1e-5)


def test_in_the_second_step_the_generator_alone_learns():
    model, session, batch = prepared(MRD, lambda_s=0.0, lambda_c=0.0)
    choosing, reading = session.optimizers
    before = choosing.vector.numbers.copy(), reading.vector.numbers.copy()
    model._match(session, batch)
    assert not np.array_equal(choosing.vector.numbers, before[0])
    np.testing.assert_array_equal(reading.vector.numbers, before[1])


def test_the_validation_loss_is_what_training_minimises():
    model, session, batch = prepared(MRD)
    tally, network = Tally(session.losses), model.model_
    model._measure(session, batch, tally)
    mask = likelier(choices(network.generator, batch), batch)
    expected = cross_entropy(classified(network.predictor, batch, mask), batch) + omega(mask, batch, session.losses)
    assert tally.loss() == pytest.approx(expected - left(network, mask, batch), rel=1e-5)
