import numpy as np
import pytest

from genspp.data.encode import Encoded
from genspp.kernels.lanes import WIDTH
from genspp.kernels.memory import floats
from genspp.kernels.texts import lay_out_batch, lay_tokens, make_layout, stretches, whole
from genspp.model.passes import Batch, prepare

STARTS = np.array([0, 1, 4, 6])
IDS = np.array([1, 2, 3, 2, 3, 1], np.int32)
LABELS = np.array([1, 0, 1], np.int32)
WEIGHTS = np.array([1.0, 3.0], np.float32)


def lay_out(chosen, padded=False, row=24):
    layout = make_layout(len(chosen), 3, 3)
    words = lay_out_batch(np.array(chosen), whole(IDS, STARTS, LABELS), WEIGHTS, row, padded, layout)
    return words, layout


def test_texts_come_longest_first_with_labels_and_shares():
    words, layout = lay_out([0, 1, 2])
    assert words == 3
    assert layout.first[:2].tolist() == [0, 3]
    assert layout.rows[:3].tolist() == [1, 2, 0]
    assert layout.labels[:WIDTH].tolist() == [0, 1, 1, 0, 0, 0, 0, 0]
    np.testing.assert_allclose(layout.shares[:WIDTH], [1 / 7, 3 / 7, 3 / 7, 0, 0, 0, 0, 0])
    assert layout.real[: 3 * WIDTH].reshape(3, WIDTH)[:, :4].T.tolist() == [[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 0]]


def test_words_are_numbered_as_they_come_and_forgotten():
    _, layout = lay_out([0, 1, 2])
    cells = layout.cells[: 3 * WIDTH].reshape(3, WIDTH)[:, :3].T // 24
    assert layout.used[1:4].tolist() == [2, 3, 1]
    assert cells.tolist() == [[1, 2, 1], [2, 3, 0], [3, 0, 0]]
    assert not layout.slots.any()


def test_no_two_groups_share_padding_unless_they_are_asked_to():
    starts = np.concatenate([[0], np.cumsum([5] * WIDTH + [2])]).astype(np.int64)
    texts = whole(np.ones(starts[-1], np.int32), starts, np.zeros(WIDTH + 1, np.int32))
    for padded, first in ((False, [0, 5, 7]), (True, [0, 5, 10])):
        layout = make_layout(WIDTH + 1, 5, 1)
        lay_out_batch(np.arange(WIDTH + 1), texts, WEIGHTS, 24, padded, layout)
        assert layout.first[:3].tolist() == first


def test_a_text_reaches_from_its_first_seen_token_to_its_last():
    ids = np.array([0, 0, 4, 0, 5, 0, 0, 0, 7, 0], np.int32)
    texts = stretches(ids, np.array([0, 7, 8, 10]), np.zeros(3, np.int32))
    assert texts.begin[[0, 2]].tolist() == [2, 8]
    assert texts.span.tolist() == [3, 0, 1]
    assert texts.lead.tolist() == [2, 0, 0]


@pytest.mark.parametrize("texts", [1, 8, 9, 30])
def test_tokens_and_texts_come_back_in_their_order(texts):
    rng = np.random.default_rng(texts)
    lengths = rng.integers(1, 9, texts)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    data = Encoded(rng.integers(1, 6, starts[-1]).astype(np.int32), starts, rng.integers(0, 2, texts).astype(np.int32))
    _, (rows,) = prepare(np.ones((6, 2), np.float32), 2, data)
    batch, flat = Batch.of_all(rows, WEIGHTS, 4), rng.normal(size=starts[-1]).astype(np.float32)
    np.testing.assert_array_equal(batch.by_token(batch.from_tokens(flat)), flat)
    np.testing.assert_array_equal(batch.by_text(batch.layout.labels, 1).ravel(), data.labels)
    assert batch.tokens == starts[-1] == batch.real.sum() == batch.lengths.sum()
    assert batch.shares.sum() == pytest.approx(1)


def test_numbers_of_tokens_come_to_the_places_of_their_texts():
    lengths = np.array([2, 6, 4, 1, 4, 3, 5, 1, 2, 3, 7])
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    data = Encoded(np.ones(starts[-1], np.int32), starts, np.zeros(len(lengths), np.int32))
    _, (rows,) = prepare(np.ones((2, 2), np.float32), 2, data)
    chosen = np.array([7, 1, 0, 3, 10, 9, 5, 6, 4])  # two groups of lanes, one not full
    batch = Batch(rows, chosen, WEIGHTS, 4, make_layout(len(chosen), 7, rows.words))
    flat, lanes = np.arange(1, starts[-1] + 1, dtype=np.float32), floats(batch.cells)
    lay_tokens(batch.texts, batch.layout, rows.texts.begin, rows.texts.span, flat, lanes)
    right = np.zeros(batch.cells, np.float32)
    for lane, text in enumerate(batch.layout.rows[: batch.texts]):
        first = batch.layout.first[lane // WIDTH] * WIDTH + lane % WIDTH
        right[first : first + lengths[text] * WIDTH : WIDTH] = flat[starts[text] : starts[text + 1]]
    np.testing.assert_array_equal(lanes[: batch.cells], right)
    np.testing.assert_array_equal(right > 0, batch.real[: batch.cells] > 0)
