"""How tests call the command line, and what they train it on."""

import csv
import io
import subprocess
import sys
from contextlib import redirect_stderr
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conftest import sentences
from genspp import cli

FAST = ["--population", "4", "--generations", "3", "--hidden", "4", "--set", "min_steps=5", "--set", "patience=2",
        "--set", "climb_steps=5", "--workers", "1"]  # fmt: skip


def call(*arguments: object, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run `genspp` as a process."""
    command = [sys.executable, "-c", "from genspp.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, input=text, timeout=300, check=False)


def invoke(*arguments: object, text: str | None = None):
    """Run `genspp` in this process; errors of ours come out as the exception."""
    return CliRunner().invoke(cli.app, list(map(str, arguments)), input=text)


def fails(sentence: str, *arguments: object) -> str:
    """Expect exit code 2 and one sentence without a traceback."""
    errors = io.StringIO()
    argv = ["genspp", *map(str, arguments)]
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(errors), pytest.raises(SystemExit) as ended:
        patch.setattr(sys, "argv", argv)
        cli.main()
    message = errors.getvalue()
    assert ended.value.code == 2, message
    said = message.splitlines()[-1]  # what was noted about the data may stand before it
    assert said.startswith("error: ")
    assert sentence in said
    return message


def write_csv(path: Path, rows: int = 120, seed: int = 0, header=("body", "kind")) -> Path:
    texts, labels = sentences(rows, seed)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for number, row in enumerate(zip(texts, labels, strict=True)):
            writer.writerow((f'"{row[0]}", she said 🙂', row[1]) if number % 7 == 0 else row)
            if number % 50 == 0:
                file.write("\n")
    return path
