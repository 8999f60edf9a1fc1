"""The compiled guider against torch's graph, for texts of unequal length, whole and partial groups, any hidden size."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from genspp.data.encode import Encoded
from genspp.kernels.lanes import WIDTH
from genspp.kernels.memory import floats
from genspp.kernels.texts import make_layout
from genspp.methods.grat import Guide, Guider
from genspp.model.networks import Shape
from genspp.model.optimizer import Adam
from genspp.model.passes import Batch, prepare

WEIGHTS = np.array([1.0, 2.0, 0.5, 1.5], np.float32)


def guided(hidden, lengths, *, inputs=7, classes=3, onehot=False, padded=False, seed=0):
    """Return a guider on kernels and in torch, a batch on kernels, and the same texts as torch has them."""
    random = np.random.default_rng(seed)
    torch.manual_seed(seed)
    table = np.eye(inputs, dtype=np.float32) if onehot else random.normal(size=(11, inputs)).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    ids = random.integers(0, len(table), starts[-1]).astype(np.int32)
    labels = random.integers(0, classes, len(lengths))
    words, (rows,) = prepare(table, classes, Encoded(ids, starts, labels))
    layout = make_layout(len(lengths), max(lengths), rows.words)
    chosen = random.permutation(len(lengths))
    batch = Batch(rows, chosen, WEIGHTS[:classes], hidden, layout, padded=padded)
    module = Guider(Shape(inputs, hidden, classes))
    with torch.no_grad():  # a norm that is still the identity would hide a missing one
        for parameter in module.parameters():
            parameter += 0.2 * torch.randn(parameter.shape)
    order = layout.rows[: batch.texts]
    own = [torch.from_numpy(table[ids[starts[text] : starts[text + 1]]]) for text in order]
    vectors = torch.nn.utils.rnn.pad_sequence(own, batch_first=True)
    real = torch.arange(vectors.shape[1]) < torch.tensor([len(part) for part in own])[:, None]
    optimizer = Adam([(module, 1e-3)])
    return Guide(module, optimizer, words), module, batch, vectors, real, torch.from_numpy(labels[order])


def by_text(batch, lanes, tokens):
    """Return numbers (places, WIDTH) as (texts, tokens)."""
    found, first = np.zeros((batch.groups * WIDTH, tokens), np.float32), batch.layout.first
    for group in range(batch.groups):
        part = lanes[first[group] * WIDTH : first[group + 1] * WIDTH].reshape(-1, WIDTH)
        found[group * WIDTH : (group + 1) * WIDTH, : len(part)] = part.T
    return torch.from_numpy(found[: batch.texts])


def logits_of(batch, lanes, classes):
    table = lanes[: batch.groups * classes * WIDTH].reshape(batch.groups, classes, WIDTH)
    return torch.from_numpy(table.transpose(0, 2, 1).reshape(-1, classes)[: batch.texts])


CASES = [
    (8, [5, 3, 9, 1, 1, 4, 7, 2], {}),
    (16, [5, 3, 9, 1, 12, 4, 7, 2, 6, 6, 8], {"classes": 2, "padded": True}),
    (3, [4, 1, 6, 2, 2], {"classes": 4}),
    (5, [1], {}),
    (11, list(range(1, 20)), {"onehot": True}),
]


@pytest.mark.parametrize(("hidden", "lengths", "more"), CASES)
def test_attention_and_logits_are_those_of_torch(hidden, lengths, more):
    guide, module, batch, vectors, real, _ = guided(hidden, lengths, **more)
    attention, logits = guide.look(batch)
    with torch.no_grad():
        expected, answer = module(vectors, real)
    torch.testing.assert_close(by_text(batch, attention, max(lengths)), expected, atol=2e-6, rtol=1e-5)
    torch.testing.assert_close(logits_of(batch, logits, answer.shape[1]), answer, atol=5e-6, rtol=1e-5)
    lanes = np.ones(batch.cells, bool)
    assert not attention[: batch.cells][batch.real[: batch.cells] == 0].any()
    assert lanes.any()


@pytest.mark.parametrize(("hidden", "lengths", "more"), CASES)
def test_loss_and_gradient_are_those_of_torch(hidden, lengths, more):
    guide, module, batch, vectors, real, labels = guided(hidden, lengths, **more)
    noise = floats(batch.cells)
    noise[:] = np.abs(np.random.default_rng(1).normal(size=len(noise)))
    _, answer = module(vectors, real, by_text(batch, noise, max(lengths)))
    loss = F.cross_entropy(answer, labels, torch.from_numpy(WEIGHTS[: answer.shape[1]]))
    loss.backward()
    for _ in range(2):  # memory that was used before is as good as new
        guide.optimizer.clear()
        assert guide.fit(batch, noise) == pytest.approx(float(loss.detach()), rel=1e-5)
    for name, parameter in module.named_parameters():
        places = guide.optimizer.vector.places([parameter])
        found = torch.from_numpy(guide.optimizer.gradient[places]).view_as(parameter)
        torch.testing.assert_close(found, parameter.grad, atol=3e-6, rtol=2e-4, msg=lambda text, n=name: f"{n}: {text}")


def test_memory_grows_with_the_batches():
    guide, *_ = guided(8, [3, 2])
    for lengths in ([2], [4, 9, 3], [30, 1], [1] * 40):
        fresh, _, batch, *_ = guided(8, lengths)
        other, _, _, *_ = guided(8, lengths)
        other._extent = fresh._extent
        guide._table = fresh._table
        guide.optimizer.vector.numbers[:] = fresh.optimizer.vector.numbers
        for grown, made in zip(guide.look(batch), fresh.look(batch), strict=True):
            np.testing.assert_array_equal(grown, made)
