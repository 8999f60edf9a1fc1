import numpy as np
import pytest
import torch

from genspp.model.genome import count, draw, flatten, generator_parts, load_flat, predictor_parts
from genspp.model.spp import SPP, Generator, Predictor, Shape

TOY, HATEXPLAIN = Shape(26, 8, 3), Shape(25, 16, 2)


@pytest.mark.parametrize(("shape", "genes", "weights"), [(TOY, 873, 891), (HATEXPLAIN, 2081, 2098)])
def test_parameter_counts_are_the_papers(shape, genes, weights):
    assert count(generator_parts(shape)) == sum(p.numel() for p in Generator(shape).parameters()) == genes
    assert count(predictor_parts(shape)) == sum(p.numel() for p in Predictor(shape).parameters()) == weights


@pytest.mark.parametrize("cell", ["gru", "bigru"])
def test_the_genome_is_in_torchs_order_of_parameters(cell):
    shape = Shape(5, 4, 3, cell)
    generator = Generator(shape)
    parts = generator_parts(shape)
    expected = torch.nn.utils.parameters_to_vector(generator.parameters()).detach().numpy()
    np.testing.assert_array_equal(flatten(generator, parts), expected)
    other = Generator(shape)
    load_flat(other, expected, parts)
    assert all(torch.equal(a, b) for a, b in zip(generator.parameters(), other.parameters(), strict=True))
    assert expected[-1] == generator.output.bias.item()


def test_fresh_weights_have_torchs_bounds():
    shape = Shape(10, 16, 2, "bigru")
    drawn = draw(np.random.default_rng(0), shape, generator_parts(shape))
    recurrent, output = drawn[:-33], drawn[-33:]
    assert np.abs(recurrent).max() <= 1 / 4 < np.abs(recurrent).max() * 1.01
    assert np.abs(output).max() <= 1 / np.sqrt(32) < np.abs(output).max() * 1.1


def batch(seed=0, texts=3, tokens=6, inputs=5):
    torch.manual_seed(seed)
    vectors = torch.randn(texts, tokens, inputs)
    real = torch.arange(tokens) < torch.tensor([[6], [4], [1]])[:texts]
    return vectors * real.unsqueeze(-1), real


def test_pooling_is_the_largest_of_zero_and_the_states_at_selected_tokens():
    shape = Shape(5, 4, 3)
    predictor = Predictor(shape)
    vectors, real = batch()
    mask = real & (torch.rand(real.shape) < 0.5)
    states, _ = predictor.gru(vectors * mask.unsqueeze(-1))
    for row in range(len(vectors)):
        pooled = torch.zeros(4)
        for state in states[row][mask[row]]:
            pooled = torch.maximum(pooled, state)
        torch.testing.assert_close(predictor(vectors, mask)[row], predictor.output(pooled))


def test_an_empty_highlight_pools_to_zero():
    predictor = Predictor(Shape(5, 4, 3))
    vectors, real = batch()
    torch.testing.assert_close(predictor(vectors, torch.zeros_like(real)), predictor.output.bias.expand(3, 3))


def test_at_a_fixed_mask_unselected_tokens_change_nothing():
    predictor = Predictor(Shape(5, 4, 3))
    vectors, real = batch()
    mask = real & (torch.rand(real.shape) < 0.5)
    other = torch.where(mask.unsqueeze(-1), vectors, torch.randn_like(vectors))
    assert torch.equal(predictor(vectors, mask), predictor(other, mask))


@pytest.mark.parametrize("cell", ["gru", "bigru"])
def test_padding_and_batch_mates_change_nothing(cell):
    shape = Shape(5, 4, 3, cell)
    table = torch.randn(9, 5)
    table[0] = 0
    pair = SPP(shape, table).eval()
    lengths = [6, 4, 1]
    real = torch.arange(9) < torch.tensor(lengths)[:, None]
    ids = torch.randint(1, 9, real.shape) * real
    mask = pair.select(ids, real)
    logits = pair.classify(ids, real, mask)
    assert not mask[~real].any()
    for row, length in enumerate(lengths):
        alone, whole = ids[row : row + 1, :length], torch.ones(1, length, dtype=torch.bool)
        torch.testing.assert_close(
            pair.generator(table[alone], whole)[0], pair.generator(table[ids], real)[row, :length]
        )
        torch.testing.assert_close(pair.classify(alone, whole, mask[row : row + 1, :length])[0], logits[row])
