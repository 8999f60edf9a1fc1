"""Commands that are killed at random moments and go on: does anything get lost, change, or stay behind?

    python -m genspp.experiments.torture [NAME...]        (or `make torture`; --quick: some kills of a few commands)

Every command runs once undisturbed. Then it lives several lives: each is killed with SIGKILL up to three times, at a
random second of its work or before a random operation on its files, goes on as a user would have it go on, and in the
end must have made what the undisturbed one made, to the bit (times aside). After every kill all files that are there
must be whole, and the folder free; in the end nothing may be left that the undisturbed one did not leave. Then
`hardships`: a full disk and the like. The counts go to results/torture.json, from which docs/reliability.md is made.
"""

import argparse
import json
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from genspp.errors import GenSPPError
from genspp.experiments.hardships import endure
from genspp.experiments.reliability import CHILD, MOMENT, OPERATION, TORTURE
from genspp.experiments.results import code_version, machine
from genspp.experiments.victim import Process
from genspp.experiments.victims import (
    WAIT,
    Victim,
    WrongError,
    differ,
    finish,
    free,
    left,
    others,
    quick_settings,
    succeed,
    training,
    whole,
    write_data,
)
from genspp.files import write_json
from genspp.methods import METHODS

COMMAND = "python -m genspp.experiments.torture"
KILLS, MORE = 4, {"train, GenSPP": 8, "save": 15, "predict": 15, "report": 10, "benchmark": 6}
QUICK_KILLS, AT_ONCE = 2, 2
HARDSHIPS = "hardships"
MOST_WRONG = 3  # lives that go wrong, before the next command is killed
_FAILURES = (WrongError, OSError, ValueError, GenSPPError)
_PAGE = "run/report.html"  # which training need not have come to: `genspp report` writes it


@dataclass
class Count:
    """What became of the lives of one kind of command."""

    kills: Counter[str] = field(default_factory=Counter)
    lives: int = 0
    wrong: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"kills": dict(self.kills), "lives": self.lives, "wrong": self.wrong}


# ---- lives


class Tormentor:
    """Kills commands in a folder, at random but always in the same way by the same seed."""

    def __init__(self, folder: Path, seed: int = 0) -> None:
        self.folder, self._random = folder, Random(seed)

    def torment(self, victim: Victim, kills: int) -> Count:
        """Let a command live until it has been killed so many times; return what became of it."""
        count, fresh = Count(), self._fresh("undisturbed", victim)
        started = time.monotonic()
        try:
            times = succeed(fresh, victim.arguments(fresh)).times()
            took, made, there = time.monotonic() - started, victim.made(fresh), left(fresh)
        except _FAILURES as wrong:
            return Count(wrong=[f"undisturbed: {type(wrong).__name__}: {wrong}"])
        while sum(count.kills.values()) < kills and len(count.wrong) < MOST_WRONG:
            count.lives += 1
            try:
                self._life(victim, count, times, took, made, there)
            except _FAILURES as wrong:
                count.wrong.append(f"{type(wrong).__name__}: {wrong}")
        print(f"{victim.name}: {sum(count.kills.values())} kills, {len(count.wrong)} wrong {count.wrong}", flush=True)
        return count

    def _life(self, victim: Victim, count: Count, times: list[float], took: float, made: Any, there: set[str]) -> None:
        folder = self._fresh("life", victim)
        for _ in range(self._random.randint(1, 3)):
            kind = self._kill(victim, folder, times, took)
            if kind is None:
                break
            count.kills[kind] += 1
            whole(folder)
            free(folder)
        deadline = time.monotonic() + WAIT
        while _is_running(folder) and time.monotonic() < deadline:  # runs of a grid end when they notice
            time.sleep(0.05)
        succeed(folder, victim.arguments(folder))
        whole(folder)
        free(folder)
        differ(victim.made(folder), made)
        extra, missing = left(folder) - there, there - left(folder) - {_PAGE}
        if extra or missing:
            raise WrongError(f"there are {sorted(extra)} too many, and {sorted(missing)} too few")

    def _kill(self, victim: Victim, folder: Path, times: list[float], took: float) -> str | None:
        """Run a command and kill it; return how, None where it had ended before."""
        if self._random.random() < 0.5:
            at = self._random.randint(1, len(times))
            kind, (code, said) = OPERATION, finish(Process(folder, victim.arguments(folder), at))
        else:
            process = Process(folder, victim.arguments(folder))
            kind = MOMENT
            process.wait(self._random.uniform(0, took))
            children = _children(process.pid)
            if children and self._random.random() < 0.4:
                _kill_one(self._random.choice(children))
                code, said = finish(process)
                return CHILD if code == 1 else None
            process.send(signal.SIGKILL)
            code, said = finish(process)
        if code == -signal.SIGKILL:
            return kind
        if code:
            raise WrongError(f"it ended with code {code}: {said.strip()[-300:]}")
        return None

    def _fresh(self, name: str, victim: Victim) -> Path:
        shutil.rmtree(self.folder / name, ignore_errors=True)
        folder = self.folder / name / "place"
        folder.mkdir(parents=True)
        victim.prepare(folder)
        return folder


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _kill_one(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _is_running(folder: Path) -> bool:
    """Tell whether any process still works in a folder."""
    for path in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if path.resolve() == folder.resolve():
                return True
        except OSError:
            continue
    return False


# ---- all of it


def _victims(data: Path, trained: Path, quick: bool) -> list[Victim]:
    methods = ("genspp", "rnp") if quick else tuple(METHODS)
    return [*others(data, trained), *(training(data, method) for method in methods)]


def _torment(number: int, folder: Path, data: Path, trained: Path, quick: bool) -> Count:
    victim = _victims(data, trained, quick)[number]
    kills = QUICK_KILLS if quick else MORE.get(victim.name, KILLS)
    return Tormentor(folder / f"lives {number}", number).torment(victim, kills)


def torture(keep: Callable[[dict[str, Any]], object], quick: bool = False, only: Sequence[str] = ()) -> None:
    """Kill everything, or only the commands of some names. keep: is given the counts of each as soon as it is done."""
    head = {"command": COMMAND, "code": code_version(), "machine": machine()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        data, trained = write_data(folder / "rows.csv"), folder / "trained"
        trained.mkdir()
        for place, method in (("run", "rnp"), ("other", "fr")):
            typed = ["train", str(data), "--method", method, "--out", place, "--examples", "0", *quick_settings(method)]
            succeed(trained, typed)
        (trained / "other").rename(trained / "other run")
        shutil.copytree(trained / "other run" / "model", trained / "other")
        names = [victim.name for victim in _victims(data, trained, quick)]
        with ProcessPoolExecutor(AT_ONCE, multiprocessing.get_context("fork")) as pool:
            asked: dict[Future[Any], str] = {
                pool.submit(_torment, number, folder, data, trained, quick): name
                for number, name in enumerate(names)
                if not only or name in only
            }
            if not only:
                asked[pool.submit(endure, folder / "hard", data, trained)] = HARDSHIPS
            for done in as_completed(asked):
                if asked[done] == HARDSHIPS:
                    keep({**head, "commands": {}, HARDSHIPS: done.result()})
                else:
                    keep({**head, "commands": {asked[done]: done.result().to_json()}, HARDSHIPS: {}})


def merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return results to which those of some commands, or hardships, are added; these take the place of older ones."""
    return {**new, **{part: {**old.get(part, {}), **new[part]} for part in ("commands", HARDSHIPS)}}


def wrong(content: Mapping[str, Any]) -> list[str]:
    """Return all that went wrong, of what `torture` returned."""
    of_commands = [f"{name}: {said}" for name, count in content["commands"].items() for said in count["wrong"]]
    return of_commands + [f"{name}: {said}" for name, found in content["hardships"].items() for said in found["wrong"]]


def main() -> int:
    """Run as a program."""
    parser = argparse.ArgumentParser(description="Kill commands at random moments, and see what is lost.")
    parser.add_argument("--quick", action="store_true", help="some kills of a few commands; nothing is written")
    parser.add_argument("names", nargs="*", help="only these, into the same file; else all")
    asked, path = parser.parse_args(), Path("results") / TORTURE
    found: dict[str, Any] = {"commands": {}, HARDSHIPS: {}}
    if asked.names and path.exists():
        found = json.loads(path.read_text(encoding="utf-8"))

    def keep(new: dict[str, Any]) -> None:
        nonlocal found
        found = merged(found, new)
        if not asked.quick:
            write_json(path, found)

    torture(keep, asked.quick, asked.names)
    for said in wrong(found):
        print(f"WRONG {said}")
    return 1 if wrong(found) else 0


if __name__ == "__main__":
    sys.exit(main())
