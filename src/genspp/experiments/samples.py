"""How small samples of real data do beside TF-IDF and a logistic regression, and how long they take.

    python -m genspp.experiments.samples SOURCE...        (or `make samples DATA="SOURCE..."`)

draws samples of several sizes from every source, as `genspp train` takes them, trains on each with all defaults on all
cores, and writes results/samples.json, from which docs/results/cost.md takes its table. The texts that were not drawn
are the test texts. A small sample has fewer classes than the source where these have many: as many rows for each as
`_LEAST`, in the mean, and none of fewer than three rows. One draw says little, so there are several. What is compiled
is compiled before, by the first one. Few texts are what the regression and the committee are for, so what decides is
asked without each of them, too, at the same highlights.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from genspp.data.corpus import Document
from genspp.data.sources import load_source
from genspp.data.sources.base import find_source
from genspp.evaluation.metrics import clf_f1
from genspp.evaluation.significance import CONFIDENCE, mean_interval
from genspp.experiments.names import data_name, data_title
from genspp.experiments.results import code_version, machine
from genspp.experiments.scale import train_on
from genspp.files import write_json
from genspp.methods import Rationalizer
from genspp.model.networks import Committee, Predictor
from genspp.report.result_table import Cell, Column, ResultTable, Row
from genspp.streams import frozen

FILE = "samples.json"
COMMAND = "python -m genspp.experiments.samples"
ROWS, DRAWS = (30, 300, 1_000), 6
_LEAST, _FEWEST = 10, 3  # rows per class, in the mean; and of every class
_TEST_TEXTS = 100, 2_000  # at least, or there is no such sample; and at most
_FAR = 0.03  # that much of Clf-F1 below TF-IDF is far
Text = tuple[str, str]  # and its label


def texts_of(source: str) -> list[Text]:
    """Return all texts of a source, whatever its splits, and their labels; no text twice."""
    splits = load_source(source)
    found: dict[str, Document] = {}
    for document in (*splits.train, *splits.val, *splits.test):
        found.setdefault(document.text, document)
    return [(text, str(document.label)) for text, document in found.items()]


def drawn(texts: Sequence[Text], rows: int, draw: int) -> tuple[list[Text], list[Text]] | None:
    """Return a sample of so many rows and the texts to test it on, the same ones for the same draw; None: too few."""
    random, classes = frozen(draw), sorted({label for _, label in texts})
    kept = set(random.permutation(classes)[: max(2, rows // _LEAST)].tolist())
    order = random.permutation(len(texts))
    least, most = _TEST_TEXTS
    while len(kept) > 1:
        some = [texts[row] for row in order if texts[row][1] in kept]
        found = Counter(label for _, label in some[:rows])
        frequent = {label for label in kept if found[label] >= _FEWEST}
        if frequent == kept:
            return (some[:rows], some[rows : rows + most]) if len(some) >= rows + least else None
        kept = frequent
    return None


def without_parts(folder: Path, test: Sequence[Text]) -> dict[str, float]:
    """Return the Clf-F1 of a model without its regression, and with one predictor beside that instead of all."""
    model = Rationalizer.load(folder)
    whole, found = model.model_.predictor, {}
    assert isinstance(whole, Committee)
    texts, labels = ([row[column] for row in test] for column in (0, 1))
    members = [member for member in whole.members if isinstance(member, Predictor)]
    parts = {"no_regression": Committee(members), "one_predictor": Committee(members[:1], whole.words)}
    for name, part in parts.items():
        model.model_.predictor = part
        predicted = [str(label) for label in model.predict(texts)]
        found[name] = clf_f1(labels, predicted, [str(name) for name in model.classes_])
    return found


def samples(
    sources: Sequence[str], path: Path, sizes: Sequence[int] = ROWS, draws: int = DRAWS
) -> list[dict[str, Any]]:
    """Train on samples of every source, one after the other; write what is known into a file after each."""
    found: list[dict[str, Any]] = []
    command = " ".join([COMMAND, *(find_source(source).command for source in sources)])
    head = {"command": command, "code": code_version(), "machine": machine()}
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            texts, data = texts_of(source), data_name(source)
            for rows, draw in product(sizes, range(1, draws + 1)):
                sample = drawn(texts, rows, draw)
                if sample is None:
                    print(f"{data}, {rows} rows, draw {draw}: too few texts", flush=True)
                    continue
                for _ in range(1 if found else 2):
                    measured = train_on(*sample, Path(folder))
                measured |= without_parts(Path(folder) / "run" / "model", sample[1])
                classes = len({label for _, label in sample[0]})
                found.append({"data": data, "rows": rows, "draw": draw, "classes": classes, **measured})
                write_json(path, {**head, "samples": found})
                told = " ".join(f"{name} {100 * measured[name]:.1f}" for name in ("clf_f1", "tfidf_clf_f1"))
                print(f"{data}, {rows} rows, draw {draw}: {measured['seconds']} s, {told}", flush=True)
    return found


def samples_table(content: Mapping[str, Any]) -> ResultTable | None:
    """Return what was measured as a table; None where nothing was. content: that of results/samples.json."""
    groups: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for one in content.get("samples", ()):
        groups.setdefault((one["data"], one["rows"]), []).append(one)
    if not groups:
        return None
    rows = [Row(f"{data_title(data)}, {size:,} rows", _cells(runs)) for (data, size), runs in groups.items()]
    rows.append(Row("All", _cells(content["samples"]), rule=True))
    columns = (
        *(Column("Classes", digits=0), Column("Seconds, median", digits=0)),
        *(Column(name, digits=1) for name in ("Clf-F1", "TF-IDF + LR", "Difference")),
        *(Column("Far below"), Column("R", digits=1)),
        *(Column(name, digits=1) for name in ("Regression", "Committee")),
    )
    notes = (
        ("", f"Means over samples; differences with their intervals ({100 * CONFIDENCE:.0f} %, Student's t)."),
        ("", "Regression, committee: what Clf-F1 gains by it at the same highlights; five predictors instead of one."),
        ("", f"Far below: samples with a Clf-F1 more than {100 * _FAR:.0f} points under that of TF-IDF + LR."),
        ("", f"Tested on the texts that were not drawn, {_TEST_TEXTS[1]:,} at most."),
    )
    return ResultTable("Samples of real data, all defaults", columns, tuple(rows), notes, corner="Data")


def _cells(runs: Sequence[Mapping[str, Any]]) -> tuple[Cell | str, ...]:
    def gained(other: str) -> Cell:
        return Cell(*mean_interval([100 * (one["clf_f1"] - one[other]) for one in runs]))

    ours, theirs, marked = (
        Cell(100 * float(np.mean([one[name] for one in runs]))) for name in ("clf_f1", "tfidf_clf_f1", "selection_rate")
    )
    far = f"{sum(one['clf_f1'] - one['tfidf_clf_f1'] < -_FAR for one in runs)} of {len(runs)}"
    classes, seconds = (
        Cell(max(one["classes"] for one in runs)),
        Cell(float(np.median([one["seconds"] for one in runs]))),
    )
    parts = (gained(name) for name in ("no_regression", "one_predictor"))
    return classes, seconds, ours, theirs, gained("tfidf_clf_f1"), far, marked, *parts


def main() -> None:
    """Run as a program."""
    if len(sys.argv) < 2:
        sys.exit(f"no data was named; give sources, as in `{COMMAND} texts.csv`.")
    samples(sys.argv[1:], Path("results") / FILE)


if __name__ == "__main__":
    main()
