"""The wheel of dist/ in an empty environment, by every Python at hand: do the quick tests pass, away from the source?

    python tools/installed.py        (or `make installed`)

writes results/installed.json: for every version its tests and their outcome.
"""

import hashlib
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERSIONS = ("3.11", "3.12", "3.13")
# What needs neither the repository around it nor minutes.
TESTS = (
    "test_app_predict.py", "test_bad_files.py", "test_cli.py", "test_data_formats.py", "test_data_limits.py",
    "test_data_records.py", "test_data_rows.py", "test_data_vectors.py", "test_files.py", "test_methods_rnp.py",
    "test_model_folder.py", "test_model_older.py", "test_model_saved.py",
)  # fmt: skip
_PYENV = "~/.pyenv/versions"


def pythons() -> dict[str, str]:
    """Return the interpreters that there are, by version: on the path, or pyenv's."""
    found = {}
    for version in VERSIONS:
        known = sorted(Path(_PYENV).expanduser().glob(f"{version}.*/bin/python"))
        places = [shutil.which(f"python{version}"), *map(str, known)]
        working = [place for place in places if place and _works(place, version)]
        if working:
            found[version] = working[0]
    return found


def _works(python: str, version: str) -> bool:
    asked = [python, "-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout.strip() == version


def check(python: str, wheel: Path) -> dict[str, object]:
    """Install the wheel with the pinned packages into a new environment, and run the quick tests elsewhere."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        subprocess.run([python, "-m", "venv", str(folder / "env")], check=True)
        own = str(folder / "env" / "bin" / "python")
        install = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "--require-hashes", "--no-deps", "-r", str(ROOT / "requirements.txt")], check=True)
        subprocess.run([*install, "-c", str(ROOT / "constraints.txt"), "torch==2.13.0"], check=True)
        subprocess.run([*install, "--no-deps", str(wheel)], check=True)
        subprocess.run([own, "-m", "pip", "check", "--disable-pip-version-check"], check=True)
        shutil.copytree(ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
        typed = [own, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"tests/{name}" for name in TESTS)]
        done = subprocess.run(typed, cwd=folder, capture_output=True, text=True, check=False)
        version = subprocess.run([own, "-V"], capture_output=True, text=True, check=True).stdout.split()[1]
    last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr[-500:]
    counts = {what: int(count) for count, what in re.findall(r"(\d+) (passed|failed|skipped|error)", last)}
    if done.returncode:
        print(done.stdout[-5000:], done.stderr[-2000:], file=sys.stderr)
    return {"python": version, **counts, "code": done.returncode, "seconds": round(time.monotonic() - started)}


def main() -> int:
    """Run as a program."""
    (wheel,) = (ROOT / "dist").glob("*.whl")
    runs: list[dict[str, object]] = []
    content = {
        "command": "python tools/installed.py",
        "wheel": wheel.name,
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "system": platform.platform(),
        "runs": runs,
    }
    for version, python in pythons().items():
        runs.append(check(python, wheel))
        print(f"Python {version}: {runs[-1]}", flush=True)
        (ROOT / "results" / "installed.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return max(int(str(run["code"])) for run in runs)


if __name__ == "__main__":
    sys.exit(main())
