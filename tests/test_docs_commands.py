"""What the documentation tells people to type works as it is written.

A command is a line of a fenced `sh` block. Every `genspp` command of every page must be one that the command line
understands (what needs data sets that are not here, `hatexplain:FOLDER` and such, gets no further test). Those of the
README's "On your own data" and of docs/guide.md are typed, one after the other, in a folder with nothing but a copy of
examples/. Four rules:
- what sets up an environment (python3, source, pip, make) is not typed; extras and targets that it names must exist;
- `genspp serve` is started at a free port, asked once, and stopped;
- a command that was typed already, on the page before, is not typed again;
- trainings after the first are typed with the smallest search that there is (`SMALL`), for the sake of time.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import urllib.request
from itertools import dropwhile, takewhile
from pathlib import Path

import pytest
import typer

from genspp.cli import app
from serve_tools import served

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SETTING_UP = ("python3", "source", "pip", "make")
SMALL = " --generations 1 --population 2"
LARGEST = 250_000


def commands(markdown: str) -> list[str]:
    """Return the lines of all sh blocks; what a comment says is taken off."""
    blocks = re.findall(r"^```sh\n(.*?)^```", markdown, re.DOTALL | re.MULTILINE)
    lines = [re.sub(r"\s+# .*$", "", line) for line in "".join(blocks).splitlines()]
    return [line for line in lines if line]


def of_page(page: Path) -> list[str]:
    return commands(page.read_text(encoding="utf-8"))


def own_data() -> list[str]:
    """Return the commands of the README's section on people's own data."""
    lines = dropwhile(lambda line: line != "## On your own data", (ROOT / "README.md").read_text("utf-8").splitlines())
    section = [next(lines), *takewhile(lambda line: not line.startswith("## "), lines)]
    return commands("\n".join(section))


def understood(command: str) -> None:
    """Parse a genspp command, without running it; raise what a wrong option or a missing argument raises."""
    parser, rest = typer.main.get_command(app), shlex.split(command)
    context = parser.make_context(rest[0], rest[1:])
    rest = rest[1:]
    while hasattr(parser, "resolve_command"):
        name, parser, rest = parser.resolve_command(context, rest)
        context = parser.make_context(name, list(rest), parent=context)


UNDERSTOOD = [(page, line) for page in PAGES for line in dict.fromkeys(of_page(page)) if line.startswith("genspp ")]


@pytest.mark.parametrize(("page", "command"), UNDERSTOOD, ids=[f"{page.name}: {line}" for page, line in UNDERSTOOD])
def test_a_command_is_understood(page, command):
    understood(command)


@pytest.mark.parametrize("wrong", ["genspp train toy", "genspp train toy --out a --nonsense 1", "genspp nonsense a"])
def test_a_wrong_command_is_not(wrong):
    with pytest.raises(typer.BadParameter.__base__):
        understood(wrong)


def test_what_is_to_be_installed_or_made_exists():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    made = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    named = [line for page in PAGES for line in of_page(page) if line.startswith(SETTING_UP)]
    assert any("pip install" in line for line in named) and any(line.startswith("make ") for line in named)
    for line in named:
        for extra in ",".join(re.findall(r"\[([a-z,]+)\]", line)).split(","):
            assert extra in ("", *extras), line
        assert not line.startswith("make ") or line.split()[1] in made, line


def ask(folder: Path) -> dict:
    """Serve a folder, and return what is answered about one text."""
    with served(folder) as address:
        question = json.dumps({"texts": ["Where is my parcel?"]}).encode()
        request = urllib.request.Request(f"{address}/explain", question, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)


def test_the_readme_and_the_guide_can_be_typed(tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    typed = dict.fromkeys([*own_data(), *of_page(ROOT / "docs" / "guide.md")])
    trained = False
    for command in typed:
        if command.startswith(SETTING_UP):
            continue
        if command.startswith("genspp serve "):
            assert "parcel" in json.dumps(ask(tmp_path / shlex.split(command)[2])), command
            continue
        training = command.startswith("genspp train ")
        line = command + SMALL if training and trained else command
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        trained = trained or training
    made = ["why.html", "labelled.csv", "runs/messages/report.html", "runs/messages/model/MODEL_CARD.md"]
    assert [name for name in made if not (tmp_path / name).is_file()] == []


def test_pictures_are_shown_and_small():
    pictures = list((ROOT / "docs" / "images").iterdir())
    shown = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [path.name for path in pictures if f"images/{path.name})" not in shown] == []
    assert [path.name for path in pictures if path.stat().st_size > LARGEST] == []
