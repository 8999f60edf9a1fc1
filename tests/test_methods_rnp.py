import pytest

from genspp.methods import RNP
from gradient_tools import again, choices, classified, cross_entropy, drawn, omega, parameter_count, prepared


def test_parameter_counts():
    assert (parameter_count(RNP, "toy"), parameter_count(RNP, "hatexplain")) == (3509, 8516)


@pytest.mark.parametrize("preset", ["sound", "paper"])
def test_the_loss_is_the_hand_computed_one(preset):
    model, session, batch = prepared(RNP, preset=preset)
    mask = drawn(choices(model.model_.generator, batch), again(session))
    task = cross_entropy(classified(model.model_.predictor, batch, mask), batch, session.losses.class_weights)
    expected = task + omega(mask, batch, session.losses)
    assert float(model._update(session, batch)) == pytest.approx(expected, rel=1e-5)


def test_gradients_reach_both_networks():
    model, session, batch = prepared(RNP)
    model._update(session, batch)
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.model_.parameters())


def test_nothing_is_shared():
    model, _, _ = prepared(RNP)
    generator, predictor = (set(part.parameters()) for part in (model.model_.generator, model.model_.predictor))
    assert not generator & predictor
