"""Files that are either there whole or not there at all, and folders that one process works in at a time.

Nothing that is locked stays so: a lock belongs to an open file or folder, and ends with the process at the latest.
(Where the system or the disk has no such locks, as on Windows, nothing is locked, and what a kill left stays.)
"""

import errno
import hashlib
import json
import os
import re
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from time import monotonic, sleep
from typing import Any, BinaryIO
from weakref import WeakValueDictionary

try:
    _fcntl: Any = import_module("fcntl")
except ImportError:
    _fcntl = None

_PATIENCE = 3.0  # seconds; a process that was killed just now may take a moment to end


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let the system's errors name the file that is meant, not one that stands in for it, or none."""
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


def write_bytes(path: Path, content: bytes) -> None:
    """Write `content` to `path` atomically: a reader, or a crash, sees the old file or the new one."""
    if path.exists() and not path.is_file():
        what = "it is a folder" if path.is_dir() else "it is no ordinary file"
        raise FileExistsError(errno.EEXIST, what, str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    _sweep(path)
    file = _temporary(path)
    try:
        with naming(path), file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            if _fcntl is not None:  # while it is locked nobody takes it for what a kill left
                Path(file.name).replace(path)
        if _fcntl is None:  # where an open file cannot be renamed
            with naming(path):
                Path(file.name).replace(path)
    except BaseException:
        Path(file.name).unlink(missing_ok=True)
        raise


def _temporary(path: Path) -> BinaryIO:
    """Open a new file, locked, that is to become `path`."""
    while True:
        with naming(path):
            file = path.with_name(f".{path.name}.{secrets.token_hex(4)}").open("xb")
        if _locked(file.fileno()) is not False and os.fstat(file.fileno()).st_nlink:
            return file
        file.close()  # another process has swept it away before it was locked


def _sweep(path: Path) -> None:
    """Remove what kills left of earlier writes to `path`: such files are locked by nobody."""
    left = re.compile(re.escape(f".{path.name}.") + "[0-9a-f]{8}")
    with suppress(OSError):
        for entry in list(os.scandir(path.parent)):
            if left.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError), open(entry, "rb") as file:
                    if _locked(file.fileno()):
                        os.unlink(entry)


def _locked(descriptor: int) -> bool | None:
    """Lock an open file or folder until it is closed; False where somebody else has, None where there are no locks."""
    if _fcntl is None:
        return None
    try:
        _fcntl.flock(descriptor, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


class Hold:
    """A folder that this process works in, until nothing refers to this any more, or the process ends."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __del__(self) -> None:
        os.close(self._descriptor)


_HELD: WeakValueDictionary[tuple[int, int], Hold] = WeakValueDictionary()


def hold(folder: Path) -> Hold | None:
    """Keep other processes from holding a folder; BlockingIOError where one does. None where there are no locks."""
    if _fcntl is None:
        return None
    with naming(folder):
        descriptor = os.open(folder, os.O_RDONLY)
    found = os.fstat(descriptor)
    place, until = (found.st_dev, found.st_ino), monotonic() + _PATIENCE
    if place in _HELD:
        os.close(descriptor)
        return _HELD[place]
    held = _HELD[place] = Hold(descriptor)
    while _locked(descriptor) is False:
        if monotonic() > until:
            del _HELD[place]
            raise BlockingIOError(errno.EAGAIN, "another process is at work there", str(folder))
        sleep(0.05)
    return held


def write_out(content: bytes) -> None:
    """Write to standard output, all of it: where that is not buffered, one write may end half way and say nothing."""
    sys.stdout.flush()
    rest = memoryview(content)
    while rest:
        rest = rest[sys.stdout.buffer.write(rest) :]
    sys.stdout.buffer.flush()


def write_text(path: Path, content: str) -> None:
    """Write text as UTF-8, atomically."""
    write_bytes(path, content.encode("utf-8"))


def json_text(content: Any) -> str:
    """Return JSON that people can read and compare."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_json(path: Path, content: Any) -> None:
    """Write JSON that people can read and compare, atomically."""
    write_text(path, json_text(content))


def sha256(content: bytes) -> str:
    """Return the SHA-256 of `content` in hexadecimal."""
    return hashlib.sha256(content).hexdigest()
