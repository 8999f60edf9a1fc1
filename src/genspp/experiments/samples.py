"""How small samples of real data do beside TF-IDF and a logistic regression, and how long they take.

    python -m genspp.experiments.samples SOURCE...        (or `make samples DATA="SOURCE..."`)

draws samples of several sizes from every source, as `genspp train` takes them, trains on each with all defaults on all
cores, and writes results/samples.json, from which docs/results/cost.md takes its table. The texts that were not drawn
are the test texts. A small sample has fewer classes than the source where these have many: as many rows for each as
`_LEAST`. One draw says little, so there are several.
"""

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from genspp.data.corpus import Document
from genspp.data.sources import load_source
from genspp.data.sources.base import find_source
from genspp.evaluation.significance import CONFIDENCE, mean_interval
from genspp.experiments.names import data_name, data_title
from genspp.experiments.results import code_version, machine
from genspp.experiments.scale import train_on
from genspp.files import write_json
from genspp.report.result_table import Cell, Column, ResultTable, Row
from genspp.streams import frozen

FILE = "samples.json"
COMMAND = "python -m genspp.experiments.samples"
ROWS, DRAWS = (30, 300, 1_000), 6
_LEAST, _TEST_TEXTS = 10, 2_000  # rows per class, in the mean; and test texts at most
_FAR = 0.03  # that much of Clf-F1 below TF-IDF is far
Text = tuple[str, str]  # and its label


def texts_of(source: str) -> list[Text]:
    """Return all texts of a source, whatever its splits, and their labels; no text twice."""
    splits = load_source(source)
    found: dict[str, Document] = {}
    for document in (*splits.train, *splits.val, *splits.test):
        found.setdefault(document.text, document)
    return [(text, str(document.label)) for text, document in found.items()]


def drawn(texts: Sequence[Text], rows: int, draw: int) -> tuple[list[Text], list[Text]]:
    """Return a sample of so many rows and the texts to test it on, the same ones for the same draw."""
    random, classes = frozen(draw), sorted({label for _, label in texts})
    kept = set(random.permutation(classes)[: max(2, rows // _LEAST)].tolist())
    some = [texts[row] for row in random.permutation(len(texts)) if texts[row][1] in kept]
    return some[:rows], some[rows : rows + _TEST_TEXTS]


def samples(sources: Sequence[str], sizes: Sequence[int] = ROWS, draws: int = DRAWS) -> dict[str, Any]:
    """Train on samples of every source, one after the other."""
    found = []
    for source, rows in ((source, rows) for source in sources for rows in sizes):
        texts = texts_of(source)
        for draw in range(1, draws + 1):
            train, test = drawn(texts, rows, draw)
            with tempfile.TemporaryDirectory() as folder:
                measured = train_on(train, test, Path(folder))
            classes = len({label for _, label in train})
            found.append({"data": data_name(source), "rows": rows, "draw": draw, "classes": classes, **measured})
            told = " ".join(f"{name} {100 * measured[name]:.1f}" for name in ("clf_f1", "tfidf_clf_f1"))
            print(f"{data_name(source)}, {rows} rows, draw {draw}: {measured['seconds']} s, {told}", flush=True)
    command = " ".join([COMMAND, *(find_source(source).command for source in sources)])
    return {"command": command, "code": code_version(), "machine": machine(), "samples": found}


def samples_table(content: Mapping[str, Any]) -> ResultTable | None:
    """Return what was measured as a table; None where nothing was. content: that of results/samples.json."""
    groups: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for one in content.get("samples", ()):
        groups.setdefault((one["data"], one["rows"]), []).append(one)
    if not groups:
        return None
    rows = []
    for (data, size), runs in groups.items():
        behind = [one["clf_f1"] - one["tfidf_clf_f1"] for one in runs]
        mean, width = mean_interval([100 * value for value in behind])
        ours, theirs, marked = (
            Cell(100 * float(np.mean([one[name] for one in runs])))
            for name in ("clf_f1", "tfidf_clf_f1", "selection_rate")
        )
        far = f"{sum(value < -_FAR for value in behind)} of {len(runs)}"
        classes, seconds = (Cell(max(one[name] for one in runs)) for name in ("classes", "seconds"))
        cells = (classes, seconds, ours, theirs, Cell(mean, width), far, marked)
        rows.append(Row(f"{data_title(data)}, {size:,} rows", cells))
    columns = (
        *(Column("Classes", digits=0), Column("Seconds, most", digits=0)),
        *(Column(name, digits=1) for name in ("Clf-F1", "TF-IDF + LR", "Difference")),
        *(Column("Far below"), Column("R", digits=1)),
    )
    notes = (
        ("", f"Means over samples; the difference with its interval ({100 * CONFIDENCE:.0f} %, Student's t)."),
        ("", f"Far below: samples with a Clf-F1 more than {100 * _FAR:.0f} points under that of TF-IDF + LR."),
        ("", f"Tested on the texts that were not drawn, {_TEST_TEXTS:,} at most."),
    )
    return ResultTable("Samples of real data, all defaults", columns, tuple(rows), notes, corner="Data")


def main() -> None:
    """Run as a program."""
    if len(sys.argv) < 2:
        sys.exit(f"no data was named; give sources, as in `{COMMAND} texts.csv`.")
    write_json(Path("results") / FILE, samples(sys.argv[1:]))


if __name__ == "__main__":
    main()
