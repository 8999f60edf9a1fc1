"""A model as a folder: JSON and safetensors, nothing that runs when it is read.

`config.json` says what the model is, `vocabulary.json` which words its vectors have, `weights.safetensors` holds
every number, `MODEL_CARD.md` is for people (`card.py`), and `manifest.json` holds the SHA-256 of the other files, so
that a missing, cut or altered one is found.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from genspp.data.limits import check_nesting, read_file
from genspp.data.vector_file import VectorFile
from genspp.data.vectors import Vectors
from genspp.errors import DataError, ModelFolderError
from genspp.files import json_text, sha256, write_bytes, write_json
from genspp.model.older import Arrays, completed, from_format_1
from genspp.settings import plain

FORMAT = 5
_READABLE = (1, 2, 3, 4, FORMAT)
# The settings that what a model says depends on.
_NEEDED = ("preset", "seed", "hidden", "tokenizer", "skip_gaps")
_KINDS = {int: "a whole number", str: "a string", list: "a list", dict: "an object"}
_LABELS = ({str}, {bool}, {int}, {float})
_CONFIG, _WORDS, _WEIGHTS, _MANIFEST = "config.json", "vocabulary.json", "weights.safetensors", "manifest.json"
_CARD = "MODEL_CARD.md"
_TABLE = "model.vectors"  # the name of the vector table among the weights
_AGAIN = "copy the model folder again, or train anew"

T = TypeVar("T")


@dataclass(frozen=True)
class SavedModel:
    """What a model folder holds.

    method: its name in the registry. weights: those of the pair as `model.*`, those of the full-text predictor as
    `full_text.*`; the table of the vectors is among them. title: what the method is called. networks: what these
    weights are of (`saved.described`), None in folders of earlier versions. card: what people are told.
    """

    method: str
    settings: dict[str, Any]
    classes: list[Any]
    vectors: Vectors
    weights: Arrays
    title: str = ""
    networks: dict[str, Any] | None = None
    card: str = ""


def save_folder(folder: Path, model: SavedModel) -> None:
    """Write a model, over one of ours if there is one; the manifest goes last: without it a folder is not finished."""
    _refuse_foreign(folder)
    file = model.vectors.file
    config = {
        "format": FORMAT,
        "method": model.method,
        "title": model.title,
        "settings": {name: _in_json(value) for name, value in model.settings.items()},
        "classes": model.classes,
        "vectors": {
            "kind": model.vectors.kind,
            "file": None if file is None else {"path": file.path, "sha256": file.sha256},
        },
        "networks": model.networks,
    }
    # All that may fail comes before the first change to what is there.
    contents = {
        _CONFIG: json_text(config).encode(),
        _WORDS: json_text(list(model.vectors.words)).encode(),
        _WEIGHTS: save({name: np.ascontiguousarray(array) for name, array in model.weights.items()}),
        _CARD: model.card.encode(),
    }
    (folder / _MANIFEST).unlink(missing_ok=True)
    for name, content in contents.items():
        write_bytes(folder / name, content)
    write_json(folder / _MANIFEST, {"files": {name: sha256(content) for name, content in contents.items()}})


def load_folder(folder: Path) -> SavedModel:
    """Read a model, every file checked against the manifest and every field for what it must be."""
    if not folder.is_dir():
        raise ModelFolderError(f"{folder} is not a folder; give the `model` folder of a finished run.")
    contents = _contents(folder)
    config = _json(folder / _CONFIG, contents[_CONFIG])
    number = _field(folder, config, "format", int)
    if number not in _READABLE:
        raise ModelFolderError(
            f"{folder} has format {number!r}, this version reads formats 1 to {FORMAT}; "
            "load it with the version of genspp that saved it."
        )
    weights = _weights(folder / _WEIGHTS, contents[_WEIGHTS])
    if number == 1:
        config, weights = from_format_1(config, weights)
    method, settings = _field(folder, config, "method", str), _field(folder, config, "settings", dict)
    if number < FORMAT:
        settings = completed(method, settings, number)
    if number > 2:
        missing = [name for name in _NEEDED if settings.get(name) is None]
        if missing:
            raise ModelFolderError(f"{folder / _CONFIG} has no setting {missing[0]!r}; {_AGAIN}.")
    if isinstance(settings.get("class_weight"), list):
        settings = {**settings, "class_weight": _pairs(folder, settings["class_weight"])}
    networks = None if config.get("networks") is None else _field(folder, config, "networks", dict)
    return SavedModel(
        method,
        settings,
        _classes(folder, config),
        _vectors(folder, config, _json(folder / _WORDS, contents[_WORDS]), weights.get(_TABLE)),
        weights,
        "" if networks is None else _field(folder, config, "title", str),
        networks,
    )


def write_card(folder: Path, card: str) -> None:
    """Write what people are told of a model anew, and its checksum with it."""
    manifest = _json(folder / _MANIFEST, _read(folder / _MANIFEST))
    (folder / _MANIFEST).unlink()
    write_bytes(folder / _CARD, card.encode())
    write_json(folder / _MANIFEST, {"files": {**manifest["files"], _CARD: sha256(card.encode())}})


def _refuse_foreign(folder: Path) -> None:
    """Refuse a folder that holds something else than a model. What a kill left half written begins with a dot."""
    if not folder.is_dir() or all(path.name.startswith(".") for path in folder.iterdir()):
        return
    try:
        config = json.loads((folder / _CONFIG).read_bytes())
        ours = isinstance(config, dict) and {"format", "method", "settings", "classes"} <= config.keys()
    except (OSError, ValueError):
        ours = False
    if not ours:
        raise ModelFolderError(f"{folder} holds something that is not a model; save to a new or an empty folder.")


def _in_json(value: Any) -> Any:
    """Return a setting as JSON holds it: a dictionary as pairs, so that labels that are no strings come back."""
    return [list(pair) for pair in plain(value).items()] if isinstance(value, Mapping) else plain(value)


def _contents(folder: Path) -> dict[str, bytes]:
    """Return the files' contents, which are those that were saved."""
    manifest = _json(folder / _MANIFEST, _read(folder / _MANIFEST))
    sums = manifest.get("files") if isinstance(manifest, dict) else None
    if not isinstance(sums, dict):
        raise ModelFolderError(f"{folder / _MANIFEST} is not a GenSPP manifest; {_AGAIN}.")
    names = (_CONFIG, _WORDS, _WEIGHTS, *({_CARD} & sums.keys()))  # earlier versions wrote no card
    contents = {name: _read(folder / name) for name in names}
    for name, content in contents.items():
        if sha256(content) != sums.get(name):
            raise ModelFolderError(f"{folder / name} is not the file that was saved (its checksum differs); {_AGAIN}.")
    return contents


def _read(path: Path) -> bytes:
    if not path.exists():
        raise ModelFolderError(f"{path} is missing, so this is no complete model folder; {_AGAIN}.")
    if not path.is_file():  # one that never ends, say
        raise ModelFolderError(f"{path} is no ordinary file; {_AGAIN}.")
    try:
        return read_file(path)
    except DataError as error:
        raise ModelFolderError(f"{str(error).rstrip('.')}; {_AGAIN}.") from None


def _json(path: Path, content: bytes) -> Any:
    try:
        return check_nesting(json.loads(content, parse_constant=_no_number))
    except (ValueError, RecursionError):
        raise ModelFolderError(f"{path} is not valid JSON; {_AGAIN}.") from None


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _field(folder: Path, fields: Any, name: str, kind: type[T]) -> T:
    value = fields.get(name) if isinstance(fields, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ModelFolderError(f"{folder / _CONFIG} has no field {name!r} that is {_KINDS[kind]}; {_AGAIN}.")
    return value


def _weights(path: Path, content: bytes) -> Arrays:
    """Return all arrays, which are of finite numbers."""
    try:
        weights: Arrays = load(content)
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise ModelFolderError(f"{path} cannot be read ({error}); {_AGAIN}.") from None
    for name, array in weights.items():
        if array.dtype != np.float32 or not np.isfinite(array).all():
            raise ModelFolderError(f"{path}: {name} holds something other than finite 32-bit numbers; {_AGAIN}.")
    return weights


def _pairs(folder: Path, pairs: list[Any]) -> dict[Any, Any]:
    if not all(isinstance(pair, list) and len(pair) == 2 and not isinstance(pair[0], list | dict) for pair in pairs):
        raise ModelFolderError(f"{folder / _CONFIG}: class_weight is no list of labels and weights; {_AGAIN}.")
    return dict(pairs)


def _classes(folder: Path, config: Any) -> list[Any]:
    classes = _field(folder, config, "classes", list)
    one_kind = {type(label) for label in classes} in _LABELS
    if not one_kind or len(classes) < 2 or classes != sorted(set(classes)):
        raise ModelFolderError(
            f"{folder / _CONFIG}: classes are not two or more labels of one kind, sorted, each once; {_AGAIN}."
        )
    return classes


def _vectors(folder: Path, config: Any, words: Any, table: npt.NDArray[np.float32] | None) -> Vectors:
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ModelFolderError(f"{folder / _WORDS} is not a list of words; {_AGAIN}.")
    if table is None or table.ndim != 2 or not table.shape[1] or len(table) != len(words) + 2:
        raise ModelFolderError(f"{folder / _WEIGHTS} has no table of vectors for the {len(words)} words; {_AGAIN}.")
    described = _field(folder, config, "vectors", dict)
    file = described.get("file")
    if file is not None:
        file = VectorFile(_field(folder, file, "path", str), _field(folder, file, "sha256", str))
    return Vectors(tuple(words), table, _field(folder, described, "kind", str), file)
