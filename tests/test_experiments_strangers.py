"""Model folders of a stranger: each attack is refused in one sentence, or does nothing."""

import logging
import signal

import pytest

from genspp.app.predict import open_explainer
from genspp.errors import ModelFolderError
from genspp.experiments import strangers
from genspp.experiments.strangers import ATTACKS, CANARY, TEXT, attack
from genspp.methods import METHODS
from genspp.report.explained import page
from genspp.report.terminal import Screen, print_rationales

# What is not refused: the model answers as it would have.
WORKS = {
    "pickles and Python files beside the model", "a billion tokens of a text", "a billion drawn tokens",
    "a method that is a path", "a method that is code", "a vocabulary of one word twice",
    "labels that steer a terminal", "labels that are a script", "a title that steers a terminal",
    *(name for name in ATTACKS if name.startswith("word vectors")),
}  # fmt: skip


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "model"
    texts, labels = ["a goal in the match", "some soup and bread"] * 6, ["sport", "food"] * 6
    METHODS["rnp"](hidden=4, max_epochs=1, workers=1).fit(texts, labels).save(folder)
    return folder


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_does_no_harm(model, tmp_path, capsys, caplog, name):
    caplog.set_level(logging.WARNING, "genspp")
    folder = attack(model, tmp_path, name)
    before = sorted(tmp_path.rglob("*"))
    signal.alarm(60)  # what hangs is an error, too
    try:
        found = open_explainer(folder)[0].explain([TEXT])
    except ModelFolderError as error:
        assert name not in WORKS and "\n" not in str(error) and str(error).endswith(".") and str(folder) in str(error)
        assert len(str(error)) < 600
    else:
        assert name in WORKS
        print_rationales(Screen(), found)
        shown = capsys.readouterr()
        assert "\x1b" not in shown.out + shown.err and "\u202e" not in shown.out
        assert "<script>alert" not in page(found, "a model")
    finally:
        signal.alarm(0)
    assert sorted(tmp_path.rglob("*")) == before and not (tmp_path / CANARY).exists()


def test_word_vectors_that_do_not_fit_are_said_to_be_lost(model, tmp_path, caplog):
    folder = attack(model, tmp_path, "word vectors wider than the model's")
    open_explainer(folder)[0].explain([TEXT])
    assert "is not the same file any more" in caplog.text


def test_the_pickles_would_do_harm_if_somebody_read_them(tmp_path):
    import pickle

    (tmp_path / "model").mkdir()
    pickle.loads(strangers._pickle(tmp_path / "model"))
    assert (tmp_path / CANARY).is_dir()
