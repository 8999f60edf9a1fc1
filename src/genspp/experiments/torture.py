"""Commands that are killed at random moments and go on: does anything get lost, change, or stay behind?

    python -m genspp.experiments.torture        (or `make torture`; --quick: some kills of a few commands)

Every command runs once undisturbed. Then it lives several lives: each is killed with SIGKILL up to three times, at a
random second of its work or before a random operation on its files, goes on as a user would have it go on, and in the
end must have made what the undisturbed one made, to the bit (times aside). After every kill all files that are there
must be whole, and the folder free; in the end nothing may be left that the undisturbed one did not leave. Then
`hardships`: a full disk and the like. The counts go to results/torture.json, from which docs/reliability.md is made.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from genspp.errors import GenSPPError
from genspp.experiments.hardships import endure
from genspp.experiments.results import code_version, machine
from genspp.experiments.victims import (
    SEEN,
    WAIT,
    Victim,
    WrongError,
    differ,
    finish,
    free,
    left,
    others,
    quick_settings,
    start,
    succeed,
    training,
    whole,
    write_data,
)
from genspp.files import write_json
from genspp.methods import METHODS

FILE = "torture.json"
COMMAND = "python -m genspp.experiments.torture"
MOMENT, OPERATION, CHILD = "at a moment", "before an operation on files", "one run of the grid"
KILLS, MORE, OFTEN = 5, 10, ("save", "predict", "report", "benchmark", "train, GenSPP")
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
        succeed(fresh, victim.arguments(fresh))
        took, seen = time.monotonic() - started, (fresh.parent / SEEN).read_text()
        times = [float(line) for line in seen.split()]
        made, there = victim.made(fresh), left(fresh)
        while sum(count.kills.values()) < kills:
            count.lives += 1
            try:
                self._life(victim, count, times, took, made, there)
            except (WrongError, OSError, ValueError, GenSPPError) as wrong:
                count.wrong.append(f"{type(wrong).__name__}: {wrong}")
                if len(count.wrong) >= 3:
                    break
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
        at, seen = self._random.randint(1, len(times)), folder.parent / SEEN
        if self._random.random() < 0.5:
            code, said = finish(start(at, folder, seen, victim.arguments(folder)))
            kind = OPERATION
        else:
            process = start(-1, folder, seen, victim.arguments(folder))
            kind = MOMENT
            time.sleep(self._random.uniform(0.9 * times[0], took))
            children = _children(process.pid) if self._random.random() < 0.3 else []
            if children:
                kind = CHILD
                _kill_one(self._random.choice(children))
                code, said = finish(process)
                return kind if code == 1 else None
            process.kill()
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


def torture(quick: bool = False) -> dict[str, Any]:
    """Kill everything, and return the counts."""
    started, counts = time.monotonic(), dict[str, Count]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        data, trained = write_data(folder / "rows.csv"), folder / "trained"
        trained.mkdir()
        for place, method in (("run", "rnp"), ("other", "fr")):
            asked = ["train", str(data), "--method", method, "--out", place, "--examples", "0", *quick_settings(method)]
            succeed(trained, asked)
        (trained / "other").rename(trained / "other run")
        shutil.copytree(trained / "other run" / "model", trained / "other")
        tormentor = Tormentor(folder / "lives")
        methods = ("genspp", "rnp") if quick else tuple(METHODS)
        for victim in [*(training(data, method) for method in methods), *others(data, trained)]:
            counts[victim.name] = tormentor.torment(victim, 2 if quick else MORE if victim.name in OFTEN else KILLS)
        hardships = endure(folder / "hard", data, trained)
    return {
        "command": COMMAND + (" --quick" if quick else ""),
        "code": code_version(),
        "machine": machine(),
        "seconds": round(time.monotonic() - started),
        "commands": {name: count.to_json() for name, count in counts.items()},
        "hardships": hardships,
    }


def wrong(content: Mapping[str, Any]) -> list[str]:
    """Return all that went wrong, of what `torture` returned."""
    of_commands = [f"{name}: {said}" for name, count in content["commands"].items() for said in count["wrong"]]
    return of_commands + [f"{name}: {said}" for name, found in content["hardships"].items() for said in found["wrong"]]


def main() -> int:
    """Run as a program."""
    parser = argparse.ArgumentParser(description="Kill commands at random moments, and see what is lost.")
    parser.add_argument("--quick", action="store_true", help="some kills of a few commands; nothing is written")
    quick = parser.parse_args().quick
    found = torture(quick)
    if not quick:
        write_json(Path("results") / FILE, found)
    for said in wrong(found):
        print(f"WRONG {said}")
    return 1 if wrong(found) else 0


if __name__ == "__main__":
    sys.exit(main())
