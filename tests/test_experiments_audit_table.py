from dataclasses import replace

import pytest

from audit_tools import SOUND
from experiment_tools import five_seeds
from genspp.evaluation.answers import Eraser, EvalX, Gaps, MaskAlone, Rest, Transplants
from genspp.experiments.audit_table import NOT_AUDITED, audit_sentence, audit_table
from genspp.experiments.board import Board

FIGURES = replace(  # every figure of the table another number
    SOUND,
    mask_alone=MaskAlone(0.51, 0.5),
    gaps=Gaps(0.02, 0.9, 0.03, 0.9),
    eval_x=EvalX(0.04, 0.9, 0.9, 0.9, 0.05),
    rest=Rest(0.524, 0.51, 0.9),
    eraser=Eraser(0.07, 0.08),
    pasted=Transplants(9, 0.99, 0.10, 0.09),
)


def test_every_figure_stands_in_its_column():
    runs = five_seeds("genspp", audit=FIGURES) + five_seeds("fr")
    table = audit_table(Board(runs), "hatexplain", "sound")
    assert [f"{column.group} {column.name}".strip() for column in table.columns] == [
        *("Mask alone", "Labels changed gaps out", "Labels changed words in front", "EVAL-X Clf-F1", "EVAL-X rise"),
        *("Left", "Comprehensiveness", "Sufficiency", "Pasted before", "Pasted after", "Seeds"),
    ]
    ours, theirs = table.rows
    assert [cell.mean for cell in ours.cells] == pytest.approx([*range(1, 11), 5])
    assert theirs.cells == (*[None] * 10, theirs.cells[-1])  # no audit: dashes
    assert audit_table(Board([]), "hatexplain", "sound") is None


def test_a_cell_is_the_mean_of_runs_that_all_have_the_figure():
    left = [replace(FIGURES, rest=Rest(0.5 + 0.04 * i, 0.5, 0.9)) for i in range(5)]
    runs = [run for i in range(5) for run in five_seeds("fr", audit=left[i])[i : i + 1]]
    assert audit_table(Board(runs), "hatexplain", "sound").rows[0].cells[5].mean == pytest.approx(20)
    silent = five_seeds("fr", audit=replace(FIGURES, eval_x=EvalX(0.4, 0.9, None, None, None)))[:1]
    cells = audit_table(Board(runs[1:] + silent), "hatexplain", "sound").rows[0].cells
    assert cells[4] is None and cells[3] is not None


def test_the_sentence_follows_the_audits():
    audits = {
        "fr": replace(FIGURES, mask_alone=MaskAlone(0.9, 0.5), rest=Rest(0.7, 0.5, 0.9)),
        "genspp": replace(FIGURES, mask_alone=MaskAlone(0.6, 0.5), rest=Rest(0.52, 0.5, 0.9)),
        "rnp": replace(FIGURES, mask_alone=MaskAlone(0.55, 0.5), rest=Rest(0.6, 0.5, 0.9)),
    }
    board = Board([run for method, audit in audits.items() for run in five_seeds(method, audit=audit)])
    sentence = audit_sentence(board, "hatexplain", "sound")
    assert (
        "The mask alone tells least with RNP (5.0 points of Clf-F1 over guessing) and most with FR (40.0); "
        "GenSPP has 10.0." in sentence
    )
    assert (
        "The unmarked words tell least with GenSPP (5.0 % of what the full text tells beyond guessing) and most with "
        "FR (50.0). " in sentence
    )


def test_those_who_share_an_end_are_all_named():
    audits = {"genspp": 0.5, "fr": 0.5, "rnp": 0.7}
    runs = [five_seeds(name, audit=replace(FIGURES, rest=Rest(left, 0.4, 0.9))) for name, left in audits.items()]
    sentence = audit_sentence(Board([run for found in runs for run in found]), "hatexplain", "sound")
    assert "The unmarked words tell least with GenSPP and FR (0.0 % of" in sentence


def test_runs_without_an_audit_are_not_spoken_of():
    board = Board(five_seeds("genspp", audit=FIGURES) + five_seeds("fr", audit=FIGURES)[:4] + five_seeds("fr")[4:])
    assert audit_sentence(board, "hatexplain", "sound") == NOT_AUDITED
