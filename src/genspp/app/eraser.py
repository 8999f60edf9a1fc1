"""Predictions in the form that ERASER's scorer reads (docs/formats.md): JSON lines, one per text.

DeYoung et al. 2020, "ERASER: A Benchmark to Evaluate Rationalized NLP Models".
"""

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from genspp.app.predict import columns_of, open_explainer
from genspp.app.runs import Run
from genspp.data.columns import Columns
from genspp.data.corpus import Corpus
from genspp.data.records import read_unlabelled
from genspp.data.rows import STANDARD, format_of, write_rows
from genspp.data.sources import SOURCES, find_source
from genspp.errors import DataError, SettingsError
from genspp.model.explainer import Explainer
from genspp.model.rationale import Rationale

logger = logging.getLogger("genspp")

Mask = Sequence[int]


def predict_eraser(folder: Path, given: str, out: str, named: Columns, on_bad_row: str = "error") -> None:
    """Write what a model says of the rows of a file, or of the test rows of a source, in ERASER's form."""
    if out != STANDARD and format_of(out) != "jsonl":
        raise SettingsError(f"The output file is {out}; ERASER's form is JSON lines, so its name must end in .jsonl.")
    model, run = open_explainer(folder)
    corpus = _corpus(model, run, given, named, on_bad_row)
    twice = [name for name, count in Counter(document.id for document in corpus).items() if count > 1]
    if twice:
        raise DataError(f"{given}: the id {twice[0]!r} stands in several rows; ERASER's form needs one that differs.")
    rows = eraser_rows(model, corpus)
    if not any(_is_marked(row) for row in rows):
        logger.warning("nothing is highlighted in any text; ERASER's scorer has no rationales to score then.")
    write_rows(out, "jsonl", rows)


def _corpus(model: Explainer, run: Run | None, given: str, named: Columns, on_bad_row: str) -> Corpus:
    if format_of(given) is None and given.partition(":")[0] in SOURCES:
        return find_source(given).load().test
    read = read_unlabelled(given, columns_of(run, named), model.cut_by, on_bad_row)
    for note in read.notes:
        logger.warning(note)
    return read.corpus


def eraser_rows(model: Explainer, corpus: Corpus) -> list[dict[str, Any]]:
    """Return a row per text; those with a highlight come first, for the scorer looks there whether there are any."""
    rationales = model.explain(corpus)
    corpus = replace(corpus, documents=tuple(rationale.document for rationale in rationales))  # as far as it is read
    soft = model.soft_masks(corpus)
    masks = [rationale.mask for rationale in rationales]
    without = _read_again(model, corpus, [[1 - chosen for chosen in mask] for mask in masks])
    alone = _read_again(model, corpus, masks)
    rows = []
    for number, rationale in enumerate(rationales):
        rows.append({
            "annotation_id": rationale.document.id,
            "rationales": _rationales(rationale, None if soft is None else soft[number]),
            "classification": str(rationale.label),
            "classification_scores": {str(label): share for label, share in rationale.probabilities.items()},
            "comprehensiveness_classification_scores": _scores(model, without[number]),
            "sufficiency_classification_scores": _scores(model, alone[number]),
        })  # fmt: skip
    return sorted(rows, key=lambda row: not _is_marked(row))


def _read_again(model: Explainer, corpus: Corpus, kept: Sequence[Mask]) -> npt.NDArray[np.float64]:
    """Return what the model says, marking anew, of texts of which only some tokens are left; of none: by default."""
    found = model.predict_proba(corpus, [[0] * len(mask) for mask in kept])
    there = [number for number, mask in enumerate(kept) if any(mask)]
    if there:
        shorter = [
            replace(
                corpus.documents[number],
                tokens=tuple(compress(corpus.documents[number].tokens, kept[number])),
                spans=tuple(compress(corpus.documents[number].spans, kept[number])),
            )
            for number in there
        ]
        found[there] = model.predict_proba(replace(corpus, documents=tuple(shorter)))
    return found


def _scores(model: Explainer, shares: npt.NDArray[np.float64]) -> dict[str, float]:
    return dict(zip(map(str, model.classes_.tolist()), shares.tolist(), strict=True))


def _rationales(rationale: Rationale, soft: npt.NDArray[np.float64] | None) -> list[dict[str, Any]]:
    """Return the highlight of every document that a text is made of, those with one first."""
    document, found = rationale.document, []
    for name, start, end in document.made_of or ((document.id, 0, len(document.tokens) + document.unread),):
        entry: dict[str, Any] = {"docid": name, "hard_rationale_predictions": _spans(rationale.mask[start:end])}
        if soft is not None:
            read = [float(f"{share:.6g}") for share in soft[start:end]]
            entry["soft_rationale_predictions"] = read + [0.0] * (end - start - len(read))
        found.append(entry)
    return sorted(found, key=lambda entry: not entry["hard_rationale_predictions"])


def _spans(mask: Mask) -> list[dict[str, int]]:
    """Return the runs of marked tokens, each with the number of its first and the one behind its last."""
    edges = np.flatnonzero(np.diff([0, *mask, 0])).tolist()
    return [{"start_token": start, "end_token": end} for start, end in zip(edges[::2], edges[1::2], strict=True)]


def _is_marked(row: dict[str, Any]) -> bool:
    return bool(row["rationales"] and row["rationales"][0]["hard_rationale_predictions"])
