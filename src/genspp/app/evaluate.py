"""A trained model scored: on its run's own test rows, or on other data."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from genspp.app.configure import data_of
from genspp.app.predict import columns_of, open_model
from genspp.app.runs import Run
from genspp.data.corpus import Corpus
from genspp.data.records import Columns
from genspp.data.rows import read_raw
from genspp.data.sources import Options, find_source
from genspp.errors import RunError
from genspp.evaluation.evaluate import evaluate
from genspp.methods.base import Rationalizer
from genspp.model.rationale import Rationale


def evaluate_folder(
    folder: Path, source: str | None = None, named: Columns | None = None
) -> tuple[dict[str, Any], list[Rationale]]:
    """Return the figures of a folder's model and what it says of each row: its own test rows, or other data."""
    model, run = open_model(folder)
    return evaluate(model, _rows(model, run, source, named or Columns()))


def _rows(model: Rationalizer, run: Run | None, text: str | None, named: Columns) -> Corpus:
    if text is None:
        if run is None:
            raise RunError("a model folder by itself has no test rows; name the data to evaluate on.")
        return data_of(run).splits.test
    source, known = find_source(text), [str(name) for name in model.classes_]
    if not source.takes_columns:
        return source.test_rows(Options(named), known)
    columns = columns_of(run, named)
    if named.highlight is None and columns.highlight not in read_raw(source.place).fieldnames:
        columns = replace(columns, highlight=None)  # the run's own data had one; this need not
    return source.test_rows(Options(columns, tokenizer=model.tokenizer), known)
