"""The regression on the marked words: against scikit-learn's, in torch and on arrays, and what it must not read."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from conftest import random_encoded
from folder_tools import alter
from genspp.app.predict import open_explainer
from genspp.data.encode import Encoded
from genspp.data.vectors import UNKNOWN
from genspp.errors import ModelFolderError
from genspp.experiments.strangers import sign
from genspp.methods.base import METHODS, Rationalizer
from genspp.methods.marked_words import train_words
from genspp.model import forms
from genspp.model.inference import classify
from genspp.model.networks import Committee, Encoder, Generator, MarkedWords, Pair, Predictor, Shape
from genspp.model.weights import deciding, on_kernels
from genspp.population.evaluator import Task, Training

ROWS, CLASSES = 30, 3
SMALL = {"seed": 1, "hidden": 4, "min_steps": 0, "max_epochs": 20, "workers": 1, "generations": 1, "population": 2}
WORDS = {"food": ["soup", "bread"], "sport": ["goal", "match"]}


def some_texts(count, seed):
    """Return texts of rows 2 to 29, of which 2 to 4 hint at the class, and of some of a second fold."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, CLASSES, count).astype(np.int32)
    ids = np.concatenate([[2 + label, *rng.integers(2, ROWS, 7)] for label in labels]).astype(np.int32)
    return Encoded(ids, np.arange(0, 8 * count + 1, 8), labels)


@pytest.fixture(scope="module")
def task():
    train = some_texts(300, 0)
    folds = np.where(np.arange(len(train.ids)) % 2, train.ids, train.ids + ROWS).astype(np.int32)
    table = np.zeros((2 * ROWS, 4), np.float32)
    weights = np.array([1, 2, 0.5], np.float32)
    shape = Shape(4, 4, CLASSES)
    train = Encoded(folds, train.starts, train.labels)
    return Task(shape, "gru", table, train, some_texts(100, 1), weights, Training(1))


def some_masks(task):
    rng = np.random.default_rng(2)
    return [(rng.random(len(part.ids)) < 0.6).astype(np.uint8) for part in (task.train, task.val)]


def keys_of(data, mask):
    words = data.ids % ROWS
    return [
        [str(word) for word in words[start:end][mask[start:end] != 0]]
        for start, end in zip(data.starts, data.starts[1:], strict=False)
    ]


def test_it_is_scikit_learn_s_on_the_marked_words_of_the_strength_that_validation_texts_choose(task):
    masks, kept = some_masks(task), MarkedWords(ROWS, CLASSES)
    train_words(kept, task, *masks)
    found = deciding(Committee([one_predictor()], kept)).words
    chosen = masks[1] != 0
    mine = found.logits(np.repeat(np.arange(100), 8)[chosen], task.val.ids[chosen], 100)
    keys = [keys_of(part, mask) for part, mask in zip((task.train, task.val), masks, strict=True)]
    reader = TfidfVectorizer(analyzer=list, min_df=1)
    rows, val = reader.fit_transform(keys[0]), reader.transform(keys[1])
    each, theirs = task.class_weights[task.train.labels].astype(float), []
    each /= each.mean()  # theirs is the sum of the losses
    for strength in (1, 10):
        model = LogisticRegression(C=strength, tol=1e-8, max_iter=5000).fit(rows, task.train.labels, each)
        right = model.predict_log_proba(val)
        worth = task.class_weights[task.val.labels]
        theirs.append((-(worth * right[np.arange(100), task.val.labels]).sum(), right))
    right = min(theirs, key=lambda one: one[0])[1]
    shares = mine - np.logaddexp.reduce(mine, axis=1, keepdims=True)
    np.testing.assert_allclose(shares, right, atol=0.03)


def one_predictor():
    return Predictor(Encoder(Shape(4, 4, CLASSES), "gru"), CLASSES, skipping=True)


def random_words(seed=0):
    torch.manual_seed(seed)
    words = MarkedWords(ROWS, CLASSES)
    words.idf.copy_(torch.rand(ROWS) + 1)
    words.weights.copy_(torch.randn(ROWS, CLASSES))
    words.bias.copy_(torch.randn(CLASSES))
    return words


@torch.inference_mode()
def test_arrays_say_what_torch_says_however_often_a_word_is_marked():
    words, data = random_words(), random_encoded(np.random.RandomState(0), 40, 12, ROWS, CLASSES)
    mask = (np.random.default_rng(1).random(len(data.ids)) < 0.7).astype(np.uint8)
    mask[data.starts[3] : data.starts[4]] = 0  # nothing is marked: the bias alone
    found = deciding(Committee([one_predictor()], words)).words
    texts = np.repeat(np.arange(len(data)), data.lengths)
    mine = found.logits(texts[mask != 0], data.ids[mask != 0], len(data))
    ids, real = data.padded(np.arange(len(data)))
    marks = np.zeros(real.shape, np.float32)
    marks[real] = mask
    np.testing.assert_allclose(mine, words(torch.from_numpy(ids), torch.from_numpy(marks)), atol=1e-5)
    np.testing.assert_allclose(mine[3], words.bias, atol=1e-7)


def test_rows_that_come_later_and_unknown_words_say_nothing(task):
    words = random_words()
    known = forms.MarkedWords(words.idf.numpy(), words.weights.numpy(), words.bias.numpy())
    alone, more = np.array([5, 7]), np.array([5, 7, ROWS, ROWS + 9])
    np.testing.assert_array_equal(known.logits(0 * alone, alone, 1), known.logits(0 * more, more, 1))
    masks, kept = some_masks(task), MarkedWords(ROWS, CLASSES)
    unknown = Encoded(
        np.where(task.train.ids % ROWS > 20, UNKNOWN, task.train.ids), task.train.starts, task.train.labels
    )
    train_words(kept, replace(task, train=unknown), *masks)
    assert kept.idf[:2].tolist() == [0, 0] and not kept.weights[21:].any() and kept.weights[2:5].any()


@torch.inference_mode()
def test_a_committee_gives_it_half_of_the_say():
    members, words = [one_predictor() for _ in range(3)], random_words()
    vectors, ids = torch.randn(2, 5, 4), torch.randint(2, ROWS, (2, 5))
    real, mask = torch.ones(2, 5, dtype=torch.bool), torch.tensor([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0]])
    right = (Committee(members)(vectors, real, mask).exp() + words(ids, mask).softmax(1)) / 2
    torch.testing.assert_close(Committee(members, words)(vectors, real, mask, ids).exp(), right)


@torch.inference_mode()
def test_a_model_at_work_gives_it_half_of_the_say_too():
    data = random_encoded(np.random.RandomState(5), 20, 8, ROWS, CLASSES)
    table, generator = torch.randn(ROWS, 4), Generator(Encoder(Shape(4, 4, CLASSES), "gru"), 1)
    pair = Pair(table, generator, Committee([one_predictor() for _ in range(3)], random_words()))
    mask = (np.random.default_rng(6).random(len(data.ids)) < 0.5).astype(np.uint8)
    ids, real = map(torch.from_numpy, data.padded(np.arange(len(data))))
    marks = torch.zeros(real.shape)
    marks[real] = torch.from_numpy(mask).float()
    right = pair.predictor(table[ids], real, marks, ids).exp()
    np.testing.assert_allclose(classify(on_kernels(pair), data, mask), right, atol=1e-5)
    with pytest.raises(ValueError, match="needs ids"):
        pair.predictor(table[ids], real, marks)


def some_rows(count=120, seed=0):
    rng = np.random.default_rng(seed)
    labels = [sorted(WORDS)[i % 2] for i in range(count)]
    return [f"we had the {rng.choice(WORDS[label])} at {rng.choice(['home', 'school'])}" for label in labels], labels


@pytest.fixture(scope="module")
def model():
    return METHODS["genspp"](**SMALL).fit(*some_rows())


def test_saved_and_loaded_models_say_the_same_with_and_without_torch_and_after_new_words(model, tmp_path):
    texts = ["the soup at school", "a brand new goal", "soups matches"]
    before = model.explain(texts)
    model.save(tmp_path)
    assert Rationalizer.load(tmp_path).explain(texts) == open_explainer(tmp_path)[0].explain(texts) == before
    networks = json.loads((tmp_path / "config.json").read_bytes())["networks"]
    assert networks["predictor"]["words"] == networks["full_text"]["words"] == len(model.vectors_.table)
    loaded = Rationalizer.load(tmp_path)
    assert (loaded.predict_full_text(texts) == model.predict_full_text(texts)).all()


def test_it_is_fitted_to_the_highlights_and_for_full_texts_to_all_words():
    texts, labels = some_rows()
    settings = {"seed": 1, "lists": 4, "hidden": 4, "min_steps": 0, "max_epochs": 200, "workers": 1}
    listed = METHODS["wordlist"](**settings).fit(texts, labels)
    marked = {word for why in listed.explain(texts) for word in itertools.compress(why.tokens, why.mask)}
    rows = [listed.vectors_.index[word] for word in sorted(marked)]
    behind, full = listed.model_.predictor.words.idf, listed.full_text_.words.idf
    assert np.flatnonzero(behind).tolist() == sorted(rows)
    assert np.flatnonzero(full).tolist() == list(range(2, len(full))) != sorted(rows)


@pytest.mark.parametrize("part", ["model.predictor", "full_text"])
def test_a_folder_that_promises_a_regression_of_another_size_is_refused_before_one_is_made(model, tmp_path, part):
    model.save(tmp_path)
    weights = load_file(tmp_path / "weights.safetensors")
    weights[f"{part}.words.weights"] = weights[f"{part}.words.weights"][:-1].copy()
    save_file(weights, tmp_path / "weights.safetensors")
    sign(tmp_path)
    for load in (Rationalizer.load, open_explainer):
        with pytest.raises(ModelFolderError, match=f"{part}.words.weights"):
            load(tmp_path)


def test_a_model_without_it_says_what_its_networks_say(tmp_path):
    texts, labels = some_rows()
    plain = METHODS["genspp"](regression=False, **SMALL).fit(texts, labels)
    both = METHODS["genspp"](**SMALL).fit(texts, labels)
    assert plain.model_.predictor.words is None
    masks = [why.mask for why in plain.explain(texts[:9])]
    assert masks == [why.mask for why in both.explain(texts[:9])]  # it changes no search
    members = deciding(both.model_.predictor)
    np.testing.assert_array_equal(members.members[0].weights, deciding(plain.model_.predictor).members[0].weights)
    assert np.abs(plain.predict_proba(texts[:9]) - both.predict_proba(texts[:9])).max() > 1e-3
    plain.save(tmp_path)
    alter(tmp_path, "config.json", lambda config: {**config, "format": 4, "settings": without(config["settings"])})
    np.testing.assert_array_equal(Rationalizer.load(tmp_path).predict_proba(texts[:9]), plain.predict_proba(texts[:9]))


def without(settings):
    return {name: value for name, value in settings.items() if name not in ("regression", "commonness")} | {
        "tokenizer": "signs",
        "bred": 0.0,
    }
