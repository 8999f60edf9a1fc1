"""The program that kills commands: it counts what is lost. `make torture-quick` kills a few, `make torture` all."""

import json
import signal
import subprocess
import sys

import pytest

from genspp.app.runs import Run
from genspp.experiments import torture
from genspp.experiments.torture import Tormentor, wrong
from genspp.experiments.victim import Process
from genspp.experiments.victims import Victim, WrongError, differ, finish, free, left, whole
from genspp.files import write_text

# A command that writes a file in three goes: all at once, or bit by bit, which a kill must show.
HARMLESS = ["data", "toy", "--out", "toy.jsonl"]


def test_a_process_ends_before_the_operation_that_it_is_told(tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    assert finish(Process(place, HARMLESS, 1))[0] == -signal.SIGKILL and left(place) == set()
    assert finish(Process(place, HARMLESS, 2))[0] == -signal.SIGKILL
    (half,) = left(place)
    assert half.startswith(".toy.jsonl.")
    process = Process(place, HARMLESS)
    assert finish(process) == (0, "wrote toy.jsonl\n") and left(place) == {"toy.jsonl"}  # what was left is gone
    assert len(process.times()) == 3  # what was left, the file, its name


def test_a_command_is_killed_and_goes_on(tmp_path):
    made = Victim("data", lambda _: HARMLESS, lambda folder: {"toy": (folder / "toy.jsonl").read_bytes()})
    count = Tormentor(tmp_path / "lives", seed=1).torment(made, 2)
    assert sum(count.kills.values()) >= 2 and count.lives >= 1 and count.wrong == []
    assert wrong({"commands": {"data": count.to_json()}, "hardships": {}}) == []


def test_a_result_that_changes_is_found(tmp_path):
    numbers = iter(range(100))
    changing = Victim("data", lambda _: HARMLESS, lambda folder: {"toy": next(numbers)})
    count = Tormentor(tmp_path / "lives").torment(changing, 1)
    assert count.wrong == ["WrongError: the result is another one: toy"]
    assert wrong({"commands": {"data": count.to_json()}, "hardships": {"disk": {"tried": 1, "wrong": ["x"]}}}) == [
        "data: WrongError: the result is another one: toy",
        "disk: x",
    ]


def test_half_a_file_and_a_lock_are_found(tmp_path):
    run = Run.create(tmp_path / "run", {"settings": {}, "data": {}, "method": "rnp"})
    run.record({"epoch": 0}, {"a": 1}, 1)
    whole(tmp_path)
    for name, content in (("metrics.json", "{"), ("report.html", "<html>"), ("checkpoint.safetensors", "x")):
        before = (run.folder / name).read_bytes() if (run.folder / name).exists() else None
        write_text(run.folder / name, content)
        with pytest.raises(WrongError, match=f"{name} is half written"):
            whole(tmp_path)
        (run.folder / name).unlink() if before is None else (run.folder / name).write_bytes(before)
    holder = "import sys; from pathlib import Path; from genspp.files import hold; h = hold(Path(sys.argv[1])); "
    typed = [sys.executable, "-c", holder + "print(1, flush=True); input()", str(tmp_path / "other")]
    (tmp_path / "other").mkdir()
    with subprocess.Popen(typed, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"1\n"
        with pytest.raises(WrongError, match="a lock was left on other"):
            free(tmp_path)
        other.kill()
    free(tmp_path)


def test_the_counts_are_written_as_they_come_and_what_is_wrong_ends_with_a_code(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "results" / "torture.json"

    def run(*typed: str, wrong: tuple[str, ...] = ()) -> int:
        count = {"kills": {"at a moment": 3}, "lives": 2, "wrong": list(wrong)}

        def tortured(keep, quick, only):
            for name in only or ("save", "predict"):
                keep({"commands": {name: count}, "hardships": {} if only else {"disk": {"tried": 1, "wrong": []}}})
                assert quick or name in json.loads(path.read_text())["commands"]

        monkeypatch.setattr(torture, "torture", tortured)
        monkeypatch.setattr(sys, "argv", ["torture", *typed])
        return torture.main()

    assert run() == 0
    before = path.read_text()
    assert run("--quick", wrong=("lost",)) == 1 and path.read_text() == before
    assert "WRONG save: lost" in capsys.readouterr().out
    assert run("predict", wrong=("lost",)) == 1  # into the same file
    both = json.loads(path.read_text())
    assert [len(count["wrong"]) for count in both["commands"].values()] == [0, 1] and both["hardships"]["disk"]


def test_results_that_are_the_same_do_not_differ():
    differ({"a": 1}, {"a": 1})
    with pytest.raises(WrongError, match="another one: a, b"):
        differ({"a": 1}, {"a": 2, "b": 3})
