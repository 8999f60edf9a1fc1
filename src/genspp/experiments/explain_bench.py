"""How long does it take to explain a text? The CPU time of `genspp explain`, from the start of its process on.

`make bench` measures it with the rest; `make bench-explain` this alone, in some seconds, into the same file.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from genspp.data.sources.toy import toy
from genspp.experiments.results import code_version, machine
from genspp.files import write_json
from genspp.methods.genspp import GenSPP

TEXTS, REPEATS = 300, 7  # strings to train on, which matters little here, and processes that are timed


def explain_cost() -> dict[str, Any]:
    """Return the median of several processes, one after the other, when files and kernels are in their caches."""
    corpus = toy().train[range(TEXTS)]
    with TemporaryDirectory() as folder:
        GenSPP(generations=0, population=2, start="random", workers=1).fit(corpus).save(folder)
        command = [
            sys.executable,
            "-c",
            "from genspp.cli import main; main()",
            "explain",
            folder,
            corpus.documents[0].text,
        ]
        _cpu_seconds(command)
        seconds = median(_cpu_seconds(command) for _ in range(REPEATS))
    return {"cpu_seconds": round(seconds, 2), "code": code_version(), "machine": machine()}


def _cpu_seconds(command: list[str]) -> float:
    """Return the time that a process was computing, for itself and in the system."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage.ru_utime + usage.ru_stime


def sentence(cost: dict[str, Any]) -> str:
    """Return what was measured, in words."""
    return f"explain one text: {cost['cpu_seconds']:.2f} s of CPU time, the start of the process included"


def main() -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser(prog="python -m genspp.experiments.explain_bench", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/bench.json"))
    out = parser.parse_args().out
    cost = explain_cost()
    print(sentence(cost))
    measured = json.loads(out.read_bytes()) if out.exists() else {}
    write_json(out, {**measured, "explain": cost})


if __name__ == "__main__":
    main()
