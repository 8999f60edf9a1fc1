import pytest
import torch

from genspp.methods import FR
from gradient_tools import again, choices, classified, cross_entropy, drawn, omega, parameter_count, prepared


def test_parameter_counts():
    assert (parameter_count(FR, "toy"), parameter_count(FR, "hatexplain")) == (1797, 4324)


@pytest.mark.parametrize("preset", ["sound", "paper"])
def test_the_loss_is_the_hand_computed_one(preset):
    model, session, batch = prepared(FR, preset=preset)
    mask = drawn(choices(model.model_.generator, batch), again(session))
    task = cross_entropy(classified(model.model_.predictor, batch, mask), batch, session.losses.class_weights)
    expected = task + omega(mask, batch, session.losses)
    assert float(model._update(session, batch)) == pytest.approx(expected, rel=1e-5)


def test_the_one_encoder_gets_the_gradients_of_both_readings():
    model, session, batch = prepared(FR)
    network, losses = model.model_, session.losses
    assert network.generator.encoder is network.predictor.encoder
    parameter = network.generator.encoder.gru.weight_hh_l0
    mask = losses.sample(network.generator(batch), batch, again(session))
    logits = network.predictor(batch, mask)
    loss = losses.task(logits, batch.labels) + losses.omega(mask, batch)
    fixed = losses.task(network.predictor(batch, mask.detach()), batch.labels)
    (whole,) = torch.autograd.grad(loss, parameter, retain_graph=True)
    (reading,) = torch.autograd.grad(fixed, parameter)
    (choosing,) = torch.autograd.grad(mask, parameter, torch.autograd.grad(loss, mask, retain_graph=True)[0])
    torch.testing.assert_close(whole, reading + choosing)
    assert reading.abs().sum() > 0
    assert choosing.abs().sum() > 0
    model._update(session, batch)
    torch.testing.assert_close(parameter.grad, whole)


def test_the_full_text_predictor_has_an_encoder_of_its_own():
    model, _, _ = prepared(FR)
    assert not set(model.full_text_.parameters()) & set(model.model_.parameters())
