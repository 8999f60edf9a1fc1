"""Texts explained: those that were typed, and those of a file, with the labels that it has."""

import logging
from dataclasses import replace

from genspp.app.predict import columns_of
from genspp.app.runs import Run
from genspp.data.columns import Columns, find_label
from genspp.data.corpus import Corpus
from genspp.data.faults import Faults
from genspp.data.fields import label_text
from genspp.data.records import read_unlabelled
from genspp.data.rows import LINES, read_raw
from genspp.data.sources import find_source
from genspp.errors import GenSPPError
from genspp.model.explainer import Explainer
from genspp.model.rationale import Rationale

logger = logging.getLogger("genspp")


def explain_file(
    model: Explainer, run: Run | None, file: str, named: Columns, on_bad_row: str = "error"
) -> list[Rationale]:
    """Explain the rows of a file; unless columns are named, .txt files and standard input may be one text per line.

    Labels, where there are any, come back inside the rationales.
    """
    raw = read_raw(file, keep_broken=True, lines=named == Columns())
    columns = Columns(text="text") if raw.format == LINES else columns_of(run, named)
    given = read_unlabelled(raw, columns, model.cut_by, on_bad_row)
    for note in given.notes:
        logger.warning(note)
    column, documents = find_label(raw, named.label, columns.label), list(given.corpus)
    if column is not None:
        faults = Faults(raw.name, "row")
        for number, row in enumerate(given.rows):
            try:
                documents[number] = replace(documents[number], label=label_text(row.get(column)))
            except ValueError as error:
                faults.add(int(documents[number].id), error)
        faults.refuse()
    return model.explain(Corpus(tuple(documents), given.corpus.tokenizer))


def model_name(model: Explainer, run: Run | None) -> str:
    """Return what a model is called: its method, and the data that it was trained on, where that is known."""
    try:
        return model.method if run is None else f"{model.method} on {find_source(run.config['data']['source']).called}"
    except (GenSPPError, KeyError):  # nobody trains from here: an edited source is no reason to explain nothing
        return model.method
