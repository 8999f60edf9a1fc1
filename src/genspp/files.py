"""Files that are either there whole or not there at all."""

import hashlib
import json
import os
import secrets
from pathlib import Path
from typing import Any


def write_bytes(path: Path, content: bytes) -> None:
    """Write `content` to `path` atomically: a reader, or a crash, sees the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


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
