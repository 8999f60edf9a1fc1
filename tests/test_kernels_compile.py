import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import genspp
from genspp.kernels import compile as compiling

PACKAGE = Path(genspp.__file__).parent
CALLER = """
from genspp.kernels.compile import kernel
from genspp.kernels.helper import number

@kernel
def answer():
    return number()
"""
HELPER = """
from genspp.kernels.compile import routine

@routine
def number():
    return {}
"""
RENAMED = """
import numba.core.caching as caching
init = caching.IndexDataCacheFile.__init__
def renamed(self, *arguments, **options):
    init(self, *arguments, **options)
    self._their_stamp = self.__dict__.pop("_source_stamp")
caching.IndexDataCacheFile.__init__ = renamed
load = caching.IndexDataCacheFile._load_index
def load_index(self):
    self._source_stamp = self._their_stamp
    return load(self)
"""
RUN = "from genspp.kernels.caller import answer; print(answer(), sum(answer.stats.cache_hits.values()))"


@pytest.fixture
def room(tmp_path):
    """A package whose room of kernels holds a caller and, in another file, what it calls."""
    kernels = tmp_path / "genspp" / "kernels"
    kernels.mkdir(parents=True)
    for file in (kernels.parent / "__init__.py", kernels / "__init__.py"):
        file.touch()
    shutil.copy(PACKAGE / "kernels" / "compile.py", kernels)
    (kernels / "caller.py").write_text(CALLER)
    return kernels


def run(room: Path, code: str = RUN) -> list[str]:
    folder = room.parent.parent
    environment = os.environ | {"PYTHONPATH": str(folder)}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_code_is_compiled_anew_when_a_file_that_it_calls_has_changed(room):
    for number in (1, 22):
        (room / "helper.py").write_text(HELPER.format(number))
        for hits in (0, 1):
            assert run(room) == [str(number), str(hits)]


def test_nothing_is_stale_if_numba_keeps_its_stamp_under_another_name(room):
    """Then nothing is kept: every process compiles."""
    for number in (1, 22):
        (room / "helper.py").write_text(HELPER.format(number))
        for _ in range(2):
            assert run(room, RENAMED + RUN) == [str(number), "0"]


def double(x):
    return 2 * x


def test_where_nothing_can_be_written_it_is_compiled_all_the_same(monkeypatch):
    monkeypatch.setattr(numba.core.caching.CacheImpl, "_locator_classes", [])
    with pytest.raises(RuntimeError):
        numba.njit(cache=True)(double)
    assert compiling.kernel(double)(21) == 42


def test_the_stamp_knows_every_file_by_name_and_content(tmp_path):
    def stamp(**files: str) -> str:
        for file in tmp_path.iterdir():
            file.unlink()
        for name, content in files.items():
            (tmp_path / f"{name}.py").write_text(content)
        return compiling.stamp(tmp_path)

    stamps = {stamp(a="x"), stamp(a="y"), stamp(b="x"), stamp(a="x", b=""), stamp(a="", b="x")}
    assert len(stamps) == 5
    assert stamp(a="x") in stamps
