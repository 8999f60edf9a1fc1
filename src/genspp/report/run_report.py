"""What there is to say of a finished run, as plain data that the page of `genspp report` is filled with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genspp.evaluation.answers import Audit
from genspp.evaluation.metrics import class_counts, confusion, f1, precision_recall
from genspp.evaluation.verdicts import QUESTIONS, alarms, verdicts
from genspp.harmless import in_one_line
from genspp.model.rationale import Rationale
from genspp.report.audit import figures
from genspp.report.curve import panels
from genspp.report.deciding_words import deciding_words
from genspp.report.terminal import METRICS
from genspp.report.text_rows import text_rows

GUESSING = ("guessing_clf_f1", "  guessing", "the same for labels drawn as often as each occurs in training")
PLACES = 20  # stretches that a text is cut into on the map of its marks
FEW = 0.05  # a share of texts, or of words, that is not worth a warning
MOST_CLASSES = 20  # in a confusion matrix
MOST_CONFUSIONS = 20  # in a list in its place

# What a score is read beside, in plain words, the first of each kind first.
BESIDE = {
    "clf_f1": (
        ("full_text_clf_f1", "a classifier of its size that reads whole texts"),
        ("tfidf_clf_f1", "a simple one that counts all words"),
    ),
    "hl_f1": (
        ("wordlist_hl_f1", "a list of telling words that marks as much"),
        ("random_hl_f1", "marks that are drawn"),
    ),
}
AS_GOOD = 0.5  # points of F1 that nobody would notice

Bar = dict[str, Any]


@dataclass(frozen=True)
class Finished:
    """A finished run: all that its report is made from.

    header: what the page begins with, each with its name. log: the lines of the training, oldest first. repeated: how
    many test texts training has seen too, word for word. audit: None where none was made. evidence_for: the labels
    whose evidence is wanted; None: all.
    """

    name: str
    title: str
    header: dict[str, str]
    tokenizer: str
    metrics: dict[str, Any]
    rationales: list[Rationale]
    log: list[dict[str, Any]]
    repeated: int
    audit: Audit | None
    evidence_for: list[Any] | None = None

    @property
    def one_sided(self) -> bool:
        """Whether evidence of some of the classes only is wanted."""
        return self.evidence_for is not None and not set(self.classes) <= set(map(str, self.evidence_for))

    @property
    def classes(self) -> list[str]:
        """The classes in the model's order, which is theirs on the whole page."""
        return [str(label) for label in self.rationales[0].probabilities]

    @property
    def labels(self) -> list[str]:
        """The gold label of every test text."""
        return [str(rationale.document.label) for rationale in self.rationales]

    @property
    def predicted(self) -> list[str]:
        """The label that the model gives to every test text."""
        return [str(rationale.label) for rationale in self.rationales]

    @property
    def has_gold(self) -> bool:
        """Whether people marked any of the test texts."""
        return any(rationale.document.highlight is not None for rationale in self.rationales)


def report_content(run: Finished) -> dict[str, Any]:
    """Return everything on the page of one run; `texts` is what its script reads."""
    return {
        "title": run.title,
        "header": run.header,
        "warnings": cautions(run),
        "scores": scores(run.metrics),
        "size": size(run.metrics),
        "classes": class_rows(run),
        "confusion": confusions(run),
        "panels": panels(run.log),
        "words": deciding_words(run.rationales, run.classes, run.tokenizer),
        "map": marks_map(run),
        "audit": None if run.audit is None else audit_rows(run.audit),
        "has_gold": run.has_gold,
        "texts": {
            "classes": [in_one_line(name) for name in run.classes],
            "runs": [in_one_line(run.name)],
            "rows": text_rows([run.rationales], run.classes, [run.tokenizer]),
        },
    }


def cautions(run: Finished) -> list[str]:
    """Return a sentence for everything that a reader should know before any figure."""
    texts, tokens = len(run.rationales), sum(len(rationale.mask) for rationale in run.rationales)
    found = list(run.metrics.get("warnings", ()))
    empty = sum(rationale.no_evidence for rationale in run.rationales)
    if empty > FEW * texts:
        found.append(
            f"In {_of(empty, texts)} nothing is marked: no word decided there, and the label is the default one."
        )
    unknown = sum(len(rationale.unknown) for rationale in run.rationales)
    if unknown > FEW * tokens:
        found.append(
            f"{_percent(unknown / tokens)} of the words of the test texts are unknown to the model, which cannot tell "
            "one from another; more training texts, or word vectors from a file, would make them known."
        )
    cut = sum(rationale.document.unread > 0 for rationale in run.rationales)
    if cut:
        found.append(f"{_of(cut, texts)} are cut: what follows is not read, and gold marks there do not count.")
    if run.repeated:
        found.append(
            f"Training has seen {_of(run.repeated, texts)} word for word: the scores flatter the model as far as these "
            "go; take texts that occur twice out of the data."
        )
    return found + ([] if run.audit is None else alarms(run.audit, one_sided=run.one_sided))


def scores(metrics: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the scores of labels and, where there is gold, of highlights, each with its references as bars."""
    right, texts = round(metrics["accuracy"] * metrics["texts"]), metrics["texts"]
    found = [
        {
            "title": "Labels",
            "said": f"{right:,} of {texts:,} test texts are given their right label, from the marked words alone."
            + in_words(metrics, "clf_f1"),
            "bars": bars(metrics, "clf_f1"),
        }
    ]
    if metrics["hl_f1"] is not None:
        marked = metrics["texts_with_gold"]
        said = (
            f"People marked {marked:,} of the test texts; this is how far the model marks the same words."
            + in_words(metrics, "hl_f1")
        )
        found.append({"title": "Highlights", "said": said, "bars": bars(metrics, "hl_f1")})
    return found


def in_words(metrics: dict[str, Any], kind: str) -> str:
    """Return how a score compares with what it is read beside, in a sentence; nothing where there is none."""
    said = []
    for key, who in BESIDE[kind]:
        if (other := metrics.get(key)) is not None:
            points = 100 * (metrics[kind] - other)
            side = f"{abs(points):.1f} points {'above' if points > 0 else 'below'}"
            said.append(f"{'as good as' if abs(points) < AS_GOOD else side} {who}")
    return f" In F1 that is {', and '.join(said)}." if said else ""


def bars(metrics: dict[str, Any], kind: str) -> list[Bar]:
    """Return a score and what it is read beside, the score itself first. kind: its name."""
    rows = [*METRICS, GUESSING] if kind == "clf_f1" else METRICS
    return [
        {"name": name.strip(), "meaning": meaning, "own": key == kind, "share": metrics[key]}
        for key, name, meaning in rows
        if key.endswith(kind) and metrics.get(key) is not None
    ]


def size(metrics: dict[str, Any]) -> str:
    """Return how much is marked, in a sentence."""
    rate, tokens = metrics["selection_rate"], metrics["selection_size"]
    return f"On average over the test texts, {_percent(rate)} of the words are marked (R), {tokens:.2f} words (S)."


def class_rows(run: Finished) -> list[dict[str, Any]]:
    """Return every class with its texts, how many are given it, precision, recall and F1; None where undefined."""
    counts = class_counts(run.labels, run.predicted, run.classes).sum(axis=0)
    found = []
    for name, row in zip(run.classes, counts, strict=True):
        precision, recall = precision_recall(row)
        score = float(f1(row)) if row.any() else None
        texts = {"texts": int(row[0] + row[2]), "given": int(row[0] + row[1])}
        found.append({"name": name, **texts, "precision": precision, "recall": recall, "f1": score})
    return found


def confusions(run: Finished) -> dict[str, Any]:
    """Return the confusion matrix, rows the gold labels; of many classes the most frequent confusions only."""
    matrix, names = confusion(run.labels, run.predicted, run.classes), run.classes
    if len(names) <= MOST_CLASSES:
        most = max(1, int(matrix.max()))
        cells = [[{"texts": count, "shade": count / most} for count in row] for row in matrix.tolist()]
        return {"names": names, "rows": list(zip(names, cells, strict=True)), "listed": None}
    wrong = np.argwhere(matrix * (1 - np.eye(len(names), dtype=matrix.dtype)))
    ranked = sorted(wrong.tolist(), key=lambda pair: -int(matrix[pair[0], pair[1]]))[:MOST_CONFUSIONS]
    listed = [{"gold": names[i], "given": names[j], "texts": int(matrix[i, j])} for i, j in ranked]
    return {"names": names, "rows": None, "listed": listed}


def marks_map(run: Finished) -> list[dict[str, Any]]:
    """Return, for the texts given each class and then for gold, the share of words marked in each stretch of a text."""
    rows: list[tuple[str | None, int, list[float]]] = []
    for name in run.classes:
        masks = [r.mask for r, given in zip(run.rationales, run.predicted, strict=True) if given == name]
        rows.append((name, len(masks), _places(masks)))
    if run.has_gold:
        gold = [highlight for r in run.rationales if (highlight := r.document.highlight) is not None]
        rows.append((None, len(gold), _places(gold)))
    most = max((share for _, _, shares in rows for share in shares), default=0) or 1
    return [
        {"name": name, "texts": texts, "cells": [{"share": share, "shade": share / most} for share in shares]}
        for name, texts, shares in rows
    ]


def audit_rows(audit: Audit) -> list[dict[str, Any]]:
    """Return every question with its verdict and the figures behind it."""
    said, shown = verdicts(audit), figures(audit)
    return [{"question": text, "verdict": said[name], "figures": shown[name]} for name, text in QUESTIONS.items()]


def _places(masks: Sequence[Sequence[int]]) -> list[float]:
    """Return the share of tokens marked in each of the stretches, over all texts."""
    marked, there = np.zeros(PLACES), np.zeros(PLACES)
    for mask in masks:
        place = np.arange(len(mask)) * PLACES // len(mask)
        np.add.at(marked, place, mask)
        np.add.at(there, place, 1)
    return [float(share) for share in marked / np.maximum(there, 1)]


def _of(count: int, texts: int) -> str:
    return f"{count:,} of {texts:,} test texts ({_percent(count / texts)})"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
