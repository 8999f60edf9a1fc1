import numpy as np
import pytest

from genspp.methods.in_training import Tally
from genspp.methods.mcd import MCD
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
    parameter_count,
    prepared,
    put,
)


def test_parameter_counts():
    assert (parameter_count(MCD, "toy"), parameter_count(MCD, "hatexplain")) == (3477, 8452)


@each_reading
def test_both_losses_are_the_hand_computed_ones(reading):
    model, session, batch = prepared(MCD, **reading)
    network, noise = model.model_, again(session)
    mask = drawn(choices(network.generator, batch), batch, noise)
    expected = cross_entropy(classified(network.predictor, batch, mask), batch)
    expected += cross_entropy(classified(network.predictor, batch, everything(batch)), batch)
    expected += omega(mask, batch, session.losses)
    assert model._fit(session, batch) == pytest.approx(expected, rel=1e-5)
    # The second step: a fresh mask, and networks that the first step has moved.
    put(session)
    mask = drawn(choices(network.generator, batch), batch, noise)
    full = classified(network.predictor, batch, everything(batch))
    expected = divergence(full, classified(network.predictor, batch, mask)) + omega(mask, batch, session.losses)
    assert model._match(session, batch) == pytest.approx(expected, rel=1e-5)


def test_in_the_first_step_the_generator_gets_the_regularisers_only():
    model, session, batch = prepared(MCD)
    choosing, reading = session.optimizers
    generator = session.generators[0]
    mask = generator.draw(batch, again(session))
    generator.learn_from(batch, mask.back(session.losses.omega(batch, mask.numbers)[1]))
    alone = choosing.gradient.copy()
    model._fit(session, batch)
    assert alone.any()
    np.testing.assert_array_equal(choosing.gradient, alone)
    assert all(reading.gradient[reading.vector.places([p])].any() for p in model.model_.predictor.parameters())


def test_the_second_step_moves_the_generator_only():
    model, session, batch = prepared(MCD)
    choosing, reading = session.optimizers
    before = choosing.vector.numbers.copy(), reading.vector.numbers.copy()
    model._match(session, batch)
    moved = choosing.vector.numbers != before[0]
    assert all(moved[choosing.vector.places([p])].any() for p in model.model_.generator.parameters())
    np.testing.assert_array_equal(reading.vector.numbers, before[1])
    assert [optimizer.steps for optimizer in session.optimizers] == [1, 0]


def test_what_the_second_step_leaves_does_not_reach_the_next_first_one():
    model, session, batch = prepared(MCD)
    model._match(session, batch)
    session.begin(0, 7)
    other, fresh, _ = prepared(MCD)
    fresh.optimizers[0].restore(session.optimizers[0].state())
    assert model._fit(session, batch) == other._fit(fresh, batch)
    np.testing.assert_array_equal(session.optimizers[1].gradient, fresh.optimizers[1].gradient)


def test_one_update_is_both_steps():
    one, session, batch = prepared(MCD)
    loss = one._update(session, batch)
    assert [optimizer.steps for optimizer in session.optimizers] == [2, 1]
    two, session, batch = prepared(MCD)
    assert loss == two._fit(session, batch) + two._match(session, batch)


def test_the_validation_loss_holds_the_divergence_and_not_the_full_text():
    model, session, batch = prepared(MCD)
    network, tally = model.model_, Tally(session.losses)
    model._measure(session, batch, tally)
    mask = likelier(choices(network.generator, batch), batch)
    logits = classified(network.predictor, batch, mask)
    expected = cross_entropy(logits, batch) + omega(mask, batch, session.losses)
    expected += divergence(classified(network.predictor, batch, everything(batch)), logits)
    assert tally.loss() == pytest.approx(expected, rel=1e-5)


def test_the_predictor_has_no_norm():
    model, _, _ = prepared(MCD)
    assert model.model_.predictor.encoder.norm is None
    assert model.full_text_.encoder.norm is None
