"""Files that are either there whole or not there at all."""

import errno
import hashlib
import json
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


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
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with naming(path), temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with naming(path):
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


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
