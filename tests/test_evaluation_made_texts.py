"""Texts made from others, by hand."""

import numpy as np
import pytest

from genspp.data.encode import Encoded
from genspp.errors import DataError
from genspp.evaluation.made_texts import Marked, paste
from genspp.evaluation.mask_only import mask_features


def marked(*texts):
    """Return texts given as lists of (id, mark)."""
    made = Marked.of([tuple(np.array(part) for part in zip(*text, strict=True)) for text in texts])
    return Marked(
        Encoded(made.data.ids.astype(np.int32), made.data.starts, np.arange(len(texts), dtype=np.int32)),
        made.mask.astype(np.uint8),
    )


THREE = marked([(2, 0), (3, 1), (4, 0), (5, 1)], [(6, 0), (7, 0)], [(8, 1)])


def listed(texts):
    return [list(zip(*map(list, texts.text(row)), strict=True)) for row in range(len(texts.data))]


def test_without_gaps_what_would_be_empty_keeps_an_unmarked_token():
    made = THREE.without_gaps()
    assert listed(made) == [[(3, 1), (5, 1)], [(6, 0)], [(8, 1)]]
    np.testing.assert_array_equal(made.data.labels, THREE.data.labels)
    assert listed(Marked.whole(THREE.data).keeping(THREE.mask == 0)) == [[(2, 1), (4, 1)], [(6, 1), (7, 1)], [(8, 0)]]


def test_rest_and_counts():
    assert THREE.counts.tolist() == [2, 0, 1]
    assert THREE.rest.mask.tolist() == [1, 0, 1, 0, 1, 1, 0]


def test_tokens_of_others_are_put_in_front_unmarked():
    made = THREE.behind_others(50, np.random.default_rng(0))
    for row, (before, after) in enumerate(zip(listed(THREE), listed(made), strict=True)):
        assert after[50:] == before
        assert {mark for _, mark in after[:50]} == {0}
        others = {word for other, text in enumerate(listed(THREE)) if other != row for word, _ in text}
        assert {word for word, _ in after[:50]} == others
    with pytest.raises(DataError, match="only one text"):
        marked([(2, 0)]).behind_others(1, np.random.default_rng(0))


def test_a_highlight_is_pasted_in_one_piece_among_unmarked_tokens():
    places = set()
    for seed in range(20):
        made = paste(THREE, np.array([0, 1]), np.array([1, 2]), np.random.default_rng(seed))
        (text,) = listed(made.texts)  # the second donor has nothing to give, the second host no room
        assert [word for word, mark in text if mark] == [3, 5]
        assert [word for word, mark in text if not mark] == [6, 7]
        places.add([mark for _, mark in text].index(1))
        assert listed(made.hosts) == [[(6, 0), (7, 0)]]
    assert places == {0, 1, 2}
    assert paste(THREE, np.array([1]), np.array([0]), np.random.default_rng(0)) is None
    assert paste(THREE, np.array([0]), np.array([2]), np.random.default_rng(0)) is None


def test_features_of_a_mask():
    rows = mask_features(marked([(2, 0), (2, 1), (2, 1), (2, 0), (2, 1)], [(2, 0), (2, 0)]))
    mean = 7 / 3
    assert rows[0].tolist() == pytest.approx([3, 0.6, 0, 2, 1, 4, mean, 0.2, 0.8, mean / 5])
    assert rows[1].tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
