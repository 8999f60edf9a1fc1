import math

import numpy as np
import pytest
import torch
from genspp.methods.grat import guide_loss, jensen_shannon
from genspp.methods.networks import Batch

from conftest import sentences
from genspp.methods import GRAT
from gradient_tools import QUICK, again, choices, classified, cross_entropy, drawn, omega, parameter_count, prepared


def weights_of(module):
    return [parameter.detach().clone() for parameter in module.parameters()]


def gradients_of(module):
    return [parameter.grad.clone() for parameter in module.parameters()]


def equal(module, before):
    return all(torch.equal(new, old) for new, old in zip(module.parameters(), before, strict=True))


def test_parameter_counts():
    assert (parameter_count(GRAT, "toy"), parameter_count(GRAT, "hatexplain")) == (6538, 16840)


def test_one_norm_serves_both_networks():
    model, _, _ = prepared(GRAT)
    assert model.model_.generator.encoder.norm is model.model_.predictor.encoder.norm
    assert model.model_.generator.encoder.gru is not model.model_.predictor.encoder.gru


@pytest.mark.parametrize("padding", [False, True])
def test_the_guide_loss_by_hand(padding):
    lengths = np.array([4, 2])
    batch = Batch(torch.zeros(1, 4, 2), lengths)
    attention = torch.tensor([[0.7, 0.1], [0.1, 0.9], [0.15, 0.0], [0.05, 0.0]])
    logits = torch.randn(2, 4, 2, generator=torch.manual_seed(1))
    total = count = 0
    for text, length in enumerate(lengths):
        share = 1 / 4 if padding else 1 / length
        for place in range(4 if padding else length):
            target = min(1, float(attention[place, text]) / (share + 1 / (1 + length)))
            target = target if place < length else 0
            chance = 1 / (1 + math.exp(-float(logits[1, place, text])))
            total -= target * math.log(chance) + (1 - target) * math.log(1 - chance)
            count += 1
    assert float(guide_loss(logits, attention, batch, padding)) == pytest.approx(total / count, rel=1e-5)


def test_the_divergence_by_hand():
    one, two = torch.randn(3, 4, generator=torch.manual_seed(1)), torch.randn(3, 4, generator=torch.manual_seed(2))
    total = 0
    for p, q in zip(one.softmax(1).tolist(), two.softmax(1).tolist(), strict=True):
        for a, b in zip(p, q, strict=True):
            total += a * math.log(2 * a / (a + b)) / 2 + b * math.log(2 * b / (a + b)) / 2
    assert float(jensen_shannon(one, two)) == pytest.approx(total / 3, rel=1e-5)
    assert float(jensen_shannon(one, one)) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("preset", ["sound", "paper"])
def test_the_pair_s_loss_is_the_hand_computed_one(preset):
    model, session, batch = prepared(GRAT, preset=preset, lambda_g=1.7, lambda_jsd=0.6, decay=0.01, pretrain_epochs=2)
    session.begin(4, 7)
    session.updates += 3  # 17 updates of the pair were before
    noise = again(session)
    with torch.no_grad():
        attention, guided = session.companions["guider"](batch)
    loss = float(model._loss(session, batch, attention, guided).detach())
    logits = choices(model.model_.generator, batch)
    mask = drawn(logits, noise)
    answer = classified(model.model_.predictor, batch, mask)
    expected = cross_entropy(answer, batch, session.losses.class_weights) + omega(mask, batch, session.losses)
    expected += 1.7 * 0.84 * float(guide_loss(logits, attention, batch, session.losses.padding))
    expected += 0.6 * 0.16 * float(jensen_shannon(answer, guided))
    assert loss == pytest.approx(expected, rel=1e-5)


def test_guidance_fades_with_the_updates_of_the_pair():
    model, session, _ = prepared(GRAT, decay=0.25, pretrain_epochs=2)
    left = []
    for updates in (14, 15, 16, 17, 19, 30):
        session.begin(2, 7)
        session.updates = updates
        left.append(model._guidance(session))
    assert left == [1.0, 1.0, 0.75, 0.5, 0.0, 0.0]


def test_pre_training_moves_the_guider_only():
    model, session, batch = prepared(GRAT)
    guider = session.companions["guider"]
    pair, before, noise = weights_of(model.model_), weights_of(guider), again(session)
    noisy = torch.randn(batch.vectors.shape[1:], generator=noise).abs()
    expected = cross_entropy(guider(batch, noisy)[1].detach(), batch, session.losses.class_weights)
    assert float(model._update(session, batch)) == pytest.approx(expected, rel=1e-5)
    assert equal(model.model_, pair)
    assert not equal(guider, before)


def test_the_pair_s_update_does_not_reach_the_guider():
    only_guider, session, batch = prepared(GRAT, pretrain_epochs=1)
    only_guider._update(session, batch)
    alone, gradients = weights_of(session.companions["guider"]), gradients_of(session.companions["guider"])
    model, session, batch = prepared(GRAT, pretrain_epochs=0)
    before = weights_of(model.model_)
    model._update(session, batch)
    assert equal(session.companions["guider"], alone)
    torch.testing.assert_close(gradients_of(session.companions["guider"]), gradients, rtol=0, atol=0)
    assert not any(torch.equal(new, old) for new, old in zip(model.model_.parameters(), before, strict=True))


def test_the_guider_ignores_padding_and_takes_a_single_text():
    _, session, batch = prepared(GRAT)
    guider = session.companions["guider"].requires_grad_(False)
    attention, logits = guider(batch)
    torch.testing.assert_close(attention.sum(0), torch.ones(5))
    assert float(attention[~batch.real].abs().max()) == 0
    alone = Batch(batch.vectors[:, :4, 1:2], batch.lengths[1:2])
    single, answer = guider(alone)
    torch.testing.assert_close(single[:, 0], attention[:4, 1])
    torch.testing.assert_close(answer[0], logits[1])


@pytest.mark.parametrize(("preset", "epochs", "armed"), [("sound", 11, 3), ("paper", 8, 0)])
def test_early_stopping_is_armed_after_pre_training_in_preset_sound(preset, epochs, armed):
    model = GRAT(preset=preset, max_epochs=8, pretrain_epochs=3)
    assert model._phases(model.settings()) == (epochs, armed)
    texts, labels = sentences(60)
    short = QUICK | {"preset": preset, "max_epochs": 2, "pretrain_epochs": 3, "patience": 1}
    assert len(GRAT(**short).fit(texts, labels).history_) == (5 if preset == "sound" else 2)


def test_there_are_ten_epochs_of_pre_training():
    assert GRAT().settings()["pretrain_epochs"] == GRAT(preset="paper").settings()["pretrain_epochs"] == 10


def test_the_guider_is_no_part_of_the_model():
    model, _, _ = prepared(GRAT)
    assert not any("guider" in name for name in model.model_.state_dict())
