import math

import numpy as np
import pytest

from conftest import sentences
from genspp.methods.gradient import Session
from genspp.methods.in_training import Tally
from genspp.methods.threeplayer import ThreePlayer
from genspp.model.inference import classify_full_text
from genspp.model.weights import on_kernels, weighed
from gradient_tools import (
    FULL_TEXT_LOSS,
    QUICK,
    again,
    choices,
    classified,
    cross_entropy,
    drawn,
    each_reading,
    likelier,
    omega,
    prepared,
    rest_of,
)

FREE = {"lambda_s": 0.0, "lambda_c": 0.0}  # masks cost nothing


def loss_of(model, session, batch, mask, weight):
    task = cross_entropy(classified(model.model_.predictor, batch, mask), batch)
    left = cross_entropy(classified(session.companions["complement"], batch, rest_of(mask, batch)), batch)
    missing = math.log(3) - FULL_TEXT_LOSS - (left - task)
    assert missing > 0  # or the term would not be tested
    return task + weight * missing + omega(mask, batch, session.losses)


@each_reading
def test_the_generator_s_loss_is_the_hand_computed_one(reading):
    model, session, batch = prepared(ThreePlayer, **reading, lambda_r=0.6)
    mask = drawn(choices(model.model_.generator, batch), batch, again(session))
    expected = loss_of(model, session, batch, mask, 0.6)
    assert model._update(session, batch) == pytest.approx(expected, rel=1e-5)


def test_the_validation_loss_is_what_the_generator_minimises():
    model, session, batch = prepared(ThreePlayer, lambda_r=0.6)
    tally = Tally(session.losses)
    model._measure(session, batch, tally)
    mask = likelier(choices(model.model_.generator, batch), batch)
    assert tally.loss() == pytest.approx(loss_of(model, session, batch, mask, 0.6), rel=1e-5)


def gradients(weight, full_text_loss=FULL_TEXT_LOSS):
    """Return the gradients of generator, predictor and complement predictor."""
    model, session, batch = prepared(ThreePlayer, **FREE, lambda_r=weight)
    session.full_text_loss = full_text_loss
    model._update(session, batch)
    (optimizer,) = session.optimizers
    parts = model.model_.generator, model.model_.predictor, session.companions["complement"]
    return [optimizer.gradient[optimizer.vector.places(part.parameters())] for part in parts]


def test_the_predictors_learn_their_tasks_and_the_generator_what_the_rest_says():
    with_rest, without = gradients(0.6), gradients(0.0)
    assert not np.array_equal(with_rest[0], without[0])
    for one, other in zip(with_rest[1:], without[1:], strict=True):
        assert one.any()
        np.testing.assert_array_equal(one, other)


def test_beyond_the_margin_the_rest_teaches_nothing():
    np.testing.assert_array_equal(gradients(0.6, full_text_loss=9.0)[0], gradients(0.0)[0])


def test_the_margin_knows_the_full_text_s_validation_loss(monkeypatch):
    sessions, original = [], Session.begin
    monkeypatch.setattr(Session, "begin", lambda self, *about: sessions.append(self) or original(self, *about))
    texts, labels = sentences(90)
    given = texts[:60], labels[:60]
    model = ThreePlayer(**QUICK | {"max_epochs": 2}).fit(*given, validation=(texts[60:], labels[60:]))
    pair, full_text = on_kernels(model.model_), weighed(model.full_text_)
    rows = zip(classify_full_text(pair, full_text, model._read(texts[60:])[1]), labels[60:], strict=True)
    expected = -np.mean([math.log(row[model.classes_.tolist().index(label)]) for row, label in rows])
    assert sessions[0].full_text_loss == pytest.approx(expected, rel=1e-5)


def test_the_complement_predictor_is_no_part_of_the_model():
    model, _, _ = prepared(ThreePlayer)
    assert not any("complement" in name for name in model.model_.state_dict())
