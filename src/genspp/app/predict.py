"""A trained model at work: opened from its folder, asked about texts and files of texts."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from genspp.app.runs import Run
from genspp.data.columns import Columns
from genspp.data.records import read_unlabelled
from genspp.data.rows import output_format, write_rows
from genspp.errors import RunError
from genspp.methods.base import Rationalizer
from genspp.model.rationale import Rationale

logger = logging.getLogger("genspp")


def open_model(folder: Path) -> tuple[Rationalizer, Run | None]:
    """Open a run folder's model, or a model folder by itself."""
    if (folder / "manifest.json").exists():
        return Rationalizer.load(folder), None
    run = Run.open(folder)
    if not run.model_folder.is_dir():
        raise RunError(f"{folder} has no model yet; {run.ways_on}.")
    return Rationalizer.load(run.model_folder), run


def open_finished(folder: Path) -> tuple[Run, Rationalizer]:
    """Open a finished run, for what is asked on its own rows."""
    if (folder / "manifest.json").exists():
        raise RunError("a model folder by itself has no rows to look at; give the run folder that it is in.")
    run = Run.open(folder)
    if not run.finished:
        raise RunError(f"{folder} is not finished; {run.ways_on}.")
    return run, Rationalizer.load(run.model_folder)


def explain_typed(model: Rationalizer, texts: Sequence[str]) -> list[Rationale]:
    """Explain texts that were typed; what is not UTF-8 reaches Python as half surrogates, which nothing can print."""
    return model.explain([text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for text in texts])


def columns_of(run: Run | None, named: Columns) -> Columns:
    """Return the columns that were named, and the run's own for the others; its split is that of its own file."""
    known = {} if run is None else run.config["data"].get("columns") or {}
    if named.text is not None or named.tokens is not None:
        known = {**known, "text": None, "tokens": None}
    if named.highlight is not None:
        known = {**known, "highlight_form": None}
    wanted = ("text", "tokens", "label", "highlight", "highlight_form")
    return replace(named, **{name: known.get(name) for name in wanted if getattr(named, name) is None})


def predict_file(folder: Path, file: str, out: str, named: Columns, on_bad_row: str = "error") -> None:
    """Write the rows of a file again, each with its label and highlight, or that there is none, and unknown words."""
    model, run = open_model(folder)
    given = read_unlabelled(file, columns_of(run, named), model.tokenizer, on_bad_row)
    for note in given.notes:
        logger.warning(note)
    out_format = output_format(out, given.format)
    rationales = model.explain(given.corpus)
    rows = [
        row | _prediction(rationale, given.fieldnames, model.truncate)
        for row, rationale in zip(given.rows, rationales, strict=True)
    ]
    write_rows(out, out_format, rows)


def _prediction(rationale: Rationale, taken: Collection[str], truncate: int | None) -> dict[str, Any]:
    """Return what is added to a row. A name that the rows have already gets `predicted_` before it, or more."""
    added = {
        "label": str(rationale.label),
        "probability": round(rationale.probabilities[rationale.label], 4),
        "highlight": [list(span) for span in rationale.spans],
        "highlighted_words": " | ".join(rationale.text[start:end] for start, end in rationale.spans),
        "no_evidence": rationale.no_evidence,
        "unknown_words": len(rationale.unknown),
        **({} if truncate is None else {"unread_words": rationale.document.unread}),
    }

    def free(name: str) -> str:
        return free(f"predicted_{name}") if name in taken else name

    return {free(name): value for name, value in added.items()}
