"""Tables beside the main ones: what figures are read beside, cost, other word vectors."""

from collections.abc import Sequence

from genspp.experiments import paper
from genspp.experiments.board import Board, metric_cell, over_seeds
from genspp.experiments.names import OURS, data_title, method_title
from genspp.experiments.paper_tables import METRICS, SEEDS, VECTORS, Cells, general_notes, is_published
from genspp.experiments.results import Result
from genspp.report.result_table import Cell, Column, ResultTable, Row

BESIDE = {
    "full_text_clf_f1": Column("full text", group="Clf-F1"),
    "tfidf_clf_f1": Column("TF-IDF + LR", group="Clf-F1"),
    "wordlist_hl_f1": Column("word list", digits=1, group="Hl-F1 at this R"),
    "random_hl_f1": Column("random", digits=1, group="Hl-F1 at this R"),
    "all_hl_f1": Column("all", digits=1, group="Hl-F1 of"),
    "function_words": Column("function words", digits=1, group="Of what is marked"),
}
OTHERS = {
    "clf_f1": Column("Clf-F1"),
    "tfidf_clf_f1": Column("TF-IDF + LR", group="Clf-F1"),
    "hl_f1": Column("Hl-F1"),
    "wordlist_hl_f1": BESIDE["wordlist_hl_f1"],
    "selection_rate": Column("R"),
    "function_words": BESIDE["function_words"],
}
HELD = (Column("Precision"), Column("Recall"), Column("Runs with a silent class"))
SILENT = 0.9
_FUNCTION_WORDS = "Function words: English stop words, and tokens with neither letter nor digit."
_BESIDE_NOTES = (
    "In percent. Full text: a predictor of the same size that sees every token. TF-IDF + LR: logistic regression on "
    "all words. Word list, random: the words that say most for a class, and tokens drawn by chance, as many as each "
    "run selects. All: every token. Runs made before these were measured have a dash.",
    _FUNCTION_WORDS,
    "Precision and recall of the selected tokens against the gold ones, over all test texts.",
    f"A class is silent where more than {SILENT:.0%} of its test texts have no highlight at all.",
)
COST = (
    *(Column(name, group="Minutes per run") for name in ("ours", "paper")),
    *(Column(name, group="Minutes, all seeds") for name in ("ours", "paper")),
    Column("Steps", digits=1),
    Column("Seconds per step", digits=2),
    *(Column(name, digits=0, group="Parameters") for name in ("ours", "paper")),
    Column("Peak memory, MB", digits=0),
    SEEDS,
)


def beside_table(board: Board, data: str, preset: str) -> ResultTable | None:
    """Return what the main table is read beside: plain classifiers and highlighters, what Hl-F1 is made of, silence."""
    runs = {method: found for method, found in board.methods(data, preset).items() if found}
    if not runs:
        return None
    rows = tuple(
        Row(method_title(method), (*_beside(found), *_held(found), Cell(len(found)))) for method, found in runs.items()
    )
    title = f"{data_title(data)}, preset {preset}: what the figures are read beside"
    return ResultTable(title, (*BESIDE.values(), *HELD, SEEDS), rows, tuple(("", note) for note in _BESIDE_NOTES))


def others_table(board: Board, preset: str) -> ResultTable | None:
    """Return the runs on data sets that the paper does not have, beside what plain means reach; None without any."""
    rows = []
    for data, found in board.grids("table1"):
        if found != preset or is_published(data):
            continue
        runs = {method: some for method, some in board.methods(data, preset).items() if some}
        for number, (method, some) in enumerate(runs.items()):
            cells = (*(metric_cell(some, name) for name in OTHERS), Cell(len(some)))
            rows.append(Row(f"{data_title(data)}: {method_title(method)}", cells, rule=number == 0))
    notes = (("", "In percent; mean ± population deviation over seeds."), ("", _FUNCTION_WORDS))
    return ResultTable(f"Other data, preset {preset}", (*OTHERS.values(), SEEDS), tuple(rows), notes) if rows else None


def _beside(runs: Sequence[Result]) -> Cells:
    cells = {name: metric_cell(runs, name) for name in BESIDE}
    return tuple(None if cell is None else Cell(cell.mean) for cell in cells.values())


def _held(runs: Sequence[Result]) -> Cells:
    if any(run.metrics["hl_f1"] is None for run in runs):
        return (None, None, _silent(runs))
    pairs = [run.predictions().precision_recall() for run in runs]
    return (*(over_seeds(side, 100.0) for side in zip(*pairs, strict=True)), _silent(runs))


def _silent(runs: Sequence[Result]) -> str:
    return f"{sum(max(run.predictions().silence()) > SILENT for run in runs)} of {len(runs)}"


def vectors_table(board: Board, other: Board, data: str, preset: str) -> ResultTable | None:
    """Return runs with other word vectors below the main table's at the same seeds; None where there are none."""
    rows, runs = [], []
    for method, others in other.methods(data, preset).items():
        seeds = {run.seed for run in others}
        pair = [run for run in board.find(data, preset, method) if run.seed in seeds], others
        for found in (found for found in pair if found and others):
            vectors = str(found[0].content["data"]["vectors"])
            name = f"{method_title(method)}, {VECTORS.get(vectors, vectors)}"
            cells = (*(metric_cell(found, metric) for metric in (*METRICS, "full_text_clf_f1")), Cell(len(found)))
            rows.append(Row(name, cells, rule=found is pair[0]))
            runs += found
    if not rows:
        return None
    title = f"{data_title(data)}, preset {preset}: other word vectors"
    columns = (*(Column(column.name) for column in METRICS.values()), BESIDE["full_text_clf_f1"], SEEDS)
    return ResultTable(title, columns, tuple(rows), tuple(general_notes(data, runs)))


def cost_table(board: Board, data: str, preset: str) -> ResultTable | None:
    """Return time, size and memory of the runs of table1 beside the published ones."""
    runs = {
        method: found for method, found in board.methods(data, preset).items() if found or (data, method) in paper.COST
    }
    everything = [run for found in runs.values() for run in found]
    if not everything:
        return None
    rows = tuple(Row(method_title(method), _cost(data, method, found)) for method, found in runs.items())
    notes = (
        ("", f"Ours: training alone, each run on one core, several runs at once, on {_machines(everything)}."),
        (
            "",
            "The paper: one NVIDIA 3060Ti; five seeds. Its memory figures follow from the parameters and are left out.",
        ),
        ("", "A step is a generation of GenSPP (the first population counts as one) or an epoch of the others."),
        ("", "Parameters of GenSPP: predictor, as the paper counts, + generator."),
        ("", "Peak memory is that of the whole process: Python, torch and the data with it."),
    )
    return ResultTable(f"{data_title(data)}, preset {preset}: cost", COST, rows, notes)


def _cost(data: str, method: str, runs: Sequence[Result]) -> Cells:
    theirs = paper.COST.get((data, method))
    minutes = [run.training["seconds"] / 60 for run in runs]
    return (
        over_seeds(minutes),
        None if theirs is None else Cell(theirs.minutes.mean, theirs.minutes.std),
        Cell(sum(minutes)) if runs else None,
        None if theirs is None else Cell(theirs.total_minutes),
        over_seeds([run.training["steps"] for run in runs]),
        over_seeds([run.training["seconds_per_step"] for run in runs]),
        _parameters(method, runs[0].training["parameters"]) if runs else None,
        None if theirs is None else Cell(theirs.parameters),
        over_seeds([run.training["peak_memory_mb"] for run in runs]),
        Cell(len(runs)) if runs else None,
    )


def _parameters(method: str, parts: dict[str, int]) -> Cell | str:
    return f"{parts['predictor']} + {parts['generator']}" if method == OURS else Cell(parts["all"])


def _machines(runs: Sequence[Result]) -> str:
    machines = [run.content["machine"] for run in runs]
    return " and ".join(sorted({f"{one['cpu']} ({one['cores']} cores)" for one in machines}))
