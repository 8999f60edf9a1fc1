"""TF-IDF and logistic regression: what is chosen, on which rows, and what is not looked at."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from conftest import sentences
from genspp.data.corpus import as_corpus
from genspp.evaluation.metrics import clf_f1
from genspp.evaluation.tfidf import STRENGTHS, fit_tfidf


def some_corpus(rows, seed, wrong=0):
    """Return sentences of three classes; the first `wrong` of them have another class's label."""
    texts, labels = sentences(rows, seed)
    return as_corpus(texts, "words", [*labels[1 : wrong + 1], *labels[wrong:]])


def scikit_learn(train, val, test, **options):
    """Return the validation score of every strength, and the labels that each gives to the test rows."""
    reader = TfidfVectorizer(analyzer=lambda text: text)
    rows = reader.fit_transform(train.keys("words"))
    scores, labels = {}, {}
    for strength in STRENGTHS:
        model = LogisticRegression(C=strength, max_iter=1000, **options).fit(rows, train.labels)
        scores[strength] = clf_f1(val.labels, list(model.predict(reader.transform(val.keys("words")))))
        labels[strength] = model.predict(reader.transform(test.keys("words"))).tolist()
    return scores, labels


@pytest.mark.parametrize("class_weight", [None, "balanced", {"sport": 9.0, "food": 1.0, "tech": 1.0}])
def test_it_is_scikit_learn_s_with_the_strength_that_is_best_on_validation(class_weight):
    train, val, test = some_corpus(60, 0, wrong=20), some_corpus(40, 1), some_corpus(50, 2)
    scores, labels = scikit_learn(train, val, test, class_weight=class_weight)
    assert len(set(scores.values())) > 1
    found = fit_tfidf(train, val, class_weight)
    assert found.strength == min(strength for strength, score in scores.items() if score == max(scores.values()))
    assert found.predict(test.keys("words")) == labels[found.strength]


def test_one_text_that_decides_by_hand():
    train = as_corpus(["a x", "a y", "b x", "b y"], "words", ["A", "A", "B", "B"])
    found = fit_tfidf(train, train)
    assert found.strength == STRENGTHS[0]  # all are right: the weakest of equals
    assert found.predict([["a", "x"], ["b", "unheard"]]) == ["A", "B"]


def test_words_are_looked_up_as_the_tokeniser_does():
    train = as_corpus(["Goal", "GOAL", "Soup", "SOUP"], "words", ["sport", "sport", "food", "food"])
    assert fit_tfidf(train, train).predict(as_corpus(["goal", "sOUP"]).keys("words")) == ["sport", "food"]


def test_gold_highlights_of_training_texts_are_not_looked_at():
    train, val = some_corpus(60, 0), some_corpus(30, 1)
    stream = np.random.RandomState(0)
    marked = [replace(one, highlight=tuple(stream.randint(0, 2, len(one.tokens)).tolist())) for one in train]
    models = [fit_tfidf(part, val) for part in (train, replace(train, documents=tuple(marked)))]
    np.testing.assert_array_equal(models[0].model.coef_, models[1].model.coef_)
