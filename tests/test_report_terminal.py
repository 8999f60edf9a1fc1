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
from genspp.report import terminal
from genspp.report.terminal import Live, Messages, Screen, describe, duration, early_end, print_rationales

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


def test_lines_that_end_as_windows_has_it_are_lines():
    assert printed(rationale("a goal\r\nnow", [0, 1, 0])) == "x   75%  a [[goal]] \nnow\n"


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


def test_a_text_that_was_not_read_to_its_end_is_noted():
    cut = rationale("a goal now and then", [0, 1, 0, 0, 0])
    cut = replace(cut, document=cut.document.first(2), mask=[0, 1])
    assert printed(cut) == "x   75%  a [[goal]] now and then  (only its first 2 words were read)\n"


# ---------------------------------------------------------------------- progress


class Clock:
    """A time that passes only when it is told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def shown(steps, monkeypatch, is_terminal: bool = False, every: float = 10.0) -> str:
    """Return what is printed of phases (words) and steps: (number, seconds, total, seconds until the time is up)."""
    out, clock = io.StringIO(), Clock()
    monkeypatch.setattr(terminal, "monotonic", clock)
    console = Console(file=out, force_terminal=is_terminal, color_system=None, width=200)
    with Live(console, every) as live:
        for step in steps:
            if isinstance(step, str):
                live.say(step)
            else:
                number, seconds, total, left = step
                clock.now += seconds
                live({"generation": number, "best_fitness": 2.5, "seconds": seconds}, total, left)
    return out.getvalue()


def test_phases_and_steps_are_lines_where_there_is_no_terminal(monkeypatch):
    steps = ["reading t.csv", "first generators", (0, 100, 11, None), (1, 4, 11, None), (2, 8, 11, None)]
    assert shown([*steps, (3, 6, 11, None), (10, 1, 11, None), "scoring\x1b texts"], monkeypatch).splitlines() == [
        "reading t.csv ...",
        "first generators ...",
        "generation 0/10: fitness 2.500, the time left is known after the next",  # the first one takes longer
        "generation 2/10: fitness 2.500, at most 48 s left",  # by the others; 1 and 3 came too soon for a line
        "generation 10/10: fitness 2.500, at most 0 s left",
        "scoring\ufffd texts ...",
    ]


def test_the_time_left_ends_with_the_clock_s(monkeypatch):
    steps = [(0, 1, 101, 60.0), (1, 2, 101, 59.0), (2, 60, 101, -1.0)]
    lines = shown(steps, monkeypatch, every=0).splitlines()
    assert [line.rpartition(", ")[2] for line in lines] == [
        "at most 60 s left",
        "at most 59 s left",
        "at most 0 s left",
    ]


def test_a_terminal_shows_the_same_with_a_bar_below(monkeypatch):
    steps = [(0, 70, 11, None), (1, 7, 11, None)]
    seen = shown(["reading t.csv", "first generators", *steps], monkeypatch, is_terminal=True)
    assert "reading t.csv ..." in seen and "first generators ..." in seen
    assert "generation 1/10: fitness 2.500, at most 63 s left" in seen


def test_a_training_of_one_step_has_no_time_left(monkeypatch):
    assert shown([(0, 7, 1, None)], monkeypatch).endswith(", at most 0 s left\n")


def test_no_share_of_a_step_is_below_nothing():
    line = {"generation": 1, "best_fitness": -2.5, "best_sufficiency": 1.02, "best_left_over": -0.08}
    assert describe(line) == "fitness -2.500, sufficient 102%, left over 0%"


def test_times_as_people_say_them():
    assert [duration(seconds) for seconds in (0, 42, 89.4, 150, 7300)] == ["0 s", "42 s", "89 s", "2.5 min", "2.0 h"]


def test_what_ended_a_training_is_said_with_how_to_repeat_it():
    def said(**early):
        return early_end({"stopped_early": early})

    clock = said(by="time", step="generation", number=7)
    assert clock == "stopped by the clock (--minutes) after generation 7; --generations 7 repeats it"
    assert said(by="finish", step="epoch", number=3) == "finished early (genspp finish) after epoch 3"
