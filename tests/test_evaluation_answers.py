import json
from dataclasses import replace

import pytest

from audit_tools import SOUND
from genspp.evaluation.answers import Audit, Eraser, EvalX, Gaps, MaskAlone, Rest


def test_figures_come_back_from_a_file():
    found = replace(SOUND, eval_x=EvalX(0.4, 0.9, None, None, None))
    assert Audit.of(json.loads(json.dumps(found.figures()))) == found


def test_figures_are_rounded_and_nothing_becomes_nothing():
    found = replace(SOUND, gaps=Gaps(0.0, 6e-8, 1 / 3, 0.5), eraser=Eraser(2 / 3, -1e-9)).figures()
    assert found["gaps"] == {
        "changed_without": 0.0,
        "shift_without": 6e-8,
        "changed_behind": 0.333333,
        "shift_behind": 0.5,
    }
    assert found["eraser"] == {"comprehensiveness": 0.666667, "sufficiency": -1e-9}
    assert found["texts"] == 1000


def test_what_is_read_beside_guessing():
    assert replace(SOUND, mask_alone=MaskAlone(0.7, 0.5)).mask_gain == pytest.approx(0.2)
    assert replace(SOUND, rest=Rest(0.7, 0.6, 0.9)).share_left == pytest.approx(0.5)
    assert replace(SOUND, rest=Rest(0.6, 0.7, 0.9)).share_left == pytest.approx(0.5)
    assert replace(SOUND, rest=Rest(0.7, 0.6, 0.5)).share_left is None
    worse = replace(SOUND, mask_alone=MaskAlone(0.4, 0.5), rest=Rest(0.4, 0.3, 0.9))
    assert worse.mask_gain == worse.share_left == 0  # there is no less than nothing
