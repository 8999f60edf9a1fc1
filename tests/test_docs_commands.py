"""What the documentation tells people to type works as it is written.

A command is a line of a fenced `sh` block. Those of the README's "On your own data" and of docs/guide.md are typed, one
after the other, in a folder with nothing but a copy of examples/. Six rules:
- what sets up an environment (python3, source, pip, make) is not typed; extras and targets that it names must exist;
- `genspp serve` is started at a free port, asked once, and stopped;
- a command that was typed already, on the page before, is not typed again;
- after the first training, commands run in this process, for starting one takes longer than most of them;
- trainings after the first are typed with the smallest search that there is (`SMALL`), for the sake of time;
- what stands between the lines of these pages (`genspp resume runs/messages`) is typed last.
All other `genspp` commands, those for researchers, are typed as well, on data sets made for it and with a training that
does nothing: they would take days. Elsewhere, what a text mentions (`genspp explain --html`) must exist.
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
from functools import partial
from itertools import dropwhile, takewhile
from pathlib import Path

import pytest
import typer

from cli_tools import invoke
from conftest import sentences, train_nothing
from experiment_tools import run_none, write_eraser, write_posts, write_vectors
from genspp import GenSPP
from genspp.cli import app
from genspp.data.sources import toy
from genspp.experiments import benchmark
from genspp.methods.gradient import GradientRationalizer
from serve_tools import served

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SETTING_UP = ("python3", "source", "pip", "make")
SMALL = " --generations 1 --population 2 --set min_steps=5 --set patience=2"
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


def between_the_lines(page: Path) -> list[str]:
    """Return what stands in a text as a command, or as the beginning of one."""
    return re.findall(r"`(genspp [^`]+)`", re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S))


MENTIONED = [(page, line) for page in PAGES for line in dict.fromkeys(between_the_lines(page))]


def unknown_parts(mention: str) -> list[str]:
    """Return what the command line does not know: the name of a command, or its options."""
    parser, (_, name, *rest) = typer.main.get_command(app), shlex.split(mention)
    if name not in parser.commands:
        return [name]
    known = [option for parameter in parser.commands[name].params for option in (*parameter.opts, "--help")]
    return [part for part in rest if part.startswith("-") and part not in known]


@pytest.mark.parametrize(("page", "mention"), MENTIONED, ids=[f"{page.name}: {line}" for page, line in MENTIONED])
def test_what_is_mentioned_exists(page, mention):
    assert unknown_parts(mention) == []


def test_what_is_mentioned_and_does_not_exist_is_found():
    assert unknown_parts("genspp nonsense a") == ["nonsense"]
    assert unknown_parts("genspp train --nonsense --out a") == ["--nonsense"]


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


def in_a_shell(command: str) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", command], env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def here(command: str) -> None:
    done = invoke(*shlex.split(command)[1:])
    assert done.exit_code == 0, f"{command}\n{done.output}\n{done.exception!r}"


def test_the_readme_and_the_guide_can_be_typed(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    guide = ROOT / "docs" / "guide.md"
    last = [line for page in (guide, ROOT / "README.md") for line in between_the_lines(page) if " runs/" in line]
    typed = dict.fromkeys([*own_data(), *of_page(guide), *last])
    trained = False
    for command in typed:
        if command.startswith(SETTING_UP):
            continue
        if command.startswith("genspp serve "):
            assert "parcel" in json.dumps(ask(tmp_path / shlex.split(command)[2])), command
            continue
        training = command.startswith("genspp train ")
        if trained and command.startswith("genspp "):
            here(command + SMALL * training)
        else:
            in_a_shell(command)
        trained = trained or training
    made = ["why.html", "labelled.csv", "runs/messages/report.html", "runs/messages/model/MODEL_CARD.md"]
    assert [name for name in made if not (tmp_path / name).is_file()] == []


def test_what_researchers_type_can_be_typed(tmp_path, monkeypatch):
    for kind in (GenSPP, GradientRationalizer):
        monkeypatch.setattr(kind, "_train", train_nothing)
    monkeypatch.setattr(benchmark, "run_all", run_none)
    monkeypatch.setattr(toy, "toy", partial(toy.toy, size=300))
    monkeypatch.chdir(tmp_path)
    texts, labels = sentences(60)
    Path("mine.jsonl").write_text(
        "".join(json.dumps({"text": t, "label": k}) + "\n" for t, k in zip(texts, labels, strict=True))
    )
    made = {
        "hatexplain:FOLDER": f"hatexplain:{write_posts(tmp_path / 'posts')}",
        "eraser:FOLDER": f"eraser:{write_eraser(tmp_path / 'reviews')}",
        "glove.twitter.27B.25d.txt": str(write_vectors(tmp_path / "vectors.txt")),
        "--vectors FILE": f"--vectors {tmp_path / 'vectors.txt'}",
        " RUN ": " runs/movies ",  # which the README has trained
        "mine.csv": "mine.jsonl",
        " --on ray:HOST:PORT": "",  # tests of clusters have one
        " --on ray": "",
    }
    elsewhere = {*own_data(), *of_page(ROOT / "docs" / "guide.md")}
    lines = [line for page in PAGES for line in of_page(page) if line.startswith("genspp ") and line not in elsewhere]
    assert len(lines) > 15
    for placeholder, name in made.items():
        lines = [line.replace(placeholder, name) for line in lines]
    for line in dict.fromkeys(line.strip() for line in lines):
        here(line)


def test_the_readme_s_python_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(GenSPP, "_train", lambda *_: None)
    monkeypatch.chdir(tmp_path)
    texts, labels = sentences(60)
    frame = pytest.importorskip("pandas").DataFrame({"message": texts, "topic": labels})
    (block,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    exec(block, {"texts": texts, "labels": labels, "frame": frame})
    assert (tmp_path / "model" / "MODEL_CARD.md").is_file()


def test_pictures_are_shown_and_small():
    pictures = list((ROOT / "docs" / "images").iterdir())
    shown = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [path.name for path in pictures if f"images/{path.name})" not in shown] == []
    assert [path.name for path in pictures if path.stat().st_size > LARGEST] == []
