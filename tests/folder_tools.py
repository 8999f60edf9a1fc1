"""Folders that somebody has edited: a field, a file, and the manifest with it; and what a command must say of them."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from genspp import cli
from genspp.files import sha256

GONE = object()


def edit_field(path: Path, field: str, value: Any) -> None:
    """Set a field of a JSON file, named with dots, or take it away."""
    content = json.loads(path.read_bytes())
    *parents, last = field.split(".")
    place = content
    for name in parents:
        place = place[name]
    if value is GONE:
        del place[last]
    else:
        place[last] = value
    path.write_text(json.dumps(content))


def sign(model: Path) -> None:
    """Write the checksums of a model folder's files as they are now."""
    names = ("config.json", "vocabulary.json", "weights.safetensors", "MODEL_CARD.md")
    files = {name: sha256((model / name).read_bytes()) for name in names if (model / name).exists()}
    (model / "manifest.json").write_text(json.dumps({"files": files}))


def alter(model: Path, name: str, change: Callable[[Any], Any]) -> None:
    """Change a JSON file of a model, and the manifest with it."""
    (model / name).write_text(json.dumps(change(json.loads((model / name).read_bytes()))))
    sign(model)


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refuses(capfd, folder: Path, *arguments: object) -> str:
    """Expect exit code 2, one sentence, nothing else, and a folder that is as it was."""
    before = contents(folder)
    capfd.readouterr()
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr(sys, "argv", ["genspp", *map(str, arguments)])
        cli.main()
    out, errors = capfd.readouterr()
    assert ended.value.code == 2, errors
    assert out == ""
    lines = errors.splitlines()  # first what was noted about the data
    at = next(number for number, line in enumerate(lines) if line.startswith("error: "))
    said, below = lines[at], lines[at + 1 :]
    assert said.endswith(":" if below else ".") and all(line.startswith("  ") for line in below)  # rows, a line each
    assert "Traceback" not in errors
    assert contents(folder) == before
    return said
