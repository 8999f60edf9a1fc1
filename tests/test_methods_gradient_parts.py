"""What the gradient-trained methods share: networks, updates and optimizer, masks and losses, the loop."""

import copy
import math
from collections.abc import Iterable

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from conftest import sentences
from genspp.data.encode import encode
from genspp.methods import FR, MGR, RNP
from genspp.methods.adam import Adam, descend
from genspp.methods.fast_gru import BiGRU
from genspp.methods.fast_pair import Reading
from genspp.methods.losses import Losses, Tally
from genspp.methods.networks import Batch, Generator, Predictor, encoder, text_noise
from genspp.methods.training import Loop, flat_weights
from genspp.model.spp import Shape
from gradient_tools import QUICK, Notebook, again, omega, prepared

# ---- the GRU -------------------------------------------------------------------------------------


def ragged(texts: int = 5) -> Batch:
    """Return a batch of texts of one to nine tokens, and five inputs."""
    lengths = np.sort(np.random.default_rng(texts).integers(1, 10, texts))[::-1].copy()
    batch = Batch(torch.randn(5, int(lengths[0]), texts), lengths)
    batch.vectors.mul_(batch.real)
    return batch


def torch_states(gru: nn.GRU, batch: Batch, mask: Tensor | float = 1.0) -> Tensor:
    """Return the states, (tokens, texts, 2 hidden), of torch's GRU."""
    vectors = (batch.vectors * mask).permute(1, 2, 0)
    return pad_packed_sequence(gru(pack_padded_sequence(vectors, torch.from_numpy(batch.lengths)))[0])[0]


def assert_same_gradients(ours: Iterable[Tensor], theirs: Iterable[Tensor]) -> None:
    for one, two in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one.grad, two.grad, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("hidden", [1, 4, 7, 8])
def test_the_gru_and_its_gradients_are_torch_s(hidden):
    torch.manual_seed(hidden)
    theirs, ours, batch = nn.GRU(5, hidden, bidirectional=True), BiGRU(5, hidden), ragged()
    ours.load_state_dict(theirs.state_dict())
    states, expected = ours(batch.vectors, batch.active), torch_states(theirs, batch).permute(2, 0, 1)
    torch.testing.assert_close(states, expected, atol=1e-6, rtol=1e-5)
    weights = torch.randn(states.shape)
    (states * weights).sum().backward()
    (expected * weights).sum().backward()
    assert_same_gradients(ours.parameters(), theirs.parameters())


@pytest.mark.parametrize(("hidden", "texts"), [(3, 5), (8, 1), (8, 64)])
@pytest.mark.parametrize("norm", [True, False])
@pytest.mark.parametrize("kind", [Generator, Predictor])
def test_the_networks_and_their_gradients_are_torch_s(kind, norm, hidden, texts):
    torch.manual_seed(hidden)
    shape, batch = Shape(5, hidden, 3), ragged(texts)
    ours = kind(encoder(shape, norm=norm), shape)
    for parameter in ours.parameters():
        parameter.data += 0.2 * torch.randn(parameter.shape)
    theirs = nn.ModuleDict({"gru": nn.GRU(5, hidden, bidirectional=True), "output": copy.deepcopy(ours.output)})
    theirs["gru"].load_state_dict(ours.encoder.gru.state_dict())
    theirs["norm"] = copy.deepcopy(ours.encoder.norm) if norm else nn.Identity()
    masks = [torch.rand(batch.real.shape, generator=torch.manual_seed(1)).requires_grad_() for _ in range(2)]
    if kind is Generator:
        logits = ours(batch)
        expected = theirs["output"](theirs["norm"](torch_states(theirs["gru"], batch))).permute(2, 0, 1)
    else:
        logits = ours(batch, masks[0])
        states = theirs["norm"](torch_states(theirs["gru"], batch, masks[1]))
        states = states.masked_fill(~batch.real.unsqueeze(-1), -torch.inf)
        expected = theirs["output"](states.max(0).values)
    torch.testing.assert_close(logits, expected, atol=1e-5, rtol=1e-5)
    weights = torch.randn(logits.shape)
    (logits * weights).sum().backward()
    (expected * weights).sum().backward()
    assert_same_gradients(
        [
            ours.get_parameter(name if name.startswith("output") else f"encoder.{name}")
            for name, _ in theirs.named_parameters()
        ],
        theirs.parameters(),
    )
    if kind is Predictor:
        assert_same_gradients(masks[:1], masks[1:])


def test_without_gradients_many_texts_are_cut_into_lanes():
    shape, lengths = Shape(3, 4, 2), np.sort(np.random.default_rng(0).integers(1, 11, 150))[::-1]
    generator, predictor = Generator(encoder(shape), shape), Predictor(encoder(shape), shape)
    batch, mask = Batch(torch.randn(3, int(lengths[0]), 150), lengths), torch.rand(int(lengths[0]), 150)
    with torch.no_grad():
        parts = generator(batch), predictor(batch, mask)
    for part, whole in zip(parts, (generator(batch), predictor(batch, mask)), strict=True):
        torch.testing.assert_close(part, whole.detach(), atol=1e-6, rtol=0)


def test_large_inputs_saturate_the_gates():
    theirs, ours = nn.GRU(2, 4, bidirectional=True), BiGRU(2, 4)
    ours.load_state_dict(theirs.state_dict())
    batch = Batch(1e4 * torch.randn(2, 5, 3), np.full(3, 5))
    expected = torch_states(theirs, batch).permute(2, 0, 1)
    torch.testing.assert_close(ours(batch.vectors, batch.active), expected, atol=1e-6, rtol=1e-5)


# ---- the compiled update, and its optimizer ------------------------------------------------------


@pytest.mark.parametrize("preset", ["sound", "paper"])
@pytest.mark.parametrize("kind", [RNP, FR, MGR])
def test_the_compiled_update_is_the_graph_s(kind, preset):
    model, session, batch = prepared(kind, preset=preset)
    losses, noise = session.losses, again(session)
    parameters = session.optimizers[0].parameters
    loss = torch.zeros(())
    for generator in model._generators(session.companions):
        mask = losses.sample(generator(batch), batch, noise)
        loss = loss + losses.task(model.model_.predictor(batch, mask), batch.labels) + losses.omega(mask, batch)
    expected = torch.autograd.grad(loss, parameters)
    for _ in range(2):  # the second time in the same space
        weights = [parameter.detach().clone() for parameter in parameters]
        found = model._update(session, batch)
        assert found == pytest.approx(float(loss.detach()), rel=1e-5)
        for parameter, gradient, old in zip(parameters, expected, weights, strict=True):
            torch.testing.assert_close(parameter.grad, gradient, atol=1e-6, rtol=1e-4)
            assert not torch.equal(parameter, old)
            parameter.data.copy_(old)
        session.begin(0, 7)


def test_batches_of_other_sizes_leave_nothing_behind():
    model, session, batch = prepared(FR)
    small = Batch(batch.vectors[:, :2, 3:].contiguous(), batch.lengths[3:], batch.labels[3:])
    model._update(session, batch)
    session.begin(1, 7)
    weights = session.optimizers[0].weights.copy()
    expected = model._update(session, small)
    other, fresh, _ = prepared(FR)
    fresh.begin(1, 7)
    fresh.optimizers[0].weights[:] = weights
    assert other._update(fresh, small) == expected
    np.testing.assert_array_equal(fresh.optimizers[0].gradient, session.optimizers[0].gradient)


def test_the_gradient_on_full_texts_is_the_graph_s():
    model, session, batch = prepared(FR)
    network = model.full_text_
    optimizer = Adam([(network.parameters(), 0.1)])
    loss = session.losses.task(network(batch), batch.labels)
    expected = torch.autograd.grad(loss, optimizer.parameters)
    reading = Reading(network.layout, session.losses)
    found, _ = reading.fit(optimizer.weights, batch, None, optimizer.gradient)
    assert found == pytest.approx(float(loss.detach()), rel=1e-5)
    for parameter, gradient in zip(optimizer.parameters, expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, atol=1e-6, rtol=1e-4)


def test_adam_is_torch_s():
    ours, theirs = nn.Linear(7, 3), nn.Linear(7, 3)
    theirs.load_state_dict(ours.state_dict())
    optimizer = Adam([([ours.weight], 0.01), ([ours.bias], 0.1)])
    reference = torch.optim.Adam([{"params": [theirs.weight], "lr": 0.01}, {"params": [theirs.bias], "lr": 0.1}])
    for _ in range(20):
        inputs = torch.randn(5, 7)
        loss = theirs(inputs).square().sum()
        assert descend(ours(inputs).square().sum(), optimizer) == pytest.approx(loss.item())
        reference.zero_grad()
        loss.backward()
        reference.step()
    for one, two in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(one, two, atol=1e-6, rtol=1e-5)
    assert optimizer.places((ours.bias,)).tolist() == [21, 22, 23]


# ---- batches, masks and losses -------------------------------------------------------------------


def test_a_batch_comes_longest_first_with_its_labels():
    data = encode([["a"], ["b", "c", "b"], ["c", "a"]], {"a": 2, "b": 3, "c": 4}, 1, [5, 6, 7])
    batch = Batch.take(data, np.array([0, 1, 2]), torch.eye(5))
    assert batch.lengths.tolist() == [3, 2, 1]
    assert batch.labels.tolist() == [6, 7, 5]
    assert batch.vectors.argmax(0).t().tolist() == [[3, 4, 3], [4, 2, 0], [2, 0, 0]]
    assert batch.active.tolist() == [3, 2, 1]
    assert batch.real.t().tolist() == [[True] * 3, [True, True, False], [True, False, False]]
    assert (len(batch), batch.tokens, batch.padded) == (3, 6, True)


def test_masks_are_drawn_with_the_probability_of_selecting():
    batch = Batch(torch.zeros(1, 100, 100), np.full(100, 100))
    losses = Losses(0.1, 1.0, 0.0, torch.ones(2), False)
    logits = torch.tensor([0.4, -0.8]).view(2, 1, 1).expand(2, 100, 100).clone().requires_grad_()
    mask = losses.sample(logits, batch, torch.Generator().manual_seed(0))
    assert set(mask.detach().unique().tolist()) == {0.0, 1.0}
    assert float(mask.detach().mean()) == pytest.approx(1 / (1 + math.exp(1.2)), abs=0.015)
    mask.sum().backward()
    uniform = torch.rand(100, 100, generator=torch.Generator().manual_seed(0))
    gumbel = torch.sigmoid(-1.2 + torch.logit(uniform))
    torch.testing.assert_close(logits.grad[1], gumbel * (1 - gumbel))
    torch.testing.assert_close(logits.grad[0], -gumbel * (1 - gumbel))


@pytest.mark.parametrize("padding", [False, True])
@pytest.mark.parametrize("alpha", [0.1, 0.9])
def test_regularisers_and_their_gradients(padding, alpha):
    batch = Batch(torch.zeros(1, 4, 3), np.array([4, 3, 1]))
    losses = Losses(alpha, 1.5, 2.0, torch.ones(2), padding)
    raw = torch.tensor([[1.0, 0, 1], [0, 1, 1], [0, 1, 0], [1, 1, 0]], requires_grad=True)
    loss = losses.omega(raw if padding else raw * batch.real, batch)
    # Selected: 2 + 2 + 1 of 8 real tokens, and 2 of padding; switches: 2 + 1 + 0 of 3 + 2 + 0 pairs, and 1 of 4 more.
    rate, scatter = (7 / 8, 4 / 9) if padding else (5 / 8, 3 / 5)
    assert loss.item() == pytest.approx(1.5 * abs(rate - alpha) + 2.0 * scatter)
    assert loss.item() == pytest.approx(omega(raw.detach(), batch, losses))
    loss.backward()
    slow = raw.detach().clone().requires_grad_()
    used = slow if padding else slow * batch.real
    pairs = torch.ones(3, 3) if padding else batch.real[1:].float()
    steps = ((used[1:] - used[:-1]).abs() * pairs).sum() / pairs.sum()
    (1.5 * (used.sum() / 8 - alpha).abs() + 2.0 * steps).backward()
    torch.testing.assert_close(raw.grad, slow.grad)


@pytest.mark.parametrize("padding", [False, True])
def test_a_tally_of_parts_is_the_loss_of_the_whole(padding):
    batch = Batch(torch.zeros(1, 4, 3), np.array([4, 4, 4]), torch.tensor([0, 1, 1]))
    losses = Losses(0.2, 1.5, 2.0, torch.tensor([1.0, 3.0]), padding)
    mask, logits = torch.randint(0, 2, (4, 3)).float(), torch.randn(3, 2)
    tally = Tally(losses)
    for texts in (slice(0, 2), slice(2, 3)):
        part = Batch(batch.vectors[:, :, texts], batch.lengths[texts], batch.labels[texts])
        tally.add(logits[texts], mask[:, texts], part)
    assert tally.loss() == pytest.approx(float(losses.task(logits, batch.labels) + losses.omega(mask, batch)))
    assert tally.selection_rate == pytest.approx(float(mask.mean()))


def test_the_noise_of_a_text_depends_on_nothing_but_the_text():
    ids, real = torch.tensor([[3, 4, 5, 0], [3, 4, 6, 7]]), torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1]]).bool()
    noise = text_noise(1, ids, real)
    assert torch.equal(noise[:1, :3], text_noise(1, ids[:1, :3], real[:1, :3]))
    assert not torch.equal(noise[0, :2], noise[1, :2])
    assert not torch.equal(noise, text_noise(2, ids, real))


# ---- the loop ------------------------------------------------------------------------------------


def loop_of(losses, **settings):
    module = nn.Linear(1, 1)
    loop = Loop(module, [Adam([(module.parameters(), 0.1)])], **{"max_epochs": 20, "patience": 3, **settings})
    for loss in losses:
        if loop.finished:
            break
        descend(module(torch.ones(1)).sum(), *loop.optimizers)
        loop.close_epoch(loss)
    return loop


def test_training_stops_when_the_loss_has_not_fallen_for_so_many_epochs():
    loop = loop_of([5, 4, 4, 4.5, math.nan, 1])
    assert (loop.finished, loop.epoch, loop.best_epoch, loop.best_loss) == (True, 5, 1, 4)
    assert not loop_of([5, 4, 4, 4.5]).finished
    assert loop_of([5, 4, 3], max_epochs=3).finished


def test_a_gain_that_is_too_small_is_none():
    loop = loop_of([5, 4.8, 4.6, 4.4, 4.3], least_gain=0.5)
    assert (loop.best_epoch, loop.best_loss) == (3, 4.4)


def test_the_best_epoch_is_restored():
    loop = loop_of([5, 4, 4, 4.5])
    assert not torch.equal(flat_weights(loop.module), loop.best)
    loop.restore_best()
    assert torch.equal(flat_weights(loop.module), loop.best)


def test_epochs_before_early_stopping_is_armed_do_not_count():
    loop = loop_of([1, 1, 1, 1, 1, 3, 2, 2, 2, 2], armed_from=5)
    assert (loop.epoch, loop.best_epoch, loop.best_loss) == (10, 6, 2)
    assert loop_of([math.nan] * 9, armed_from=5).epoch == 8


def test_a_loss_that_is_never_a_number_keeps_the_last_weights_and_says_so(caplog, monkeypatch):
    monkeypatch.setattr(FR, "_validate", lambda *_: (math.nan, 0.5))
    notebook = Notebook()
    model = FR(**QUICK | {"max_epochs": 3}).fit(*sentences(60), recorder=notebook)
    assert [line["val_loss"] for line in model.history_] == [None] * 3
    last = torch.from_numpy(notebook.state["weights"])
    assert torch.equal(flat_weights(model.model_), last)
    assert "never a number" in caplog.text


def test_validation_is_on_the_likelier_mask():
    model, session, batch = prepared(RNP)
    tally = Tally(session.losses)
    with torch.no_grad():
        model._measure(session, batch, tally)
        mask = session.losses.argmax(model.model_.generator(batch), batch)
        expected = session.losses.task(model.model_.predictor(batch, mask), batch.labels)
    assert tally.loss() == pytest.approx(float(expected + session.losses.omega(mask, batch)))
