"""What words say for classes: against scikit-learn's logistic regression, and what must not matter."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from genspp.data.word_weights import word_weights

WORDS = [f"word{i}" for i in range(40)]


def some_texts(classes, texts=300, seed=0):
    """Return texts in which the first words hint at the class, more often than not."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, texts).astype(np.int32)
    keys = []
    for label in labels:
        text = list(rng.choice(WORDS, 8))
        keys.append([*text, WORDS[label]] if rng.random() < 0.8 else text)
    return keys, labels


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("strength", [0.3, 3.0])
def test_the_weights_are_those_of_scikit_learn(classes, strength):
    keys, labels = some_texts(classes)
    reader = TfidfVectorizer(analyzer=lambda text: text, min_df=2)
    right = LogisticRegression(C=strength, tol=1e-8, max_iter=5000).fit(reader.fit_transform(keys), labels)
    found = word_weights(keys, labels, classes, strength).of(list(reader.get_feature_names_out()))
    wanted = (right.coef_ * reader.idf_).T
    if classes == 2:
        found = found[:, 1:] - found[:, :1]
    np.testing.assert_allclose(found, wanted, atol=0.01 * np.abs(wanted).max())


def test_a_word_of_one_text_and_an_unknown_word_say_nothing():
    keys, labels = some_texts(3)
    found = word_weights([*keys, ["once", "word1"]], np.append(labels, 1), 3)
    assert "once" not in found.words
    assert not found.of(["once", "never"]).any()
    assert found.of(["word1"])[0].argmax() == 1


def test_the_weights_of_a_word_sum_to_nothing():
    found = word_weights(*some_texts(4), 4)
    np.testing.assert_allclose(found.weights.sum(axis=1), 0, atol=1e-9)
