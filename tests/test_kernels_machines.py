"""The same bits on every processor: the kernels compiled for others than this one, in processes of their own."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from machine_numbers import hashes

SCRIPT = Path(__file__).parent / "machine_numbers.py"
X86 = platform.machine().lower() in ("x86_64", "amd64")
CPU = Path("/proc/cpuinfo")
FLAGS = set(CPU.read_text().split()) if CPU.exists() else set()
# What a processor is called, what it lacks, what this one must have to run its code; numpy follows where it can.
TARGETS = {
    "x86-64": {"NUMBA_CPU_FEATURES": "-avx,-avx2,-fma", "NPY_DISABLE_CPU_FEATURES": "X86_V3 AVX2 FMA3"},
    "haswell": {"NUMBA_CPU_FEATURES": ""},
    "skylake-avx512": {"NUMBA_CPU_FEATURES": ""},
}
NEEDED = {"x86-64": set(), "haswell": {"avx2", "fma", "bmi2"}, "skylake-avx512": {"avx512f", "avx512vl", "avx512dq"}}


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The hashes of this machine, and those of the others, side by side."""
    running = {}
    for name, changes in TARGETS.items():
        if X86 and NEEDED[name] <= FLAGS:
            own = {"NUMBA_CPU_NAME": name, "NUMBA_CACHE_DIR": str(tmp_path_factory.mktemp(name)), **changes}
            command = [sys.executable, "-W", "ignore", str(SCRIPT), "2"]
            running[name] = subprocess.Popen(command, env=os.environ | own, stdout=subprocess.PIPE, text=True)
    found = {"this": hashes(1)}
    found |= {name: process.communicate()[0].split() for name, process in running.items()}
    assert [process.returncode for process in running.values()] == [0] * len(running)
    return found


def test_the_number_of_threads_changes_no_bit(numbers):
    assert len(numbers["this"]) == 4
    assert hashes(3) == numbers["this"]


@pytest.mark.parametrize("target", list(TARGETS))
def test_another_processor_changes_no_bit(target, numbers):
    if target not in numbers:
        pytest.skip(f"this processor does not run code for {target}")
    assert numbers[target] == numbers["this"]
