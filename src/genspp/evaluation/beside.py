"""What a run's figures are read beside: a plain classifier, a list of words, chance; and what they warn of.

Labels and gold highlights of the test rows are for scoring only: what is fitted, chosen or marked here is handed the
words of the test texts, and how much of them the run itself selected.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from genspp.data.corpus import Corpus, Splits
from genspp.data.word_weights import word_weights
from genspp.evaluation.metrics import clf_f1, hl_f1
from genspp.evaluation.references import random_tokens
from genspp.evaluation.tfidf import fit_tfidf
from genspp.evaluation.word_list import Masks, Scores, highest, token_scores
from genspp.methods.arguments import class_numbers, classes_of

FIGURES = ("tfidf_clf_f1", "guessing_clf_f1", "wordlist_hl_f1", "random_hl_f1", "all_hl_f1")
FAR_BELOW, NEAR = 3.0, 2.0  # points of Clf-F1
NEARLY_ALL = 0.95  # of the tokens


def references(
    splits: Splits, rate: float, seed: int, class_weight: Any = None, evidence_for: Sequence[Any] | None = None
) -> dict[str, float | None]:
    """Return the `FIGURES` on the test rows; those of highlights are None where nobody marked gold ones.

    rate: R of the run. evidence_for: the labels that the word list gives evidence for; None: all.
    """
    test, keys = splits.test, splits.test.keys(splits.tokenizer)
    labels, test_labels = ([str(label) for label in part.labels] for part in (splits.train, test))
    classifier = fit_tfidf(splits.train, splits.val, class_weight)
    found: dict[str, float | None] = dict.fromkeys(FIGURES)
    found["tfidf_clf_f1"] = clf_f1(test_labels, classifier.predict(keys), classes_of(labels).tolist())
    found["guessing_clf_f1"] = guessing_clf_f1(labels, test_labels)
    if any(highlight is not None for highlight in test.highlights):
        marked = reference_masks(splits.train, keys, classifier.strength, rate, seed, evidence_for)
        found |= {name: hl_f1(masks, test.highlights) for name, masks in marked.items()}
    return found


def reference_masks(
    train: Corpus,
    keys: Sequence[Sequence[str]],
    strength: float,
    rate: float,
    seed: int,
    evidence_for: Sequence[Any] | None = None,
) -> dict[str, Masks]:
    """Return what the word list marks, what chance does, both as near to R = `rate` as possible, and all tokens."""
    lengths = [len(text) for text in keys]
    return {
        "wordlist_hl_f1": highest(evidence(train, keys, strength, evidence_for), rate),
        "random_hl_f1": random_tokens(lengths, rate, seed),
        "all_hl_f1": [np.ones(length, np.int8) for length in lengths],
    }


def evidence(
    train: Corpus, keys: Sequence[Sequence[str]], strength: float, evidence_for: Sequence[Any] | None = None
) -> Scores:
    """Return what every token says for a class, by logistic regression on the training texts: a word list ranks it."""
    labels = [str(label) for label in train.labels]
    classes = classes_of(labels)
    numbers = class_numbers(labels, classes, "the training texts")
    weights = word_weights(train.keys(train.tokenizer), numbers, len(classes), strength)
    names = classes.tolist()
    wanted = None if evidence_for is None else [names.index(str(label)) for label in evidence_for]
    return token_scores(weights, keys, wanted)


def guessing_clf_f1(train: Sequence[str], test: Sequence[str]) -> float:
    """Return the Clf-F1 to expect from labels that are drawn as often as each occurs in training.

    A class that is a share p of the test rows and q of the training rows has F1 = 2pq / (p + q). With p = q that makes
    one over the number of classes, and no other way of guessing has more: neither a coin nor always the same class.
    """
    given, there = Counter(train), Counter(test)
    shares = [(there[name] / len(test), given[name] / len(train)) for name in given]
    return sum(2 * p * q / (p + q) for p, q in shares) / len(shares)


def complete(written: dict[str, Any]) -> bool:
    """Tell whether figures that were read from a file hold the `FIGURES`, as `references` gives them."""
    numbers = [written.get(name) for name in ("tfidf_clf_f1", "guessing_clf_f1")]
    others = [written.get(name, "missing") for name in FIGURES]
    return all(isinstance(n, int | float) for n in numbers) and all(isinstance(n, int | float | None) for n in others)


def together(metrics: dict[str, Any], found: dict[str, float | None]) -> dict[str, Any]:
    """Return a run's figures with the references beside them, and what these warn of."""
    beside = {**metrics, **found}
    return {**beside, "warnings": warnings(beside)}


def warnings(metrics: dict[str, Any]) -> list[str]:
    """Return a sentence for everything that is wrong with a run's labels, by its figures beside the `FIGURES`."""
    own, plain, guessing = (100 * metrics[name] for name in ("clf_f1", "tfidf_clf_f1", "guessing_clf_f1"))
    found = []
    if round(plain - own, 2) > FAR_BELOW:
        found.append(
            f"Clf-F1 is {plain - own:.1f} points below that of TF-IDF and logistic regression ({plain:.2f} %), which "
            "sees every word; longer training, other settings or another seed may find what decides."
        )
    if round(own - guessing, 2) <= NEAR:
        found.append(
            f"Clf-F1 is near chance, for guessing labels by their frequency has {guessing:.2f} %; "
            "rely on neither the labels nor the highlights of this model."
        )
    if metrics["selection_rate"] > NEARLY_ALL:
        found.append(
            "Nearly all words are marked, so the highlights do not tell which of them decide; the validation texts may "
            "be too few to say which could be left out."
        )
    return found
