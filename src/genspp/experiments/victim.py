"""The command line in a process that is meant to be killed: by itself, before an operation on files, or by others.

The process is forked from one that has loaded everything, so that it is killed at its work and not while it loads.
"""

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.truncate")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_FORK = multiprocessing.get_context("fork")


class Process:
    """A command that runs in a folder.

    number: it sends itself a signal before so many a time that it makes, opens, renames or removes something below the
    folder; 0: never. first: what it does before all else. What it says goes to `said`, the seconds at which it did such
    things to `seen`, both beside the folder.
    """

    def __init__(
        self,
        folder: Path,
        arguments: Sequence[str],
        number: int = 0,
        by: signal.Signals = signal.SIGKILL,
        first: Callable[[], object] = lambda: None,
    ) -> None:
        self.said, self.seen = folder.parent / "said", folder.parent / "seen"
        for path in (self.said, self.seen):
            path.write_text("")
        load()
        self._process = _FORK.Process(target=_live, args=(self, folder, list(arguments), (number, by), first))
        self._process.start()
        self.pid = int(self._process.pid or 0)

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.is_alive()

    @property
    def stopped(self) -> bool:
        """Whether it neither works nor has ended."""
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, if it is still there."""
        if self._process.is_alive():
            os.kill(self.pid, number)

    def wait(self, seconds: float) -> tuple[int, str] | None:
        """Return how it ended (minus the number of the signal that ended it) and what it said; None if it did not."""
        self._process.join(seconds)
        if self._process.exitcode is None:
            return None
        return self._process.exitcode, self.said.read_text(encoding="utf-8", errors="replace")

    def times(self) -> list[float]:
        """Return after how many seconds it made changes."""
        return [float(line) for line in self.seen.read_text().split()]


def load() -> None:
    """Load what commands need; the command line itself is no room that experiments may import."""
    for name in ("genspp.cli", "genspp.app.train", "genspp.app.report", "genspp.experiments.benchmark"):
        import_module(name)
    list(import_module("genspp.methods").METHODS)


def _live(
    process: Process, folder: Path, arguments: list[str], ends: tuple[int, signal.Signals], first: Callable[[], object]
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.chdir(folder)
    nothing, said = os.open(os.devnull, os.O_RDONLY), os.open(process.said, os.O_WRONLY | os.O_APPEND)
    for descriptor, copy in ((nothing, 0), (said, 1), (said, 2)):
        os.dup2(descriptor, copy)
    sys.stdout, sys.stderr = (open(copy, "w", encoding="utf-8", closefd=False) for copy in (1, 2))  # noqa: SIM115
    first()
    _watch(f"{folder}{os.sep}", *ends, process.seen)
    if arguments[0] == "save":  # which no command does by itself
        import_module("genspp.methods.base").Rationalizer.load(arguments[1]).save(arguments[2])
        return
    sys.argv = ["genspp", *arguments]
    import_module("genspp.cli").main()


def _watch(below: str, number: int, by: signal.Signals, seen: Path) -> None:
    """Count operations from now on, and end or stop before one of them."""
    started, count = time.monotonic(), 0
    log = seen.open("a", buffering=1)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        changes = event in _CHANGES or (event == "open" and (arguments[2] or 0) & _WRITING)
        if not changes or isinstance(arguments[0], int) or not os.path.abspath(arguments[0]).startswith(below):
            return
        count += 1
        if count == number:
            os.kill(os.getpid(), by)
        print(time.monotonic() - started, file=log)

    sys.addaudithook(hook)
