"""A model as a folder: JSON and safetensors, nothing that runs when it is read.

`config.json` says what the model is, `vocabulary.json` which words its vectors have, `weights.safetensors` holds
every number, and `manifest.json` the SHA-256 of the other three, so that a missing, cut or altered file is found.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from genspp.errors import ModelFolderError
from genspp.files import sha256, write_bytes, write_json

FORMAT = 1
_FILES = ("config.json", "vocabulary.json", "weights.safetensors")

Arrays = dict[str, npt.NDArray[Any]]


def save_folder(folder: Path, config: dict[str, Any], words: tuple[str, ...], arrays: Arrays) -> None:
    """Write a model. The manifest goes last: a folder without it was not finished."""
    (folder / "manifest.json").unlink(missing_ok=True)
    write_json(folder / "config.json", {"format": FORMAT, **config})
    write_json(folder / "vocabulary.json", list(words))
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_bytes(folder / "weights.safetensors", save(contiguous))
    write_json(folder / "manifest.json", {"files": {name: sha256((folder / name).read_bytes()) for name in _FILES}})


def load_folder(folder: Path) -> tuple[dict[str, Any], tuple[str, ...], Arrays]:
    """Read a model and check every file against the manifest."""
    if not folder.is_dir():
        raise ModelFolderError(f"{folder} is not a folder; give the `model` folder of a finished run.")
    manifest = _json(folder, "manifest.json", (folder / "manifest.json"))
    sums = manifest.get("files") if isinstance(manifest, dict) else None
    if not isinstance(sums, dict):
        raise ModelFolderError(f"{folder}/manifest.json is not a GenSPP manifest; copy the whole folder again.")
    for name in _FILES:
        path = folder / name
        if not path.is_file():
            raise ModelFolderError(f"{path} is missing; copy the whole model folder again, or train anew.")
        if sha256(path.read_bytes()) != sums.get(name):
            raise ModelFolderError(
                f"{path} is not the file that was saved (its checksum differs); copy the model folder again."
            )
    config = _json(folder, "config.json", folder / "config.json")
    if config.get("format") != FORMAT:
        raise ModelFolderError(
            f"{folder} has format {config.get('format')!r}, this version reads format {FORMAT}; "
            "load it with the version of genspp that saved it."
        )
    words = tuple(_json(folder, "vocabulary.json", folder / "vocabulary.json"))
    try:
        arrays = load((folder / "weights.safetensors").read_bytes())
    except SafetensorError as error:
        raise ModelFolderError(f"{folder}/weights.safetensors cannot be read ({error}); copy it again.") from None
    return config, words, arrays


def _json(folder: Path, name: str, path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelFolderError(
            f"{folder} has no {name}: it is not a complete model folder; copy it again, or train anew."
        ) from None
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise ModelFolderError(f"{path} is not valid JSON; copy the model folder again, or train anew.") from None
