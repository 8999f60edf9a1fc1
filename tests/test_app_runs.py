import numpy as np
import pytest

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
