"""The word list as a method."""

import json

import numpy as np
import pytest

from genspp.data.corpus import as_corpus
from genspp.errors import SettingsError
from genspp.methods.base import METHODS, Rationalizer
from genspp.methods.recorder import Forgetful
from genspp.methods.wordlist import _masks

WORDS = {"food": ["soup", "bread"], "sport": ["goal", "match"]}
QUICK = {"seed": 1, "lists": 4, "hidden": 4, "min_steps": 0, "max_epochs": 200, "workers": 1}


def some_rows(count=120, seed=0):
    rng = np.random.default_rng(seed)
    labels = [sorted(WORDS)[i % 2] for i in range(count)]
    texts = [f"we had the {rng.choice(WORDS[label])} at {rng.choice(['home', 'school'])}" for label in labels]
    return texts, labels


@pytest.fixture(scope="module")
def model():
    return METHODS["wordlist"](**QUICK).fit(*some_rows())


def test_it_marks_the_words_that_decide_wherever_they_stand(model):
    found = model.explain(["the soup was cold", "a match and then soup", "nobody knows"])
    marked = [[text.text[start:end] for start, end in text.spans] for text in found]
    assert marked == [["soup"], ["match", "soup"], []]
    assert found[0].label == "food"
    assert found[2].no_evidence


def test_it_decides_as_well_as_it_marks(model):
    texts, labels = some_rows(40, seed=9)
    assert (model.predict(texts) == labels).mean() == 1


def test_saved_and_loaded_it_marks_the_same(model, tmp_path):
    model.save(tmp_path / "model")
    loaded = Rationalizer.load(tmp_path / "model")
    texts = ["the soup was cold", "soups and a zebra"]
    assert [one.mask for one in loaded.explain(texts)] == [one.mask for one in model.explain(texts)]


def test_the_log_says_what_every_list_was_worth(model):
    assert [line["list"] for line in model.history_] == list(range(4))
    best = min(model.history_, key=lambda line: line["cost"])
    assert model.shares_ == {name: best[name] for name in ("sufficiency", "left_over")}


def test_interrupted_it_goes_on_with_the_next_list(model):
    class Recorder(Forgetful):
        def restore(self):
            return {"history": model.history_[:2]}

        def record(self, line, state, total):
            recorded.append(line["list"])

    recorded = []
    again = METHODS["wordlist"](**QUICK).fit(*some_rows(), recorder=Recorder())
    assert recorded == [2, 3]
    assert again.history_ == model.history_
    texts = ["the soup was cold"]
    np.testing.assert_array_equal(again.predict_proba(texts), model.predict_proba(texts))


def test_of_its_own_training_text_a_word_is_marked_for_what_others_say(monkeypatch):
    lessons = []
    monkeypatch.setattr(METHODS["wordlist"], "_train", lambda self, settings, lesson, recorder: lessons.append(lesson))
    texts, labels = some_rows()
    texts[0] += " unicum"
    fitted = METHODS["wordlist"](**QUICK).fit(texts, labels, validation=some_rows(40, seed=9))
    (lesson,) = lessons
    assert lesson.evidence[fitted.vectors_.index["unicum"]] > 0  # elsewhere it is on the longest list
    mask, _ = _masks(lesson, 1e-9)
    assert mask[len(texts[0].split()) - 1] == 0 and mask.any()


def test_lists_that_are_alike_are_judged_once():
    fitted = METHODS["wordlist"](**{**QUICK, "lists": 40}).fit(*some_rows())
    assert len(fitted.history_) < 40
    assert len({line["cost"] for line in fitted.history_}) > 1


def test_without_an_adversary_nothing_is_said_of_it():
    model = METHODS["wordlist"](**QUICK, completeness=0.0).fit(*some_rows())
    assert model.shares_.keys() == {"sufficiency"}
    json.dumps(model.history_, allow_nan=False)


def test_without_weights_of_words_there_is_no_list():
    with pytest.raises(SettingsError, match="label_columns is False; it takes True: a list is what they know"):
        METHODS["wordlist"](**QUICK, label_columns=False).fit(as_corpus(some_rows()[0], "words", some_rows()[1]))
