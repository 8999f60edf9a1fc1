"""One run from its configuration to its metrics; the command line and the benchmarks both go through here."""

import dataclasses
import json
from pathlib import Path
from typing import Any

from genspp.data.corpus import Splits
from genspp.data.embeddings import Vectors, build_vectors
from genspp.data.sources import defaults_of, load_source
from genspp.data.tables import Columns
from genspp.data.tokenize import Tokenizer
from genspp.errors import RunError, SettingsError
from genspp.evaluation.evaluate import evaluate
from genspp.files import sha256, write_json, write_text
from genspp.methods import METHODS
from genspp.methods.base import Rationalizer
from genspp.runs import Listener, Run

_NAMED_VECTORS = ("corpus", "onehot")


def absolute(source: str) -> str:
    """Return a source that means the same from every folder."""
    kind, colon, folder = source.partition(":")
    if kind == "hatexplain" and colon:
        return f"hatexplain:{Path(folder).resolve()}"
    return source if source in ("toy", "toy-contaminated") else str(Path(source).resolve())


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
) -> tuple[dict[str, Any], Splits]:
    """Return the whole configuration of a run, its data set's own defaults filled in, and the data it names."""
    kind = METHODS.get(method)
    if kind is None:
        raise SettingsError(f"method is {method!r}; choose one of {', '.join(METHODS)}.")
    columns = columns or Columns()
    data: dict[str, Any] = {
        "source": absolute(source),
        "columns": dataclasses.asdict(columns),
        "val": str(Path(val).resolve()) if val else None,
        "test": str(Path(test).resolve()) if test else None,
        "max_length": max_length,
        "tokenizer": tokenizer,
    }
    splits = read_data(data)
    known = kind().get_params()
    chosen = {name: value for name, value in settings.items() if value is not None}
    foreign = sorted(set(chosen) - set(known))
    if foreign:
        raise SettingsError(f"{foreign[0]} is not a setting of {method}; leave it out.")
    settings = {**kind.source_defaults(defaults_of(source), chosen), **chosen, "tokenizer": splits.tokenizer}
    if settings.get("vectors", "corpus") not in _NAMED_VECTORS:
        settings["vectors"] = str(Path(settings["vectors"]).resolve())
    kind(**settings).settings()  # a wrong setting is found before a folder is made
    data["fingerprint"] = splits.fingerprint()
    data["rows"] = {name: len(getattr(splits, name)) for name in ("train", "val", "test")}
    return {"method": method, "settings": settings, "data": data}, splits


def read_data(data: dict[str, Any]) -> Splits:
    """Read the data that a configuration names."""
    return load_source(
        data["source"],
        columns=Columns(**data["columns"]),
        val=Path(data["val"]) if data["val"] else None,
        test=Path(data["test"]) if data["test"] else None,
        max_length=data["max_length"],
        tokenizer=data["tokenizer"],
    )


def proceed(run: Run, splits: Splits | None = None, listener: Listener | None = None) -> dict[str, Any]:
    """Take a run from where it stands to its metrics, which are written last."""
    data = run.config["data"]
    if splits is None:
        splits = read_data(data)
    if splits.fingerprint() != data["fingerprint"]:
        raise RunError(
            f"the data of {data['source']} has changed since {run.folder} was started; "
            "put the old data back, or start a new run."
        )
    model = METHODS[run.config["method"]](**run.config["settings"])
    if isinstance(vectors := read_vectors(run, splits), Vectors):
        model.set_params(vectors=vectors)
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


def read_vectors(run: Run, splits: Splits) -> Vectors | str:
    """Return the vectors of a file, for the words of all three parts; the names of built-in ones as they are.

    Vectors from a file are frozen and know nothing of the labels, so looking up a test word's leaks nothing.
    """
    spec: str = run.config["settings"].get("vectors", "corpus")
    if spec in _NAMED_VECTORS:
        return spec
    tokenizer = Tokenizer(splits.tokenizer)
    parts = (splits.train, splits.val, splits.test)
    keys = [[tokenizer.key(token) for token in document.tokens] for part in parts for document in part]
    vectors = build_vectors(spec, keys)
    digest = sha256(vectors.table.tobytes())
    known = run.config["data"].setdefault("vectors_fingerprint", digest)
    if known != digest:
        raise RunError(f"{spec} has changed since {run.folder} was started; put it back, or start a new run.")
    write_json(run.folder / "config.json", run.config)
    return vectors


def open_model(folder: Path) -> tuple[Rationalizer, Run | None]:
    """Open a run folder's model, or a model folder by itself."""
    if (folder / "manifest.json").exists():
        return Rationalizer.load(folder), None
    run = Run.open(folder)
    if not run.model_folder.is_dir():
        raise RunError(f"{folder} has no model yet; finish it with `genspp resume {folder}`.")
    return Rationalizer.load(run.model_folder), run
