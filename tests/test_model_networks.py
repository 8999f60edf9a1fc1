"""The definition of right, in torch: what a network does with a text."""

import pytest
import torch
from torch import nn

from genspp.model.networks import Encoder, Generator, Predictor, Shape
from genspp.model.weights import count

TOY, HATEXPLAIN, SMALL = Shape(26, 8, 3), Shape(25, 16, 2), Shape(5, 4, 3)


@pytest.mark.parametrize(("shape", "genes", "weights"), [(TOY, 873, 891), (HATEXPLAIN, 2081, 2098)])
def test_parameter_counts_are_the_papers(shape, genes, weights):
    assert count(Generator(Encoder(shape, "gru"), 1)) == genes
    assert count(Predictor(Encoder(shape, "gru"), shape.classes, selected=True)) == weights


def texts(seed=0):
    torch.manual_seed(seed)
    real = torch.arange(6) < torch.tensor([[6], [4], [1]])
    return torch.randn(3, 6, 5) * real.unsqueeze(-1), real


def predictor(cell="gru", *, selected=True, norm=False):
    wide = 8 if cell == "bigru" else 4
    return Predictor(Encoder(SMALL, cell, nn.LayerNorm(wide) if norm else None), 3, selected=selected)


def test_pooling_is_the_largest_of_zero_and_the_states_at_selected_tokens():
    network, (vectors, real) = predictor(), texts()
    mask = real & (torch.rand(real.shape) < 0.5)
    states, _ = network.encoder.gru(vectors * mask.unsqueeze(-1))
    for row in range(len(vectors)):
        pooled = torch.zeros(4)
        for state in states[row][mask[row]]:
            pooled = torch.maximum(pooled, state)
        torch.testing.assert_close(network(vectors, real, mask)[row], network.output(pooled))


def test_or_the_largest_of_the_states_at_all_tokens():
    network, (vectors, real) = predictor("bigru", selected=False, norm=True), texts()
    mask = real & (torch.rand(real.shape) < 0.5)
    for row, length in enumerate(real.sum(1).tolist()):
        states, _ = network.encoder.gru((vectors * mask.unsqueeze(-1))[row : row + 1, :length])
        pooled = network.encoder.norm(states[0]).amax(0)
        torch.testing.assert_close(network(vectors, real, mask)[row], network.output(pooled))


def test_an_empty_highlight_pools_to_zero():
    network, (vectors, real) = predictor(), texts()
    logits = network(vectors, real, torch.zeros_like(real))
    torch.testing.assert_close(logits, network.output.bias.expand(3, 3))


@pytest.mark.parametrize("selected", [True, False])
def test_at_a_fixed_mask_unselected_tokens_change_nothing(selected):
    network, (vectors, real) = predictor(selected=selected), texts()
    mask = real & (torch.rand(real.shape) < 0.5)
    other = torch.where(mask.unsqueeze(-1), vectors, torch.randn_like(vectors))
    assert torch.equal(network(vectors, real, mask), network(other, real, mask))


@pytest.mark.parametrize("cell", ["gru", "bigru"])
@pytest.mark.parametrize("norm", [True, False])
@pytest.mark.parametrize("selected", [True, False])
def test_padding_and_batch_mates_change_nothing(cell, norm, selected):
    generator, (vectors, real) = Generator(predictor(cell, norm=norm).encoder, 2), texts()
    network = predictor(cell, selected=selected, norm=norm)
    vectors = torch.where(real.unsqueeze(-1), vectors, torch.randn_like(vectors))  # padding need not be zero
    mask = generator.select(vectors, real)
    logits = network(vectors, real, mask)
    assert not mask[~real].any()
    for row, length in enumerate(real.sum(1).tolist()):
        alone, whole = vectors[row : row + 1, :length], torch.ones(1, length, dtype=torch.bool)
        torch.testing.assert_close(generator(alone, whole)[0], generator(vectors, real)[row, :length])
        torch.testing.assert_close(network(alone, whole, mask[row : row + 1, :length])[0], logits[row])


def test_a_token_is_selected_when_selecting_is_not_worse_than_dropping():
    vectors, real = texts()
    one, two = (Generator(Encoder(SMALL, "gru"), outputs) for outputs in (1, 2))
    assert torch.equal(one.select(vectors, real), (one(vectors, real)[..., 0] >= 0) & real)
    logits = two(vectors, real)
    assert torch.equal(two.select(vectors, real), (logits[..., 1] >= logits[..., 0]) & real)
