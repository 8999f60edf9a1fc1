import numpy as np
import pytest

from genspp.methods.in_training import Tally
from genspp.methods.mgr import MGR
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
    assert (parameter_count(MGR, "toy"), parameter_count(MGR, "hatexplain")) == (7001, 17032)


@each_reading
def test_the_loss_is_the_sum_over_the_generators(reading):
    model, session, batch = prepared(MGR, **reading)
    noise, expected = again(session), 0.0
    for generator in (model.model_.generator, *session.companions["generators"]):
        mask = drawn(choices(generator, batch), batch, noise)
        expected += cross_entropy(classified(model.model_.predictor, batch, mask), batch)
        expected += omega(mask, batch, session.losses)
    assert model._update(session, batch) == pytest.approx(expected, rel=1e-5)


def test_each_part_moves_at_its_own_rate():
    model, session, batch = prepared(MGR, learning_rate=0.003)
    second, third = session.companions["generators"]
    vector = session.optimizers[0].vector
    before = vector.numbers.copy()
    model._update(session, batch)
    moves = np.abs(vector.numbers - before)
    parts = (model.model_.predictor, model.model_.generator, second, third)
    for part, rate in zip(parts, (0.001, 0.003, 0.006, 0.009), strict=True):
        # Adam's first step is the learning rate, whatever the gradient.
        assert moves[vector.places(part.parameters())].max() == pytest.approx(rate, rel=1e-3)
        assert all(moves[vector.places([parameter])].any() for parameter in part.parameters())


def test_every_parameter_is_trained_the_predictor_s_norm_too():
    model, session, _ = prepared(MGR)
    (optimizer,) = session.optimizers
    listed = optimizer.vector.parameters
    assert len(listed) == len(set(listed)) == len([*model.model_.parameters(), *session.companions.parameters()])
    assert model.model_.predictor.encoder.norm.weight in set(listed)


def test_validation_and_inference_use_the_first_generator_alone():
    model, session, batch = prepared(MGR)
    losses, vector = [], session.optimizers[0].vector
    for _ in range(2):
        tally = Tally(session.losses)
        model._measure(session, batch, tally)
        losses.append(tally.loss())
        vector.numbers[vector.places(session.companions.parameters())] += 1
    assert losses[0] == losses[1]
    assert not any("generators" in name for name in model.model_.state_dict())
