import pytest
import torch

from genspp.methods import MGR
from genspp.methods.losses import Tally
from gradient_tools import again, choices, classified, cross_entropy, drawn, omega, parameter_count, prepared


def test_parameter_counts():
    assert (parameter_count(MGR, "toy"), parameter_count(MGR, "hatexplain")) == (7001, 17032)


@pytest.mark.parametrize("preset", ["sound", "paper"])
def test_the_loss_is_the_sum_over_the_generators(preset):
    model, session, batch = prepared(MGR, preset=preset)
    noise, expected = again(session), 0.0
    for generator in (model.model_.generator, *session.companions["generators"]):
        mask = drawn(choices(generator, batch), noise)
        logits = classified(model.model_.predictor, batch, mask)
        expected += cross_entropy(logits, batch, session.losses.class_weights) + omega(mask, batch, session.losses)
    assert float(model._update(session, batch)) == pytest.approx(expected, rel=1e-5)


def test_each_part_moves_at_its_own_rate():
    model, session, batch = prepared(MGR, learning_rate=0.003)
    second, third = session.companions["generators"]
    parts = (model.model_.predictor, model.model_.generator, second, third)
    before = [[p.detach().clone() for p in part.parameters()] for part in parts]
    model._update(session, batch)
    for part, old, rate in zip(parts, before, (0.001, 0.003, 0.006, 0.009), strict=True):
        moves = [(new.detach() - then).abs().max() for new, then in zip(part.parameters(), old, strict=True)]
        # Adam's first step is the learning rate, whatever the gradient.
        assert float(max(moves)) == pytest.approx(rate, rel=1e-3)
        assert all(move > 0 for move in moves)


def test_every_parameter_is_in_one_group_the_predictor_s_norm_too():
    model, session, _ = prepared(MGR)
    (optimizer,) = session.optimizers
    listed = optimizer.parameters
    assert len(listed) == len(set(listed)) == len([*model.model_.parameters(), *session.companions.parameters()])
    assert model.model_.predictor.encoder.norm.weight in set(listed)


def test_validation_and_inference_use_the_first_generator_alone():
    model, session, batch = prepared(MGR)
    losses = []
    for _ in range(2):
        tally = Tally(session.losses)
        with torch.no_grad():
            model._measure(session, batch, tally)
            for parameter in session.companions.parameters():
                parameter.add_(1)
        losses.append(tally.loss())
    assert losses[0] == losses[1]
    assert not any("generators" in name for name in model.model_.state_dict())
