"""What a terminal shows of decisions; a text or a label must not steer it."""

import io
import json
import logging
from dataclasses import replace

import pytest
from rich.console import Console

from genspp.data.corpus import as_corpus
from genspp.harmless import json_line
from genspp.model.rationale import Rationale
from genspp.report.terminal import Messages, Screen, print_rationales

TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # the direction of what follows
STEERING = "".join(map(chr, (*range(9), *range(11, 32), *range(127, 160)))) + TURNING + "\udfff\ud800"


def rationale(text: str, mask: list[int], unknown: tuple[int, ...] = (), label: str = "x") -> Rationale:
    return Rationale(as_corpus([text]).documents[0], label, {label: 0.75, "y": 0.25}, mask, unknown)


def printed(*rationales: Rationale, terminal: bool = False) -> str:
    out = io.StringIO()
    print_rationales(
        Console(file=out, force_terminal=terminal, color_system="truecolor" if terminal else None), rationales
    )
    return out.getvalue()


def test_a_highlight_of_known_words_has_no_note():
    assert printed(rationale("a goal now", [0, 1, 0])) == "x   75%  a [[goal]] now\n"


def test_no_evidence_and_unknown_words_are_noted():
    assert printed(rationale("a goal", [0, 0])) == "x   75%  a goal  (nothing marked: default label)\n"
    assert printed(rationale("a goal", [0, 1], (1,))) == "x   75%  a [[goal]]  (1 unknown word)\n"
    both = rationale("a goal", [0, 0], (0, 1))
    assert printed(both) == "x   75%  a goal  (nothing marked: default label)  (2 unknown words)\n"
    wrong = replace(both, document=replace(both.document, label="y"))
    assert printed(wrong).endswith("(2 unknown words)  (is y)\n")


def test_notes_are_shown_in_colours_too():
    shown = printed(rationale("a goal", [0, 0], (1,)), terminal=True)
    assert "(nothing marked: default label)" in shown and "(1 unknown word)" in shown


def test_neither_texts_nor_labels_steer_the_terminal():
    hostile = rationale(f"§{STEERING}[bold]§", [0] * 5, (0, 4), label=f"x{STEERING}")
    hostile = replace(hostile, document=replace(hostile.document, label=f"gold{STEERING}[/]"))
    shown = printed(hostile)
    assert not set(STEERING) & set(shown)
    assert "[bold]" in shown and "[/])" in shown and "(2 unknown words)" in shown


def test_a_label_is_one_line():
    hostile = rationale("a goal", [0, 1], label="x\nerror: y")
    hostile = replace(hostile, document=replace(hostile.document, label="gold\nerror: z"))
    assert printed(hostile).count("\n") == 1


@pytest.mark.parametrize("style", [None, "red"])
def test_what_is_said_is_one_harmless_line(capsys, style):
    Screen(stderr=True).say(f"error: {STEERING}\n[bold]no such file.", style)
    said = capsys.readouterr().err
    assert not set(STEERING) & set(said) and said.count("\n") == 1 and said.endswith("[bold]no such file.\n")


def test_messages_and_warnings_are_harmless_lines():
    out = io.StringIO()
    logger = logging.Logger("test")
    logger.addHandler(Messages(Console(file=out, color_system=None)))
    for level in (logging.INFO, logging.WARNING):
        logger.log(level, "the label %s\nerror", STEERING)
    assert not set(STEERING) & set(out.getvalue()) and out.getvalue().count("\n") == 2


def test_json_does_not_steer_the_terminal_and_says_the_same():
    fields = rationale(f"§{STEERING}§", [0, 0], (0,), label=f"x{STEERING}").to_json()
    line = json_line(fields)
    assert not set(STEERING) & set(line) and "\n" not in line
    assert json.loads(line) == fields and "§" in line
