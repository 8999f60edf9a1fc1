from dataclasses import replace

import numpy as np
import pytest

from genspp.data.corpus import Corpus, Document, Splits, as_corpus, check_labels, stratified_split
from genspp.errors import DataError, SettingsError


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


def test_a_document_that_is_cut_keeps_its_text_and_the_places_of_its_tokens():
    whole = replace(as_corpus(["The soup, was it cold?"]).documents[0], label="x", highlight=(0, 1, 0, 0, 0, 1, 1))
    cut = whole.first(3)
    assert (cut.text, cut.tokens, cut.unread) == (whole.text, ("The", "soup", ","), 4)
    assert [cut.text[start:end] for start, end in cut.spans] == ["The", "soup", ","]
    assert (cut.highlight, cut.label) == ((0, 1, 0), "x")
    assert cut.first(2).unread == 5 and cut.first(9) == cut and whole.first(7) == whole


def test_texts_are_cut_and_their_number_is_told():
    corpus = as_corpus(["a b c", "d", "e f g h"], labels=["x", "y", "x"])
    short = corpus.truncated(2)
    assert [document.tokens for document in short] == [("a", "b"), ("d",), ("e", "f")]
    assert [document.text for document in short] == ["a b c", "d", "e f g h"] and short.labels == corpus.labels
    assert corpus.truncated(None) is corpus and corpus.truncated(4) is corpus
    splits = Splits(corpus, corpus[[1]], corpus[[0]], ("read",))
    said = "3 of 5 texts cut to their first 2 tokens (--truncate)."
    assert splits.truncated(2).notes == ("read", said)
    assert splits.truncated(4) == splits
    assert splits.truncated(2).fingerprint() != splits.fingerprint() == splits.truncated(None).fingerprint()


def test_texts_that_a_part_before_has_too():
    train, val, test = (as_corpus(texts) for texts in (["a b", "c", "c"], ["d", "A  b"], ["e", "d", "c", "f"]))
    assert Splits(train, val, test).repeated() == {"train": [], "val": [1], "test": [1, 2]}


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


def test_strings_and_token_lists_become_documents_once():
    corpus = as_corpus(["Don't  go!", ["New York", "is"], np.array(["a", "b"])], labels=["x", np.int64(3), True])
    first, second, third = corpus
    assert (first.id, first.text, first.tokens) == ("0", "Don't  go!", ("Don't", "go", "!"))
    assert [first.text[a:b] for a, b in first.spans] == list(first.tokens)
    assert (second.text, second.spans) == ("New York is", ((0, 8), (9, 11)))
    assert third.tokens == ("a", "b") and type(third.tokens[0]) is str
    assert corpus.labels == ["x", 3, True] and type(corpus.labels[1]) is int
    assert corpus.keys("words")[1] == ["new york", "is"] and corpus.keys("spaces")[1] == ["New York", "is"]
    assert as_corpus(corpus) is corpus
    assert as_corpus(corpus, labels=["a", "b", "c"]).labels == ["a", "b", "c"]
    assert as_corpus(["ab"], "characters").documents[0].tokens == ("a", "b")


def test_what_is_no_corpus():
    for texts, said in [("a", "texts is a str"), (3, "texts is a int"), ([""], "is empty"), ([[]], "is empty"),
                        ([3], "is a int"), ([["a", 3]], "is a list"), ([], "no texts"), (Corpus(()), "no texts"),
                        (np.array([["a"]]), "shape")]:  # fmt: skip
        with pytest.raises(DataError, match=said):
            as_corpus(texts)
    with pytest.raises(DataError, match="1 texts but 2 labels"):
        as_corpus(["a"], labels=["x", "y"])
    with pytest.raises(SettingsError, match="tokenizer is 'bpe'"):
        as_corpus(["a"], "bpe")
    with pytest.raises(DataError, match="label 0 .from 0. is nan"):
        check_labels(as_corpus(["a"], labels=[float("nan")]))
