"""Wheel and source archive into dist/: the same files give the same bytes, wherever and whenever they are built.

    python tools/build.py        (or `make dist`)

Built from a copy of what git tracks, with the pinned setuptools, and dated as the last commit.
"""

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
_BUILD = "import sys; from setuptools import build_meta as b; out = sys.argv[1]; b.build_sdist(out); b.build_wheel(out)"


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def build(out: Path) -> list[Path]:
    """Build both into a folder, which is emptied before; return their paths."""
    dated = os.environ.get("SOURCE_DATE_EPOCH") or _git("log", "-1", "--format=%ct").strip()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as place:
        for name in _git("ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0"):
            if name and (ROOT / name).is_file():
                copy = Path(place, name)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes((ROOT / name).read_bytes())
                copy.chmod(0o644)
        environment = {**os.environ, "SOURCE_DATE_EPOCH": dated, "PYTHONHASHSEED": "0"}
        typed = [sys.executable, "-c", _BUILD, str(out.resolve())]
        subprocess.run(typed, cwd=place, env=environment, check=True, capture_output=True, umask=0o022)
    for path in out.glob("*.tar.gz"):
        path.write_bytes(_repacked(path.read_bytes(), int(dated)))
    return sorted(out.iterdir())


def _repacked(content: bytes, dated: int) -> bytes:
    """Return a source archive with its files in order, and of one date, owner and mode."""
    packed = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(content)) as old,
        gzip.GzipFile("", "wb", mtime=dated, fileobj=packed) as file,
        tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda member: member.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = dated, 0, 0, "", ""
            member.mode, member.pax_headers = 0o755 if member.isdir() else 0o644, {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    return packed.getvalue()


if __name__ == "__main__":
    for made in build(ROOT / "dist"):
        print(made)
