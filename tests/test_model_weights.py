import numpy as np
import pytest
import torch
from torch import nn

from genspp.model.forms import kernel_order, pack, unpack
from genspp.model.networks import Encoder, Generator, Predictor, Shape
from genspp.model.optimizer import Adam
from genspp.model.weights import Vector, count, draw, flatten, load_flat, sizes_of

SHAPE = Shape(5, 4, 3)


@pytest.mark.parametrize("cell", ["gru", "bigru"])
def test_the_genome_is_in_torchs_order_of_parameters(cell):
    generator, other = (Generator(Encoder(SHAPE, cell), 1) for _ in range(2))
    genome = flatten(generator)
    np.testing.assert_array_equal(genome, nn.utils.parameters_to_vector(generator.parameters()).detach().numpy())
    load_flat(other, genome)
    assert all(torch.equal(a, b) for a, b in zip(generator.parameters(), other.parameters(), strict=True))
    assert genome[-1] == generator.output.bias.item()


def test_what_modules_share_counts_once():
    shared = Encoder(SHAPE, "bigru", nn.LayerNorm(8))
    pair = nn.ModuleList([Generator(shared, 2), Predictor(shared, 3, selected=False)])
    assert count(pair) == len(flatten(pair)) == count(shared) + 2 * 9 + 3 * 9


def test_fresh_weights_have_torchs_bounds():
    generator = Generator(Encoder(Shape(10, 16, 2), "bigru", nn.LayerNorm(32)), 1)
    load_flat(generator, draw(np.random.default_rng(0), generator))
    recurrent = np.abs(flatten(generator.encoder.gru)).max()
    output = np.abs(flatten(generator.output)).max()
    assert recurrent <= 1 / 4 < recurrent * 1.01
    assert output <= 1 / np.sqrt(32) < output * 1.1
    assert flatten(generator.encoder.norm).tolist() == [1] * 32 + [0] * 32


@pytest.mark.parametrize("hidden", [1, 7, 8])
@pytest.mark.parametrize("cell", ["gru", "bigru"])
@pytest.mark.parametrize("norm", [True, False])
def test_the_kernels_order_has_every_weight_once_and_zeros(hidden, cell, norm):
    wide = hidden * (2 if cell == "bigru" else 1)
    network = Predictor(Encoder(Shape(5, hidden, 3), cell, nn.LayerNorm(wide) if norm else None), 3, selected=True)
    order, flat = kernel_order(sizes_of(network)), flatten(network)
    assert sorted(order[order >= 0]) == list(range(len(flat)))
    packed = pack(flat, order)
    np.testing.assert_array_equal(unpack(packed, order), flat)
    assert np.count_nonzero(packed) <= len(flat)


def test_a_vector_holds_the_parameters_of_many_modules():
    shared = Encoder(SHAPE, "gru")
    modules = [Generator(shared, 2), Predictor(shared, 3, selected=False)]
    vector = Vector(modules)
    assert vector.size == count(nn.ModuleList(modules))
    for module in modules:
        np.testing.assert_array_equal(
            vector.numbers[vector.kernel_places(module)],
            pack(flatten(module), kernel_order(sizes_of(module)))[: len(vector.kernel_places(module))],
        )
    vector.numbers[: vector.size] += 1
    before = flatten(modules[1])
    vector.put()
    np.testing.assert_array_equal(flatten(modules[1]), before + 1)


def moved(optimizer, gradients):
    for gradient in gradients:
        optimizer.clear()
        optimizer.add(np.arange(len(gradient)), gradient)
        optimizer.step()


def test_adam_over_groups_is_torch_s():
    ours, theirs = nn.Linear(7, 3), nn.Linear(7, 3)
    theirs.load_state_dict(ours.state_dict())
    first, second = nn.Module(), nn.Module()
    first.weight, second.bias = ours.weight, ours.bias
    optimizer = Adam([(first, 0.01), (second, 0.1)])
    reference = torch.optim.Adam([{"params": [theirs.weight], "lr": 0.01}, {"params": [theirs.bias], "lr": 0.1}])
    for gradient in np.random.default_rng(0).normal(size=(20, 24)).astype(np.float32):
        moved(optimizer, [gradient])
        theirs.weight.grad, theirs.bias.grad = (
            torch.from_numpy(gradient[:21]).view(3, 7),
            torch.from_numpy(gradient[21:]),
        )
        reference.step()
    optimizer.put()
    np.testing.assert_allclose(flatten(ours), flatten(theirs), atol=1e-6, rtol=1e-5)
    assert optimizer.steps == 20


def test_what_belongs_to_padding_moves_nothing():
    module = nn.Linear(2, 1)
    optimizer, before = Adam([(module, 0.1)]), flatten(module)
    optimizer.add(np.array([0, 3]), np.array([0.0, 5.0], np.float32))
    optimizer.step()
    optimizer.put()
    np.testing.assert_array_equal(flatten(module), before)
    assert not optimizer.vector.numbers[3:].any()


def test_an_optimizer_goes_on_where_it_was():
    gradients = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    module = nn.Linear(2, 1)
    start = flatten(module)
    whole = Adam([(module, 0.1)])
    moved(whole, gradients)
    first = Adam([(module, 0.1)])
    moved(first, gradients[:2])
    state = first.state()
    moved(first, gradients[2:4])  # the state is a copy
    other = nn.Linear(2, 1)
    second = Adam([(other, 0.1)])
    second.restore(state)
    moved(second, gradients[2:])
    second.put()
    whole.put()
    np.testing.assert_array_equal(flatten(other), flatten(module))
    assert not np.array_equal(flatten(other), start)
