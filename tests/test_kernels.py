import subprocess
import sys

import numba
import pytest

from genspp.kernels import kept

CALLER = """
from pathlib import Path

from helper import number

from genspp.kernels import kept

def answer():
    return number()

answer = kept(answer, Path(__file__).parent.glob("*.py"))
"""
HELPER = """
from genspp.kernels import part

def number():
    return {}

number = part(number)
"""


def test_code_is_compiled_anew_when_a_file_that_it_calls_has_changed(tmp_path):
    (tmp_path / "caller.py").write_text(CALLER)
    for number in (1, 22):
        (tmp_path / "helper.py").write_text(HELPER.format(number))
        command = [
            sys.executable,
            "-c",
            "import caller; print(caller.answer(), sum(caller.answer.stats.cache_hits.values()))",
        ]
        for hits in (0, 1):
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
            assert done.stdout.split() == [str(number), str(hits)]


def test_where_nothing_can_be_written_it_is_compiled_all_the_same(monkeypatch):
    monkeypatch.setattr(numba.core.caching.CacheImpl, "_locator_classes", [])
    with pytest.raises(RuntimeError):
        numba.njit(cache=True)(abs_of)
    assert kept(abs_of, [])(-2) == 2


def abs_of(x):
    return abs(x)
