"""Sentences that depend on the figures; and how an audit is shown."""

import io
import json
from dataclasses import fields, replace

import pytest
from rich.console import Console

from audit_tools import SOUND
from genspp.evaluation.answers import Eraser, EvalX, Gaps, MaskAlone, Rest, Transplants
from genspp.evaluation.verdicts import QUESTIONS, alarms, from_json, margin, to_json, verdicts
from genspp.report.audit import print_audit

NOTHING = Transplants(0, None, None, None)


@pytest.mark.parametrize(
    ("question", "changes", "beginning"),
    [
        ("mask_alone", {}, "No: "),
        ("mask_alone", {"mask_alone": MaskAlone(0.7, 0.69)}, "No more than from the text's length"),
        ("mask_alone", {"mask_alone": MaskAlone(0.7, 0.5)}, "In part: "),
        ("mask_alone", {"mask_alone": MaskAlone(0.9, 0.5)}, "Yes: "),
        ("gaps", {}, "No: "),
        (
            "gaps",
            {"gaps": Gaps(0.0, 0.01, 0.0, 0.002)},
            "Hardly: no label changes, but probabilities move by up to 1",
        ),
        ("gaps", {"gaps": Gaps(0.1, 0.5, 0.02, 0.3)}, "Yes: 10.0 % of the labels change"),
        ("eval_x", {}, "Yes: "),
        ("eval_x", {"eval_x": EvalX(0.5, 0.9, 0.55, 0.5, 0.0)}, "No: "),
        ("eval_x", {"eval_x": EvalX(0.7, 0.9, 0.8, 0.5, 0.2)}, "In part: "),
        ("eval_x", {"eval_x": EvalX(0.4, 0.9, 0.99, 0.99, 0.3), "empty": 0.5}, "Yes, but for the 50.0 % of the texts"),
        ("eval_x", {"eval_x": EvalX(0.4, 0.9, 0.99, 0.99, 0.01), "empty": 0.5}, "No: "),
        ("eval_x", {"eval_x": EvalX(0.5, 0.5, 0.5, 0.5, 0.0)}, "Nobody knows: that predictor does no better"),
        ("eval_x", {"model_clf_f1": 0.5}, "Nobody knows: the model's own predictor does no better"),
        ("eval_x", {"eval_x": EvalX(0.5, 0.9, None, None, None)}, "Nobody knows: there is no highlight"),
        ("rest", {}, "Nothing that could be found"),
        ("rest", {"rest": Rest(0.95, 0.95, 0.95)}, "Everything: "),
        ("rest", {"rest": Rest(0.725, 0.725, 0.95)}, "Something: 50.0 % of what the full text tells beyond guessing."),
        (
            "rest",
            {"rest": Rest(0.725, 0.5, 0.95)},
            "Something: 50.0 % of what the full text tells beyond guessing,",
        ),
        ("rest", {"rest": Rest(0.5, 0.5, 0.5)}, "Nobody knows: "),
        ("eraser", {}, "More than the rest of the text: its probability for its label falls by 40.0 points"),
        ("eraser", {"eraser": Eraser(0.1, 0.1)}, "As much as"),
        ("eraser", {"eraser": Eraser(0.0, 0.5)}, "Less than"),
        ("pasted", {}, "Yes: "),
        ("pasted", {"pasted": Transplants(900, 1.0, 0.7, 0.5)}, "Mostly: "),
        ("pasted", {"pasted": Transplants(900, 1.0, 0.4, 0.1)}, "Not reliably: "),
        ("pasted", {"pasted": Transplants(900, 1.0, 0.5, 0.5)}, "No more than chance would: "),
        ("pasted", {"pasted": NOTHING}, "Nobody knows: "),
    ],
)
def test_wording_follows_the_figures(question, changes, beginning):
    sentence = verdicts(replace(SOUND, **changes))[question]
    assert sentence.startswith(beginning)
    assert sentence.endswith(".")


def test_empty_highlights_are_mentioned_where_a_mask_tells_the_label():
    told = replace(SOUND, mask_alone=MaskAlone(0.9, 0.5), empty=0.534)
    assert "(53.4 % of the texts have no highlight at all)" in verdicts(told)["mask_alone"]


def test_few_texts_say_little():
    assert margin(0.5, 100) == pytest.approx(0.1)
    assert margin(0.5, 10**6) == margin(1.0, 10**6) == 0.02
    assert margin(1.0, 1) == 0.02
    assert verdicts(replace(SOUND, texts=20, mask_alone=MaskAlone(0.7, 0.5)))["mask_alone"].startswith("No: ")


def test_json_has_every_figure_and_a_verdict_for_every_question():
    written = to_json(SOUND)
    assert list(written) == [field.name for field in fields(SOUND)]
    assert {name for name, value in written.items() if isinstance(value, dict) and "verdict" in value} == set(QUESTIONS)
    assert written["gaps"]["changed_without"] == 0.0
    assert written["pasted_by_class"]["b"]["by_model"] is None


def shown(audit, width=80):
    console = Console(file=io.StringIO(), width=width)
    print_audit(console, audit)
    return console.file.getvalue()


def test_questions_verdicts_and_figures_are_shown():
    text = shown(SOUND)
    for number, (name, question) in enumerate(QUESTIONS.items(), start=1):
        assert f"{number}. {question}" in text
        assert verdicts(SOUND)[name] in text
    assert "51.00 %" in text and "0.400" in text


def test_of_many_classes_the_worst_are_shown():
    many = {f"class {i}": Transplants(10, 1.0, i / 20, 0.0) for i in range(20)}
    text = shown(replace(SOUND, pasted_by_class=many))
    assert "class 4 " in text and "class 5" not in text


def test_a_class_does_not_steer_the_terminal():
    text = shown(replace(SOUND, pasted_by_class={"\x1b[31m [bold]evil": Transplants(9, 1.0, 1.0, 0.0)}))
    assert "\x1b" not in text
    assert "[bold]evil" in text


def test_what_is_written_is_read_again_whatever_a_class_is_called():
    audit = replace(SOUND, pasted_by_class={"verdict": Transplants(9, 1.0, 1.0, 0.0), "b": NOTHING})
    assert from_json(json.loads(json.dumps(to_json(audit)))) == audit


@pytest.mark.parametrize(
    ("changes", "questions"),
    [
        ({}, []),
        ({"mask_alone": MaskAlone(0.7, 0.5)}, ["mask_alone"]),
        ({"mask_alone": MaskAlone(0.9, 0.5), "gaps": Gaps(0.1, 0.5, 0.02, 0.3)}, ["mask_alone", "gaps"]),
        ({"gaps": Gaps(0.0, 0.01, 0.0, 0.002)}, []),
    ],
)
def test_what_tells_the_label_beside_the_words_is_an_alarm(changes, questions):
    audit = replace(SOUND, **changes)
    assert alarms(audit) == [f"{QUESTIONS[name]} {verdicts(audit)[name]}" for name in questions]
    assert alarms(audit, one_sided=True) == alarms(audit)  # nobody has looked at what emptiness tells


@pytest.mark.parametrize(("by_emptiness", "told"), [(0.7, True), (0.9, False)])
def test_that_nothing_is_marked_may_tell_the_label_where_evidence_of_some_classes_is_wanted(by_emptiness, told):
    audit = replace(SOUND, empty=0.4, mask_alone=MaskAlone(0.9, 0.5, by_emptiness))
    assert len(alarms(audit)) == 1 and len(alarms(audit, one_sided=True)) == told
    said = verdicts(audit)["mask_alone"]
    assert said.startswith("In part: whether anything is marked says more of the label than guessing, ") != told
