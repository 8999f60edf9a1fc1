import numpy as np
import pytest

from genspp.methods.dar import DAR
from genspp.methods.in_training import Tally
from genspp.model.weights import flatten
from gradient_tools import again, choices, classified, cross_entropy, drawn, each_reading, likelier, omega, prepared


@each_reading
def test_the_loss_is_the_hand_computed_one(reading):
    model, session, batch = prepared(DAR, **reading, lambda_a=0.6)
    mask = drawn(choices(model.model_.generator, batch), batch, again(session))
    expected = cross_entropy(classified(model.model_.predictor, batch, mask), batch) + omega(
        mask, batch, session.losses
    )
    expected += 0.6 * cross_entropy(classified(model.full_text_, batch, mask), batch)
    assert model._update(session, batch) == pytest.approx(expected, rel=1e-5)


def test_the_judge_stays_as_it_is_and_teaches_the_generator_alone():
    model, session, batch = prepared(DAR)
    before = flatten(model.full_text_)
    model._update(session, batch)
    np.testing.assert_array_equal(session.predictors[1].optimizer.vector.numbers[: len(before)], before)
    (optimizer,) = session.optimizers
    gradient = optimizer.gradient.copy()
    other, fresh, _ = prepared(DAR, lambda_a=0.0)
    other._update(fresh, batch)
    without, vector = fresh.optimizers[0].gradient, optimizer.vector
    reading, choosing = (vector.places(p.parameters()) for p in (model.model_.predictor, model.model_.generator))
    np.testing.assert_array_equal(gradient[reading], without[reading])
    assert not np.array_equal(gradient[choosing], without[choosing])


def test_the_validation_loss_is_what_training_minimises():
    model, session, batch = prepared(DAR, lambda_a=0.6)
    tally = Tally(session.losses)
    model._measure(session, batch, tally)
    mask = likelier(choices(model.model_.generator, batch), batch)
    expected = cross_entropy(classified(model.model_.predictor, batch, mask), batch) + omega(
        mask, batch, session.losses
    )
    expected += 0.6 * cross_entropy(classified(model.full_text_, batch, mask), batch)
    assert tally.loss() == pytest.approx(expected, rel=1e-5)
