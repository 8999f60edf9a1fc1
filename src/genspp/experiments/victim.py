"""The command line in a process that is meant to be killed: by itself, before an operation on files, or by others.

    python -m genspp.experiments.victim NUMBER FOLDER SEEN COMMAND...

kills itself before the NUMBER-th time that it opens, renames or removes a file below FOLDER to change it; 0: never, and
then the file SEEN has the seconds after its start at which it did so. `save FROM TO` loads a model and saves it.
"""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.truncate")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def watch(number: int, folder: str, seen: Path) -> None:
    """Count operations from now on, and end before one of them."""
    started, times = time.monotonic(), list[float]()

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        changes = event in _CHANGES or (event == "open" and (arguments[2] or 0) & _WRITING)
        if not changes or isinstance(arguments[0], int) or not os.path.abspath(arguments[0]).startswith(folder):
            return
        times.append(time.monotonic() - started)
        if len(times) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        if not number:
            with seen.open("a") as file:
                print(times[-1], file=file)

    sys.addaudithook(hook)


def main() -> None:
    """Run as a program."""
    number, folder, seen, *command = sys.argv[1:]
    watch(int(number), folder, Path(seen))
    if command[0] == "save":
        from genspp.methods.base import Rationalizer

        Rationalizer.load(command[1]).save(command[2])
        return
    from genspp.cli import main as command_line

    sys.argv = ["genspp", *command]
    command_line()


if __name__ == "__main__":
    main()
