import json

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, precision_recall_fscore_support

from genspp.errors import DataError
from genspp.evaluation import metrics

CLASSES = ["abc", "aba", "baa"]


def random_masks(stream, texts, rate):
    lengths = stream.integers(1, 12, size=texts)
    return [(stream.random(length) < rate).astype(np.uint8) for length in lengths]


# ---- classes


@pytest.mark.parametrize("seed", range(5))
def test_confusion_precision_and_recall_equal_scikit_learn(seed):
    stream = np.random.default_rng(seed)
    labels, predicted = (list(stream.choice(CLASSES[:2], size=30)) for _ in range(2))
    matrix = metrics.confusion(labels, predicted, CLASSES)
    np.testing.assert_array_equal(matrix, confusion_matrix(labels, predicted, labels=CLASSES))
    counts = metrics.class_counts(labels, predicted, CLASSES).sum(axis=0)
    wanted = precision_recall_fscore_support(labels, predicted, labels=CLASSES[:2])[:2]
    for number in range(2):
        assert metrics.precision_recall(counts[number]) == pytest.approx([part[number] for part in wanted])
    assert metrics.precision_recall(counts[2]) == (None, None)


@pytest.mark.parametrize("seed", range(20))
def test_class_metrics_equal_scikit_learn(seed):
    stream = np.random.default_rng(seed)
    classes = CLASSES[: stream.integers(1, 4)]
    labels = list(stream.choice(classes, size=stream.integers(1, 9)))
    predicted = list(stream.choice(classes, size=len(labels)))
    assert metrics.clf_f1(labels, predicted, CLASSES) == pytest.approx(f1_score(labels, predicted, average="macro"))
    assert metrics.accuracy(labels, predicted) == pytest.approx(accuracy_score(labels, predicted))
    single = f1_score(labels, predicted, average=None, labels=CLASSES, zero_division=np.nan)
    for name, value in zip(CLASSES, single, strict=True):
        ours = metrics.per_class_f1(labels, predicted, CLASSES)[name]
        assert (ours is None) == np.isnan(value)
        assert ours is None or ours == pytest.approx(value)


def test_clf_f1_by_hand():
    # aba: TP 1, FP 1, FN 1 -> 1/2; baa: TP 1, FN 1, FP 0 -> 2/3; abc: TP 0, FP 1, FN 0 -> 0
    labels, predicted = ["aba", "aba", "baa", "baa"], ["aba", "abc", "baa", "aba"]
    assert metrics.clf_f1(labels, predicted, CLASSES) == pytest.approx((1 / 2 + 2 / 3 + 0) / 3)
    assert metrics.accuracy(labels, predicted) == 0.5


def test_a_class_that_does_not_occur_is_left_out_of_the_mean():
    labels = ["aba", "baa"]
    assert metrics.clf_f1(labels, labels, CLASSES) == 1.0
    assert metrics.per_class_f1(labels, labels, CLASSES) == {"abc": None, "aba": 1.0, "baa": 1.0}


def test_swapped_labels_give_the_paper_s_third():
    labels = ["aba"] * 5 + ["baa"] * 5 + ["abc"] * 5
    swapped = ["abc"] * 5 + ["baa"] * 5 + ["aba"] * 5
    assert metrics.clf_f1(labels, swapped, CLASSES) == pytest.approx(1 / 3)


def test_bad_labels_are_refused():
    with pytest.raises(DataError, match="text 1 has the label 'xyz'"):
        metrics.clf_f1(["aba", "xyz"], ["aba", "aba"], CLASSES)
    with pytest.raises(DataError, match="text 0 has the prediction 'xyz'"):
        metrics.clf_f1(["aba"], ["xyz"], CLASSES)
    with pytest.raises(DataError, match="2 labels and 1 predictions"):
        metrics.accuracy(["aba", "baa"], ["aba"])
    with pytest.raises(DataError, match="no texts"):
        metrics.accuracy([], [])


# ---- highlights against gold


@pytest.mark.parametrize("rate", [0.0, 0.15, 0.5, 1.0])
@pytest.mark.parametrize("gold_rate", [0.0, 0.3, 1.0])
def test_hl_f1_and_token_f1_equal_scikit_learn(rate, gold_rate):
    stream = np.random.default_rng(round(100 * rate + 10 * gold_rate))
    gold = random_masks(stream, 40, gold_rate)
    masks = [(stream.random(len(truth)) < rate).astype(np.uint8) for truth in gold]
    micro = f1_score(np.concatenate(gold), np.concatenate(masks), zero_division=1.0)
    assert metrics.hl_f1(masks, gold) == pytest.approx(micro)
    pairs = [(truth, mask) for truth, mask in zip(gold, masks, strict=True) if truth.any() or mask.any()]
    each = [f1_score(truth, mask, zero_division=0.0) for truth, mask in pairs] or [1.0]
    assert metrics.token_f1(masks, gold) == pytest.approx(np.mean(each))


def test_texts_without_annotation_are_left_out_and_may_have_any_length():
    masks = [[1, 0], [1, 1, 1], [0, 1]]
    gold = [[1, 0], None, [0, 0]]
    assert metrics.hl_f1(masks, gold) == pytest.approx(2 / 3)  # TP 1, FP 1 from the all-zero gold mask
    assert metrics.highlight_counts(masks, gold).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert metrics.token_f1(masks, gold) == pytest.approx(0.5)


@pytest.mark.parametrize("metric", [metrics.hl_f1, metrics.token_f1, metrics.iou_f1])
def test_empty_highlights(metric):
    assert metric([[1, 0], [0, 0]], [None, None]) is None
    assert metric([[0, 0], [0, 0]], [[0, 1], [0, 0]]) == 0.0
    assert metric([[0, 1], [0, 0]], [[0, 0], [0, 0]]) == 0.0
    assert metric([[0, 0], [0, 0]], [[0, 0], [0, 0]]) == 1.0
    assert metric([[0, 1], [0, 0]], [[0, 1], [0, 0]]) == 1.0


def test_iou_f1_by_hand():
    masks = [
        [1, 1, 0, 0, 1, 0],  # [0,2) against [0,3): 2/3, a hit; [4,5) against [4,6): exactly 1/2, a hit
        [1, 0, 0, 0, 0, 0],  # [0,1) against [0,3): 1/3, no hit
        [0, 1, 0, 1, 0, 0],  # two spans, no gold: precision 0, no recall
        [0, 0, 0, 0, 0, 0],  # gold missed: recall 0, no precision
        [1, 0, 0, 0, 0, 1],  # one hit of two, one gold
    ]
    gold = [[1, 1, 1, 0, 1, 1], [1, 1, 1, 0, 0, 0], [0] * 6, [1, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]]
    precision, recall = np.mean([1, 0, 0, 0.5]), np.mean([1, 0, 0, 1])
    expected = 2 * precision * recall / (precision + recall)
    assert metrics.iou_f1(masks, gold) == pytest.approx(expected)
    assert metrics.iou_f1(masks, gold, threshold=0.3) > expected


def test_iou_f1_is_never_above_one():
    # Two predicted spans that each overlap the one gold span by 3/7: both match it, and it is found once.
    assert metrics.iou_f1([[1, 1, 1, 0, 1, 1, 1]], [[1] * 7], threshold=0.3) == 1.0
    stream = np.random.default_rng(0)
    masks = random_masks(stream, 200, 0.4)
    gold = [(stream.random(len(mask)) < 0.7).astype(np.uint8) for mask in masks]
    for threshold in (0.05, 0.2, 0.35, 0.5):
        each = [metrics.iou_f1([mask], [truth], threshold) for mask, truth in zip(masks, gold, strict=True)]
        assert max(each) <= 1


def eraser_iou_f1(masks, gold):
    """ERASER's rule once more with sets of positions, as its own script has it."""

    def spans(mask):
        found, current = [], set()
        for i, value in enumerate([*mask, 0]):
            if value:
                current.add(i)
            elif current:
                found.append(current)
                current = set()
        return found

    precisions, recalls = [], []
    for mask, truth in zip(masks, gold, strict=True):
        found, wanted = spans(mask), spans(truth)
        hits = sum(any(len(p & t) / len(p | t) >= 0.5 for t in wanted) for p in found)
        precisions += [hits / len(found)] if found else []
        recalls += [hits / len(wanted)] if wanted else []
    precision, recall = np.mean(precisions), np.mean(recalls)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@pytest.mark.parametrize("seed", range(10))
def test_iou_f1_equals_the_rule_on_sets(seed):
    stream = np.random.default_rng(seed)
    gold = random_masks(stream, 60, 0.5)
    masks = [np.where(stream.random(len(truth)) < 0.2, 1 - truth, truth) for truth in gold]
    assert metrics.iou_f1(masks, gold) == pytest.approx(eraser_iou_f1(masks, gold))


def test_a_mask_of_another_length_is_named():
    for metric in (metrics.hl_f1, metrics.token_f1, metrics.iou_f1):
        with pytest.raises(DataError, match="text 1: the mask has 3 tokens, the gold highlight 2"):
            metric([[1], [0, 1, 0]], [[1], [0, 1]])


def test_what_is_not_a_mask_is_refused():
    with pytest.raises(DataError, match="text 0: the gold highlight must be a flat array of 0 and 1"):
        metrics.hl_f1([[1, 0]], [[1, -1]])
    with pytest.raises(DataError, match="text 1: the mask"):
        metrics.selection_rate([[1, 0], [0.5, 0.5]])
    with pytest.raises(DataError, match="1 masks and 2 gold"):
        metrics.hl_f1([[1]], [[1], [1]])
    with pytest.raises(DataError, match="no masks"):
        metrics.selection_size([])


# ---- highlights by themselves


def test_rate_is_a_mean_of_ratios_and_size_a_mean_of_counts():
    masks = [[1, 0, 0, 0], [1, 1], [0] * 10, []]
    assert metrics.selection_rate(masks) == pytest.approx((0.25 + 1.0 + 0 + 0) / 4)
    assert metrics.selection_size(masks) == pytest.approx(3 / 4)
    assert metrics.empty_highlights(masks) == 0.5


def test_size_is_twenty_times_the_rate_on_texts_of_twenty_tokens():
    masks = (np.random.default_rng(0).random((30, 20)) < 0.15).astype(np.uint8)
    assert metrics.selection_size(list(masks)) == pytest.approx(20 * metrics.selection_rate(list(masks)))


@pytest.mark.parametrize(
    ("mask", "spans"),
    [([], []), ([0, 0], []), ([1], [[0, 1]]), ([1, 1, 0, 1], [[0, 2], [3, 4]]), ([0, 1, 0], [[1, 2]])],
)
def test_runs(mask, spans):
    assert metrics.runs(mask).tolist() == spans
    assert metrics.count_runs(np.array(mask, dtype=bool)) == len(spans)


# ---- all of them


def test_score_is_plain_json_and_equals_the_single_functions():
    labels, predicted = ["aba", "baa", "aba"], ["aba", "aba", "aba"]
    masks = [np.array([1, 0, 1], np.uint8), np.array([0, 0], np.uint8), np.array([1, 1], np.uint8)]
    gold = [np.array([1, 1, 0], np.int8), np.array([0, 0], np.int8), None]
    scores = metrics.score(labels, predicted, masks, gold, CLASSES)
    assert json.loads(json.dumps(scores, allow_nan=False)) == scores
    assert scores == {
        "clf_f1": pytest.approx(0.4),
        "accuracy": pytest.approx(2 / 3),
        "hl_f1": pytest.approx(0.5),
        "selection_rate": pytest.approx((2 / 3 + 0 + 1) / 3),
        "selection_size": pytest.approx(4 / 3),
        "token_f1": pytest.approx(0.5),
        "iou_f1": pytest.approx(2 / 3),  # [0,1) against [0,2) is a half: 1 of 2 predicted, 1 of 1 gold
        "per_class_f1": {"abc": None, "aba": pytest.approx(0.8), "baa": 0.0},
        "texts": 3,
        "texts_with_gold": 2,
        "empty_highlights": pytest.approx(1 / 3),
    }


def test_score_without_gold():
    scores = metrics.score(["aba"], ["aba"], [[0, 1]], [None], CLASSES)
    assert (scores["hl_f1"], scores["token_f1"], scores["iou_f1"], scores["texts_with_gold"]) == (
        None,
        None,
        None,
        0,
    )
    with pytest.raises(DataError, match="2 masks for 1 labels"):
        metrics.score(["aba"], ["aba"], [[0, 1], [1]], [None, None], CLASSES)
