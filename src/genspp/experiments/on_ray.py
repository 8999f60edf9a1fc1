"""The runs of a grid on a cluster: a run is a piece of work, which some worker does in a process as it is done here.

The result comes back as the bytes of its file, so machines need no folder in common; data and vectors that are files
must lie at the same place on all of them. A run whose worker dies starts again, elsewhere.
"""

import asyncio
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from genspp.cluster import Cluster
from genspp.data.sources import find_source
from genspp.errors import GenSPPError
from genspp.experiments.grid import Trial
from genspp.experiments.pool import Process, Watcher, own_process
from genspp.files import write_bytes

_LOOK = 1.0  # seconds between two looks at how far a run has come


class Done(NamedTuple):
    """How a run ended: its code, the bytes of its result if there is one, and what it said on standard error."""

    code: int
    result: bytes | None
    errors: bytes


def on_cluster(cluster: Cluster) -> Process:
    """Return what does runs on a cluster."""
    board = cluster.actor(_Board)

    async def process(trial: Trial, runs: Path, out: Path, error_file: Path, watcher: Watcher) -> int:
        waiting = asyncio.ensure_future(cluster.submit(_run, _findable(trial).to_json(), board))
        try:
            while not (await asyncio.wait([waiting], timeout=_LOOK))[0]:
                if (line := await board.last.remote(trial.name)) is not None:
                    watcher.progress(trial, line)
            done: Done = waiting.result()
        except Exception as error:
            said = cluster.in_our_words(error)
            if not isinstance(said, GenSPPError):
                raise
            done = Done(2, None, str(said).encode())
        write_bytes(error_file, done.errors)
        if done.result is not None:
            write_bytes(out / trial.file, done.result)
        return done.code

    return process


def _findable(trial: Trial) -> Trial:
    """Return a run with the whole paths of its files: a worker may stand in another folder."""
    files = {name: str(Path(path).resolve()) for name, path in trial.settings.items() if name == "vectors"}
    return replace(trial, source=find_source(trial.source).absolute, settings={**trial.settings, **files})


class _Board:
    """Where workers write how far their runs have come; who shows it looks there."""

    def __init__(self) -> None:
        self._lines: dict[str, dict[str, Any]] = {}

    def tell(self, name: str, line: dict[str, Any]) -> None:
        """Take the last line of a run."""
        self._lines[name] = line

    def last(self, name: str) -> dict[str, Any] | None:
        """Return the last line of a run."""
        return self._lines.get(name)


# ---- on a worker


class _Teller(NamedTuple):
    """Writes to the board how far a run has come."""

    board: Any

    def progress(self, trial: Trial, line: dict[str, Any]) -> None:
        """A run has come a step further."""
        self.board.tell.remote(trial.name, line)


def _run(asked: dict[str, Any], board: Any) -> Done:
    trial = Trial(**asked)
    with TemporaryDirectory(prefix="genspp-") as folder:
        runs, out, errors = Path(folder, "runs"), Path(folder, "out"), Path(folder, "errors.txt")
        code = asyncio.run(own_process(trial, runs, out, errors, _Teller(board)))
        result = out / trial.file
        return Done(code, result.read_bytes() if result.exists() else None, errors.read_bytes())
