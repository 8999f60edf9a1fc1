"""One run from its configuration to its metrics; the command line and the benchmarks both go through here."""

import dataclasses
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from genspp.data.corpus import Splits
from genspp.data.embeddings import Vectors, build_vectors, coverage_note
from genspp.data.sources import defaults_of, load_source
from genspp.data.tables import Columns
from genspp.data.tokenize import Tokenizer
from genspp.errors import RunError, SettingsError
from genspp.evaluation.evaluate import evaluate
from genspp.files import sha256, write_json, write_text
from genspp.methods import METHODS
from genspp.methods.base import Rationalizer
from genspp.settings import default_hidden
from genspp.runs import Listener, Run

_NAMED_VECTORS = ("corpus", "onehot")


def absolute(source: str) -> str:
    """Return a source that means the same from every folder."""
    kind, colon, folder = source.partition(":")
    if kind == "hatexplain" and colon:
        return f"hatexplain:{Path(folder).resolve()}"
    return source if source in ("toy", "toy-contaminated") else str(Path(source).resolve())


@dataclass(frozen=True)
class Data:
    """What a run is trained and scored on. `vectors`: those of a file, or the name of built-in ones."""

    splits: Splits
    vectors: Vectors | str


def configure(
    source: str,
    method: str = "genspp",
    *,
    columns: Columns | None = None,
    val: Path | None = None,
    test: Path | None = None,
    max_length: int | None = None,
    tokenizer: str | None = None,
    **settings: Any,
) -> tuple[dict[str, Any], Data]:
    """Return the whole configuration of a run, its data set's own defaults filled in, and the data it names.

    All that can be wrong with them is found here, before a folder is made.
    """
    kind = METHODS.get(method)
    if kind is None:
        raise SettingsError(f"method is {method!r}; choose one of {', '.join(METHODS)}.")
    chosen = {name: value for name, value in settings.items() if value is not None}
    foreign = sorted(set(chosen) - set(kind().get_params()))
    if foreign:
        raise SettingsError(f"{foreign[0]} is not a setting of {method}; leave it out.")
    where: dict[str, Any] = {
        "source": absolute(source),
        "columns": dataclasses.asdict(columns or Columns()),
        "val": str(Path(val).resolve()) if val else None,
        "test": str(Path(test).resolve()) if test else None,
        "max_length": max_length,
        "tokenizer": tokenizer,
    }
    taken = {**kind.source_defaults(defaults_of(source), chosen), **chosen}
    if taken["vectors"] not in _NAMED_VECTORS:
        taken["vectors"] = str(Path(taken["vectors"]).resolve())
    taken = kind(**taken).settings()  # all of them, so that a later version's defaults do not change a resumed run
    data = read_data(where, taken["vectors"])
    taken["tokenizer"] = data.splits.tokenizer
    taken["hidden"] = taken["hidden"] or default_hidden(len(set(data.splits.train.labels)))
    where["rows"] = {name: len(getattr(data.splits, name)) for name in ("train", "val", "test")}
    return {"method": method, "settings": taken, "data": where | _fingerprints(data)}, data


def read_data(where: dict[str, Any], vectors: str) -> Data:
    """Read the texts that a configuration names, and the vectors of all their words where these are in a file.

    Vectors from a file are frozen and know nothing of the labels, so looking up a test word's leaks nothing.
    """
    splits = load_source(
        where["source"],
        columns=Columns(**where["columns"]),
        val=Path(where["val"]) if where["val"] else None,
        test=Path(where["test"]) if where["test"] else None,
        max_length=where["max_length"],
        tokenizer=where["tokenizer"],
    )
    if vectors in _NAMED_VECTORS:
        return Data(splits, vectors)
    tokenizer = Tokenizer(splits.tokenizer)
    parts = (splits.train, splits.val, splits.test)
    keys = [[tokenizer.key(token) for token in document.tokens] for part in parts for document in part]
    built = build_vectors(vectors, keys)
    return Data(replace(splits, notes=(*splits.notes, coverage_note(built, keys))), built)


def _fingerprints(data: Data) -> dict[str, str]:
    prints = {"fingerprint": data.splits.fingerprint()}
    if isinstance(data.vectors, Vectors):
        prints["vectors_fingerprint"] = sha256(data.vectors.table.tobytes())
    return prints


def data_of(run: Run) -> Data:
    """Read the data of a run, and see to it that it is what it was when the run was started."""
    where, settings = run.config["data"], run.config["settings"]
    data = read_data(where, settings["vectors"])
    for name, value in _fingerprints(data).items():
        if where[name] != value:
            changed = settings["vectors"] if name.startswith("vectors") else where["source"]
            raise RunError(
                f"{changed} has changed since {run.folder} was started; put it back as it was, or start a new run."
            )
    return data


def proceed(run: Run, data: Data | None = None, listener: Listener | None = None) -> dict[str, Any]:
    """Take a run from where it stands to its metrics, which are written last."""
    data = data or data_of(run)
    splits = data.splits
    model = METHODS[run.config["method"]](**{**run.config["settings"], "vectors": data.vectors})
    run.listener = listener
    model.fit(
        splits.train.tokens,
        splits.train.labels,
        validation=(splits.val.tokens, splits.val.labels),
        recorder=run,
    )
    model.save(run.model_folder)
    metrics, rows = evaluate(model, splits.test)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write_text(run.folder / "predictions.jsonl", lines)
    write_json(run.folder / "metrics.json", metrics)
    return metrics


def open_model(folder: Path) -> tuple[Rationalizer, Run | None]:
    """Open a run folder's model, or a model folder by itself."""
    if (folder / "manifest.json").exists():
        return Rationalizer.load(folder), None
    run = Run.open(folder)
    if not run.model_folder.is_dir():
        raise RunError(f"{folder} has no model yet; finish it with `genspp resume {folder}`.")
    return Rationalizer.load(run.model_folder), run
