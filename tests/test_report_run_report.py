"""What a report says, before it is a page."""

from dataclasses import replace

import numpy as np
import pytest

from audit_tools import SOUND
from conftest import DECIDING
from genspp.data.corpus import as_corpus
from genspp.evaluation.answers import Gaps, MaskAlone
from genspp.report.curve import panels
from genspp.report.deciding_words import MOST, deciding_words
from genspp.report.run_report import (
    FEW,
    MOST_CLASSES,
    PLACES,
    audit_rows,
    bars,
    cautions,
    class_rows,
    confusions,
    marks_map,
    report_content,
    scores,
)
from report_tools import LOG, decided, finished, sentence_run

NAMES = ("b", "a")  # not in the order of the alphabet: the model's order counts


def made(rows, names=NAMES, tokenizer="words", **changes):
    """Return a run: text, gold label, label given, mask."""
    corpus = as_corpus([text for text, *_ in rows], tokenizer, labels=[gold for _, gold, *_ in rows])
    pairs = zip(corpus, rows, strict=True)
    said = [decided(document, given, mask, classes=names) for document, (_, _, given, mask) in pairs]
    return finished(said, tokenizer=tokenizer, **changes)


ROWS = [
    ("Bad bad day", "b", "b", [1, 1, 0]),
    ("a bad day", "a", "b", [0, 1, 0]),
    ("good day", "a", "a", [1, 0]),
    ("what day", "a", "b", [0, 0]),
]


def test_classes_keep_the_model_s_order_everywhere():
    run = made(ROWS)
    content = report_content(run)
    assert [row["name"] for row in content["classes"]] == list(NAMES)
    assert content["confusion"]["names"] == list(NAMES)
    assert [group["name"] for group in content["words"]] == list(NAMES)
    assert [row["name"] for row in content["map"]] == list(NAMES)
    assert content["texts"]["classes"] == list(NAMES)


def test_scores_are_compared_in_plain_words():
    run = sentence_run()
    near, below = run.metrics["clf_f1"] + 0.004, run.metrics["clf_f1"] + 0.021
    figures = {**run.metrics, "full_text_clf_f1": near, "tfidf_clf_f1": below, "hl_f1": 0.75}
    labels, highlights = scores({**figures, "wordlist_hl_f1": 0.5, "random_hl_f1": None})
    assert labels["said"].endswith(
        "In F1 that is as good as a classifier of its size that reads whole texts, and 2.1 points below a simple one "
        "that counts all words."
    )
    assert highlights["said"].endswith("In F1 that is 25.0 points above a list of telling words that marks as much.")
    older = {name: value for name, value in figures.items() if name not in ("full_text_clf_f1", "tfidf_clf_f1")}
    assert scores(older)[0]["said"].endswith("from the marked words alone.")


def test_precision_and_recall_of_every_class():
    b, a = class_rows(made(ROWS))
    assert (b["texts"], b["given"], b["precision"], b["recall"]) == (1, 3, pytest.approx(1 / 3), 1.0)
    assert (a["texts"], a["given"], a["precision"], a["recall"]) == (3, 1, 1.0, pytest.approx(1 / 3))
    assert b["f1"] == a["f1"] == 0.5
    absent = class_rows(made(ROWS, names=("b", "a", "c")))[2]
    assert {absent[key] for key in ("precision", "recall", "f1")} == {None}


def test_the_matrix_has_gold_labels_in_rows():
    found = confusions(made(ROWS))
    assert [[cell["texts"] for cell in cells] for _, cells in found["rows"]] == [[1, 0], [2, 1]]
    assert found["rows"][1][1][0]["shade"] == 1.0


def test_of_many_classes_the_most_frequent_confusions_are_listed():
    names = tuple(f"class {number}" for number in range(MOST_CLASSES + 1))
    rows = [("x", names[3], names[4], [1])] * 2 + [("x", names[0], names[0], [1]), ("x", names[1], names[2], [1])]
    found = confusions(made(rows, names))
    assert found["rows"] is None
    assert [(row["gold"], row["given"], row["texts"]) for row in found["listed"]] == [
        (names[3], names[4], 2),
        (names[1], names[2], 1),
    ]


def test_deciding_words_are_counted_once_per_text_and_sorted():
    b, a = deciding_words(made(ROWS).rationales, NAMES, "words")
    assert [(one["word"], one["texts"], one["right"]) for one in b["words"]] == [("bad", 2, 0.5), (None, 1, 0.0)]
    assert [(one["word"], one["texts"], one["right"]) for one in a["words"]] == [("good", 1, 1.0)]
    assert (b["given"], a["given"]) == (3, 1)
    first = b["words"][0]
    assert (first["before"], first["marked"], first["after"]) == ("", "Bad", " bad day")  # one that is right
    assert b["words"][0]["width"] == 1.0 and a["words"][0]["width"] == 0.5


def test_of_characters_a_stretch_is_one_word():
    b, _ = deciding_words(
        made([("aabaa", "b", "b", [0, 1, 1, 0, 1])], tokenizer="characters").rationales, NAMES, "characters"
    )
    assert sorted(one["word"] for one in b["words"]) == ["a", "ab"]


def test_only_the_most_frequent_words_are_shown_and_the_rest_is_counted():
    words = [f"w{number}" for number in range(MOST + 5)]
    b, _ = deciding_words(made([(" ".join(words), "b", "b", [1] * len(words))]).rationales, NAMES, "words")
    assert (len(b["words"]), b["more"]) == (MOST, 5)


def test_a_long_example_is_cut_around_its_word():
    text = "x " * 100 + "bad" + " y" * 100
    b, _ = deciding_words(made([(text, "b", "b", [0] * 100 + [1] + [0] * 100)]).rationales, NAMES, "words")
    one = b["words"][0]
    assert one["marked"] == "bad" and one["before"].startswith("…") and one["after"].endswith("…")
    assert len(one["before"] + one["after"]) < 90


def test_the_map_says_where_marks_lie():
    run = made([(" ".join("x" * 2 * PLACES), "b", "b", [1, 1, 1] + [0] * (2 * PLACES - 3))])
    b, a = marks_map(run)
    assert [cell["share"] for cell in b["cells"]] == [1.0, 0.5] + [0.0] * (PLACES - 2)
    assert (b["texts"], a["texts"]) == (1, 0)
    assert {cell["share"] for cell in a["cells"]} == {0.0}


def test_gold_has_a_row_of_its_own_on_the_map():
    rows = marks_map(sentence_run())
    assert [row["name"] for row in rows] == [*DECIDING, None]
    assert rows[-1]["texts"] == 60


def test_scores_come_with_their_references_and_the_model_s_own_first():
    run = sentence_run()
    labels, highlights = scores(run.metrics)
    assert [bar["name"] for bar in labels["bars"]] == ["Clf-F1", "full text", "TF-IDF + LR", "guessing"]
    assert [bar["name"] for bar in highlights["bars"]] == ["Hl-F1", "word list", "random", "all"]
    assert [bar["own"] for bar in labels["bars"]] == [True, False, False, False]
    assert labels["bars"][0]["share"] == run.metrics["clf_f1"]
    assert labels["said"].startswith("108 of 120 test texts are given their right label")
    assert len(scores(made(ROWS).metrics)) == 1
    assert [bar["share"] for bar in bars({**run.metrics, "guessing_clf_f1": None}, "clf_f1")][1:] == [0.95, 0.9]


def test_nothing_to_warn_of_is_no_warning():
    assert cautions(made([("bad", "b", "b", [1]), ("good", "a", "a", [1])])) == []


def test_texts_that_are_cut_are_told():
    run = made(ROWS)
    assert not any("are cut" in sentence for sentence in cautions(run))
    first = run.rationales[0]
    cut = replace(first, document=first.document.first(2), mask=first.mask[:2])
    said = "1 of 4 test texts (25.0 %) are cut: what follows is not read, and gold marks there do not count."
    assert said in cautions(finished([cut, *run.rationales[1:]]))


def test_warnings_stand_in_order():
    run = made(ROWS, repeated=2)
    unknown = [replace(one, unknown=(0,)) for one in run.rationales]
    leaky = replace(SOUND, mask_alone=MaskAlone(0.9, 0.5), gaps=Gaps(0.3, 0.4, 0.1, 0.2))
    figures = {**run.metrics, "warnings": ["Clf-F1 is far below."]}
    found = cautions(replace(run, rationales=unknown, audit=leaky, metrics=figures))
    starts = [
        "Clf-F1 is far below.",
        "In 1 of 4 test texts (25.0 %) nothing is marked",
        "40.0 % of the words of the test texts are unknown",
        "Training has seen 2 of 4 test texts (50.0 %) word for word",
        "Can the label be told from the mask alone? Yes",
        "Do the gaps matter? Yes",
    ]
    assert [said.startswith(start) for said, start in zip(found, starts, strict=True)] == [True] * len(starts)


@pytest.mark.parametrize(("wanted", "warned"), [(None, 1), (["a", "b"], 1), (["a"], 0)])
def test_that_emptiness_tells_the_label_is_right_where_evidence_of_some_classes_is_wanted(wanted, warned):
    told = replace(SOUND, mask_alone=MaskAlone(0.9, 0.5, 0.9), empty=0.5)
    run = made([("bad", "b", "b", [1]), ("good", "a", "a", [1])], audit=told, evidence_for=wanted)
    assert len(cautions(run)) == warned


def test_a_few_empty_highlights_are_no_warning():
    rows = int(1 / FEW)
    run = made([("bad", "b", "b", [1])] * (rows - 1) + [("bad", "b", "b", [0])])
    assert cautions(run) == []


def test_curves_are_of_what_the_log_has():
    first, second = panels(LOG)
    assert first["title"] == "fitness of the best" and first["points"] == "0.0,60.0 100.0,40.0 200.0,20.0 300.0,0.0"
    assert (first["step"], first["steps"]) == ("generation", 3)
    assert (first["low"], first["high"], first["last"]) == ("0", "2.5", "2.5")
    assert second["title"] == "words selected, as much as they count"
    assert (second["high"], second["last"]) == ("50.0 %", "12.5 %")
    assert panels(LOG[:1]) == panels([]) == []
    worse = [{"epoch": 0, "val_loss": 0.0, "left_over": -0.2}, {"epoch": 1, "val_loss": 0.0, "left_over": 0.1}]
    loss, left = panels(worse)
    assert loss["points"] == "0.0,100.0 300.0,100.0"  # nothing is a line at the bottom
    assert (left["low"], left["last"]) == ("0.0 %", "10.0 %")


def test_the_audit_is_shown_with_its_figures():
    rows = audit_rows(SOUND)
    assert len(rows) == 6 and all(row["verdict"] and row["figures"] for row in rows)
    assert report_content(made(ROWS, audit=None))["audit"] is None


def test_content_is_plain_data():
    def plain(value):
        if isinstance(value, dict):
            return all(plain(part) for part in value.values())
        if isinstance(value, list | tuple):
            return all(plain(part) for part in value)
        return value is None or (isinstance(value, str | int | float | bool) and not isinstance(value, np.generic))

    assert plain(report_content(sentence_run()))
