"""Several runs at once, each in a process of its own with one torch thread, and what is seen of them.

A run that fails is remembered and the others go on. Stopping (Ctrl-C, or an end of this process by any means)
stops them all; each has saved what it finished and goes on from there when it is started again.
"""

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from genspp.experiments.grid import Trial
from genspp.experiments.results import read_result
from genspp.report.terminal import duration

_ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that failed: the file with its error, and the last line of it."""

    trial: Trial
    file: Path
    reason: str


class Overview:
    """What the grid is doing: a table that changes on a terminal, one line per finished run elsewhere."""

    def __init__(self, console: Console, trials: Sequence[tuple[Trial, float]], before: int, workers: int) -> None:
        self._console = console
        self._expected = {trial.name: seconds for trial, seconds in trials}
        self._total = before + len(trials)
        self._done = before
        self._failed = 0
        self._workers = workers
        self._running: dict[str, tuple[float, dict[str, Any]]] = {}
        self._spent = self._foreseen = 0.0
        self._live = Live(console=console, get_renderable=self._render, refresh_per_second=2, transient=True)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def started(self, trial: Trial) -> None:
        """A run has begun."""
        self._running[trial.name] = (monotonic(), {})

    def progress(self, trial: Trial, line: dict[str, Any]) -> None:
        """A run has come a step further."""
        self._running[trial.name] = (self._running[trial.name][0], line)

    def ended(self, trial: Trial, outcome: str, failed: bool) -> None:
        """A run has ended: say so."""
        took = monotonic() - self._running.pop(trial.name)[0]
        expected = self._expected.pop(trial.name)
        if failed:
            self._failed += 1
        else:
            self._done += 1
            self._spent, self._foreseen = self._spent + took, self._foreseen + expected
        count = f"[{self._done + self._failed}/{self._total}]"
        left = self._left()
        said = f"{count} {trial.name} {'FAILED' if failed else 'done'} in {duration(took)}: {outcome}"
        style = "red" if failed else None
        self._console.print(said + (f" ({left})" if left else ""), style=style, soft_wrap=True, markup=False)

    def _left(self) -> str:
        """Return about how long the rest takes, judged by how the finished runs kept to what was expected."""
        if not self._foreseen or not self._expected:
            return ""
        rest = dict(self._expected)
        for name, (_, line) in self._running.items():
            rest[name] *= 1 - line.get("done", 0) / max(line.get("total", 1), 1)
        seconds = sum(rest.values()) * self._spent / self._foreseen / self._workers
        return f"about {duration(seconds)} left"

    def _render(self) -> Group:
        counts = f"{self._done} done, {len(self._running)} running, {self._failed} failed, {self._total} in all"
        table = Table(box=None, pad_edge=False, show_header=False)
        for name, (started, line) in self._running.items():
            step = f"{line['unit']} {line['done']}/{line['total']}" if line else "starting"
            table.add_row(name, step, duration(monotonic() - started), Text(line.get("text", ""), style="dim"))
        left = self._left()
        return Group(Text(counts + (f", {left}" if left else ""), style="bold"), table)


class Watcher(Protocol):
    """Whoever is told how far a run has come."""

    def progress(self, trial: Trial, line: dict[str, Any]) -> None:
        """A run has come a step further."""
        ...


class Process(Protocol):
    """What does a run."""

    async def __call__(self, trial: Trial, runs: Path, out: Path, error_file: Path, watcher: Watcher) -> int:
        """Do a run to its result below `out`, and return 0; where it fails, say why in the file, and return a code."""
        ...


async def own_process(trial: Trial, runs: Path, out: Path, error_file: Path, watcher: Watcher) -> int:
    """Do a run in a process on this machine, which ends with us."""
    task = {"trial": trial.to_json(), "runs": str(runs), "out": str(out)}
    with error_file.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "genspp.experiments.trial"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            env={**os.environ, **dict.fromkeys(_ONE_THREAD, "1")},
            start_new_session=True,  # Ctrl-C is for the grid, which then stops its runs
        )
        try:
            await _follow(process, trial, task, watcher)
            return await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


async def run_all(
    trials: Sequence[Trial], *, runs: Path, out: Path, workers: int, overview: Overview, process: Process = own_process
) -> list[Failure]:
    """Run all trials, `workers` at once, in the order given; return those that failed. process: does one."""
    waiting = list(reversed(trials))
    failures: list[Failure] = []

    async def work() -> None:
        while waiting:
            failure = await _run(waiting.pop(), runs, out, overview, process)
            if failure is not None:
                failures.append(failure)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(workers, len(trials))):
            group.create_task(work())
    return failures


async def _run(trial: Trial, runs: Path, out: Path, overview: Overview, process: Process) -> Failure | None:
    error_file = runs / trial.folder.with_name(trial.name + ".error.txt")
    error_file.parent.mkdir(parents=True, exist_ok=True)
    overview.started(trial)
    try:
        code = await process(trial, runs, out, error_file, overview)
    except asyncio.CancelledError:
        error_file.unlink(missing_ok=True)  # stopped, not failed
        raise
    if code == 0 and (out / trial.file).exists():
        error_file.unlink()
        overview.ended(trial, _outcome(out / trial.file), failed=False)
        return None
    lines = error_file.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    reason = lines[-1] if lines else f"it ended with code {code} and said nothing"
    overview.ended(trial, reason, failed=True)
    return Failure(trial, error_file, reason)


async def _follow(process: asyncio.subprocess.Process, trial: Trial, task: dict[str, Any], watcher: Watcher) -> None:
    """Hand a run its task and pass on what it says; its standard input stays open as long as it is wanted."""
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("the process was not started with pipes")
    process.stdin.write(json.dumps(task).encode() + b"\n")
    async for line in process.stdout:
        try:
            said = json.loads(line)
        except json.JSONDecodeError:  # something a library prints
            continue
        if isinstance(said, dict):
            watcher.progress(trial, said)


def _outcome(path: Path) -> str:
    metrics = read_result(path).metrics
    words = (("Clf-F1", "clf_f1"), ("Hl-F1", "hl_f1"), ("R", "selection_rate"))
    return ", ".join(f"{name} {100 * metrics[key]:.1f}" for name, key in words if metrics[key] is not None)
