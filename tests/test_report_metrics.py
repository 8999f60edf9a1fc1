"""Figures on a terminal, with the references below each."""

import io

from rich.console import Console

from genspp.report.terminal import print_metrics

FIGURES = {"clf_f1": 0.5, "full_text_clf_f1": 0.6, "hl_f1": 0.4, "selection_rate": 0.1, "selection_size": 2.0}
REFERENCES = {"tfidf_clf_f1": 0.7, "wordlist_hl_f1": 0.3, "random_hl_f1": 0.1, "all_hl_f1": 0.2}


def printed(metrics, **options):
    console = Console(file=io.StringIO(), width=120, **options)
    print_metrics(console, metrics)
    return console.file.getvalue()


def test_references_stand_below_what_they_are_for():
    shown = printed(FIGURES | REFERENCES)
    starts = ["Clf-F1", "  full text", "  TF-IDF + LR", "Hl-F1", "  word list", "  random", "  all", "R", "S"]
    assert all(line.startswith(start) for line, start in zip(shown.splitlines(), starts, strict=True))
    assert "70.00 %" in shown and "30.00 %" in shown


def test_what_is_missing_has_no_line():
    for metrics in (FIGURES, FIGURES | dict.fromkeys(REFERENCES)):
        assert len(printed(metrics).splitlines()) == 5
    shown = printed(FIGURES | {"hl_f1": None})
    assert "–" in shown and "there are no gold highlights to compare with" in shown


def test_warnings_are_yellow():
    metrics = FIGURES | {"warnings": ["Clf-F1 is near chance."]}
    assert printed(metrics).endswith("warning: Clf-F1 is near chance.\n")
    coloured = printed(metrics, force_terminal=True, color_system="standard")
    assert "\x1b[33mwarning: Clf-F1 is near chance." in coloured
