"""`genspp report` as a user meets it."""

import json
import shutil

import pytest

from cli_tools import FAST, fails, invoke, write_csv
from genspp.app.report import write_report
from genspp.data.sources.tables import Tables

ARGUMENTS = ["--text", "body", "--label", "kind", "--method", "rnp", "--set", "max_epochs=3", *FAST[4:6]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def run(folder):
    table = write_csv(folder / "posts.csv")
    done = invoke("train", table, "--out", folder / "run", *ARGUMENTS)
    assert done.exit_code == 0, done.output
    assert f"open {folder / 'run' / 'report.html'} in a browser" in done.output
    return folder / "run"


@pytest.fixture(scope="module")
def second(folder, run):
    done = invoke("train", folder / "posts.csv", "--out", folder / "second", "--seed", "5", *ARGUMENTS)
    assert done.exit_code == 0, done.output
    return folder / "second"


def data(path):
    """Return what a page's script reads."""
    written = path.read_text(encoding="utf-8")
    return json.loads(written.partition('id="data">')[2].partition("</script>")[0])


def test_training_writes_a_report_without_audit(run):
    written = (run / "report.html").read_text(encoding="utf-8")
    assert "RNP on posts" in written and "has not been audited yet" in written
    assert not (run / "audit.json").exists()
    predictions = [json.loads(line) for line in (run / "predictions.jsonl").read_text().splitlines()]
    found = data(run / "report.html")
    assert [row[0] for row in found["rows"]] == [line["id"] for line in predictions]
    assert [found["classes"][row[4][0][0]] for row in found["rows"]] == [line["predicted"] for line in predictions]


def test_a_report_is_written_where_it_should_be_and_audits_a_run_once(run, tmp_path, monkeypatch):
    monkeypatch.setattr("genspp.evaluation.judges._MOST_STEPS", 50)
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    before = data(copy / "report.html")
    done = invoke("report", copy)
    assert done.exit_code == 0, done.output
    assert f"wrote {copy / 'report.html'}" in done.output
    assert "has not been audited yet" not in (copy / "report.html").read_text()
    assert data(copy / "report.html") == before  # the model says the same when it is opened again
    monkeypatch.setattr("genspp.app.report.audit_run", None)  # not called again
    assert write_report([copy], tmp_path / "there.html") == tmp_path / "there.html"
    assert (tmp_path / "there.html").read_text() == (copy / "report.html").read_text()
    (copy / "audit.json").write_text('{"texts": 3}')  # of another version
    with pytest.raises(TypeError):
        write_report([copy])


def test_whose_evidence_is_wanted_is_said(folder, run, tmp_path):
    done = invoke(
        *("train", folder / "posts.csv", "--out", tmp_path / "r", *ARGUMENTS, "--set", 'evidence_for=["food", "tech"]')
    )
    assert done.exit_code == 0, done.output
    assert "wanted of “food”, “tech”<" in (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert "wanted of" not in (run / "report.html").read_text(encoding="utf-8")


def test_two_runs_are_compared(run, second, tmp_path):
    done = invoke("report", run, second, "--out", tmp_path / "both.html")
    assert done.exit_code == 0, done.output
    found = data(tmp_path / "both.html")
    assert found["runs"] == ["run", "second"]
    assert all(len(row[4]) == 2 for row in found["rows"])
    assert invoke("report", run, second).exit_code == 0
    assert (run / "comparison.html").exists()


def test_what_cannot_be_reported_is_one_sentence(run, second, folder, tmp_path):
    shutil.copytree(run, tmp_path / "r")
    (tmp_path / "r" / "metrics.json").unlink()
    fails("is not finished; go on with `genspp resume", "report", tmp_path / "r")
    fails("is not a run folder", "report", tmp_path)
    fails("a model folder by itself", "report", run / "model")
    fails("there are 3 run folders", "report", run, run, run)
    write_csv(folder / "others.csv", seed=1)
    done = invoke("train", folder / "others.csv", "--out", tmp_path / "others", *ARGUMENTS)
    assert done.exit_code == 0, done.output
    fails("were scored on different test texts", "report", run, tmp_path / "others")
    (tmp_path / "others" / "log.jsonl").write_text("{")
    fails("log.jsonl cannot be read", "report", tmp_path / "others")


def test_hateful_texts_are_not_written_down_unasked(folder, run, tmp_path, monkeypatch):
    monkeypatch.setattr(Tables, "may_be_shown", False)
    done = invoke("train", folder / "posts.csv", "--out", tmp_path / "r", *ARGUMENTS)
    assert done.exit_code == 0, done.output
    assert not (tmp_path / "r" / "report.html").exists()


def test_texts_that_training_has_seen_are_warned_of(folder, tmp_path):
    table = write_csv(tmp_path / "posts.csv")
    done = invoke("train", table, "--test", table, "--out", tmp_path / "r", *ARGUMENTS)
    assert done.exit_code == 0, done.output
    assert (
        "Training has seen 120 of 120 test texts (100.0 %) word for word"
        in (tmp_path / "r" / "report.html").read_text()
    )


def test_a_run_that_is_replaced_has_no_old_report(run, tmp_path):
    from genspp.app.runs import Run

    shutil.copytree(run, tmp_path / "r")
    (tmp_path / "r" / "comparison.html").write_text("")
    Run.create(tmp_path / "r", Run.open(run).config, force=True)
    assert not list((tmp_path / "r").glob("*.html"))
