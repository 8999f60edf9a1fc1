"""The run folder: what was asked for, how it went, where to go on.

    config.json            settings, where the data came from and its fingerprint, versions
    log.jsonl              one line per generation (or epoch)
    checkpoint.safetensors the state after the last finished one
    model/                 the trained model
    metrics.json           its figures on the test rows
    predictions.jsonl      its labels and masks on the test rows, by id
    audit.json             what `genspp audit` found, if it was asked
    report.html            all of it for people, test texts included (not unasked where these are hateful)

A line is logged before its checkpoint is written, and lines without a checkpoint are dropped on resuming, so that a
kill at any moment costs one generation at most and leaves no trace in what follows.
"""

import json
import os
import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load, save

import genspp
from genspp.errors import RunError
from genspp.files import sha256, write_bytes, write_json, write_text

Listener = Callable[[dict[str, Any], int], None]

# What a run makes beside its model; none of it outlives the run.
_MADE = (
    "checkpoint.safetensors", "log.jsonl", "metrics.json", "predictions.jsonl", "audit.json", "report.html",
    "comparison.html",
)  # fmt: skip
_CONFIG = {"method": str, "settings": dict, "data": dict, "versions": dict}


class Run:
    """A run folder, and the recorder that a method writes to it with."""

    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        self.folder = folder
        self.config = config
        self.listener: Listener | None = None
        self._lines = 0

    @classmethod
    def create(cls, folder: Path, config: dict[str, Any], force: bool = False) -> "Run":
        """Start a folder. One that exists is left alone, unless `force` says that its run may be replaced."""
        if folder.exists() and not folder.is_dir():
            raise RunError(f"{folder} is a file; give another folder with --out.")
        # What a kill left half written begins with a dot, and is nobody's work.
        if folder.exists() and any(not path.name.startswith(".") for path in folder.iterdir()):
            if not force:
                raise RunError(
                    f"{folder} exists already; resume it with `genspp resume {folder}`, give another --out, "
                    "or replace it with --force."
                )
            try:
                cls.open(folder)
            except RunError as error:
                raise RunError(f"--force replaces runs only, and {error}") from None
            for name in _MADE:
                (folder / name).unlink(missing_ok=True)
            (folder / "model" / "manifest.json").unlink(missing_ok=True)
        config = {**config, "versions": versions()}
        write_json(folder / "config.json", config)
        return cls(folder, config)

    @classmethod
    def open(cls, folder: Path) -> "Run":
        """Open a folder that exists and is a run of ours."""
        path = folder / "config.json"
        try:
            config = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            raise RunError(f"{folder} is not a run folder: it has no config.json; train one with --out.") from None
        except (UnicodeDecodeError, ValueError, RecursionError):
            raise RunError(f"{path} is not valid JSON; start the run again in another folder.") from None
        if not isinstance(config, dict) or not all(isinstance(config.get(k), kind) for k, kind in _CONFIG.items()):
            raise RunError(f"{path} is not the configuration of a run; give a folder that `genspp train` made.")
        return cls(folder, config)

    @property
    def model_folder(self) -> Path:
        """Where the trained model is."""
        return self.folder / "model"

    @property
    def finished(self) -> bool:
        """Whether the run has come to its end."""
        return (self.folder / "metrics.json").exists()

    # ------------------------------------------------------------------ the recorder

    def restore(self) -> dict[str, Any] | None:
        """Return the state after the last finished generation, and cut the log to it."""
        path = self.folder / "checkpoint.safetensors"
        log = self.folder / "log.jsonl"
        if not path.exists():
            log.unlink(missing_ok=True)
            return None
        state = read_checkpoint(path)
        self._lines = int(state.pop("lines"))
        kept = log.read_text(encoding="utf-8").splitlines(keepends=True)[: self._lines] if log.exists() else []
        if len(kept) < self._lines or not "".join(kept).endswith("\n"):
            raise RunError(f"{log} has lost lines that {path} counts on; start the run again with --force.")
        write_text(log, "".join(kept))
        return state

    def record(self, line: dict[str, Any], state: dict[str, Any], total: int) -> None:
        """Log a line, then save the state behind it."""
        with (self.folder / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(json.dumps(line, allow_nan=False) + "\n")
            log.flush()
            os.fsync(log.fileno())
        self._lines += 1
        write_checkpoint(self.folder / "checkpoint.safetensors", {**state, "lines": self._lines})
        if self.listener is not None:
            self.listener(line, total)


def write_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write arrays and JSON values as one safetensors file, with a checksum of the arrays."""
    arrays = {k: np.ascontiguousarray(v) for k, v in state.items() if isinstance(v, np.ndarray)}
    values = json.dumps({k: v for k, v in state.items() if k not in arrays})
    write_bytes(path, save(arrays, metadata={"values": values, "sha256": _digest(arrays, values)}))


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Read what `write_checkpoint` wrote."""
    try:
        arrays = load(path.read_bytes())
        with safe_open(str(path), framework="np") as file:
            metadata = file.metadata() or {}
    except SafetensorError as error:
        raise RunError(
            f"{path} is cut short or damaged ({error}); start the run again with --force, or put a whole copy back."
        ) from None
    if metadata.get("sha256") != _digest(arrays, metadata.get("values", "")):
        raise RunError(f"{path} is damaged (its checksum differs); start the run again with --force.")
    return {**json.loads(metadata["values"]), **arrays}


def _digest(arrays: dict[str, Any], values: str) -> str:
    parts = [values.encode(), *(name.encode() + arrays[name].tobytes() for name in sorted(arrays))]
    return sha256(b"\0".join(parts))


def versions() -> dict[str, str]:
    """Return the versions that a result may depend on."""
    found = {name: version(name) for name in ("torch", "numpy", "numba")}
    return {"genspp": genspp.__version__, "python": platform.python_version(), **found}
