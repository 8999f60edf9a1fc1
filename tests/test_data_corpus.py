from dataclasses import replace

import numpy as np
import pytest

from genspp.data.corpus import Corpus, Document, Splits, stratified_split


def document(number, label="x", highlight=None):
    return Document(str(number), "a b", ("a", "b"), ((0, 1), (2, 3)), label, highlight)


def test_columns_of_a_corpus():
    corpus = Corpus((document(1, "x", (0, 1)), document(2, "y")))
    assert len(corpus) == 2 and corpus.labels == ["x", "y"] and corpus.keys("words") == [["a", "b"]] * 2
    first, second = corpus.highlights
    assert first is not None and np.array_equal(first, [0, 1]) and second is None
    assert [d.id for d in corpus[[1, 0]]] == ["2", "1"]


def test_fingerprint_sees_every_change():
    corpus = Corpus((document(1), document(2, "y", (1, 0))))
    splits = Splits(corpus, corpus, corpus)
    changes = [
        replace(splits, train=replace(corpus, tokenizer="spaces")),
        replace(splits, train=corpus[[1, 0]]),
        replace(splits, test=corpus[[0]]),
        replace(splits, val=Corpus((document(1, "z"), corpus.documents[1]))),
        replace(splits, val=Corpus((corpus.documents[0], document(2, "y", (1, 1))))),
        replace(splits, val=Corpus((corpus.documents[0], replace(document(2, "y", (1, 0)), tokens=("a", "c"))))),
    ]
    assert len({splits.fingerprint(), *(change.fingerprint() for change in changes)}) == 7
    assert replace(splits, notes=("read",)).fingerprint() == splits.fingerprint()


@pytest.mark.parametrize("fractions", [(0.64, 0.16, 0.2), (0.8, 0.2)])
def test_stratified_split_deals_every_row_once_and_evenly(fractions):
    labels = ["a"] * 100 + ["b"] * 37 + ["c"] * 5
    parts = stratified_split(labels, fractions)
    assert sorted(row for part in parts for row in part) == list(range(len(labels)))
    assert all(part == sorted(part) for part in parts)
    for label in "abc":
        for part, fraction in zip(parts, fractions, strict=True):
            assert abs(sum(labels[row] == label for row in part) - fraction * labels.count(label)) <= 1


def test_stratified_split_goes_by_the_seed():
    labels = ["a", "b"] * 50
    assert stratified_split(labels, (0.8, 0.2), 1) == stratified_split(labels, (0.8, 0.2), 1)
    assert stratified_split(labels, (0.8, 0.2), 1) != stratified_split(labels, (0.8, 0.2), 2)
    assert stratified_split(["a", "b"] * 5, (0.8, 0.2))[1] == [7, 8]  # the frozen stream
