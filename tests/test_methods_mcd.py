import math

import pytest
import torch
from torch import nn

from genspp.methods import MCD
from genspp.methods.losses import Tally
from gradient_tools import again, choices, classified, cross_entropy, drawn, omega, parameter_count, prepared


def divergence(full, rationale):
    rows = zip(full.softmax(1).tolist(), rationale.softmax(1).tolist(), strict=True)
    return sum(p * math.log(p / q) for ps, qs in rows for p, q in zip(ps, qs, strict=True)) / len(full)


def test_parameter_counts():
    assert (parameter_count(MCD, "toy"), parameter_count(MCD, "hatexplain")) == (3477, 8452)


@pytest.mark.parametrize("preset", ["sound", "paper"])
def test_both_losses_are_the_hand_computed_ones(preset):
    model, session, batch = prepared(MCD, preset=preset)
    network, noise = model.model_, again(session)
    weights, everything = session.losses.class_weights, torch.ones(6, 5)
    mask = drawn(choices(network.generator, batch), noise)
    expected = cross_entropy(classified(network.predictor, batch, mask), batch, weights)
    expected += cross_entropy(classified(network.predictor, batch, everything), batch, weights)
    expected += omega(mask, batch, session.losses)
    assert float(model._fit(session, batch)) == pytest.approx(expected, rel=1e-5)
    # The second step: a fresh mask, and networks that the first step has moved.
    mask = drawn(choices(network.generator, batch), noise)
    full = classified(network.predictor, batch, everything)
    expected = divergence(full, classified(network.predictor, batch, mask)) + omega(mask, batch, session.losses)
    assert float(model._match(session, batch)) == pytest.approx(expected, rel=1e-5)


def test_in_the_first_step_the_generator_gets_the_regularisers_only():
    model, session, batch = prepared(MCD)
    mask = session.losses.sample(model.model_.generator(batch), batch, again(session))
    alone = torch.autograd.grad(session.losses.omega(mask, batch), list(model.model_.generator.parameters()))
    model._fit(session, batch)
    for parameter, gradient in zip(model.model_.generator.parameters(), alone, strict=True):
        torch.testing.assert_close(parameter.grad, gradient)
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.model_.predictor.parameters())


def test_the_second_step_moves_the_generator_only():
    model, session, batch = prepared(MCD)
    generator, predictor = model.model_.generator, model.model_.predictor
    before = [parameter.detach().clone() for parameter in (*generator.parameters(), *predictor.parameters())]
    model._match(session, batch)
    moved = [
        not torch.equal(new, old)
        for new, old in zip((*generator.parameters(), *predictor.parameters()), before, strict=True)
    ]
    count = len(list(generator.parameters()))
    assert all(moved[:count])
    assert not any(moved[count:])
    assert all(parameter.grad.abs().sum() == 0 for parameter in predictor.parameters())
    assert all(parameter.requires_grad for parameter in predictor.parameters())


def test_both_steps_have_the_graph_s_gradients():
    model, session, batch = prepared(MCD)
    (generator, predictor), losses = (model.model_.generator, model.model_.predictor), session.losses
    noise = again(session)
    mask = losses.sample(generator(batch), batch, noise)
    reading = losses.task(predictor(batch, mask.detach()), batch.labels) + losses.task(predictor(batch), batch.labels)
    expected = torch.autograd.grad(reading, list(predictor.parameters()))
    model._fit(session, batch)
    for parameter, gradient in zip(predictor.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, atol=1e-6, rtol=1e-4)
    mask = losses.sample(generator(batch), batch, noise)
    full, rationale = predictor(batch).detach().log_softmax(1), predictor(batch, mask).log_softmax(1)
    matching = nn.functional.kl_div(rationale, full, reduction="batchmean", log_target=True)
    expected = torch.autograd.grad(matching + losses.omega(mask, batch), list(generator.parameters()))
    model._match(session, batch)
    for parameter, gradient in zip(generator.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, atol=1e-6, rtol=1e-4)


def test_one_update_is_both_steps():
    one, session, batch = prepared(MCD)
    loss = one._update(session, batch)
    two, session, batch = prepared(MCD)
    assert float(loss) == pytest.approx(float(two._fit(session, batch) + two._match(session, batch)))
    assert [optimizer.steps for optimizer in session.optimizers] == [2, 1]


def test_the_validation_loss_holds_the_divergence_and_not_the_full_text():
    model, session, batch = prepared(MCD)
    network, tally = model.model_, Tally(session.losses)
    with torch.no_grad():
        model._measure(session, batch, tally)
    mask = (choices(network.generator, batch).diff(dim=0).squeeze(0) > 0).float() * batch.real
    logits = classified(network.predictor, batch, mask)
    expected = cross_entropy(logits, batch, session.losses.class_weights) + omega(mask, batch, session.losses)
    expected += divergence(classified(network.predictor, batch, torch.ones(6, 5)), logits)
    assert tally.loss() == pytest.approx(expected, rel=1e-5)


def test_the_predictor_has_no_norm():
    model, _, _ = prepared(MCD)
    assert model.model_.predictor.encoder.norm is None
    assert model.full_text_.encoder.norm is None
