"""`genspp audit` as a user meets it."""

import json
import shutil

import pytest

from cli_tools import FAST, fails, invoke, write_csv
from genspp import cli
from genspp.app.audit import audit_folder
from genspp.errors import RunError
from genspp.evaluation.verdicts import QUESTIONS


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    table = write_csv(folder / "posts.csv")
    arguments = ["--method", "rnp", "--set", "max_epochs=3", *FAST[4:6]]
    done = invoke("train", table, "--text", "body", "--label", "kind", "--out", folder / "run", *arguments)
    assert done.exit_code == 0, done.output
    return folder / "run"


def test_a_finished_run_is_audited(run, monkeypatch):
    monkeypatch.setattr("genspp.evaluation.judges._MOST_STEPS", 50)
    done = invoke("audit", run)
    assert done.exit_code == 0, done.output
    assert all(question in done.output for question in QUESTIONS.values())
    written = json.loads((run / "audit.json").read_text())
    assert written["model_clf_f1"] == json.loads((run / "metrics.json").read_text())["clf_f1"]
    assert written["guessing_clf_f1"] == json.loads((run / "metrics.json").read_text())["guessing_clf_f1"]
    assert written["gaps"]["shift_without"] == written["gaps"]["shift_behind"] == 0
    assert all(written[name]["verdict"] for name in QUESTIONS)
    again = invoke("audit", run, "--json")
    assert json.loads(again.stdout.splitlines()[-1]) == written


def test_a_run_that_is_not_finished_is_one_sentence(run, tmp_path):
    shutil.copytree(run, tmp_path / "r")
    for name in ("metrics.json", "audit.json"):
        (tmp_path / "r" / name).unlink(missing_ok=True)
    fails("is not finished; go on with `genspp resume", "audit", tmp_path / "r")
    fails("is not a run folder", "audit", tmp_path)
    fails("a model folder by itself", "audit", run / "model")
    assert not (tmp_path / "r" / "audit.json").exists()


def test_a_run_that_is_replaced_has_no_old_audit(run, tmp_path):
    from genspp.app.runs import Run

    shutil.copytree(run, tmp_path / "r")
    (tmp_path / "r" / "audit.json").write_text("{}")
    Run.create(tmp_path / "r", Run.open(run).config, force=True)
    assert not (tmp_path / "r" / "audit.json").exists()
    with pytest.raises(RunError):
        audit_folder(tmp_path / "r")


def test_the_command_is_listed():
    assert "audit" in {command.name or command.callback.__name__ for command in cli.app.registered_commands}
