"""What the highlights of every method are worth: the audits of their runs as a table, and who stands out in it."""

from collections.abc import Callable, Sequence

from genspp.evaluation.answers import Audit
from genspp.experiments.board import Board
from genspp.experiments.names import OURS, data_title, method_title
from genspp.experiments.results import Result
from genspp.report.result_table import Cell, Column, ResultTable, Row, summarise

Figure = Callable[[Audit], float | None]

_COLUMNS: tuple[tuple[Column, Figure], ...] = (
    (Column("Mask alone", digits=1), lambda found: found.mask_gain),
    (Column("gaps out", digits=1, group="Labels changed"), lambda found: found.gaps.changed_without),
    (Column("words in front", digits=1, group="Labels changed"), lambda found: found.gaps.changed_behind),
    (Column("Clf-F1", digits=1, group="EVAL-X"), lambda found: found.eval_x.highlights_clf_f1),
    (Column("rise", "up", digits=1, group="EVAL-X"), lambda found: found.eval_x.gain),
    (Column("Left", "down", digits=1), lambda found: found.share_left),
    (Column("Comprehensiveness", "up", digits=1), lambda found: found.eraser.comprehensiveness),
    (Column("Sufficiency", "down", digits=1), lambda found: found.eraser.sufficiency),
    (Column("before", digits=1, group="Pasted"), lambda found: found.pasted.before),
    (Column("after", "up", digits=1, group="Pasted"), lambda found: found.pasted.by_model),
)
_NOTE = (
    "Means over seeds, in percent or points; docs/audit.md has the questions. Runs made before runs were audited have "
    "a dash."
)
_SAID: tuple[tuple[str, Figure, str], ...] = (
    ("The mask alone tells", lambda found: found.mask_gain, "points of Clf-F1 over guessing"),
    ("The unmarked words tell", lambda found: found.share_left, "% of what the full text tells beyond guessing"),
    ("Highlights persuade EVAL-X", lambda found: found.eval_x.gain, "points of probability for the model's label"),
)
NOT_AUDITED = "None of these runs has been audited yet."


def audit_table(board: Board, data: str, preset: str) -> ResultTable | None:
    """Return the audits of the main comparison's runs; None where nothing has been run."""
    runs = {method: found for method, found in board.methods(data, preset).items() if found}
    if not runs:
        return None
    rows = tuple(
        Row(method_title(method), (*(audit_mean(found, figure) for _, figure in _COLUMNS), Cell(len(found))))
        for method, found in runs.items()
    )
    columns = (*(column for column, _ in _COLUMNS), Column("Seeds", digits=0))
    return ResultTable(f"{data_title(data)}, preset {preset}: audits", columns, rows, (("", _NOTE),))


def audit_sentence(board: Board, data: str, preset: str) -> str:
    """Say with whom a figure is least and most, and what GenSPP has."""
    sentences = []
    for beginning, figure, unit in _SAID:
        found = {method: audit_mean(runs, figure) for method, runs in board.methods(data, preset).items()}
        means = {method: round(cell.mean, 1) for method, cell in found.items() if cell is not None}
        if len(means) < 2:
            continue
        least, most = min(means.values()), max(means.values())
        ours = f"; {method_title(OURS)} has {means[OURS]:.1f}" if least < means.get(OURS, least) < most else ""
        low, high = (" and ".join(method_title(one) for one in means if means[one] == end) for end in (least, most))
        sentences.append(f"{beginning} least with {low} ({least:.1f} {unit}) and most with {high} ({most:.1f}){ours}.")
    return " ".join(sentences) or NOT_AUDITED


def audit_mean(runs: Sequence[Result], figure: Figure) -> Cell | None:
    """Return the mean of a figure over runs, in percent; None where one has none."""
    found = summarise([figure(audit) if (audit := run.audit) is not None else None for run in runs], 100.0)
    return None if found is None else Cell(found.mean)
