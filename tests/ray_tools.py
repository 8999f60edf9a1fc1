"""Local clusters of Ray for tests, and an end to their workers."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and those that these have started."""
    children = Path(f"/proc/{pid}/task").glob("*/children")
    found = []
    for path in children:
        try:
            own = [int(child) for child in path.read_text().split()]
        except OSError:  # it has just ended
            continue
        found += [*own, *(below for child in own for below in descendants(child))]
    return found


def title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def at_work(pid: int) -> list[int]:
    """Return the workers of a process's own cluster that are at work."""
    return [child for child in descendants(pid) if title(child).startswith("ray::_work")]


def kill_one(pid: int, ready: Callable[[], bool] = lambda: True, seconds: float = 600) -> int:
    """Kill a worker at work, as soon as somebody says that it is time; return which."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        busy = at_work(pid)
        if busy and ready():
            os.kill(busy[0], signal.SIGKILL)
            return busy[0]
        time.sleep(0.05)
    raise TimeoutError("no worker was at work")


class Killer(Thread):
    """Kills a worker of this process while something else goes on."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.killed: int | None = None
        self.start()

    def run(self) -> None:
        self.killed = kill_one(os.getpid())
