import numpy as np
import pytest

from genspp.errors import SettingsError
from genspp.methods.lesson import mark_costs

CLASSES = np.array(["normal", "toxic"])


def test_a_mark_costs_the_same_everywhere_unless_evidence_for_some_is_wanted():
    assert mark_costs(None, CLASSES).tolist() == [1, 1]
    assert mark_costs(["toxic"], CLASSES).tolist() == [3, 1]
    assert mark_costs(["toxic", "normal"], CLASSES).tolist() == [1, 1]
    assert mark_costs([1], np.array([0, 1, 2])).tolist() == [3, 1, 3]  # labels need not be strings
    assert mark_costs(["1"], np.array([0, 1, 2])).tolist() == [3, 1, 3]  # nor be typed as they are


def test_a_label_that_there_is_not_is_one_sentence():
    with pytest.raises(SettingsError) as caught:
        mark_costs(["toxic", "hateful"], CLASSES)
    assert str(caught.value) == "evidence_for names 'hateful', which is no label; the labels are normal, toxic."
