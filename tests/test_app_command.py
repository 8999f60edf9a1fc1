"""What to type for a run."""

import shlex

import pytest

from cli_tools import invoke
from conftest import sentences
from genspp.app.command import train_command
from genspp.app.runs import Run
from genspp.cli import training


@pytest.fixture
def configured(tmp_path, monkeypatch):
    """Return what makes a run as `genspp train` does, without training it."""
    runs = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(training, "_proceed", lambda run, data, examples, on: runs.append(run))
    texts, labels = sentences(60)
    rows = "".join(f"{text},{label}\n" for text, label in zip(texts, labels, strict=True))
    (tmp_path / "the posts.csv").write_text("the 'body',kind\n" + rows)
    (tmp_path / "test.csv").write_text("the 'body',kind\n" + rows)
    words = sorted({word for text in texts for word in text.split()})
    (tmp_path / "v.txt").write_text("".join(f"{word} 1 {number} 3\n" for number, word in enumerate(words)))

    def configured(*arguments: str) -> Run:
        done = invoke("train", *arguments)
        assert done.exit_code == 0, (done.output, done.exception)
        return runs[-1]

    return configured


TABLE = ["the posts.csv", "--text", "the 'body'", "--label", "kind"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["toy"],
        ["toy", "--preset", "paper", "--seed", "3", "--set", "threshold=None"],
        ["toy", "--vectors", "corpus", "--hidden", "5"],
        ["toy", "--method", "fr", "--set", "alpha=0.3"],
        TABLE,
        [*TABLE, "--test", "test.csv", "--max-length", "11", "--tokenizer", "spaces", "--vectors", "v.txt"],
        [*TABLE, "--on-bad-row", "skip", "--highlight-form", "characters"],
        [*TABLE, "--max-length", "11", "--truncate", "5", "--minutes", "2.5"],
        [*TABLE, "--set", 'class_weight={"food": 2, "sport": 1, "tech": 1}', "--set", 'evidence_for=["food"]'],
        [*TABLE, "--method", "wordlist", "--class-weight", "balanced", "--set", "lists=3"],
    ],
)
def test_the_command_gives_the_same_configuration(configured, tmp_path, arguments):
    first = configured(*arguments, "--out", str(tmp_path / "a run"))
    command = train_command(first, 3)
    assert str(tmp_path) not in command
    *again, name = shlex.split(command)
    assert (again[:2], name) == (["genspp", "train"], "a run")
    assert configured(*again[2:], "other").config == first.config


def test_the_command_names_what_is_not_usual_and_nothing_else(configured, tmp_path):
    run = configured(*TABLE, "--generations", "4", "--out", str(tmp_path / "r"))
    settings = train_command(run, 3).partition(" --set ")[2]
    assert settings == "generations=4 --out r"
