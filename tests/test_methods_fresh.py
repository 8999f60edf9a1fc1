import numpy as np
import pytest
import torch

from genspp.kernels.memory import floats
from genspp.methods.fresh import FRESH
from genspp.methods.in_training import Tally
from genspp.model.inference import select
from genspp.model.weights import flatten, on_kernels
from gradient_tools import (
    LENGTHS,
    TEXTS,
    classified,
    cross_entropy,
    each_reading,
    lanes,
    omega,
    prepared,
    vectors_of,
)


def saliency(predictor, text):
    """Return |gradient x input| of the probability of the likeliest class."""
    vectors = vectors_of(text)[None].requires_grad_()
    everything = torch.ones(1, len(vectors[0]), dtype=torch.bool)
    predictor(vectors, everything, everything).softmax(1).max().backward()
    return (vectors.grad * vectors).sum(2)[0].abs().detach().numpy()


def salient(predictor, share, batch):
    """Return the mask of the most salient tokens, rounded up, text by text."""
    mask = floats(batch.cells)
    for text, cells in lanes(batch):
        wanted = -(-round(100 * share) * int(LENGTHS[text]) // 100)
        mask[cells[np.argsort(-saliency(predictor, text), kind="stable")[:wanted]]] = 1
    return mask


@each_reading
def test_the_loss_is_the_hand_computed_one(reading):
    model, session, batch = prepared(FRESH, **reading)
    mask = salient(model.full_text_, 0.3, batch)
    expected = cross_entropy(classified(model.model_.predictor, batch, mask), batch)
    assert model._update(session, batch) == pytest.approx(expected, rel=1e-5)


def test_the_validation_loss_is_that_of_the_same_highlight():
    model, session, batch = prepared(FRESH)
    tally, mask = Tally(session.losses), salient(model.full_text_, 0.3, batch)
    model._measure(session, batch, tally)
    expected = cross_entropy(classified(model.model_.predictor, batch, mask), batch)
    assert tally.loss() == pytest.approx(expected + omega(mask, batch, session.losses), rel=1e-5)


def test_the_predictor_alone_learns():
    model, session, batch = prepared(FRESH)
    before = flatten(model.full_text_)
    model._update(session, batch)
    (optimizer,) = session.optimizers
    assert optimizer.vector.size == len(flatten(model.model_.predictor))
    assert all(optimizer.gradient[optimizer.vector.places([p])].any() for p in model.model_.predictor.parameters())
    np.testing.assert_array_equal(flatten(model.full_text_), before)


def test_the_highlight_of_a_trained_model_is_what_its_full_text_predictor_looks_at():
    model, _, _ = prepared(FRESH)
    assert model.model_.generator.predictor is model.full_text_
    for text, mask in enumerate(TEXTS.split(select(on_kernels(model.model_), TEXTS))):
        wanted = max(1, int(np.ceil(0.3 * LENGTHS[text])))
        assert sorted(np.argsort(-saliency(model.full_text_, text))[:wanted]) == np.flatnonzero(mask).tolist()
