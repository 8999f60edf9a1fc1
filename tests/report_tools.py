"""Runs made by hand for the tests of reports: texts, decisions and figures, no model and no training."""

from dataclasses import replace
from typing import Any

import numpy as np

from audit_tools import SOUND
from conftest import DECIDING, sentences
from genspp.data.corpus import Document, as_corpus
from genspp.evaluation.metrics import score
from genspp.model.rationale import Rationale
from genspp.report.run_report import Finished

EVIL = "</script><script>alert('x')</script><img src=x onerror=alert(1)> {{ 7 * 7 }} &amp; \u2028 ok"
LOG = [
    {"generation": step, "best_fitness": 1 + step / 2, "best_selection_rate": 0.5 / (step + 1), "seconds": 1.5}
    for step in range(4)
]


def decided(
    document: Document, label: str, mask: list[int], sure: float = 0.9, classes: tuple[str, ...] = tuple(DECIDING)
) -> Rationale:
    """Return a decision for `label`; the other classes share the rest."""
    rest = (1 - sure) / (len(classes) - 1)
    return Rationale(document, label, {name: sure if name == label else rest for name in classes}, mask)


def finished(rationales: list[Rationale], **changes: Any) -> Finished:
    """Return a run that says this of its test texts, its figures computed from it."""
    labels, predicted = ([str(one) for one in column] for column in zip(*map(_labels, rationales), strict=True))
    masks, gold = [one.mask for one in rationales], [one.document.highlight for one in rationales]
    classes = [str(name) for name in rationales[0].probabilities]
    references = {"full_text_clf_f1": 0.95, "tfidf_clf_f1": 0.9, "guessing_clf_f1": 0.3, "warnings": []}
    if any(one is not None for one in gold):
        references |= {"wordlist_hl_f1": 0.5, "random_hl_f1": 0.1, "all_hl_f1": 0.3}
    run = Finished(
        name="posts",
        title="GenSPP on posts",
        header={"Data": "posts.csv", "Command": "genspp train posts.csv --out posts"},
        tokenizer="words",
        metrics={**score(labels, predicted, masks, gold, classes), **references},
        rationales=rationales,
        log=LOG,
        repeated=0,
        audit=SOUND,
    )
    return replace(run, **changes)


def sentence_run(rows: int = 120, seed: int = 0, **changes: Any) -> Finished:
    """Return a run on sentences in which one word decides: mostly right, sometimes unsure, sometimes without marks.

    People marked that word in every second text. Every tenth text is given the next class, every seventh has no mark
    (and is unsure), and the text after it has the word before the right one marked.
    """
    texts, labels = sentences(rows, seed)
    deciding = {word for words in DECIDING.values() for word in words}
    names = tuple(DECIDING)
    rationales = []
    for number, (document, label) in enumerate(zip(as_corpus(texts, labels=labels), labels, strict=True)):
        gold = [int(token in deciding) for token in document.tokens]
        mask = gold[1:] + gold[:1] if number % 7 == 1 else [0] * len(gold) if number % 7 == 0 else gold
        given = names[(names.index(label) + (number % 10 == 0)) % len(names)]
        marked = replace(document, highlight=tuple(gold) if number % 2 else None)
        rationales.append(decided(marked, given, mask, 0.4 if number % 7 == 0 else 0.9))
    return finished(rationales, **changes)


def large_run(rows: int, seed: int = 0) -> Finished:
    """Return a run on texts of some 25 words drawn from a vocabulary of 2,000."""
    random = np.random.RandomState(seed)
    words = np.array([f"word{number}" for number in range(2000)])
    texts = [" ".join(words[random.zipf(1.3, random.randint(10, 40)) % 2000]) for _ in range(rows)]
    labels = [list(DECIDING)[number % 3] for number in range(rows)]
    rationales = []
    for document, label in zip(as_corpus(texts, labels=labels), labels, strict=True):
        rationales.append(decided(document, label, (random.rand(len(document.tokens)) < 0.1).astype(int).tolist()))
    return finished(rationales)


def _labels(rationale: Rationale) -> tuple[str, str]:
    return rationale.document.label, rationale.label
