"""The run folder: what was asked for, how it went, where to go on.

    config.json            settings, where the data came from and its fingerprint, versions, minutes if they are limited
    log.jsonl              one line per generation (or epoch), with its seconds
    checkpoint.safetensors the state after the last finished one
    model/                 the trained model
    metrics.json           its figures on the test rows; where training was stopped early, by what and after which step
    predictions.jsonl      its labels and masks on the test rows, by id
    audit.json             what `genspp audit` found, if it was asked
    report.html            all of it for people, test texts included (not unasked where these are hateful)

A line is logged before its checkpoint is written, and lines without a checkpoint are dropped on resuming, so that a
kill at any moment costs one generation at most and leaves no trace in what follows. One process at a time works in a
folder: it is locked meanwhile (`files.hold`).
"""

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import Any, Protocol

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load, save

import genspp
from genspp.data.limits import check_nesting
from genspp.errors import RunError
from genspp.files import Hold, hold, naming, sha256, write_bytes, write_json
from genspp.settings import Check, number, optional

MINUTES: Check = optional(number(0, open_ends=True))  # of training, before it is stopped
# What a run makes beside its model; none of it outlives the run. Without the first it is not finished.
_MADE = (
    "metrics.json", "checkpoint.safetensors", "log.jsonl", "predictions.jsonl", "audit.json", "report.html",
    "comparison.html",
)  # fmt: skip
CHECKPOINT_FORMAT = 1  # of what methods keep; another number wherever one of them keeps something else
# What a configuration must hold, and what its data may say.
_CONFIG = {"method": str, "settings": dict, "data": dict, "versions": dict}
_DATA = {
    "source": str, "columns": dict, "val": str | None, "test": str | None, "max_length": int | None,
    "tokenizer": str | None, "on_bad_row": str, "rows": dict, "fingerprint": str, "vectors_sha256": str,
}  # fmt: skip
_ANYWHERE = ("workers",)  # settings that change no result: a run may go on with others
_EARLY = {"by": str, "step": str, "number": int}  # what figures say of a training that was stopped early


class Listener(Protocol):
    """Whoever is told how a training goes."""

    def say(self, what: str) -> None:
        """Take in a few words what is done from now on."""
        ...

    def __call__(self, line: dict[str, Any], total: int, left: float | None) -> None:
        """Take a line of the log, how many there will be at most, and the seconds until the time is up, if it is."""
        ...


class Run:
    """A run folder, and the recorder that a method writes to it with.

    stopped_by: what ended training before its own end, `time` or `finish`; None: nothing did.
    """

    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        self.folder = folder
        self.config = config
        self.stopped_by: str | None = None
        self._listener: Listener | None = None
        self._held: Hold | None = None
        self._finishing = False
        self._lines, self._restored = 0, False
        self._earlier, self._began = 0.0, monotonic()

    @classmethod
    def create(cls, folder: Path, config: dict[str, Any], force: bool = False) -> "Run":
        """Start a folder. One that exists is left alone, unless `force` says that its run may be replaced."""
        if folder.exists() and not folder.is_dir():
            raise RunError(f"{folder} is a file; give another folder with --out.")
        folder.mkdir(parents=True, exist_ok=True)
        held = _hold(folder)
        # What a kill left half written begins with a dot, and is nobody's work.
        if any(not path.name.startswith(".") for path in folder.iterdir()):
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
        run = cls(folder, config)
        run._held = held
        return run

    @classmethod
    def open(cls, folder: Path) -> "Run":
        """Open a folder that exists and is a run of ours."""
        path = folder / "config.json"
        try:
            config = check_nesting(json.loads(path.read_text(encoding="utf-8")))
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            raise RunError(f"{folder} is not a run folder: it has no config.json; train one with --out.") from None
        except (UnicodeDecodeError, ValueError, RecursionError):
            raise RunError(f"{path} is not valid JSON; start the run again in another folder.") from None
        wrong = _wrong_field(config)
        if wrong is not None:
            raise RunError(
                f"{path} is not the configuration of a run (see {wrong}); give a folder that `genspp train` made."
            )
        return cls(folder, config)

    @property
    def model_folder(self) -> Path:
        """Where the trained model is."""
        return self.folder / "model"

    @property
    def finished(self) -> bool:
        """Whether the run has come to its end."""
        return bool(self.metrics())

    @property
    def begun(self) -> bool:
        """Whether there is a step to go on from."""
        return self._checkpoint.exists()

    @property
    def ways_on(self) -> str:
        """What to type for a run that was interrupted."""
        go_on = f"go on with `genspp resume {self.folder}`"
        return f"{go_on}, or take the model so far with `genspp finish {self.folder}`" if self.begun else go_on

    def metrics(self) -> dict[str, Any]:
        """Return the figures that were written last; nothing where there are none, or no whole file of them."""
        try:
            written = json.loads((self.folder / "metrics.json").read_bytes())
        except (FileNotFoundError, ValueError, RecursionError):
            return {}
        figures = [written.get(name) for name in ("clf_f1", "selection_rate")] if isinstance(written, dict) else [None]
        whole = all(isinstance(figure, int | float) for figure in figures)
        early = written.get("stopped_early") if whole else None
        if early is not None:
            known = isinstance(early, dict) and early.keys() == _EARLY.keys()
            whole = known and all(isinstance(early[name], kind) for name, kind in _EARLY.items())
        return written if whole else {}

    def lines(self) -> list[dict[str, Any]]:
        """Return the log."""
        path = self.folder / "log.jsonl"
        try:
            lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        except (OSError, ValueError, RecursionError):
            lines = [None]
        if not all(isinstance(line, dict) and isinstance(line.get("seconds", 0), int | float) for line in lines):
            raise RunError(f"{path} cannot be read; put a whole copy back, or start the run again.")
        return lines

    def logged_seconds(self) -> float:
        """Return how long all steps in the log took."""
        return sum(float(line.get("seconds", 0)) for line in self.lines())

    # ------------------------------------------------------------------ the recorder

    @property
    def _checkpoint(self) -> Path:
        return self.folder / "checkpoint.safetensors"

    def begin(self, listener: Listener | None = None) -> None:
        """Start the clock of a session, in which somebody is told how it goes; no other process works here then."""
        self._held = self._held or _hold(self.folder)
        self._listener, self._began = listener, monotonic()

    def finish(self) -> None:
        """Let what follows end with the best that was found so far; there must be something."""
        if not self.begun:
            raise RunError(
                f"{self.folder} has nothing to finish yet: no step of its training was done; {self.ways_on}."
            )
        self._finishing = True

    def restore(self) -> dict[str, Any] | None:
        """Return the state after the last finished generation, and cut the log to it."""
        path = self._checkpoint
        log = self.folder / "log.jsonl"
        if not path.exists():
            log.unlink(missing_ok=True)
            return None
        state = read_checkpoint(path)
        number, lines = state.pop("format", 1), state.pop("lines", None)  # earlier versions named no format
        if number != CHECKPOINT_FORMAT or not isinstance(lines, int):
            raise RunError(
                f"{path} has format {number!r}, this version goes on from {CHECKPOINT_FORMAT}; go on with the version "
                "of genspp that wrote it, or start the run again with --force."
            )
        if state.pop("config", self._digest()) != self._digest():
            raise RunError(
                f"{path} is of a run with another configuration than config.json; put the right one back, or start "
                "the run again with --force."
            )
        self._lines, self._restored = lines, True
        kept = log.read_bytes().splitlines(keepends=True)[: self._lines] if log.exists() else []
        if len(kept) < self._lines or not b"".join(kept).endswith(b"\n"):
            raise RunError(f"{log} has lost lines that {path} counts on; start the run again with --force.")
        write_bytes(log, b"".join(kept))
        self._earlier = self.logged_seconds()
        return state

    def say(self, what: str) -> None:
        """Pass on what is done from now on."""
        if self._listener is not None:
            self._listener.say(what)

    def record(self, line: dict[str, Any], state: dict[str, Any], total: int) -> None:
        """Log a line, then save the state behind it."""
        path = self.folder / "log.jsonl"
        with naming(path), path.open("a", encoding="utf-8") as log:
            log.write(json.dumps(line, allow_nan=False) + "\n")
            log.flush()
            os.fsync(log.fileno())
        self._lines, self._restored = self._lines + 1, False
        state = {**state, "lines": self._lines, "config": self._digest(), "format": CHECKPOINT_FORMAT}
        write_checkpoint(self._checkpoint, state)
        if self._listener is not None:
            self._listener(line, total, self._left())

    def blame(self, error: Exception) -> None:
        """Raise a sentence if a checkpoint was read and no step done since: it is what did not fit."""
        if self._restored:
            raise RunError(
                f"{self._checkpoint} does not fit this version ({type(error).__name__}: {error}); go on with the "
                "version of genspp that wrote it, or start the run again with --force."
            ) from error

    def enough(self) -> bool:
        """Tell whether to stop now: never before a step was recorded, then when asked to finish, or the time is up."""
        left = self._left()
        if self._lines and self._finishing:
            self.stopped_by = "finish"
        elif self._lines and left is not None and left <= 0:
            self.stopped_by = "time"
        return self.stopped_by is not None

    def _left(self) -> float | None:
        """Return the seconds until the time is up: steps of earlier sessions count, and all of this one does."""
        minutes = self.config.get("minutes")
        return None if minutes is None else 60 * minutes - self._earlier - (monotonic() - self._began)

    def _digest(self) -> str:
        """Return a checksum of what a checkpoint depends on."""
        settings = {name: value for name, value in self.config["settings"].items() if name not in _ANYWHERE}
        parts = [self.config["method"], settings, self.config["data"].get("fingerprint")]
        return sha256(json.dumps(parts, sort_keys=True).encode())


def _hold(folder: Path) -> Hold | None:
    try:
        return hold(folder)
    except BlockingIOError:
        raise RunError(f"another process is at work in {folder}; let it end, or stop it, and try again.") from None


def _wrong_field(config: Any) -> str | None:
    """Return the name of what is not as it must be in a configuration, None where all is."""
    if not isinstance(config, dict):
        return "its beginning"
    for name, kind in _CONFIG.items():
        if not isinstance(config.get(name), kind):
            return name
    if not MINUTES[0](config.get("minutes")):
        return "minutes"
    for name, value in config["data"].items():
        if name in _DATA and (not isinstance(value, _DATA[name]) or isinstance(value, bool)):
            return f"data.{name}"
    columns = config["data"].get("columns", {})
    return next((f"data.columns.{name}" for name, value in columns.items() if not isinstance(value, str | None)), None)


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
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise RunError(
            f"{path} is cut short or damaged ({error}); start the run again with --force, or put a whole copy back."
        ) from None
    if metadata.get("sha256") != _digest(arrays, metadata.get("values", "")):
        raise RunError(f"{path} is damaged (its checksum differs); start the run again with --force.")
    try:
        return {**json.loads(metadata["values"]), **arrays}
    except (KeyError, TypeError, ValueError, RecursionError):
        raise RunError(f"{path} is no checkpoint of a run; start the run again with --force.") from None


def _digest(arrays: dict[str, Any], values: str) -> str:
    parts = [values.encode(), *(name.encode() + arrays[name].tobytes() for name in sorted(arrays))]
    return sha256(b"\0".join(parts))


def versions() -> dict[str, str]:
    """Return the versions that a result may depend on."""
    found = {name: version(name) for name in ("torch", "numpy", "numba")}
    return {"genspp": genspp.__version__, "python": platform.python_version(), **found}
