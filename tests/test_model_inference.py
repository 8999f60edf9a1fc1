"""A trained pair on kernels against the same pair in torch."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import nn

from conftest import random_encoded
from genspp.data.encode import Encoded, pad
from genspp.errors import DataError
from genspp.model import inference
from genspp.model.inference import classify, classify_full_text, flushed, select, text_noise
from genspp.model.networks import Committee, Encoder, Generator, Pair, Predictor, Saliency, Shape, one_thread
from genspp.model.passes import highest
from genspp.model.weights import on_kernels, weighed

SHAPE = Shape(5, 6, 3)
DATA = random_encoded(np.random.RandomState(0), 60, 9, 20, 3)
TABLE = torch.from_numpy(np.random.RandomState(1).normal(0, 1, (20, 5)).astype(np.float32))


def predictor(cell, *, selected, norm):
    wide = 12 if cell == "bigru" else 6
    return Predictor(Encoder(SHAPE, cell, nn.LayerNorm(wide) if norm else None), 3, selected=selected)


def pair(seed=0, *, cell="bigru", outputs=2, selected=False, norm=True, sampled=None):
    torch.manual_seed(seed)
    generator = Generator(predictor(cell, selected=selected, norm=norm).encoder, outputs)
    return Pair(TABLE, generator, predictor(cell, selected=selected, norm=norm), sampled)


def padded(data, flat=None):
    rows = np.arange(len(data))
    ids, real = data.padded(rows)
    mask = real if flat is None else pad(flat, data.starts, rows)[0]
    return TABLE[torch.from_numpy(ids)], torch.from_numpy(real), torch.from_numpy(mask)


KINDS = [
    {"cell": "gru", "outputs": 1, "selected": True, "norm": False},
    {"cell": "bigru", "outputs": 1, "selected": True, "norm": False},
    {"cell": "bigru", "outputs": 2, "selected": False, "norm": True},
]


@pytest.mark.parametrize("kind", KINDS)
@torch.inference_mode()
def test_it_is_what_torch_computes(kind):
    model = pair(**kind)
    vectors, real, _ = padded(DATA)
    margins = model.generator.margins(vectors, real)[real].numpy()
    mask, clear = select(on_kernels(model), DATA), np.abs(margins) > 1e-5
    assert mask.dtype == np.uint8
    np.testing.assert_array_equal(mask[clear], margins[clear] >= 0)
    for flat in (mask, np.zeros_like(mask)):
        right = model.predictor(*padded(DATA, flat)).softmax(1)
        np.testing.assert_allclose(classify(on_kernels(model), DATA, flat), right, atol=1e-5)
    other = predictor(kind["cell"], selected=kind["selected"], norm=kind["norm"])
    found = classify_full_text(on_kernels(model), weighed(other), DATA)
    np.testing.assert_allclose(found, other(*padded(DATA)).softmax(1), atol=1e-5)
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-12)


def test_a_share_of_every_text_is_its_highest_margins():
    model = pair()
    vectors, real, _ = padded(DATA)
    with torch.inference_mode():
        margins = model.generator.margins(vectors, real)[real].numpy()
    for share in (0.0, 0.1, 0.34, 0.5, 1.0):
        model.share = share
        for own, mask in zip(DATA.split(margins), DATA.split(select(on_kernels(model), DATA)), strict=True):
            wanted = max(1, math.ceil(Fraction(str(share)) * len(own)))
            assert mask.sum() == wanted
            assert own[mask == 1].min() >= own[mask == 0].max(initial=-np.inf) - 1e-5


def test_of_equal_margins_the_first_are_selected_and_shares_are_exact():
    texts = np.repeat([0, 1], [30, 2])
    mask = highest(np.zeros(32, np.float32), texts, 0.1)
    assert np.flatnonzero(mask).tolist() == [0, 1, 2, 30]


@pytest.mark.parametrize("selected", [False, True])
def test_saliency_is_gradient_times_input(selected, monkeypatch):
    model = pair(selected=selected)
    model.generator, model.share = Saliency(predictor("bigru", selected=selected, norm=True)), 0.5
    monkeypatch.setattr(inference, "_AT_ONCE", 7)
    right = model.generator.margins(*padded(DATA)[:2])[padded(DATA)[1]].numpy()
    found = inference.margins(on_kernels(model), DATA)
    np.testing.assert_allclose(found, right, atol=2e-5 * right.max())
    monkeypatch.setattr(inference, "_AT_ONCE", 1000)
    np.testing.assert_array_equal(inference.margins(on_kernels(model), DATA), found)


@pytest.mark.parametrize("sampled", [None, 7])
def test_a_text_s_company_and_place_change_no_bit(sampled):
    model = pair(sampled=sampled)
    mask = select(on_kernels(model), DATA)
    probabilities = classify(on_kernels(model), DATA, mask)
    for text, own in enumerate(DATA.split(mask)):
        start, end = DATA.starts[text : text + 2]
        alone = Encoded(DATA.ids[start:end], np.array([0, end - start]), DATA.labels[:0])
        np.testing.assert_array_equal(select(on_kernels(model), alone), own)
        np.testing.assert_array_equal(classify(on_kernels(model), alone, own)[0], probabilities[text])


def test_drawn_highlights_are_the_same_at_every_call_and_belong_to_a_seed():
    first, other, plain = (select(on_kernels(pair(sampled=seed)), DATA) for seed in (7, 8, None))
    np.testing.assert_array_equal(select(on_kernels(pair(sampled=7)), DATA), first)
    assert not np.array_equal(first, other)
    assert not np.array_equal(first, plain)


def test_a_highlight_is_drawn_with_the_probability_of_selecting():
    model = pair(sampled=3)
    data = random_encoded(np.random.RandomState(2), 3000, 9, 20, 3)
    with torch.inference_mode(), one_thread():
        vectors, real, _ = padded(data)
        chances = torch.sigmoid(model.generator.margins(vectors, real))[real]
    assert select(on_kernels(model), data).mean() == pytest.approx(float(chances.mean()), abs=0.01)


def test_the_noise_of_a_text_depends_on_nothing_but_the_text():
    data = Encoded(np.array([3, 4, 5, 3, 4, 6, 7], np.int32), np.array([0, 3, 7]), np.zeros(0, np.int32))
    alone = Encoded(data.ids[:3], data.starts[:2], data.labels)
    noise = text_noise(1, data)
    np.testing.assert_array_equal(text_noise(1, alone), noise[:3])
    assert not np.array_equal(noise[:2], noise[3:5])
    assert not np.array_equal(noise, text_noise(2, data))


def test_ids_that_no_vector_belongs_to_are_refused():
    stray = Encoded(np.array([99], np.int32), np.array([0, 1]), np.zeros(0, np.int32))
    with pytest.raises(DataError, match="99"):
        select(on_kernels(pair()), stray)


def test_it_leaves_the_caller_s_arithmetic_and_threads_alone():
    tiny, threads = np.full(1, 1e-38, np.float32), torch.get_num_threads()
    select(on_kernels(pair()), DATA)
    assert (tiny * np.float32(1e-3))[0] > 0
    with flushed():
        pass
    assert (tiny * np.float32(1e-3))[0] > 0
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == threads


@torch.inference_mode()
def test_a_committee_says_what_its_members_say_in_the_mean():
    torch.manual_seed(3)
    members = [predictor("gru", selected=True, norm=False) for _ in range(3)]
    model = Pair(TABLE, pair().generator, Committee(members))
    mask = select(on_kernels(model), DATA)
    alone = [classify(on_kernels(Pair(TABLE, model.generator, member)), DATA, mask) for member in members]
    np.testing.assert_allclose(classify(on_kernels(model), DATA, mask), np.mean(alone, axis=0), atol=1e-12)
    np.testing.assert_allclose(model.predictor(*padded(DATA, mask)).exp(), np.mean(alone, axis=0), atol=1e-5)
    assert np.abs(alone[0] - alone[1]).max() > 0.01
