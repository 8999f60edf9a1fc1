"""A trained model scored: on its run's own test rows, with references beside it, or on other data."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from genspp.app.configure import data_of, estimator_of
from genspp.app.predict import columns_of, open_model
from genspp.app.runs import Run
from genspp.data.columns import Columns
from genspp.data.corpus import Corpus, Splits
from genspp.data.sources import Options, find_source
from genspp.errors import RunError
from genspp.evaluation import beside
from genspp.evaluation.evaluate import evaluate
from genspp.methods.base import Rationalizer
from genspp.model.rationale import Rationale

# What training itself had to say: of its highlights on validation rows, and of its end.
TOLD = ("sufficiency", "left_over", "stopped_early")


def evaluate_folder(
    folder: Path, source: str | None = None, named: Columns | None = None, on_bad_row: str = "error"
) -> tuple[dict[str, Any], list[Rationale]]:
    """Return the figures of a folder's model and what it says of each row: its own test rows, or other data."""
    model, run = open_model(folder)
    if source is not None:
        options = Options(named or Columns(), on_bad_row=on_bad_row, truncate=model.truncate)
        return evaluate(model, _rows(model, run, source, options))
    if run is None:
        raise RunError("a model folder by itself has no test rows; name the data to evaluate on.")
    return evaluate_run(model, run, data_of(run).splits)


def evaluate_run(model: Rationalizer, run: Run, splits: Splits) -> tuple[dict[str, Any], list[Rationale]]:
    """Return the figures of a run's model on its own test rows, references beside them, and what it says of each."""
    metrics, rationales = evaluate(model, splits.test)
    written = run.metrics()
    rate = metrics["selection_rate"]
    if beside.complete(written) and written["selection_rate"] == rate:  # made for this model
        found = {name: written[name] for name in beside.FIGURES}
    else:
        found = references_of(run, splits, rate)
    told = {name: written[name] for name in TOLD if name in written}
    return beside.together(metrics | told, found), rationales


def references_of(run: Run, splits: Splits, rate: float) -> dict[str, float | None]:
    """Return what a run's figures on its own test rows are read beside. rate: its R there."""
    asked = estimator_of(run)
    return beside.references(splits, rate, asked.seed, asked.class_weight, asked.evidence_for)


def _rows(model: Rationalizer, run: Run | None, text: str, options: Options) -> Corpus:
    source, known, named = find_source(text), [str(name) for name in model.classes_], options.columns
    if not source.takes_columns:
        return source.test_rows(options, known)
    columns = columns_of(run, named)
    own = columns.highlight if named.highlight is None else None
    if own is not None and own not in source.fieldnames():
        columns = replace(columns, highlight=None)  # the run's own data had one; this need not
    return source.test_rows(replace(options, columns=columns, tokenizer=model.tokenizer), known)
