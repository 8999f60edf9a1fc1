"""Masks that are drawn, what they cost, and losses over a split from its parts."""

import numpy as np
import pytest

from genspp.kernels.lanes import WIDTH
from genspp.kernels.memory import floats
from genspp.kernels.texts import make_layout
from genspp.methods.in_training import Losses, Tally
from genspp.methods.masks import MASKS
from genspp.methods.rnp import RNP
from genspp.model.passes import Batch, prepare
from gradient_tools import (
    CLASS_WEIGHTS,
    MARK_COSTS,
    TABLE,
    TEXTS,
    again,
    choices,
    drawn,
    lanes,
    likelier,
    omega,
    prepared,
)


@pytest.mark.parametrize("preset", ["sound", "paper"])
def test_regularisers_are_the_hand_computed_ones(preset):
    _, session, batch = prepared(RNP, preset=preset)
    mask = floats(batch.cells)
    mask[: batch.cells] = (np.random.default_rng(0).random(batch.cells) < 0.5) * batch.counted[: batch.cells]
    assert session.losses.omega(batch, mask)[0] == pytest.approx(omega(mask, batch, session.losses), rel=1e-6)


@pytest.mark.parametrize("preset", ["sound", "paper"])
def test_a_tally_of_parts_is_the_loss_of_the_whole(preset):
    _, session, whole = prepared(RNP, preset=preset)
    predictor, rows = session.predictors[0], prepare(TABLE, 3, TEXTS)[1][0]
    # All parts as long as the whole, or they would have less padding.
    parts = [[1, 0, 3, 4], [2, 5, 6, 7, 8]] if preset == "sound" else [list(range(9))]
    tally, chosen = Tally(session.losses), np.random.default_rng(0).random((9, 6)) < 0.4
    expected = Tally(session.losses)

    def count(batch, tally):
        mask = floats(batch.cells)
        for text, cells in lanes(batch):
            mask[cells] = chosen[text, : len(cells)] * batch.counted[cells]
        tally.add(predictor, predictor.look(batch, mask), mask, batch, own=2.0 * batch.texts)

    for part in parts:
        layout = make_layout(len(part), rows.longest, rows.words)
        count(Batch(rows, np.array(part), CLASS_WEIGHTS, 3, layout, padded=whole.padded), tally)
    count(whole, expected)
    assert tally.loss() == pytest.approx(expected.loss(), rel=1e-6)
    assert tally.selection_rate == pytest.approx(expected.selection_rate)
    assert tally.selection_rate == pytest.approx(
        np.mean([chosen[text, :length].mean() for text, length in enumerate(TEXTS.lengths)])
    )


def test_where_no_text_weighs_anything_there_is_no_loss():
    _, session, batch = prepared(RNP)
    tally = Tally(Losses(0.3, 1.0, 0.0, np.zeros(3, np.float32), False, MARK_COSTS))
    predictor = session.predictors[0]
    tally.add_task(predictor, predictor.look(batch, batch.real), batch)
    assert tally.task == 0


def test_gumbel_masks_are_the_hand_computed_ones():
    model, session, batch = prepared(RNP)
    expected = drawn(choices(model.model_.generator, batch), batch, again(session))
    mask = session.generators[0].draw(batch, session.noise)
    np.testing.assert_array_equal(mask.numbers[: batch.cells], expected[: batch.cells])
    gradient = mask.back(np.ones_like(mask.numbers))[: 2 * batch.cells].reshape(2, -1)
    np.testing.assert_array_equal(gradient[0], -gradient[1])
    assert (gradient[1] >= 0).all()
    assert not gradient[1][batch.real[: batch.cells] == 0].any()


def test_the_next_mask_is_another_one():
    _, session, batch = prepared(RNP)
    masks = [session.generators[0].draw(batch, session.noise).numbers for _ in range(2)]
    assert not np.array_equal(*masks)
    session.begin(0, 7)
    np.testing.assert_array_equal(session.generators[0].draw(batch, session.noise).numbers, masks[0])


def test_a_threshold_needs_no_noise():
    if "threshold" not in MASKS:
        pytest.skip("no method has it")
    model, session, batch = prepared(RNP)
    logits = session.generators[0].network.tokens(batch, session.generators[0].weights)
    mask = MASKS["threshold"](logits, batch, session.noise)
    right = likelier(choices(model.model_.generator, batch), batch)
    np.testing.assert_array_equal(mask.numbers[: batch.cells], right[: batch.cells])


def test_padding_is_drawn_only_where_it_counts():
    for preset in ("sound", "paper"):
        _, session, batch = prepared(RNP, preset=preset)
        outside = np.ones(batch.cells, bool)
        for text, cells in lanes(batch):
            outside[cells[: TEXTS.lengths[text]]] = False
        selected = sum(
            session.generators[0].draw(batch, session.noise).numbers[: batch.cells][outside].sum() for _ in range(5)
        )
        assert (selected > 0) == (preset == "paper")
        empty = np.arange(batch.groups * WIDTH) >= batch.texts
        assert not batch.counted[: batch.cells].reshape(-1, WIDTH)[batch.layout.first[1] :, empty[WIDTH:]].any()
