"""Commands on a local cluster of two workers: what they leave is what they leave here, to the bit, whatever dies."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest

from conftest import interruptible
from experiment_tools import write_posts
from genspp.experiments.results import read_results
from ray_tools import descendants, kill_one, title

pytest.importorskip("ray", reason="Ray is not installed (genspp[ray])")

# Searches small enough for a test, and long enough for somebody to die in.
SETTINGS = {"generations": 2, "population": 4, "min_steps": 0, "max_epochs": 3, "predictors": 3, "workers": 2}
SMALL = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
GRID = ["--methods", "genspp,fr,random", "--quick", "--workers", "2"]


def start(folder: Path, *words: str) -> subprocess.Popen:
    command = [sys.executable, "-c", "from genspp.cli import main; main()", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=folder, text=True, preexec_fn=interruptible, **pipes)


def end(process: subprocess.Popen, code: int = 0) -> str:
    said = process.communicate(timeout=900)
    assert process.returncode == code, "\n".join(said)
    return "\n".join(said)


def left(run: Path) -> dict:
    """Return all that a run leaves, but seconds."""
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    logged = [{name: value for name, value in line.items() if name != "seconds"} for line in lines]
    files = [run / "config.json", run / "metrics.json", run / "predictions.jsonl", *sorted((run / "model").iterdir())]
    return {"log": logged, **{path.name: path.read_bytes() for path in files}}


def results(folder: Path) -> dict:
    """Return all results, without what tells of time and memory."""
    kept = ("run", "command", "asked", "settings", "data", "metrics", "audit", "predictions")
    found = read_results(folder / "results/quick")
    return {
        (run.method, run.variant): {
            **{name: run.content.get(name) for name in kept},
            "training": {name: run.training.get(name) for name in ("unit", "steps", "parameters")},
        }
        for run in found
    }


@pytest.fixture
def address(tmp_path, monkeypatch):
    """A cluster that somebody else has started, guarded by a token, as `ray start` does it."""
    token = tmp_path / ".ray" / "auth_token"
    token.parent.mkdir()
    token.write_text("a" * 64)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    with socket.socket() as free, tempfile.TemporaryDirectory(prefix="ray") as short:  # Ray's sockets want short paths
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        ray = Path(sys.executable).with_name("ray")
        words = ["start", "--head", "--block", "--port", str(port), "--num-cpus", "2", "--temp-dir", short]
        said = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        head = subprocess.Popen([ray, *words, "--include-dashboard=false"], start_new_session=True, **said)
        for _ in range(600):
            if (Path(short) / "ray_current_cluster").exists() or head.poll() is not None:
                break
            time.sleep(0.2)
        yield f"127.0.0.1:{port}"
        below = descendants(head.pid)
        for pid in (head.pid, *below):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        head.wait()


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A run and a grid as they are done here."""
    folder = tmp_path_factory.mktemp("here")
    posts = write_posts(folder / "posts")
    end(start(folder, "train", "toy", *SMALL, "--out", "run"))
    end(start(folder, "benchmark", "table1", "--data", f"hatexplain:{posts}", *GRID))
    return folder


def test_a_run_whose_worker_is_killed_and_which_goes_on_elsewhere_is_the_same(here, tmp_path):
    process = start(tmp_path, "train", "toy", *SMALL, "--on", "ray", "--out", "run")
    log = tmp_path / "run" / "log.jsonl"
    kill_one(process.pid, log.exists)
    while len(log.read_text().splitlines()) < 2:
        time.sleep(0.02)
    started = descendants(process.pid)
    process.send_signal(signal.SIGINT)
    assert "stopped; all that was done is saved: go on with `genspp resume run`" in end(process, 130)
    assert len(log.read_text().splitlines()) < 3
    assert [pid for pid in started if title(pid).startswith("ray::")] == []
    end(start(tmp_path, "resume", "run"))  # here
    assert left(tmp_path / "run") == left(here / "run")


def test_a_grid_on_a_cluster_one_of_whose_workers_is_killed_is_the_same(here, tmp_path):
    (tmp_path / "posts").symlink_to(here / "posts")
    process = start(tmp_path, "benchmark", "table1", "--data", "hatexplain:posts", *GRID, "--on", "ray")
    kill_one(process.pid, lambda: any("genspp.experiments.trial" in title(pid) for pid in descendants(process.pid)))
    said = end(process)
    assert "done in" in said and "failed" not in said
    assert results(tmp_path) == results(here) and len(results(here)) == 4
    assert not list(tmp_path.rglob("*.error.txt"))


def test_a_cluster_at_an_address_that_a_token_guards_gives_the_same_run(here, address, tmp_path):
    end(start(tmp_path, "train", "toy", *SMALL, "--on", f"ray:{address}", "--out", "run"))
    assert left(tmp_path / "run") == left(here / "run")
