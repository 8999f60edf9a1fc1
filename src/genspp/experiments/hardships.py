"""What a machine may do to a command besides killing it: each tried, and what the command made of it.

A command that cannot go on says so in one sentence and ends with code 2; what was there stays as it was; when the
hardship is over, it goes on to the result of an undisturbed one.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from glob import glob
from pathlib import Path
from typing import Any

from genspp.app.runs import read_checkpoint, write_checkpoint
from genspp.errors import GenSPPError
from genspp.experiments.victim import Process
from genspp.experiments.victims import (
    WAIT,
    WrongError,
    differ,
    finish,
    run_made,
    succeed,
    train_arguments,
    whole,
)

_METHOD = "rnp"
_AMID = 20  # operations on files, that is, after some steps
_FAKETIME = "/usr/lib/*/faketime/libfaketime.so.1"
Try = Callable[[Path, Path, Path], None]


def _refused(folder: Path, arguments: list[str], part: str, first: Callable[[], object] = lambda: None) -> None:
    """Run a command, which must end with one sentence that says a certain thing, and leave all files whole."""
    code, said = finish(Process(folder, arguments, first=first))
    lines = [line for line in said.splitlines() if line.startswith("error: ")]
    if code != 2 or len(lines) != 1 or part not in lines[0] or "Traceback" in said:
        raise WrongError(f"it ended with code {code} and said {said.strip()[-300:]!r}")
    whole(folder)


def _go_on(folder: Path, data: Path, expected: dict[str, Any]) -> None:
    """Take a run to its end, which must be that of an undisturbed one."""
    succeed(folder, train_arguments(data, _METHOD)(folder))
    differ(run_made(folder / "run"), expected)
    hidden = [path.name for path in folder.rglob(".*")]
    if hidden:
        raise WrongError(f"{hidden} were left")


def _interrupted(folder: Path, data: Path) -> None:
    """Leave a run that was killed after some steps."""
    finish(Process(folder, train_arguments(data, _METHOD)(folder), _AMID))


def _stopped(folder: Path, data: Path) -> Process:
    """Start a run and let it stop, not end, after some steps."""
    process = Process(folder, train_arguments(data, _METHOD)(folder), _AMID, signal.SIGSTOP)
    deadline = time.monotonic() + WAIT
    while not process.stopped:
        if not process.running or time.monotonic() > deadline:
            raise WrongError(f"it did not come to its steps: {finish(process)}")
        time.sleep(0.01)
    return process


# ---- disks


def _may_mount() -> bool:
    return os.geteuid() == 0 and shutil.which("mount") is not None


@contextmanager
def _disk(folder: Path, size: str) -> Iterator[Path]:
    """A small disk of its own."""
    place = folder / "disk"
    place.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(place)], check=True, capture_output=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True, capture_output=True)


def _remount(place: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(place)], check=True, capture_output=True)


def _full_disk(size: str, folder: Path, data: Path, trained: Path) -> None:
    with _disk(folder, size) as place:
        _refused(place, train_arguments(data, _METHOD)(place), "the disk is full")
        _remount(place, "size=64m")
        _go_on(place, data, run_made(trained / "run"))


def _full_disk_for(arguments: list[str], kept: str, folder: Path, data: Path, trained: Path) -> None:
    """Let a command that writes one file have no room for it: the older one stays."""
    with _disk(folder, "64m") as place:
        shutil.copytree(trained / "run", place / "run")
        (place / kept).write_text("an older file\n</html>\n")
        disk = os.statvfs(place)
        _remount(place, f"size={(disk.f_blocks - disk.f_bfree) * disk.f_frsize + 4096}")
        typed = [str(data) if part == "DATA" else part for part in arguments]
        _refused(place, typed, "the disk is full")
        if (place / kept).read_text() != "an older file\n</html>\n":
            raise WrongError(f"{kept} was changed")


def _limited_files(size: int, folder: Path, data: Path, trained: Path) -> None:
    """No file may become larger, as by a quota."""
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size))
    _refused(folder, train_arguments(data, _METHOD)(folder), "File too large", limit)
    _go_on(folder, data, run_made(trained / "run"))


def _read_only_disk(arguments: list[str], folder: Path, data: Path, trained: Path) -> None:
    with _disk(folder, "64m") as place:
        if arguments[0] == "resume":
            _interrupted(place, data)
        elif arguments[0] != "train":
            shutil.copytree(trained / "run", place / "run")
        _remount(place, "ro")
        typed = [str(data) if part == "DATA" else part for part in arguments]
        _refused(place, typed, "cannot be used (Read-only file system)")
        if arguments[0] in ("train", "resume"):
            _remount(place, "rw")
            _go_on(place, data, run_made(trained / "run"))


# ---- time


def _set_back(folder: Path, data: Path, trained: Path) -> None:
    """All files come from next year, as they do when the clock is set back."""
    _interrupted(folder, data)
    later = time.time() + 365 * 86400
    for path in folder.rglob("*"):
        os.utime(path, (later, later))
    _go_on(folder, data, run_made(trained / "run"))


def _another_day(folder: Path, data: Path, trained: Path) -> None:
    """The clock goes a day back between two sessions, and an hour back in the second."""
    library = {"LD_PRELOAD": glob(_FAKETIME)[0], "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_NO_CACHE": "1"}
    clock = folder.parent / "clock"
    clock.write_text("-1d")
    _interrupted(folder, data)
    typed = [sys.executable, "-c", "from genspp.cli import main; main()", "resume", "run"]
    with subprocess.Popen(
        typed,
        cwd=folder,
        env={**os.environ, **library, "FAKETIME_TIMESTAMP_FILE": str(clock)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        time.sleep(2)
        clock.write_text("-25h")
    if process.returncode:
        raise WrongError(f"it ended with code {process.returncode}")
    _go_on(folder, data, run_made(trained / "run"))


# ---- two at once


def _two_at_once(second: str, folder: Path, data: Path, trained: Path) -> None:
    """While a run is at work, another process wants to: it is told so, and the first ends as if alone."""
    begin = train_arguments(data, _METHOD)(folder)
    process = _stopped(folder, data)
    try:
        _refused(folder, ["resume", "run"] if second == "resume" else [*begin, "--force"], "another process is at work")
    finally:
        process.send(signal.SIGCONT)
    finish(process)
    _go_on(folder, data, run_made(trained / "run"))


def _held_and_killed(folder: Path, data: Path, trained: Path) -> None:
    """The first is killed where it stands: no lock is left, and the second goes on."""
    _interrupted(folder, data)
    _go_on(folder, data, run_made(trained / "run"))


# ---- versions


def _of_another_version(folder: Path, data: Path, trained: Path) -> None:
    """The run was begun with other versions: a warning per version, and the same result where nothing else differs."""
    _interrupted(folder, data)
    path = folder / "run" / "config.json"
    config, whole_config = json.loads(path.read_bytes()), path.read_bytes()
    config["versions"] |= {"genspp": "0.1.9", "numpy": "1.26.0"}
    path.write_text(json.dumps(config))
    said = succeed(folder, ["resume", "run"]).said.read_text(encoding="utf-8")
    if "genspp was 0.1.9 when this run was started" not in said or "numpy was 1.26.0" not in said:
        raise WrongError(f"it said {said.strip()[-300:]!r}")
    path.write_bytes(whole_config)
    _go_on(folder, data, run_made(trained / "run"))


def _state_of_another_version(change: dict[str, Any], gone: str, folder: Path, data: Path, trained: Path) -> None:
    """A checkpoint that this version does not understand: a sentence, and it goes on from the right one."""
    _interrupted(folder, data)
    path = folder / "run" / "checkpoint.safetensors"
    before = path.read_bytes()
    state = {name: value for name, value in read_checkpoint(path).items() if name != gone}
    write_checkpoint(path, state | change)
    _refused(folder, ["resume", "run"], "go on with the version of genspp that wrote it")
    path.write_bytes(before)
    _go_on(folder, data, run_made(trained / "run"))


def _tries() -> dict[str, list[Try]]:
    predict = ["predict", "run", "DATA", "--out", "labelled.csv"]
    report = ["report", "run", "--out", "page.html"]
    train = ["train", "DATA", "--method", _METHOD, "--out", "run"]
    tries: dict[str, list[Try]] = {
        "files limited in size": [partial(_limited_files, size) for size in (1_000, 4_000, 10_000)],
        "clock set back": [_set_back, *([_another_day] if glob(_FAKETIME) else [])],
        "two processes on one run": [*(partial(_two_at_once, name) for name in ("resume", "train")), _held_and_killed],
        "another version": [
            _of_another_version,
            *(
                partial(_state_of_another_version, change, gone)
                for change, gone in (({"format": 99}, ""), ({}, "epoch"), ({}, "weights.0"), ({"best_epoch": "x"}, ""))
            ),
        ],
    }
    if _may_mount():
        full = [partial(_full_disk, size) for size in ("4k", "16k", "32k", "48k")]
        tries["full disk"] = [
            *full,
            partial(_full_disk_for, predict, "labelled.csv"),
            partial(_full_disk_for, report, "page.html"),
        ]
        tries["read-only disk"] = [
            partial(_read_only_disk, asked) for asked in (train, ["resume", "run"], predict, report)
        ]
    return tries


def endure(folder: Path, data: Path, trained: Path) -> dict[str, dict[str, Any]]:
    """Try everything that can be tried here; return how much of each was, and what went wrong."""
    found = dict[str, dict[str, Any]]()
    for title, tries in _tries().items():
        wrong = []
        for number, one in enumerate(tries):
            place = folder / f"{title} {number}" / "place"
            place.mkdir(parents=True)
            try:
                one(place, data, trained)
            except (WrongError, OSError, ValueError, KeyError, GenSPPError, subprocess.SubprocessError) as error:
                wrong.append(f"{number}: {type(error).__name__}: {error}")
        found[title] = {"tried": len(tries), "wrong": wrong}
        print(f"{title}: {len(tries)} tried, {len(wrong)} wrong {wrong}", flush=True)
    return found
