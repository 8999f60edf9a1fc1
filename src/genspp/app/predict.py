"""A trained model at work: opened from its folder, asked about texts and files of texts."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genspp.app.runs import Run
from genspp.data.columns import Columns
from genspp.data.records import read_unlabelled
from genspp.data.rows import output_format, write_rows
from genspp.errors import RunError
from genspp.model.explainer import Explainer
from genspp.model.folder import load_folder
from genspp.model.rationale import Rationale
from genspp.model.saved import SavedExplainer

if TYPE_CHECKING:  # which loads torch, and is not needed to explain
    from genspp.methods.base import Rationalizer

logger = logging.getLogger("genspp")


def open_explainer(folder: Path) -> tuple[Explainer, Run | None]:
    """Open a run folder's model, or a model folder by itself, to explain texts; torch is not needed for that."""
    model_folder, run = _find_model(folder)
    saved = load_folder(model_folder)
    if saved.networks is not None:
        return SavedExplainer(model_folder, saved), run
    return open_model(folder)  # of an earlier version


def open_model(folder: Path) -> tuple["Rationalizer", Run | None]:
    """Open a run folder's model, or a model folder by itself, as the method that it is."""
    from genspp.methods.base import Rationalizer

    model_folder, run = _find_model(folder)
    return Rationalizer.load(model_folder), run


def _find_model(folder: Path) -> tuple[Path, Run | None]:
    if (folder / "manifest.json").exists():
        return folder, None
    run = Run.open(folder)
    if not run.model_folder.is_dir():
        raise RunError(f"{folder} has no model yet; {run.ways_on}.")
    return run.model_folder, run


def open_finished(folder: Path) -> tuple[Run, "Rationalizer"]:
    """Open a finished run, for what is asked on its own rows."""
    if (folder / "manifest.json").exists():
        raise RunError("a model folder by itself has no rows to look at; give the run folder that it is in.")
    run = Run.open(folder)
    if not run.finished:
        raise RunError(f"{folder} is not finished; {run.ways_on}.")
    return run, open_model(folder)[0]


def explain_typed(model: Explainer, texts: Sequence[str]) -> list[Rationale]:
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
    model, run = open_explainer(folder)
    given = read_unlabelled(file, columns_of(run, named), model.cut_by, on_bad_row)
    for note in given.notes:
        logger.warning(note)
    out_format = output_format(out, given.format)
    rationales = model.explain(given.corpus)
    rows = [
        row | _prediction(rationale, given.fieldnames, model.most_tokens)
        for row, rationale in zip(given.rows, rationales, strict=True)
    ]
    write_rows(out, out_format, rows)


def _prediction(rationale: Rationale, taken: Collection[str], most: int | None) -> dict[str, Any]:
    """Return what is added to a row. A name that the rows have already gets `predicted_` before it, or more.

    most: how many tokens of a text are read, None for all.
    """
    added = {
        "label": str(rationale.label),
        "probability": round(rationale.probabilities[rationale.label], 4),
        "highlight": [list(span) for span in rationale.spans],
        "highlighted_words": " | ".join(rationale.text[start:end] for start, end in rationale.spans),
        "no_evidence": rationale.no_evidence,
        "unknown_words": len(rationale.unknown),
        **({} if most is None else {"unread_words": rationale.document.unread}),
        **{f"probability_{label}": round(share, 4) for label, share in rationale.probabilities.items()},
    }

    def free(name: str) -> str:
        return free(f"predicted_{name}") if name in taken else name

    return {free(name): value for name, value in added.items()}
