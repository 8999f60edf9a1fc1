"""TF-IDF and logistic regression: the plain classifier that a model's labels are read beside.

It sees every word. It is fitted on the training texts, its strength is chosen on the validation texts, and of the texts
to be labelled it is handed nothing but their words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from genspp.data.corpus import Corpus
from genspp.evaluation.metrics import clf_f1
from genspp.methods.arguments import class_weights, classes_of

STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)  # scikit-learn's C
_MOST_ROUNDS = 1000
_ONE_THREAD = 1  # several would wait for one another on such small arrays, and add up in another order


@dataclass(frozen=True)
class TextClassifier:
    """A fitted classifier, and the strength that the validation texts chose."""

    reader: Any
    model: Any
    strength: float

    def predict(self, keys: Sequence[Sequence[str]]) -> list[str]:
        """Return the label of every text, given as keys of the tokeniser."""
        return [str(label) for label in self.model.predict(self.reader.transform(keys))]


def fit_tfidf(train: Corpus, val: Corpus, class_weight: Any = None) -> TextClassifier:
    """Fit one classifier per strength; return the one with the best Clf-F1 on validation, the weakest of equals.

    class_weight: as in the settings of a run.
    """
    labels, val_labels = ([str(label) for label in part.labels] for part in (train, val))
    classes = classes_of(labels)
    weights = dict(zip(classes, class_weights(class_weight, classes, labels).tolist(), strict=True))
    reader = TfidfVectorizer(analyzer=list)
    rows, val_keys = reader.fit_transform(train.keys(train.tokenizer)), val.keys(train.tokenizer)
    fitted = []
    with threadpool_limits(_ONE_THREAD):
        for strength in STRENGTHS:
            model = LogisticRegression(C=strength, class_weight=weights, max_iter=_MOST_ROUNDS).fit(rows, labels)
            fitted.append(TextClassifier(reader, model, strength))
    return max(fitted, key=lambda one: clf_f1(val_labels, one.predict(val_keys), classes.tolist()))
