"""What a run is: its settings, resolved once, and the data that it names."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from genspp.app.runs import MINUTES, Run
from genspp.cluster import connect
from genspp.data.columns import Columns
from genspp.data.corpus import Splits
from genspp.data.sources import Options, Source, find_source
from genspp.data.vectors import NAMED, Vectors, build_vectors, check_width
from genspp.errors import RunError, SettingsError
from genspp.methods.arguments import class_weights, classes_of
from genspp.methods.base import METHODS, Rationalizer
from genspp.methods.lesson import mark_costs
from genspp.model.older import completed
from genspp.settings import parse

# What `configure` takes besides settings.
_NO_SETTINGS = ("source", "method", "options", "minutes")


@dataclass(frozen=True)
class Data:
    """What a run is trained and scored on. `vectors`: those of a file, or the name of ones that are made."""

    source: Source
    splits: Splits
    vectors: Vectors | str

    @property
    def notes(self) -> tuple[str, ...]:
        """What to tell the user about reading it."""
        if not isinstance(self.vectors, Vectors):
            return self.splits.notes
        parts = (self.splits.train, self.splits.val, self.splits.test)
        share = self.vectors.coverage(keys for part in parts for keys in part.keys(self.splits.tokenizer))
        return (*self.splits.notes, f"{share:.1%} of the tokens have a vector of their own.")


def assignments(texts: Sequence[str], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that were typed as `name=value`, and those that were chosen by options of their own."""
    together = dict(chosen)
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise SettingsError(f"--set is {text!r}; give name=value.")
        if name in _NO_SETTINGS:
            raise SettingsError(f"--set is {text!r}, but {name} is no setting; `genspp methods` lists those there are.")
        if name in together:
            raise SettingsError(f"{name} is given twice; give it once, as an option of its own or with --set.")
        together[name] = parse(value)
    return together


def configure(
    source: str, method: str = "genspp", options: Options | None = None, minutes: float | None = None, **chosen: Any
) -> tuple[dict[str, Any], Data]:
    """Return the whole configuration of a run, what goes with its source filled in, and the data it names.

    minutes: of training, before it is stopped; None: it goes on to its own end. All that can be wrong with any of it is
    found here, before a folder is made. Where it is trained (`on`) is not kept: a run may go on elsewhere.
    """
    if not MINUTES[0](minutes):
        raise SettingsError(f"minutes is {minutes!r}; it takes {MINUTES[1]}.")
    kind, found, options = METHODS[method], find_source(source), options or Options()
    _check_names(method, kind, chosen)
    join(method, chosen.pop("on", None), chosen.get("workers"))
    options = replace(options, tokenizer=chosen.pop("tokenizer", options.tokenizer))
    taken = kind.settings_on(found.family, chosen.get("preset", "sound")) | chosen
    if taken.get("vectors", kind.declared["vectors"].default) not in NAMED:
        taken["vectors"] = str(Path(str(taken["vectors"])).resolve())
    if taken.get("vectors") != "onehot" and "vector_width" not in chosen:
        taken.pop("vector_width", None)
    estimator = kind(**taken)
    estimator.settings()  # checked before the data is read, which may take long
    data = _read(found, options, estimator)
    labels = data.splits.train.labels
    classes = classes_of(labels)
    # All of them, so that a later version's defaults do not change a resumed run.
    settings = estimator.settings(len(classes)) | {"tokenizer": data.splits.tokenizer}
    settings.pop("on", None)
    class_weights(settings["class_weight"], classes, labels)
    mark_costs(settings["evidence_for"], classes)
    where = {
        "source": found.absolute,
        "columns": dataclasses.asdict(options.columns),
        "val": _absolute(options.val),
        "test": _absolute(options.test),
        "max_length": options.max_length,
        "tokenizer": options.tokenizer,
        "on_bad_row": options.on_bad_row,
        "rows": data.splits.rows,
    }
    config = {"method": method, "settings": settings, "data": where | _fingerprints(data)}
    return config if minutes is None else {**config, "minutes": float(minutes)}, data


def data_of(run: Run) -> Data:
    """Read the data of a run, and see to it that it is what it was when the run was started."""
    where, estimator = run.config["data"], estimator_of(run)
    known = [column.name for column in dataclasses.fields(Columns)]
    try:
        columns = Columns(**{name: where["columns"].get(name) for name in known})
        options = Options(
            columns,
            where["val"],
            where["test"],
            where["max_length"],
            where["tokenizer"],
            where.get("on_bad_row", "error"),  # a run of 0.1.0 does not say
        )
        source, fingerprint = find_source(where["source"]), where["fingerprint"]
    except KeyError as error:
        raise RunError(f"{run.folder}/config.json does not say where its data is ({error}); start a new run.") from None
    data = _read(source, options, estimator)
    prints = _fingerprints(data)
    changed = source.absolute if prints["fingerprint"] != fingerprint else None
    if prints.get("vectors_sha256") != where.get("vectors_sha256", prints.get("vectors_sha256")):
        changed = estimator.vectors
    if changed is not None:
        raise RunError(
            f"{changed} has changed since {run.folder} was started; put it back as it was, or start a new run."
        )
    return data


def estimator_of(run: Run) -> Rationalizer:
    """Return the untrained estimator that a run's configuration describes."""
    settings = run.config["settings"]
    if "skip_gaps" not in settings:  # a run of 0.1.0
        settings = completed(run.config["method"], settings, number=1)
    try:
        estimator = METHODS[run.config["method"]].restored(settings)
        estimator.settings()
    except SettingsError as error:
        raise RunError(f"{run.folder / 'config.json'} cannot be used: {error}") from None
    return estimator


def join(method: str, on: str | None, workers: int | None = None) -> None:
    """Join the cluster that a run of a method is to be trained on, if it is."""
    if on is not None:
        _check_names(method, METHODS[method], {"on": on})
        connect(on, workers)


def _check_names(method: str, kind: type[Rationalizer], chosen: Mapping[str, Any]) -> None:
    foreign = sorted(chosen.keys() - kind.declared.keys())
    if foreign:
        raise SettingsError(f"{foreign[0]} is not a setting of {method}; it has {', '.join(sorted(kind.declared))}.")
    if "validation_fraction" in chosen:
        raise SettingsError("validation_fraction is for texts in Python; a split column or --val names a run's rows.")


def _absolute(path: Path | str | None) -> str | None:
    return None if path is None else str(Path(path).resolve())


def _read(source: Source, options: Options, estimator: Rationalizer) -> Data:
    """Read the texts, and the vectors of their words where these are in a file."""
    vectors = estimator.vectors
    check_width(vectors, estimator.vector_width)
    splits = source.load(replace(options, truncate=estimator.truncate))
    if vectors in NAMED:
        return Data(source, splits, vectors)
    # The test rows' words come last: what training sees does not depend on them.
    train, val, test = (part.keys(splits.tokenizer) for part in (splits.train, splits.val, splits.test))
    return Data(source, splits, build_vectors(vectors, train + val, estimator.vector_width, test))


def _fingerprints(data: Data) -> dict[str, str]:
    prints = {"fingerprint": data.splits.fingerprint()}
    if isinstance(data.vectors, Vectors) and data.vectors.file is not None:
        prints["vectors_sha256"] = data.vectors.file.sha256
    return prints
