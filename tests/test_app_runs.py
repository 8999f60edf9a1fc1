import json
import subprocess
import sys

import numpy as np
import pytest

from genspp.app import runs
from genspp.app.runs import Run, read_checkpoint, write_checkpoint
from genspp.errors import RunError

CONFIG = {"settings": {}, "data": {}, "method": "genspp"}


def test_a_checkpoint_comes_back(tmp_path):
    state = {"a": np.arange(4, dtype=np.int64), "b": np.ones((2, 3), np.float32), "n": 3, "s": {"x": 2**127}}
    write_checkpoint(tmp_path / "c", state)
    back = read_checkpoint(tmp_path / "c")
    np.testing.assert_array_equal(back["a"], state["a"])
    assert back["b"].dtype == np.float32
    assert (back["n"], back["s"]) == (3, {"x": 2**127})


def test_a_damaged_checkpoint_is_one_sentence(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    write_checkpoint(path, {"a": np.arange(100), "n": 1})
    whole = path.read_bytes()
    for cut in (0, 5, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(RunError, match="checkpoint.safetensors is cut short or damaged"):
            read_checkpoint(path)
    altered = bytearray(whole)
    altered[-1] ^= 1
    path.write_bytes(bytes(altered))
    with pytest.raises(RunError, match="checksum differs"):
        read_checkpoint(path)


def test_a_folder_is_not_overwritten_without_force(tmp_path):
    run = Run.create(tmp_path / "r", CONFIG)
    run.record({"generation": 0}, {"n": 1}, 2)
    with pytest.raises(RunError, match="exists already"):
        Run.create(tmp_path / "r", CONFIG)
    assert Run.open(tmp_path / "r").restore() == {"n": 1}
    assert Run.create(tmp_path / "r", CONFIG, force=True).restore() is None


def test_force_does_not_touch_what_is_not_a_run(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(RunError, match="not a run folder"):
        Run.create(tmp_path, CONFIG, force=True)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_lines_behind_the_checkpoint_are_dropped(tmp_path):
    run = Run.create(tmp_path / "r", CONFIG)
    for generation in range(3):
        run.record({"generation": generation}, {"n": generation}, 5)
    log = tmp_path / "r" / "log.jsonl"
    before = log.read_text()
    log.write_text(before + '{"generation": 3}\n{"gener')  # killed while writing
    resumed = Run.open(tmp_path / "r")
    assert resumed.restore() == {"n": 2}
    assert log.read_text() == before
    resumed.record({"generation": 3}, {"n": 3}, 5)
    assert log.read_text() == before + '{"generation": 3}\n'


def test_a_log_that_lost_lines_is_an_error(tmp_path):
    run = Run.create(tmp_path / "r", CONFIG)
    run.record({"generation": 0}, {"n": 0}, 5)
    (tmp_path / "r" / "log.jsonl").write_text("")
    with pytest.raises(RunError, match="has lost lines"):
        Run.open(tmp_path / "r").restore()


FOREIGN = (
    "{",
    "[]",
    '{"settings": {}, "data": {}}',
    '{"format": 2, "method": "genspp", "settings": {}, "classes": [], "vectors": {}}',  # a model is no run
    '{"method": "genspp", "settings": {}, "data": "mine", "versions": {}}',
)


@pytest.mark.parametrize("content", [None, *FOREIGN])
def test_not_a_run_folder(tmp_path, content):
    if content is not None:
        (tmp_path / "config.json").write_text(content)
    with pytest.raises(RunError):
        Run.open(tmp_path)


@pytest.mark.parametrize("content", FOREIGN)
def test_force_does_not_take_any_configuration_for_a_run_s(tmp_path, content):
    (tmp_path / "config.json").write_text(content)
    (tmp_path / "log.jsonl").write_text("somebody else's")
    with pytest.raises(RunError, match="--force replaces runs only"):
        Run.create(tmp_path, CONFIG, force=True)
    assert (tmp_path / "config.json").read_text() == content
    assert (tmp_path / "log.jsonl").read_text() == "somebody else's"


# ---------------------------------------------------------------------- when to stop


@pytest.fixture
def clock(monkeypatch):
    """A time that passes only when it is told to."""
    now = [1000.0]
    monkeypatch.setattr(runs, "monotonic", lambda: now[0])
    return now


def steps(run, numbers, seconds=10.0):
    for number in numbers:
        run.record({"generation": number, "seconds": seconds}, {"n": number}, 99)


def test_the_time_is_up_after_so_many_minutes_and_never_before_a_step(tmp_path, clock):
    run = Run.create(tmp_path / "r", CONFIG | {"minutes": 1.5})
    run.begin()
    clock[0] += 500
    assert not run.enough() and run.stopped_by is None
    steps(run, [0])
    assert run.enough() and run.stopped_by == "time"


def test_steps_of_earlier_sessions_count_and_time_between_them_does_not(tmp_path, clock):
    run = Run.create(tmp_path / "r", CONFIG | {"minutes": 1.0})
    run.begin()
    steps(run, range(4))
    clock[0] += 40  # and the run was stopped then
    assert not run.enough()
    clock[0] += 10_000
    run = Run.open(tmp_path / "r")
    run.begin()
    assert run.restore() == {"n": 3} and not run.enough()
    clock[0] += 19.5
    steps(run, [4])
    assert not run.enough()
    clock[0] += 0.5
    assert run.enough()


def test_whoever_listens_is_told_what_is_done_and_the_time_until_it_is_up(tmp_path, clock):
    class Listener:
        heard: list[object] = []  # noqa: RUF012

        def say(self, what):
            self.heard.append(what)

        def __call__(self, line, total, left):
            self.heard.append((line["generation"], total, left))

    for minutes, left in ((None, None), (2.0, 90.0)):
        Listener.heard = []
        run = Run.create(tmp_path / str(minutes), CONFIG | ({} if minutes is None else {"minutes": minutes}))
        run.say("nobody listens yet")
        run.begin(Listener())
        run.say("making ready")
        clock[0] += 30
        steps(run, [0])
        assert Listener.heard == ["making ready", (0, 99, left)]


def test_a_run_without_a_clock_goes_on_until_it_is_asked_to_finish(tmp_path, clock):
    run = Run.create(tmp_path / "r", CONFIG)
    assert run.ways_on == f"go on with `genspp resume {run.folder}`"
    with pytest.raises(RunError, match=r"r has nothing to finish yet: .*; go on with `genspp resume .*r`\.$"):
        run.finish()
    steps(run, [0])
    clock[0] += 10**9
    assert not run.enough()
    assert run.ways_on.endswith(f"resume {run.folder}`, or take the model so far with `genspp finish {run.folder}`")
    run = Run.open(run.folder)
    run.finish()
    run.restore()
    assert run.enough() and run.stopped_by == "finish"


@pytest.mark.parametrize(
    "early", [[], "time", {}, {"by": "time"}, {"by": "time", "step": "generation", "number": "7"},
              {"by": 1, "step": "generation", "number": 7}, {"by": "time", "step": None, "number": 7}]
)  # fmt: skip
def test_figures_that_say_nonsense_of_the_end_of_training_are_none(tmp_path, early):
    run = Run.create(tmp_path / "r", CONFIG)
    figures = {"clf_f1": 0.5, "selection_rate": 0.5}
    whole = figures | {"stopped_early": {"by": "time", "step": "generation", "number": 7}}
    for content in (figures, whole):
        (run.folder / "metrics.json").write_text(json.dumps(content))
        assert run.metrics() == content
    (run.folder / "metrics.json").write_text(json.dumps(figures | {"stopped_early": early}))
    assert run.metrics() == {} and not run.finished


@pytest.mark.parametrize("log", ["", "{", "[]\n", "7\n", '{"seconds": "long"}\n', '{"seconds": [1]}\n', "\xff\n"])
def test_a_log_that_is_none_is_one_sentence(tmp_path, log):
    run = Run.create(tmp_path / "r", CONFIG)
    path = run.folder / "log.jsonl"
    if log:
        path.write_bytes(log.encode("latin-1"))
    with pytest.raises(RunError, match=r"log\.jsonl cannot be read; put a whole copy back"):
        run.lines()


# ---------------------------------------------------------------------- two at once, and other versions


def test_two_processes_do_not_work_in_one_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("genspp.files._PATIENCE", 0.2)
    run = Run.create(tmp_path / "r", CONFIG)
    code = (
        "import sys; from pathlib import Path; from genspp.app.runs import Run; run = Run.open(Path(sys.argv[1])); "
        "run.begin(); print(1, flush=True); input()"
    )
    folder = run.folder
    del run  # which held it
    typed = [sys.executable, "-c", code, str(folder)]
    with subprocess.Popen(typed, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"1\n"
        before = sorted(folder.iterdir())
        for work in (lambda: Run.open(folder).begin(), lambda: Run.create(folder, CONFIG, force=True)):
            with pytest.raises(RunError, match=r"another process is at work in .*r; let it end, or stop it"):
                work()
        assert sorted(folder.iterdir()) == before and Run.open(folder).metrics() == {}  # looking is free
        other.kill()
    Run.open(folder).begin()
    assert Run.create(folder, CONFIG, force=True).folder == folder


@pytest.mark.parametrize("state", [{"format": 2}, {"format": "1"}, {"lines": "1"}, {"lines": None}])
def test_a_checkpoint_of_another_format_is_one_sentence(tmp_path, state):
    run = Run.create(tmp_path / "r", CONFIG)
    run.record({"generation": 0}, {"n": 1}, 2)
    path = run.folder / "checkpoint.safetensors"
    write_checkpoint(path, read_checkpoint(path) | state)
    with pytest.raises(RunError, match="go on with the version of genspp that wrote it"):
        Run.open(run.folder).restore()
    whole = {name: value for name, value in read_checkpoint(path).items() if name not in ("format", "lines")}
    write_checkpoint(path, whole | {"lines": 1})  # as earlier versions wrote them
    assert Run.open(run.folder).restore() == {"n": 1}


def test_a_checkpoint_is_blamed_until_a_step_is_done(tmp_path):
    run = Run.create(tmp_path / "r", CONFIG)
    run.blame(KeyError("epoch"))  # no checkpoint was read
    run.record({"generation": 0}, {"n": 1}, 2)
    run.restore()
    with pytest.raises(RunError, match=r"does not fit this version \(KeyError: 'epoch'\)"):
        run.blame(KeyError("epoch"))
    run.record({"generation": 1}, {"n": 2}, 2)
    run.blame(KeyError("epoch"))


def test_a_file_that_is_no_checkpoint_is_one_sentence(tmp_path):
    for values in ("[]", "7", "{", "[" * 10**5):
        arrays = {"a": np.zeros(1)}
        content = runs.save(arrays, metadata={"values": values, "sha256": runs._digest(arrays, values)})
        (tmp_path / "c").write_bytes(content)
        with pytest.raises(RunError, match="no checkpoint of a run"):
            read_checkpoint(tmp_path / "c")
