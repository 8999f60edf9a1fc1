import copy
import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from genspp.data.vectors import onehot
from genspp.kernels.lanes import WIDTH
from genspp.kernels.losses import jensen_shannon
from genspp.kernels.memory import floats
from genspp.methods import GRAT
from genspp.methods.gradient import Losses, Session
from genspp.methods.grat import guide_loss
from genspp.model.optimizer import Adam
from gradient_tools import MARK_COSTS, each_reading
from guider_tools import WEIGHTS, by_text, gradient_of, laid_out, logits_of, shaken

LENGTHS = [6, 4, 4, 2, 1, 3, 3, 5, 2, 1, 7]
QUICK = {"vectors": "onehot", "hidden": 3, "batch_size": 8, "learning_rate": 0.03, "alpha": 0.3, "seed": 3}


def untrained(inputs, classes, **settings):
    """Return a model with fresh weights."""
    model = GRAT(**{"alpha": 0.3, "lambda_c": 0.7, "lambda_s": 1.3, "vectors": "onehot", **settings})
    model._settings_ = model.settings()
    model.classes_, model.vectors_ = np.arange(classes), onehot([[str(word) for word in range(inputs)]])
    model._make_networks()
    model._finished = True
    return model


def prepared(**settings):
    """Return a model, a session in its first epoch, a batch of texts of unequal length, and the same in torch."""
    model = untrained(9, 3, hidden=3, **settings)
    shaken(model.model_)
    torch.manual_seed(2)
    full, companions = model._settings_, model._companions(model._shape())
    shaken(companions, seed=1)
    terms = [full[name] for name in ("alpha", "lambda_s", "lambda_c")]
    losses = Losses(*terms, WEIGHTS[:3], full["padding_in_losses"], MARK_COSTS)
    table, batch, texts = laid_out(LENGTHS, 3, 3, model.vectors_.table, padded=full["padding_in_losses"])
    session = Session(full, losses, table, model._optimizers(full, companions), companions)
    model._in_training(session)
    session.begin(0, 7)
    return model, session, batch, texts


def weights_of(optimizer: Adam):
    return optimizer.vector.numbers.copy()


def parameter_count(inputs, hidden, classes):
    model = untrained(inputs, classes, hidden=hidden)
    assert model._shape().inputs == inputs
    return model.parameter_count


def test_parameter_counts():
    assert (parameter_count(25, 8, 3), parameter_count(25, 16, 2)) == (6538, 16840)


def test_one_norm_serves_both_networks():
    model, *_ = prepared()
    assert model.model_.generator.encoder.norm is model.model_.predictor.encoder.norm
    assert model.model_.generator.encoder.gru is not model.model_.predictor.encoder.gru


def attention_like(batch):
    """Return numbers that sum to 1 over the tokens of every text, (places, WIDTH)."""
    attention, first = floats(batch.cells), batch.layout.first
    numbers = np.random.default_rng(4).random(batch.cells) * batch.real[: batch.cells]
    for group in range(batch.groups):
        part = numbers[first[group] * WIDTH : first[group + 1] * WIDTH].reshape(-1, WIDTH)
        part /= np.maximum(part.sum(0), 1e-9)
        attention[first[group] * WIDTH : first[group + 1] * WIDTH] = part.ravel()
    return attention


@pytest.mark.parametrize("padded", [False, True])
def test_the_guide_loss_by_hand(padded):
    _, batch, _ = laid_out(LENGTHS, 3, 3, np.eye(5, dtype=np.float32), padded=padded)
    attention, logits = attention_like(batch), floats(2 * batch.cells)
    logits[:] = np.random.default_rng(5).normal(size=len(logits))
    chosen, shares = by_text(batch, logits[batch.cells :], 7), by_text(batch, attention, 7)
    total = count = 0
    for text, length in enumerate(sorted(LENGTHS, reverse=True)):
        share = 1 / 7 if padded else 1 / length
        for place in range(7 if padded else length):
            target = min(1, float(shares[text, place]) / (share + 1 / (1 + length))) if place < length else 0
            chance = 1 / (1 + math.exp(-float(chosen[text, place])))
            total -= target * math.log(chance) + (1 - target) * math.log(1 - chance)
            count += 1
    loss, gradient = guide_loss(logits, attention, batch)
    assert loss == pytest.approx(total / count, rel=1e-5)
    assert not gradient[: batch.cells].any()
    step = np.zeros_like(logits)
    step[batch.cells : 2 * batch.cells] = 0.01 * np.random.default_rng(6).normal(size=batch.cells)
    rise = guide_loss(logits + step, attention, batch)[0] - guide_loss(logits - step, attention, batch)[0]
    assert rise == pytest.approx(2 * float(step @ gradient), rel=0.02)


def divergence(logits, others):
    """Return the Jensen-Shannon divergence of two softmaxes, the mean over texts."""
    p, q = logits.log_softmax(1), others.log_softmax(1)
    middle = torch.logsumexp(torch.stack([p, q]), 0) - math.log(2)
    parts = [F.kl_div(middle, side, reduction="batchmean", log_target=True) for side in (p, q)]
    return (parts[0] + parts[1]) / 2


def test_the_divergence_by_hand():
    _, batch, _ = laid_out(LENGTHS, 3, 4, np.eye(5, dtype=np.float32))
    one, two, gradient, spare = (floats(batch.groups * 4 * WIDTH) for _ in range(4))
    one[:], two[:] = np.random.default_rng(7).normal(size=(2, len(one))) * 2
    logits, others = logits_of(batch, one, 4).requires_grad_(), logits_of(batch, two, 4)
    total = 0
    for p, q in zip(logits.softmax(1).tolist(), others.softmax(1).tolist(), strict=True):
        for a, b in zip(p, q, strict=True):
            total += a * math.log(2 * a / (a + b)) / 2 + b * math.log(2 * b / (a + b)) / 2
    loss = jensen_shannon(batch.groups, 4, one, two, batch.shares, gradient, spare)
    assert loss == pytest.approx(total / len(logits), rel=1e-5)
    divergence(logits, others).backward()
    torch.testing.assert_close(logits_of(batch, gradient, 4), logits.grad, atol=1e-7, rtol=1e-4)
    assert jensen_shannon(batch.groups, 4, one, one, batch.shares, gradient, spare) == pytest.approx(0, abs=1e-6)


def graph_loss(model, session, batch, texts, attention, guided, guidance):
    """Return the pair's loss in torch, with the mask that the session is about to draw."""
    (vectors, real, labels), settings, tokens = texts, session.settings, texts[0].shape[1]
    pair, padded = model.model_, batch.padded
    logits = pair.generator(vectors, real)
    uniform = by_text(batch, copy.deepcopy(session.noise).random(batch.cells, dtype=np.float32), tokens)
    uniform = uniform.clamp(1e-6, 1 - 1e-6)  # of places that a group does not have
    margins = logits[..., 1] - logits[..., 0] + torch.log(uniform) - torch.log(1 - uniform)
    counted = torch.ones_like(real) if padded else real
    mask = ((margins > 0).float() + (margins.sigmoid() - margins.sigmoid().detach())) * counted
    answer, costs = pair.predictor(vectors, real, mask), torch.from_numpy(MARK_COSTS)[labels]
    loss = F.cross_entropy(answer, labels, torch.from_numpy(WEIGHTS[:3]))
    loss = loss + settings["lambda_s"] * ((mask.sum(1) * costs).sum() / real.sum() - settings["alpha"]).abs()
    switches = (mask[:, 1:] - mask[:, :-1]).abs() * counted[:, 1:]
    loss = loss + settings["lambda_c"] * switches.sum() / counted[:, 1:].sum()
    lengths = real.sum(1, keepdim=True)
    share = 1 / tokens if padded else 1 / lengths
    target = (attention / (share + 1 / (1 + lengths))).clamp(max=1) * real
    guide = F.binary_cross_entropy_with_logits(logits[..., 1], target, reduction="none") * counted
    loss = loss + settings["lambda_g"] * guidance * guide.sum() / counted.sum()
    return loss + settings["lambda_jsd"] * (1 - guidance) * divergence(answer, guided)


@each_reading
def test_the_pair_s_update_is_that_of_torch_s_graph(reading):
    terms = {"lambda_g": 1.7, "lambda_jsd": 0.6, "decay": 0.01}
    model, session, batch, texts = prepared(**reading, pretrain_epochs=2, **terms)
    session.begin(4, 7)
    session.updates += 3  # 17 updates of the pair were before
    with torch.no_grad():
        attention, guided = session.companions["guider"](texts[0], texts[1])
    expected = graph_loss(model, session, batch, texts, attention, guided, 0.84)
    expected.backward()
    loss = model._follow(session, batch, *model._guide.look(batch))
    assert loss == pytest.approx(float(expected.detach()), rel=1e-5)
    for name, parameter in model.model_.named_parameters():
        found = gradient_of(session.optimizers[0], parameter)
        torch.testing.assert_close(found, parameter.grad, atol=3e-6, rtol=3e-4, msg=lambda text, n=name: f"{n}: {text}")


def test_guidance_fades_with_the_updates_of_the_pair():
    model, session, *_ = prepared(decay=0.25, pretrain_epochs=2)
    left = []
    for updates in (14, 15, 16, 17, 19, 30):
        session.begin(2, 7)
        session.updates = updates
        left.append(model._guidance(session))
    assert left == [1.0, 1.0, 0.75, 0.5, 0.0, 0.0]


def test_pre_training_moves_the_guider_only():
    model, session, batch, (vectors, real, labels) = prepared(sigma=0.5)
    for_pair, for_guider = map(weights_of, session.optimizers)
    noise = 0.5 * np.abs(copy.deepcopy(session.noise).standard_normal(batch.cells, dtype=np.float32))
    answer = session.companions["guider"](vectors, real, by_text(batch, noise, vectors.shape[1]))[1]
    expected = F.cross_entropy(answer, labels, torch.from_numpy(WEIGHTS[:3]))
    assert model._update(session, batch) == pytest.approx(float(expected.detach()), rel=1e-5)
    np.testing.assert_array_equal(weights_of(session.optimizers[0]), for_pair)
    assert (weights_of(session.optimizers[1]) != for_guider).any()


def test_the_pair_s_update_does_not_reach_the_guider():
    alone, together = prepared(pretrain_epochs=1), prepared(pretrain_epochs=0)
    before = weights_of(together[1].optimizers[0])
    for model, session, batch, _ in (alone, together):
        model._update(session, batch)
    guiders = [session.optimizers[1] for _, session, *_ in (alone, together)]
    np.testing.assert_array_equal(*map(weights_of, guiders))
    np.testing.assert_array_equal(*(optimizer.gradient for optimizer in guiders))
    vector = together[1].optimizers[0].vector
    assert all((vector.numbers[vector.places([p])] != before[vector.places([p])]).any() for p in vector.parameters)


def test_the_guider_does_not_depend_on_batch_mates():
    _, session, _, (vectors, real, _) = prepared()
    guider = session.companions["guider"].requires_grad_(False)
    attention, logits = guider(vectors, real)
    torch.testing.assert_close(attention.sum(1), torch.ones(len(LENGTHS)))
    assert float(attention[~real].abs().max()) == 0
    length = int(real[3].sum())
    single, answer = guider(vectors[3:4, :length], real[3:4, :length])
    torch.testing.assert_close(single[0], attention[3, :length])
    torch.testing.assert_close(answer[0], logits[3])


def labelled(rows):
    """Return texts in which a single word decides."""
    stream = np.random.RandomState(0)
    labels = [("x", "y")[number] for number in stream.randint(2, size=rows)]
    texts = [" ".join([*stream.choice(["the", "a", "of", "it"], 4), {"x": "good", "y": "bad"}[y]]) for y in labels]
    return texts, labels


@pytest.mark.parametrize(("preset", "epochs", "armed"), [("sound", 11, 3), ("paper", 8, 0)])
def test_early_stopping_is_armed_after_pre_training_in_preset_sound(preset, epochs, armed):
    model = GRAT(preset=preset, max_epochs=8, pretrain_epochs=3)
    assert model._phases(model.settings()) == (epochs, armed)
    short = QUICK | {"preset": preset, "max_epochs": 2, "pretrain_epochs": 3, "patience": 1}
    assert len(GRAT(**short).fit(*labelled(40)).history_) == (5 if preset == "sound" else 2)


def test_it_learns_what_decides():
    texts, labels = labelled(80)
    settings = QUICK | {"alpha": 0.2, "max_epochs": 40, "pretrain_epochs": 5, "patience": 40}
    model = GRAT(**settings).fit(texts, labels)
    assert model.score(texts, labels) > 0.95


def test_there_are_ten_epochs_of_pre_training():
    assert GRAT().settings()["pretrain_epochs"] == GRAT(preset="paper").settings()["pretrain_epochs"] == 10


def test_the_guider_is_no_part_of_the_model():
    model, *_ = prepared()
    assert not any("guider" in name for name in model.model_.state_dict())
