"""Columns of word vectors that know the labels: what a text reads was learnt without it."""

from dataclasses import replace

import numpy as np
import pytest

from conftest import sentences
from genspp.data import label_columns
from genspp.data.corpus_vectors import from_corpus
from genspp.data.encode import encode
from genspp.data.label_columns import FOLDS, inform
from genspp.data.vectors import UNKNOWN, with_frame
from genspp.model.networks import Shape
from genspp.population.compiled import CompiledEvaluator
from genspp.population.evaluator import Task, Training

TEXTS, NAMES = sentences(120)
KEYS = [text.split() for text in TEXTS]
LABELS = np.array([sorted(set(NAMES)).index(name) for name in NAMES], np.int32)
VECTORS = from_corpus(KEYS)


def rows_of(informed, text):
    """The label columns of a training text's tokens, as it reads them."""
    train = informed.for_training(encode(KEYS, informed.vectors.index, UNKNOWN, LABELS))
    return informed.table[train.ids[train.starts[text] : train.starts[text + 1]], VECTORS.table.shape[1] :]


def test_a_training_text_reads_weights_that_were_learnt_without_it(monkeypatch):
    folds = label_columns._folds(LABELS)
    monkeypatch.setattr(label_columns, "_folds", lambda _: folds)  # dealt by label; held fast here
    before = inform(VECTORS, KEYS, LABELS, 3)
    for text in (0, 17, 55):
        other = LABELS.copy()
        other[text] = (other[text] + 1) % 3
        after = inform(VECTORS, KEYS, other, 3)
        mine, changed = rows_of(before, text), rows_of(after, text)
        assert np.abs(mine).max() > 0
        # One number scales all columns, and it knows all texts; but for it nothing has changed.
        np.testing.assert_allclose(mine / np.linalg.norm(mine), changed / np.linalg.norm(changed), atol=1e-6)
        stranger = next(i for i in range(len(KEYS)) if folds[i] != folds[text])
        mine, changed = rows_of(before, stranger), rows_of(after, stranger)
        assert np.abs(mine / np.linalg.norm(mine) - changed / np.linalg.norm(changed)).max() > 1e-4
        new = before.vectors.table[2:, -3:], after.vectors.table[2:, -3:]  # what new texts read knows all
        assert not np.array_equal(*new)


def test_folds_are_even_in_every_class_and_always_the_same():
    folds = label_columns._folds(LABELS)
    np.testing.assert_array_equal(folds, label_columns._folds(LABELS))
    for label in range(3):
        sizes = np.bincount(folds[label == LABELS], minlength=FOLDS)
        assert len(sizes) == FOLDS and sizes.max() - sizes.min() <= 1
    assert sorted(label_columns._folds(np.array([0, 1, 0], np.int32))) == [0, 1, 2]


def test_words_that_decide_say_so_and_others_do_not():
    informed = inform(VECTORS, KEYS, LABELS, 3)
    names = sorted(set(NAMES))
    for word, name in (("goal", "sport"), ("soup", "food"), ("chip", "tech")):
        weights = informed.weights[informed.vectors.index[word]]
        assert weights.argmax() == names.index(name)
        assert weights.max() > 3 * np.abs(informed.weights[informed.vectors.index["the"]]).max()
    assert not informed.weights[: UNKNOWN + 1].any()  # padding and words that training has not seen say nothing


@pytest.mark.parametrize(("kind", "contexts", "ratio"), [("corpus", 0.3, 6), ("glove:some", 1, 1)])
def test_labels_are_louder_than_contexts_that_a_few_texts_tell_of(kind, contexts, ratio):
    informed = inform(replace(VECTORS, kind=kind), KEYS, LABELS, 3)
    own, labels = informed.vectors.table[:, :-3], informed.vectors.table[:, -3:]
    np.testing.assert_allclose(own, contexts * VECTORS.table, rtol=1e-6)
    size = np.sqrt((labels**2).sum() / np.count_nonzero(labels))
    assert size / own[UNKNOWN + 1 :].std() == pytest.approx(ratio, rel=1e-3)


@pytest.mark.parametrize(("kind", "says"), [("corpus", True), ("glove:some", False)])
def test_a_word_of_one_text_says_something_where_no_file_knows_it(kind, says):
    keys, labels = [*KEYS, ["goal", "unicum"]], np.append(LABELS, 2).astype(np.int32)
    vectors = replace(from_corpus(keys), kind=kind)
    informed = inform(vectors, keys, labels, 3)
    weights = informed.weights[informed.vectors.index["unicum"]]
    assert weights.any() == says and (not says or weights.argmax() == 2)
    own = informed.for_training(encode(keys, informed.vectors.index, UNKNOWN, labels)).ids[-1]
    assert not informed.weights[own].any()  # to its own text it says nothing, neither here nor on a word list
    assert not informed.table[own, vectors.table.shape[1] :].any() and not informed.evidence(np.ones(3, bool))[own]


def test_two_classes_have_one_column():
    informed = inform(VECTORS, KEYS, np.minimum(LABELS, 1), 2)
    assert informed.vectors.table.shape[1] == VECTORS.table.shape[1] + 1
    assert len(informed.table) == (1 + FOLDS) * len(informed.vectors.table)


def test_a_training_word_without_a_vector_gets_a_row():
    few = with_frame(["the", "goal"], np.ones((2, 4), np.float32), "few")
    informed = inform(few, KEYS, LABELS, 3)
    assert informed.vectors.words[:2] == ("the", "goal") and "soup" in informed.vectors.words
    row = informed.vectors.table[informed.vectors.index["soup"]]
    np.testing.assert_array_equal(row[:4], few.table[UNKNOWN])
    assert np.abs(row[4:]).max() > 0


def test_evidence_is_what_words_say_for_a_wanted_class():
    informed = inform(VECTORS, KEYS, LABELS, 3)
    wanted = np.array([False, True, False])
    np.testing.assert_allclose(informed.evidence(wanted), informed.weights[:, 1], rtol=1e-6)
    np.testing.assert_allclose(informed.evidence(~wanted), informed.weights[:, [0, 2]].max(axis=1), rtol=1e-6)


# ---------------------------------------------------------------------- no leak


def losses(table, train, val, training):
    """The validation losses of full-text predictors of three seeds."""
    task = Task(Shape(table.shape[1], 8, 2), "gru", table, train, val, np.ones(2, np.float32), training)
    engine = CompiledEvaluator(task, 2)
    masks = [np.ones(len(data.ids), np.uint8) for data in (train, val)]
    found = [engine.train_predictors(*masks, [seed])[0].task_loss for seed in range(3)]
    engine.close()
    return np.array(found)


@pytest.mark.parametrize("data", range(6))
def test_of_shuffled_labels_columns_teach_nothing(data):
    """Labels that no text has earned: whoever does better on new texts with the columns has seen what it must not.

    Vectors are narrow, so that predictors look at the columns: beside 50 others, a leak would hardly show.
    """
    random = np.random.RandomState(data)
    words = [f"w{i}" for i in range(150)]
    keys = [[words[i] for i in random.randint(0, 150, random.randint(4, 12))] for _ in range(400)]
    labels = random.permutation(np.arange(400) % 2).astype(np.int32)
    vectors = with_frame(words, np.random.RandomState(9).normal(size=(150, 2)), "made")
    train, val = (encode(keys[part], vectors.index, UNKNOWN, labels[part]) for part in (slice(240), slice(240, None)))
    informed = inform(vectors, keys[:240], labels[:240], 2)
    to_the_end, short = Training(60, 32, 1e-2, patience=20), Training(25, 32, 1e-2)
    without = losses(vectors.table, train, val, to_the_end)
    assert losses(informed.table, informed.for_training(train), val, to_the_end).mean() > without.mean() - 0.03
    # The test can tell: had validation rows been among the texts that columns are learnt on, the loss would be lower.
    leaking = inform(vectors, keys, labels, 2)
    assert losses(leaking.vectors.table, train, val, to_the_end).mean() < without.mean() - 0.05
    # What folds are for: columns learnt on the very texts that read them are believed, and they are wrong.
    crossed = losses(informed.table, informed.for_training(train), val, short)
    assert losses(informed.vectors.table, train, val, short).mean() > crossed.mean() + 0.2
