"""The networks on kernels against the same in torch: what comes out, and the gradients of weights and masks."""

from itertools import product

import numpy as np
import pytest
import torch
from torch import nn

from genspp.data.encode import Encoded, pad
from genspp.kernels.lanes import WIDTH
from genspp.kernels.memory import floats
from genspp.kernels.texts import make_layout
from genspp.model.forms import kernel_order, pack, unpack
from genspp.model.networks import Encoder, Generator, Predictor, Shape, one_thread
from genspp.model.passes import Batch, Network, prepare
from genspp.model.weights import flatten, form_of, load_flat

CASES = [*product(("gru", "bigru"), (False, True))]
each_encoder = pytest.mark.parametrize(("cell", "normed"), CASES, ids=str)


@pytest.fixture(autouse=True)
def quick():
    with one_thread():
        yield


def some_texts(lengths, inputs=5, words=12, one_hot=False, seed=0):
    """Return texts of given lengths and their vectors; one-hot rows have dense ones among them."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(words + 1, inputs)).astype(np.float32)
    if one_hot:
        vectors[2:] = np.eye(inputs, dtype=np.float32)[np.arange(words - 1) % inputs]
    vectors[0] = 0
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    ids = rng.integers(1, words + 1, starts[-1]).astype(np.int32)
    return Encoded(ids, starts, rng.integers(0, 3, len(lengths)).astype(np.int32)), vectors


def encoder_of(shape, cell, normed):
    wide = shape.hidden * (2 if cell == "bigru" else 1)
    return Encoder(shape, cell, nn.LayerNorm(wide) if normed else None)


def stirred(module, seed=0):
    """Return the module with random weights: a norm that is still the identity would hide a missing one."""
    size = len(flatten(module))
    load_flat(module, np.random.default_rng(seed).normal(0, 0.5, size).astype(np.float32))
    return module


class Both:
    """A network in torch and on kernels, over the same texts."""

    def __init__(self, module, data, vectors):
        self.module, self.data = module, data
        table, (rows,) = prepare(vectors, 3, data)
        self.network, self.order = Network(form_of(module), table), kernel_order(Network(form_of(module), table).sizes)
        self.batch = Batch.of_all(rows, np.ones(3, np.float32), module.encoder.gru.hidden_size)
        self.weights = pack(flatten(module), self.order)
        ids, real = data.padded(np.arange(len(data)))
        self.vectors, self.real = torch.from_numpy(vectors)[ids], torch.from_numpy(real)

    def gradients(self):
        return np.concatenate([parameter.grad.numpy().ravel() for parameter in self.module.parameters()])

    def cells(self, flat):
        """Return an array (tokens, outputs) as (outputs, places, WIDTH)."""
        return np.concatenate([self.batch.from_tokens(column)[: self.batch.cells] for column in flat.T])


def close(found, right, bound=2e-5):
    np.testing.assert_allclose(found, right, rtol=0, atol=bound * max(1.0, float(np.abs(right).max(initial=0))))


def check_tokens(module, data, vectors):
    both = Both(module, data, vectors)
    right, rng = module(both.vectors, both.real)[both.real], np.random.default_rng(1)
    logits, cells = both.network.tokens(both.batch, both.weights), both.batch.cells
    outputs = module.output.out_features
    for output in range(outputs):
        close(both.batch.by_token(logits[output * cells :]), right[:, output].detach().numpy())
    unkept = both.network.tokens(both.batch, both.weights, keep=False)
    np.testing.assert_array_equal(unkept[: outputs * cells], logits[: outputs * cells])
    slope = rng.normal(size=right.shape).astype(np.float32)
    (right * torch.from_numpy(slope)).sum().backward()
    d_logits = floats(outputs * cells)
    d_logits[: outputs * cells] = both.cells(slope)
    both.network.tokens(both.batch, both.weights)
    gradient = both.network.tokens_back(both.batch, both.weights, d_logits)
    close(unpack(gradient, both.order), both.gradients())


def check_texts(module, data, vectors, mask):
    both, soft = Both(module, data, vectors), not np.isin(mask, (0, 1)).all()
    numbers, _ = pad_floats(mask, data)
    given = torch.from_numpy(numbers).requires_grad_()
    right = module(both.vectors, both.real, given)
    lanes = both.batch.from_tokens(mask)
    logits = both.network.texts(both.batch, both.weights, lanes, soft=soft)
    close(both.batch.by_text(logits, 3), right.detach().numpy())
    assert np.isfinite(logits).all()  # in lanes without text too, whose share of a loss is 0 times that
    unkept = both.network.texts(both.batch, both.weights, lanes, soft=soft, keep=False)
    np.testing.assert_array_equal(unkept, logits)
    slope = np.random.default_rng(1).normal(size=right.shape).astype(np.float32)
    (right * torch.from_numpy(slope)).sum().backward()
    d_logits = np.zeros_like(logits)
    d_logits.reshape(-1)[: both.batch.groups * 3 * WIDTH] = by_group(slope, both.batch)
    both.network.texts(both.batch, both.weights, lanes, soft=soft)
    gradient, d_mask = both.network.texts_back(both.batch, both.weights, lanes, d_logits)
    close(unpack(gradient, both.order), both.gradients())
    close(both.batch.by_token(d_mask), given.grad.numpy()[both.real.numpy()])
    both.network.texts(both.batch, both.weights, lanes, soft=soft)
    again, nothing = both.network.texts_back(both.batch, both.weights, lanes, d_logits, asked=False)
    assert len(nothing) == 0
    np.testing.assert_array_equal(again, gradient)
    both.network.texts(both.batch, both.weights, lanes, soft=soft)
    nothing, same = both.network.texts_back(both.batch, both.weights, lanes, d_logits, frozen=True)
    assert len(nothing) == 0
    np.testing.assert_array_equal(same, d_mask)


def pad_floats(flat, data):
    index, real = pad(np.arange(len(flat)), data.starts, np.arange(len(data)))
    return np.where(real, np.asarray(flat, np.float32)[index], 0).astype(np.float32), real


def by_group(table, batch):
    """Return (texts, outputs) as (groups, outputs, WIDTH), flat."""
    lanes = np.zeros((batch.groups * WIDTH, table.shape[1]), np.float32)
    lanes[: batch.texts] = table[batch.layout.rows[: batch.texts]]
    return lanes.reshape(batch.groups, WIDTH, -1).transpose(0, 2, 1).ravel()


def random_mask(data, density, soft, seed=0):
    rng = np.random.default_rng(seed)
    chosen = rng.random(len(data.ids)) < density
    return (chosen * (rng.random(len(data.ids)) if soft else 1.0)).astype(np.float32)


@each_encoder
@pytest.mark.parametrize("outputs", [1, 2])
def test_logits_of_tokens(cell, normed, outputs):
    shape = Shape(5, 7, 3)
    module = stirred(Generator(encoder_of(shape, cell, normed), outputs))
    check_tokens(module, *some_texts([3, 1, 9, 4, 9, 2, 5, 1, 7, 6, 2]))


@each_encoder
@pytest.mark.parametrize("kind", [{"selected": False}, {"selected": True}, {"skipping": True}], ids=str)
@pytest.mark.parametrize("soft", [False, True])
def test_logits_of_texts(cell, normed, kind, soft):
    shape = Shape(5, 7, 3)
    module = stirred(Predictor(encoder_of(shape, cell, normed), 3, **kind))
    data, vectors = some_texts([3, 1, 9, 4, 9, 2, 5, 1, 7, 6, 2])
    check_texts(module, data, vectors, random_mask(data, 0.5, soft))


@pytest.mark.parametrize("mask", [0, 1])
@pytest.mark.parametrize("kind", [{"selected": False}, {"selected": True}, {"skipping": True}], ids=str)
def test_nothing_or_everything_selected(mask, kind):
    data, vectors = some_texts([2, 5, 1])
    module = stirred(Predictor(encoder_of(Shape(5, 4, 3), "bigru", True), 3, **kind))
    check_texts(module, data, vectors, np.full(len(data.ids), mask, np.float32))


@pytest.mark.parametrize("lengths", [[1], [1] * 9, [40], [6] * 8])
def test_the_smallest_and_the_evenest_of_batches(lengths):
    data, vectors = some_texts(lengths)
    check_tokens(stirred(Generator(encoder_of(Shape(5, 3, 3), "bigru", True), 2)), data, vectors)
    predictor = stirred(Predictor(encoder_of(Shape(5, 3, 3), "gru", False), 3, selected=True))
    check_texts(predictor, data, vectors, random_mask(data, 0.6, soft=True))


def test_a_random_search_finds_no_disagreement():
    rng = np.random.default_rng(3)
    for trial in range(32):
        shape = Shape(int(rng.integers(1, 14)), int(rng.choice([1, 2, 3, 5, 8, 9, 16, 17])), 3)
        cell, normed = CASES[trial % 4]
        normed = normed and shape.hidden > 1  # the norm of one feature is 0 and its slope a rounding error's
        lengths = rng.integers(1, rng.integers(2, 20), rng.integers(1, 30))
        one_hot = bool(rng.random() < 0.5)
        data, vectors = some_texts(lengths, shape.inputs, int(rng.integers(2, 30)), one_hot, seed=trial)
        check_tokens(stirred(Generator(encoder_of(shape, cell, normed), 1 + trial % 2), trial), data, vectors)
        kind = ({"selected": False}, {"selected": True}, {"skipping": True})[trial % 3]
        predictor = Predictor(encoder_of(shape, cell, normed), 3, **kind)
        mask = random_mask(data, rng.random(), soft=bool(rng.random() < 0.5), seed=trial)
        check_texts(stirred(predictor, trial), data, vectors, mask)


def test_large_inputs_saturate_the_gates():
    data, vectors = some_texts([5, 3, 4])
    both = Both(stirred(Generator(encoder_of(Shape(5, 4, 3), "bigru", False), 1)), data, 1e4 * vectors)
    right = both.module(both.vectors, both.real)[both.real].detach().numpy().ravel()
    close(both.batch.by_token(both.network.tokens(both.batch, both.weights)), right)


def test_smaller_batches_after_larger_ones_leave_nothing_behind():
    data, vectors = some_texts([9, 8, 7, 6, 5, 4, 3, 2, 1, 9, 3])
    table, (rows,) = prepare(vectors, 3, data)
    module = stirred(Predictor(encoder_of(Shape(5, 6, 3), "bigru", True), 3, selected=False))
    layout, weights = (
        make_layout(11, 9, rows.words),
        pack(flatten(module), kernel_order(Network(form_of(module), table).sizes)),
    )

    def run(network, chosen):
        batch = Batch(rows, np.array(chosen), np.ones(3, np.float32), 6, layout)
        logits = network.texts(batch, weights, batch.real)
        return logits.copy(), *network.texts_back(batch, weights, batch.real.copy(), np.ones_like(logits))

    used, small = Network(form_of(module), table), [8, 6]
    run(used, range(11))
    for mine, fresh in zip(run(used, small), run(Network(form_of(module), table), small), strict=True):
        np.testing.assert_array_equal(mine, fresh)


def test_the_states_of_padding_are_zero_before_the_norm():
    """A generator may be asked about padding: every place of a padded batch has the logits of a zero state."""
    data, vectors = some_texts([2, 5, 1])
    table, (rows,) = prepare(vectors, 3, data)
    module = stirred(Generator(encoder_of(Shape(5, 6, 3), "bigru", True), 2))
    network = Network(form_of(module), table)
    batch = Batch(rows, np.arange(3), np.ones(3, np.float32), 6, make_layout(3, 5, rows.words), padded=True)
    logits = network.tokens(batch, pack(flatten(module), kernel_order(network.sizes)))
    ids, real = data.padded(batch.layout.rows[:3].astype(np.int64))
    right = module(torch.from_numpy(vectors)[ids], torch.from_numpy(real)).detach().numpy()
    found = logits[: 2 * batch.cells].reshape(2, batch.places, WIDTH)[:, :, :3]
    close(found, right.transpose(2, 1, 0))
