"""Losses, masks and regularisers on kernels against torch, values and gradients."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from genspp.data.encode import Encoded
from genspp.kernels import losses
from genspp.kernels.lanes import WIDTH
from genspp.kernels.memory import floats
from genspp.kernels.texts import make_layout
from genspp.model.passes import Batch, prepare

GROUPS, TEXTS = 2, 11


def lanes(table) -> np.ndarray:
    """Return (texts, columns) as (groups, columns, WIDTH) in memory of whole vectors."""
    table = np.asarray(table, np.float32).reshape(TEXTS, -1)
    full = np.zeros((GROUPS * WIDTH, table.shape[1]), np.float32)
    full[:TEXTS] = table
    found = floats(full.size)
    found[: full.size] = full.reshape(GROUPS, WIDTH, -1).transpose(0, 2, 1).ravel()
    return found


def texts(lanes, columns) -> np.ndarray:
    """Return (groups, columns, WIDTH) as (texts, columns)."""
    table = lanes[: GROUPS * columns * WIDTH].reshape(GROUPS, columns, WIDTH)
    return table.transpose(0, 2, 1).reshape(-1, columns)[:TEXTS]


def random_logits(classes, scale=2.0, seed=0):
    return (scale * np.random.default_rng(seed).normal(size=(TEXTS, classes))).astype(np.float32)


def graph(numbers) -> Tensor:
    return torch.from_numpy(np.array(numbers)).requires_grad_()


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("scale", [1, 30])
def test_task_loss_is_torch_s_cross_entropy(classes, scale):
    logits, rng = random_logits(classes, scale), np.random.default_rng(1)
    labels, weights = rng.integers(0, classes, TEXTS), rng.uniform(0.2, 3, classes).astype(np.float32)
    given, gradient = lanes(logits), floats(GROUPS * classes * WIDTH)
    marks, shares = lanes(labels), lanes(weights[labels] / weights[labels].sum())
    found = losses.task_loss(GROUPS, classes, given, marks, shares, gradient)
    x = graph(logits)
    right = F.cross_entropy(x, torch.from_numpy(labels), torch.from_numpy(weights))
    right.backward()
    assert found == pytest.approx(right.item(), rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(texts(gradient, classes), x.grad, atol=1e-6)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_nan_among_the_logits_makes_a_loss_that_is_none(place):
    logits = random_logits(3)
    logits[4, place] = np.nan
    shares = lanes(np.full(TEXTS, 1 / TEXTS))
    for label in range(3):
        marks = lanes(np.full(TEXTS, label))
        assert math.isnan(losses.task_loss(GROUPS, 3, lanes(logits), marks, shares, floats(GROUPS * 3 * WIDTH)))


@pytest.mark.parametrize("classes", [2, 5])
def test_divergence_is_torch_s(classes):
    p, q = random_logits(classes), random_logits(classes, seed=1)
    d_p, d_q, shares = floats(GROUPS * classes * WIDTH), floats(GROUPS * classes * WIDTH), lanes([1 / TEXTS] * TEXTS)
    found = losses.divergence(GROUPS, classes, lanes(p), lanes(q), shares, d_p, d_q)
    x, y = graph(p), graph(q)
    right = F.kl_div(y.log_softmax(1), x.log_softmax(1), reduction="batchmean", log_target=True)
    right.backward()
    assert found == pytest.approx(right.item(), rel=1e-5)
    np.testing.assert_allclose(texts(d_p, classes), x.grad, atol=1e-6)
    np.testing.assert_allclose(texts(d_q, classes), y.grad, atol=1e-6)


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("scale", [1, 30])
def test_the_gradient_of_the_log_odds_of_the_likeliest_class(classes, scale):
    logits, gradient = scale * random_logits(classes), floats(GROUPS * classes * WIDTH)
    losses.log_odds(GROUPS, classes, lanes(logits), gradient)
    x = graph(logits)
    best = x.argmax(1, keepdim=True)
    (x.gather(1, best)[:, 0] - x.scatter(1, best, -torch.inf).logsumexp(1)).sum().backward()
    np.testing.assert_allclose(texts(gradient, classes), x.grad, atol=1e-6)


@pytest.mark.parametrize("classes", [2, 5])
def test_jensen_shannon(classes):
    p, q = random_logits(classes), random_logits(classes, seed=1)
    d_p, spare, shares = floats(GROUPS * classes * WIDTH), floats(GROUPS * classes * WIDTH), lanes([1 / TEXTS] * TEXTS)
    found = losses.jensen_shannon(GROUPS, classes, lanes(p), lanes(q), shares, d_p, spare)
    x, y = graph(p), torch.from_numpy(q)
    one, two = x.softmax(1), y.softmax(1)
    middle = ((one + two) / 2).log()
    right = ((one * (one.log() - middle)).sum() + (two * (two.log() - middle)).sum()) / 2 / TEXTS
    right.backward()
    assert found == pytest.approx(right.item(), rel=1e-5)
    np.testing.assert_allclose(texts(d_p, classes), x.grad, atol=1e-6)


def test_binary_cross_entropy_is_torch_s():
    rng, rows = np.random.default_rng(0), 3 * WIDTH
    logits, targets, shares, gradient = floats(2 * rows), floats(rows), floats(rows), floats(2 * rows)
    logits[: 2 * rows] = 5 * rng.normal(size=2 * rows)
    targets[:rows], shares[:rows] = rng.random(rows), rng.random(rows)
    found = losses.binary_cross_entropy(3, logits, rows, targets, shares, gradient)
    x = graph(logits[rows : 2 * rows])
    target, weight = torch.from_numpy(targets[:rows]), torch.from_numpy(shares[:rows])
    right = F.binary_cross_entropy_with_logits(x, target, weight, reduction="sum")
    right.backward()
    assert found == pytest.approx(right.item(), rel=1e-5)
    np.testing.assert_allclose(gradient[rows : 2 * rows], x.grad, atol=1e-6)
    assert not gradient[:rows].any()


def test_masks_are_drawn_with_the_probability_of_selecting():
    places, rows = 1250, 1250 * WIDTH
    margins, uniform, counted, mask, slopes = (floats(rows) for _ in range(5))
    margins[:rows], counted[: rows // 2] = -1.2, 1
    uniform[:rows] = np.random.default_rng(0).random(rows, dtype=np.float32)
    uniform[:2] = 0, np.nextafter(np.float32(1), np.float32(0))  # the ends of what is drawn
    losses.draw_mask(places, margins, uniform, counted, mask, slopes)
    half = rows // 2
    assert set(mask[:half]) == {0.0, 1.0}
    assert mask[:half].mean() == pytest.approx(1 / (1 + math.exp(1.2)), abs=0.02)
    assert mask[:2].tolist() == [0, 1]
    margin = -1.2 + np.log(uniform[2:half].astype(np.float64) / (1 - uniform[2:half].astype(np.float64)))
    chance = 1 / (1 + np.exp(-margin))
    np.testing.assert_array_equal(mask[2:half], margin > 0)
    np.testing.assert_allclose(slopes[2:half], chance * (1 - chance), atol=2e-6)
    assert np.isfinite(slopes).all()
    assert not mask[half:].any()
    assert not slopes[half:].any()


def test_the_noise_is_the_logit_of_a_uniform_number():
    uniform, noise = floats(4 * WIDTH), floats(4 * WIDTH)
    uniform[:] = np.linspace(0, 1 - 6e-8, len(uniform))
    losses.logit_noise(4, uniform, noise)
    inner = uniform[1 : 4 * WIDTH - 1].astype(np.float64)
    np.testing.assert_allclose(noise[1 : 4 * WIDTH - 1], np.log(inner / (1 - inner)), atol=1e-5)
    assert noise[0] < -15


def test_logarithms_of_any_number_of_numbers():
    numbers = np.random.default_rng(0).lognormal(0, 3, 13)
    np.testing.assert_allclose(losses.logarithms(numbers), np.log(numbers), atol=2e-6)
    assert losses.logarithms(np.zeros(0)).shape == (0,)


def test_exponentials_of_any_number_of_numbers():
    numbers = np.random.default_rng(0).normal(0, 5, 13)
    np.testing.assert_allclose(losses.exponentials(numbers), np.exp(numbers), rtol=2e-6)
    assert losses.exponentials(np.zeros(0)).shape == (0,)


def test_softmax_is_that_of_torch():
    logits = np.random.default_rng(0).normal(0, 5, (7, 3))
    np.testing.assert_allclose(losses.softmax(logits), torch.from_numpy(logits).softmax(1).numpy(), rtol=2e-6)
    np.testing.assert_allclose(losses.softmax(np.array([[1000.0, -1000.0]])), [[1, 0]], atol=1e-30)
    assert losses.softmax(np.zeros((0, 3))).shape == (0, 3)


# ---- over the tokens of a batch


def batch_of(lengths, padded=False):
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    data = Encoded(np.ones(starts[-1], np.int32), starts, np.zeros(len(lengths), np.int32))
    _, (rows,) = prepare(np.ones((2, 1), np.float32), 2, data)
    layout = make_layout(len(lengths), max(lengths), rows.words)
    return Batch(rows, np.arange(len(lengths)), np.ones(2, np.float32), 4, layout, padded=padded)


def lanes_of_texts(batch):
    """Yield the cells of every lane that holds a text, in order."""
    for lane in range(batch.texts):
        group, column = divmod(lane, WIDTH)
        first, last = batch.layout.first[group : group + 2]
        yield np.arange(first, last) * WIDTH + column


def costs_of(batch):
    """Return what a selected token counts, different for every text."""
    costs = floats(batch.groups * WIDTH)
    costs[: batch.texts] = np.random.default_rng(3).uniform(0.5, 3, batch.texts)
    return costs


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("alpha", [0.1, 0.9])
@pytest.mark.parametrize("soft", [False, True])
def test_regularisers_and_their_gradients(padded, alpha, soft):
    batch = batch_of([4, 3, 1, 6, 2, 2, 5, 1, 3], padded)
    mask, gradient = floats(batch.cells), floats(batch.cells)
    drawn = np.random.default_rng(0).random(batch.cells) < 0.5
    numbers = np.random.default_rng(1).random(batch.cells) if soft else drawn
    mask[: batch.cells] = numbers * batch.counted[: batch.cells]
    costs, omega = costs_of(batch), losses.Omega(1.5, 0.3, batch.tokens, alpha)
    found = losses.regularise(batch.groups, batch.layout.first, batch.counted, costs, mask, omega, gradient)
    x, switches, selected = graph(mask), torch.zeros(()), torch.zeros(())
    for lane, cells in enumerate(lanes_of_texts(batch)):
        own = cells[batch.counted[cells] > 0]
        switches = switches + (x[own[1:]] - x[own[:-1]]).abs().sum()
        selected = selected + float(costs[lane]) * x[own].sum()
    right = 1.5 * (selected / batch.tokens - alpha).abs() + 0.3 * switches
    right.backward()
    assert found == pytest.approx(right.item(), rel=1e-5)
    there = batch.counted[: batch.cells] > 0
    np.testing.assert_allclose(gradient[: batch.cells][there], x.grad.numpy()[: batch.cells][there], atol=1e-6)


def test_pressure_is_on_every_token_by_its_share_of_its_text_and_the_text_s_cost():
    batch = batch_of([4, 3, 1, 6, 2, 2, 5, 1, 3])
    d_mask, slopes, costs, rng = floats(batch.cells), floats(batch.cells), costs_of(batch), np.random.default_rng(0)
    d_mask[: batch.cells] = rng.normal(size=batch.cells) * batch.real[: batch.cells]
    slopes[: batch.cells] = rng.random(batch.cells) * batch.real[: batch.cells]
    right, counts = np.zeros(batch.cells), floats(batch.cells)
    counts[: batch.cells] = rng.uniform(1, 5, batch.cells) * batch.real[: batch.cells]
    for lane, cells in enumerate(lanes_of_texts(batch)):
        own = cells[batch.real[cells] > 0]
        right[own] = (d_mask[own] + 0.7 * costs[lane] * counts[own] / counts[own].sum()) * slopes[own]
    losses.press(batch.groups, batch.layout.first, counts, costs, 0.7, slopes, d_mask)
    np.testing.assert_allclose(d_mask[: batch.cells], right, atol=1e-6)
    assert not d_mask[: batch.cells][batch.real[: batch.cells] == 0].any()


def test_the_gradient_of_imitation_is_torch_s():
    batch = batch_of([4, 3, 1, 6, 2, 2, 5, 1, 3])
    margins, targets, gradient = (floats(batch.cells) for _ in range(3))
    rng, there = np.random.default_rng(0), batch.real[: batch.cells] > 0
    margins[: batch.cells], targets[: batch.cells] = 3 * rng.normal(size=batch.cells), rng.random(batch.cells) < 0.4
    losses.imitation(batch.places, margins, targets, batch.real, 1 / batch.tokens, gradient)
    x = graph(margins[: batch.cells][there])
    F.binary_cross_entropy_with_logits(x, torch.from_numpy(targets[: batch.cells][there])).backward()
    np.testing.assert_allclose(gradient[: batch.cells][there], x.grad, atol=1e-6)
    assert not gradient[: batch.cells][~there].any()


def test_pairs_of_neighbours_are_counted_where_masks_are():
    assert batch_of([4, 3, 1]).pairs == 3 + 2
    assert batch_of([4, 3, 1], padded=True).pairs == 3 * 3
    assert batch_of([1, 1]).pairs == 0
