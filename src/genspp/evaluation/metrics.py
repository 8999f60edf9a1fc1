"""Every metric of the package, defined once, on plain arrays.

A mask is one 0/1 array per text, as long as the text's real tokens: there is no padding here, so nothing can be
selected on it and no part of a text can be left out of a score. Gold highlights are such masks, or `None` for a
text that nobody annotated; an all-zero gold mask is an annotation: it says that nothing should be marked.

Hl-F1, R and S are the paper's; token-F1 and IOU-F1 are ERASER's (DeYoung et al. 2020,
https://aclanthology.org/2020.acl-main.408). F1 scores are fractions, and where a score is 0/0 (nothing to
mark, nothing marked) the two sides agree and it is 1, scikit-learn's `zero_division=1.0`.
"""

from collections.abc import Sequence
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from genspp.errors import DataError

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Masks = Sequence[npt.ArrayLike]
Gold = Sequence[npt.ArrayLike | None]

IOU_THRESHOLD = 0.5  # ERASER's: a span counts as found from half an overlap on


class Scores(TypedDict):
    """What `score` returns: plain Python numbers, ready for JSON; `None` where there is no gold highlight."""

    clf_f1: float
    accuracy: float
    hl_f1: float | None
    selection_rate: float
    selection_size: float
    token_f1: float | None
    iou_f1: float | None
    per_class_f1: dict[str, float | None]
    texts: int
    texts_with_gold: int
    empty_highlights: float


# ---- classes -------------------------------------------------------------------------------------


def class_counts(labels: Sequence[str], predicted: Sequence[str], classes: Sequence[str] | None = None) -> Counts:
    """Return (texts, classes, 3): for every text and class whether it is a TP, FP or FN of that class.

    Their sum over texts is all that `macro_f1` needs, so resampling texts is adding rows. `classes` are the
    model's, in its order; without them, the sorted labels that occur on either side.
    """
    if len(labels) != len(predicted):
        raise DataError(
            f"got {len(labels)} labels and {len(predicted)} predictions; there must be one of each per text"
        )
    if not len(labels):
        raise DataError("there are no texts to score; give at least one")
    names = sorted({*labels, *predicted}) if classes is None else list(classes)
    number = {name: i for i, name in enumerate(names)}
    for kind, column in (("label", labels), ("prediction", predicted)):
        for i, name in enumerate(column):
            if name not in number:
                raise DataError(f"text {i} has the {kind} {name!r}, which is none of the classes {names}")
    identity = np.eye(len(names), dtype=bool)
    is_gold = identity[[number[name] for name in labels]]
    is_predicted = identity[[number[name] for name in predicted]]
    return _confusion(is_gold, is_predicted)


def f1(counts: npt.NDArray[np.generic]) -> Floats:
    """Return 2TP / (2TP + FP + FN), and 1 for 0/0, from TP, FP, FN on the last axis: (..., 3) to (...)."""
    hit, false, missed = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    total = 2 * hit + false + missed
    return np.asarray(np.divide(2 * hit, total, out=np.ones_like(total), where=total > 0), dtype=np.float64)


def macro_f1(counts: npt.NDArray[np.generic]) -> Floats:
    """Return the mean F1 over classes, (..., classes, 3) to (...), over the classes that occur.

    A class that is neither a label nor a prediction of any text has no F1 and is left out, as scikit-learn
    (without `labels`) and torchmetrics do: a test set that lacks a class does not punish a perfect model.
    """
    occurs = np.asarray(counts).sum(axis=-1) > 0
    return np.asarray((f1(counts) * occurs).sum(axis=-1) / np.maximum(occurs.sum(axis=-1), 1), dtype=np.float64)


def clf_f1(labels: Sequence[str], predicted: Sequence[str], classes: Sequence[str] | None = None) -> float:
    """Return Clf-F1: the macro F1 over the classes of the model that occur as a label or a prediction."""
    return float(macro_f1(class_counts(labels, predicted, classes).sum(axis=0)))


def per_class_f1(
    labels: Sequence[str], predicted: Sequence[str], classes: Sequence[str] | None = None
) -> dict[str, float | None]:
    """Return the F1 of every class; `None` for a class that is nobody's label and nobody's prediction."""
    names = sorted({*labels, *predicted}) if classes is None else list(classes)
    sums = class_counts(labels, predicted, names).sum(axis=0)
    return {name: float(f1(row)) if row.any() else None for name, row in zip(names, sums, strict=True)}


def confusion(labels: Sequence[str], predicted: Sequence[str], classes: Sequence[str]) -> Counts:
    """Return (classes, classes): how many texts of every class, by row, are given every class, by column."""
    number = {name: i for i, name in enumerate(classes)}
    matrix = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(matrix, ([number[name] for name in labels], [number[name] for name in predicted]), 1)
    return matrix


def precision_recall(counts: npt.NDArray[np.generic]) -> tuple[float | None, float | None]:
    """Return TP / (TP + FP) and TP / (TP + FN) from TP, FP, FN; `None` for 0/0."""
    hit, false, missed = (int(count) for count in counts)
    precision, recall = (hit / (hit + other) if hit + other else None for other in (false, missed))
    return precision, recall


def accuracy(labels: Sequence[str], predicted: Sequence[str]) -> float:
    """Return the share of texts whose label was predicted."""
    return float(class_counts(labels, predicted)[..., 0].sum() / len(labels))


# ---- highlights against gold ---------------------------------------------------------------------


def highlight_counts(masks: Masks, gold: Gold) -> Counts:
    """Return (texts with gold, 3): TP, FP and FN over the tokens of every annotated text.

    Their sum over texts is all that Hl-F1 needs, so resampling texts is adding rows.
    """
    rows = [_confusion(truth, mask, axis=0) for mask, truth in _pairs(masks, gold)]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def hl_f1(masks: Masks, gold: Gold) -> float | None:
    """Return Hl-F1: the positive-class F1 over all tokens of all annotated texts taken together (micro).

    A text whose gold mask is all zero counts and can only add false positives. `None` where no text has gold;
    0 where gold tokens exist and none is selected; 1 where no gold token exists and none is selected.
    """
    counts = highlight_counts(masks, gold)
    return float(f1(counts.sum(axis=0))) if len(counts) else None


def token_f1(masks: Masks, gold: Gold) -> float | None:
    """Return ERASER's token F1: the F1 of each text by itself, averaged over texts.

    As in ERASER, a text with neither gold nor selected tokens is left out. `None` where no text has gold;
    1 where every annotated text is left out, as the two sides agree everywhere.
    """
    counts = highlight_counts(masks, gold)
    if not len(counts):
        return None
    scores = f1(counts[counts.any(axis=1)])
    return float(scores.mean()) if len(scores) else 1.0


def iou_f1(masks: Masks, gold: Gold, threshold: float = IOU_THRESHOLD) -> float | None:
    """Return ERASER's IOU F1 over spans.

    Two spans match if their intersection over union is at least `threshold`. Precision, the share of predicted
    spans with a match, is averaged over the texts with predicted spans; recall, the share of gold spans with
    one, over the texts with gold spans; the score is the F1 of the two averages. From ERASER's threshold of a half on
    no span has two matches, and both sides count the same hits. `None` where no text has gold; 1 where there is no
    span on either side.
    """
    precisions: list[float] = []
    recalls: list[float] = []
    pairs = _pairs(masks, gold)
    for mask, truth in pairs:
        found, wanted = runs(mask), runs(truth)
        matches = _overlaps(found, wanted) >= threshold
        if len(found):
            precisions.append(float(matches.any(axis=1).mean()))
        if len(wanted):
            recalls.append(float(matches.any(axis=0).mean()))
    if not pairs:
        return None
    if not precisions and not recalls:
        return 1.0
    precision = float(np.mean(precisions)) if precisions else 0.0
    recall = float(np.mean(recalls)) if recalls else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


# ---- highlights by themselves --------------------------------------------------------------------


def selection_rate(masks: Masks) -> float:
    """Return R: the mean over texts of selected / all tokens (a text without tokens has rate 0)."""
    flags = _flags(masks)
    return float(np.mean([mask.sum() / max(len(mask), 1) for mask in flags]))


def selection_size(masks: Masks) -> float:
    """Return S: the mean over texts of the number of selected tokens."""
    return float(np.mean([mask.sum() for mask in _flags(masks)]))


def empty_highlights(masks: Masks) -> float:
    """Return the share of texts in which nothing is selected."""
    return float(np.mean([not mask.any() for mask in _flags(masks)]))


def runs(mask: npt.ArrayLike) -> Counts:
    """Return the spans of a mask, its maximal runs of selected tokens: (runs, 2), start and end (excluded).

    >>> runs([0, 1, 1, 0, 1]).tolist()
    [[1, 3], [4, 5]]
    """
    edges = np.diff(np.asarray(mask, dtype=bool).astype(np.int8), prepend=0, append=0)
    return np.column_stack([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)]).astype(np.int64)


def count_runs(mask: npt.ArrayLike) -> int:
    """Return the number of contiguous highlights in a mask."""
    return len(runs(mask))


# ---- all of them ---------------------------------------------------------------------------------


def score(labels: Sequence[str], predicted: Sequence[str], masks: Masks, gold: Gold, classes: Sequence[str]) -> Scores:
    """Return every metric of a model on some texts.

    labels, predicted: one class name per text. masks: what the model selected, one 0/1 array per text.
    gold: gold highlights, `None` for a text without one. classes: all classes of the model.
    """
    if len(masks) != len(labels):
        raise DataError(f"got {len(masks)} masks for {len(labels)} labels; there must be one of each per text")
    return Scores(
        clf_f1=clf_f1(labels, predicted, classes),
        accuracy=accuracy(labels, predicted),
        hl_f1=hl_f1(masks, gold),
        selection_rate=selection_rate(masks),
        selection_size=selection_size(masks),
        token_f1=token_f1(masks, gold),
        iou_f1=iou_f1(masks, gold),
        per_class_f1=per_class_f1(labels, predicted, classes),
        texts=len(labels),
        texts_with_gold=sum(truth is not None for truth in gold),
        empty_highlights=empty_highlights(masks),
    )


def _confusion(truth: Flags, found: Flags, axis: int | None = None) -> Counts:
    """Return TP, FP, FN on a new last axis, summed over `axis` if one is given."""
    parts = np.stack([truth & found, ~truth & found, truth & ~found], axis=-1).astype(np.int64)
    return parts if axis is None else np.asarray(parts.sum(axis=axis))


def _pairs(masks: Masks, gold: Gold) -> list[tuple[Flags, Flags]]:
    """Return the selected and the gold mask of every annotated text, checked to be of one length."""
    if len(masks) != len(gold):
        raise DataError(f"got {len(masks)} masks and {len(gold)} gold highlights; there must be one of each per text")
    pairs = []
    for i, (mask, truth) in enumerate(zip(_flags(masks), gold, strict=True)):
        if truth is None:
            continue
        flags = _flag(truth, i, "gold highlight")
        if len(flags) != len(mask):
            raise DataError(
                f"text {i}: the mask has {len(mask)} tokens, the gold highlight {len(flags)}; "
                "both must be as long as the text"
            )
        pairs.append((mask, flags))
    return pairs


def _flags(masks: Masks) -> list[Flags]:
    if not len(masks):
        raise DataError("there are no masks to score; give at least one text")
    return [_flag(mask, i, "mask") for i, mask in enumerate(masks)]


def _flag(mask: npt.ArrayLike, text: int, kind: str) -> Flags:
    """Return one mask as booleans; refuse what would be miscounted: -1 for padding, probabilities."""
    values = np.asarray(mask)
    flags = values.astype(bool)
    if values.ndim != 1 or (flags != values).any():
        raise DataError(f"text {text}: the {kind} must be a flat array of 0 and 1, got {values.tolist()!r}")
    return flags


def _overlaps(found: Counts, wanted: Counts) -> Floats:
    """Return the intersection over union of every two spans, (found, wanted)."""
    start = np.maximum(found[:, None, 0], wanted[None, :, 0])
    end = np.minimum(found[:, None, 1], wanted[None, :, 1])
    shared = np.maximum(end - start, 0)
    lengths = np.diff(found, axis=1) + np.diff(wanted, axis=1).T  # a span has at least one token: never 0
    return np.asarray(shared / (lengths - shared), dtype=np.float64)
