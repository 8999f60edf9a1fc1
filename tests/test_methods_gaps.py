"""What a predictor of preset `sound` reads: the selected tokens, in their order, and nothing else."""

import numpy as np
import pytest

from conftest import sentences
from genspp import FR, GenSPP
from genspp.population import evaluator

TEXTS, LABELS = sentences(120)
GENSPP = {"population": 2, "generations": 0, "min_steps": 20, "max_epochs": 10, "workers": 1}


@pytest.fixture(scope="module", params=["genspp", "fr"])
def model(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluator, "_READER_STEPS", 50)
        chosen = GenSPP(**GENSPP) if request.param == "genspp" else FR(max_epochs=3)
        return chosen.fit(TEXTS, LABELS)


def marked():
    """Texts as tokens with highlights of all densities; at least one token of each is marked."""
    stream = np.random.RandomState(3)
    tokens = [text.split() for text in TEXTS[:60]]
    masks = [(stream.rand(len(text)) < stream.rand()).astype(int) for text in tokens]
    for mask in masks:
        mask[stream.randint(len(mask))] = 1
    return tokens, masks


def test_at_a_fixed_mask_gaps_change_nothing(model):
    tokens, masks = marked()
    right = model.predict_proba(tokens, masks)
    assert len(np.unique(right.round(4), axis=0)) > 10
    pairs = list(zip(tokens, masks, strict=True))
    without = [[token for token, chosen in zip(text, mask, strict=True) if chosen] for text, mask in pairs]
    np.testing.assert_array_equal(model.predict_proba(without, [[1] * len(text) for text in without]), right)
    for more in (1, 2, 9, 40):
        before = [["goal", "the"] * more + text for text in tokens]
        np.testing.assert_array_equal(model.predict_proba(before, [[0] * 2 * more + [*mask] for mask in masks]), right)
        behind = [text + ["salt"] * more for text in tokens]
        np.testing.assert_array_equal(model.predict_proba(behind, [[*mask] + [0] * more for mask in masks]), right)
    spread = [[word for token in text for word in (token, "chip")] for text in tokens]
    wide = [[number for chosen in mask for number in (chosen, 0)] for mask in masks]
    np.testing.assert_array_equal(model.predict_proba(spread, wide), right)


def test_an_empty_highlight_says_the_same_of_every_text(model):
    tokens, _ = marked()
    found = model.predict_proba(tokens, [[0] * len(text) for text in tokens])
    np.testing.assert_array_equal(found, np.repeat(found[:1], len(found), axis=0))


def test_under_preset_paper_gaps_are_seen():
    tokens, masks = marked()
    model = FR(preset="paper", max_epochs=3).fit(TEXTS, LABELS)
    before = [["the"] * 5 + text for text in tokens]
    shifted = model.predict_proba(before, [[0] * 5 + [*mask] for mask in masks])
    assert not np.array_equal(shifted, model.predict_proba(tokens, masks))
