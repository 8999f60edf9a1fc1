"""Two runs beside each other."""

from dataclasses import replace

import pytest

from audit_tools import SOUND
from genspp.errors import RunError
from genspp.report.comparison import comparison_content, outcomes
from report_tools import decided, finished, sentence_run

NAMES = ("sport", "food", "tech")


def other(run, name="other", **changes):
    """Return a run on the same texts that calls every third text sport, and marks the first word everywhere."""
    said = [
        decided(one.document, "sport" if number % 3 == 0 else str(one.document.label), [1] + [0] * (len(one.mask) - 1))
        for number, one in enumerate(run.rationales)
    ]
    return finished(said, name=name, **changes)


def test_every_text_has_one_of_four_outcomes():
    run = sentence_run()
    found = outcomes(run, other(run))
    assert found["both"] + found["first"] + found["second"] + found["neither"] == found["texts"] == 120
    assert (found["second"], found["first"], found["differ"]) == (12, 0, 12)  # every tenth text; each third is sport
    assert found["marks"] > 100


def test_a_run_beside_itself_differs_in_nothing():
    run = sentence_run()
    found = outcomes(run, run)
    assert (found["first"], found["second"], found["differ"], found["marks"]) == (0, 0, 0, 0)
    content = comparison_content(run, run)
    assert content["names"] == ["posts (1)", "posts (2)"]
    assert len(content["differences"]) == 2
    assert all("is 0.0 points above" in said and "no more than" in said for said in content["differences"])


def test_scores_classes_warnings_and_audits_stand_side_by_side():
    run = sentence_run(repeated=3)
    content = comparison_content(run, other(run))
    assert content["names"] == ["posts", "other"]
    assert content["scores"][0]["name"] == "Clf-F1"
    assert content["scores"][0]["shares"] == (run.metrics["clf_f1"], 1.0)
    assert [first["name"] for first, _ in content["classes"]] == list(NAMES)
    assert {name for name, said in content["warnings"] if "word for word" in said} == {"posts"}
    assert len(content["audit"]) == 6
    assert comparison_content(run, other(run, audit=None))["audit"] == []
    assert all(len(row[4]) == 2 for row in content["texts"]["rows"])


def test_a_difference_that_is_clear_is_called_so():
    run = sentence_run()
    labels, highlights = comparison_content(other(run), run)["differences"]
    assert " points above that of the second" in labels and ": more than another choice" in labels
    assert " points below that of the second" in highlights and ": more than another choice" in highlights


def test_other_test_texts_are_one_sentence():
    run = sentence_run()
    with pytest.raises(RunError, match="were scored on different test texts"):
        comparison_content(run, sentence_run(seed=1))
    with pytest.raises(RunError, match="were scored on different test texts"):
        comparison_content(run, replace(run, rationales=run.rationales[:-1]))


def test_other_tokens_of_the_same_texts_can_be_compared():
    run = sentence_run(audit=SOUND)
    content = comparison_content(run, replace(run, tokenizer="spaces"))
    assert len(content["differences"]) == 1  # masks over other tokens have no common Hl-F1
