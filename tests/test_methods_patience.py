"""How much of the data a search looks at."""

import numpy as np

from conftest import random_encoded
from genspp.data.encode import Encoded
from genspp.methods import patience
from genspp.methods.genspp import GenSPP
from genspp.methods.judging import make_evaluator
from genspp.methods.lesson import Lesson
from genspp.methods.patience import patient_epochs, searched, texts_per_update

RANDOM = np.random.RandomState(3)


def texts(rows, length):
    return Encoded(np.ones(rows * length, np.int32), np.arange(rows + 1) * length, np.zeros(rows, np.int32))


def lesson(rows, val_rows):
    parts = [random_encoded(RANDOM, many, 6, 30, 3) for many in (rows, val_rows)]
    return Lesson(*parts, np.zeros((30, 2), np.float32), np.ones(3, np.float32), np.ones(3, np.float32), 30)


def test_few_rows_are_all_looked_at():
    few = lesson(50, 20)
    assert searched(few, 1) is few


def test_of_many_rows_some_of_every_class_are(monkeypatch):
    monkeypatch.setattr(patience, "_TRAIN", 60)
    many = lesson(200, 20)
    some = searched(many, 1)
    assert (len(some.train), len(some.val)) == (60, 20)
    share = 60 / 200 * np.bincount(many.train.labels, minlength=3)
    assert np.abs(np.bincount(some.train.labels, minlength=3) - share).max() <= 1
    whole = {
        (*text.tolist(), label) for text, label in zip(many.train.split(many.train.ids), many.train.labels, strict=True)
    }
    taken = [
        (*text.tolist(), label) for text, label in zip(some.train.split(some.train.ids), some.train.labels, strict=True)
    ]
    assert set(taken) <= whole
    again, other = searched(many, 1), searched(many, 2)
    assert np.array_equal(again.train.ids, some.train.ids)
    assert not np.array_equal(other.train.ids[:50], some.train.ids[:50])


def test_the_model_that_is_kept_has_seen_all_rows(monkeypatch):
    tasks = []

    def spy(engine, task, workers):
        tasks.append(task)
        return make_evaluator(engine, task, workers)

    monkeypatch.setattr("genspp.methods.judging.make_evaluator", spy)
    monkeypatch.setattr(patience, "_TRAIN", 40)
    words = ["good film", "bad film", "so good", "so bad"] * 25
    small = {"generations": 0, "population": 2, "min_steps": 5, "max_epochs": 2, "hidden": 8}
    GenSPP(seed=1, **small).fit(words, ["y", "n"] * 50)
    rows = [len(task.train) for task in tasks]
    assert rows == sorted(rows) and set(rows) == {40, 80}  # first those of the search, then all


def test_an_update_takes_fewer_texts_where_they_are_long_or_few():
    assert texts_per_update(64, texts(2000, 20)) == 64
    assert texts_per_update(64, texts(2000, 100)) == 8
    assert texts_per_update(64, texts(2000, 5000)) == 8
    assert texts_per_update(64, texts(700, 10)) == 32
    assert texts_per_update(64, texts(20, 10)) == 16
    assert texts_per_update(4, texts(2000, 20)) == 4


def test_a_training_waits_for_fewer_epochs_where_these_are_long():
    assert patient_epochs(30, 6400, 64) == 30
    assert patient_epochs(30, 40_000, 64) == 8
    assert patient_epochs(30, 10_000_000, 64) == 3
