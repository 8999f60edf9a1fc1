"""The texts that a report's script reads."""

import json

import pytest

from genspp.data.corpus import as_corpus
from genspp.report.text_rows import MOST_PROBABILITIES, script_json, text_rows
from report_tools import EVIL, decided, sentence_run


def in_javascript(text, start, end):
    """Return what `text.slice(start, end)` is in JavaScript, whose strings are UTF-16."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


def test_spans_count_as_javascript_does():
    document = as_corpus(["🙂 ein 🙂🙂 tor"], labels=["x"]).documents[0]
    mask = [int(token in ("ein", "tor")) for token in document.tokens]
    ((_, text, gold, people, answers),) = text_rows(
        [[decided(document, "y", mask, classes=("x", "y"))]], ["x", "y"], ["words"]
    )
    ((label, shares, stretches, unknown),) = answers
    assert [in_javascript(text, *stretch) for stretch in stretches] == ["ein", "tor"]
    assert (gold, label, people, unknown) == (0, 1, None, [])
    assert shares == [0, 100, 1, 900]


def test_neighbouring_words_are_one_stretch_of_several_words():
    document = as_corpus(["one two three"], labels=["x"]).documents[0]
    rationale = decided(document, "x", [1, 1, 0], classes=("x", "y"))
    ((*_, answers),) = text_rows([[rationale]], ["x", "y"], ["words"])
    assert answers[0][2] == [[0, 3, 4, 7]]
    ((*_, answers),) = text_rows([[rationale]], ["x", "y"], ["characters"])
    assert answers[0][2] == [[0, 7]]


def test_of_many_classes_the_likeliest_are_kept_in_the_model_s_order():
    names = tuple(f"c{number}" for number in range(10))
    document = as_corpus(["one"], labels=["c9"]).documents[0]
    ((*_, answers),) = text_rows([[decided(document, "c9", [1], classes=names)]], names, ["words"])
    kept = answers[0][1][::2]
    assert len(kept) == MOST_PROBABILITIES and kept == sorted(kept) and 9 in kept


def test_gold_highlights_go_along():
    run = sentence_run(4)
    rows = text_rows([run.rationales], run.classes, ["words"])
    assert [row[3] is None for row in rows] == [True, False, True, False]
    text, (start, end) = rows[1][1], rows[1][3]
    assert text[start:end] in ("soup", "bread", "salt")


@pytest.mark.parametrize("evil", [EVIL, "<!--", "]]>", "\ud83d", "\u2028\u2029"])
def test_nothing_in_a_script_s_data_can_end_it(evil):
    text = script_json({evil: [evil]})
    assert not set(text) & set("<>&\u2028\u2029\ud83d")
    assert json.loads(text) == {evil: [evil]}
