import numpy as np

from genspp.data.encode import encode

INDEX = {"a": 2, "b": 3}
TEXTS = [["a", "zzz", "b"], ["b"], ["a", "a"]]


def test_texts_lie_end_to_end_and_unknown_words_share_a_row():
    encoded = encode(TEXTS, INDEX, 1, [0, 1, 0])
    assert encoded.ids.tolist() == [2, 1, 3, 3, 2, 2] and encoded.ids.dtype == np.int32
    assert encoded.starts.tolist() == [0, 3, 4, 6] and len(encoded) == 3
    assert encoded.lengths.tolist() == [3, 1, 2] and encoded.labels.tolist() == [0, 1, 0]
    assert len(encode(TEXTS, INDEX, 1).labels) == 0


def test_padded_rows_show_what_is_real():
    ids, real = encode(TEXTS, INDEX, 1).padded(np.array([1, 2]))
    assert ids.tolist() == [[3, 0], [2, 2]]
    assert real.tolist() == [[True, False], [True, True]]
    # The longest of the rows asked for sets the width, not the longest of all.
    assert encode(TEXTS, INDEX, 1).padded(np.array([1]))[0].shape == (1, 1)


def test_split_cuts_a_flat_mask():
    masks = encode(TEXTS, INDEX, 1).split(np.array([1, 0, 1, 1, 0, 1], dtype=np.uint8))
    assert [mask.tolist() for mask in masks] == [[1, 0, 1], [1], [0, 1]]


def test_batches_cover_every_row_once_by_length():
    encoded = encode([["a"] * n for n in (5, 1, 4, 2, 3)], INDEX, 1)
    batches = list(encoded.batches(2))
    assert [encoded.lengths[batch].tolist() for batch in batches] == [[4, 5], [2, 3], [1]]
    assert sorted(np.concatenate(batches).tolist()) == [0, 1, 2, 3, 4]


def test_a_long_text_does_not_make_a_large_batch():
    encoded = encode([["a"] * n for n in (1000, 1, 2, 1, 2, 1)], INDEX, 1)
    batches = [encoded.lengths[batch].tolist() for batch in encoded.batches(texts=4, tokens=6)]
    assert batches == [[1000], [1, 2, 2], [1, 1]]
