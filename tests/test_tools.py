"""What is installed and what is published: pinned, with its hashes, and built to the same bytes."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.version import Version

ROOT = Path(__file__).parent.parent


def tool(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_pinned_version_has_its_hashes():
    """After a change of constraints.txt: `make hashes`."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    hashed = dict(re.findall(r"^(\S+)==(\S+) \\\n    --hash=sha256:[0-9a-f]{64}", lines, re.MULTILINE))
    pinned = tool("hashes").pinned()
    assert pinned.pop("torch") and hashed == pinned
    assert len(re.findall("==", lines)) == len(hashed)


def test_all_that_the_tests_need_is_pinned():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*extras["dependencies"], *(name for group in extras["optional-dependencies"].values() for name in group)]
    names = {re.split(r"[\[<>=]", name)[0].lower() for name in wanted} - {"genspp"}
    pinned = {name.lower() for name in tool("hashes").pinned()}
    assert names - pinned == set()


@pytest.mark.parametrize(
    ("file", "wanted"),
    [("a-1.0.tar.gz", True), ("a-1.0-py3-none-any.whl", True), ("a-1.0-py2.py3-none-any.whl", True),
     ("a-1.0-cp313-cp313-win_amd64.whl", True), ("a-1.0-cp39-abi3-win_amd64.whl", True), ("a-1.0.zip", True),
     ("a-1.0-cp310-cp310-win_amd64.whl", False), ("a-1.1-py3-none-any.whl", False), ("a-1.0.exe", False)],
)  # fmt: skip
def test_which_files_are_hashed(file, wanted):
    assert tool("hashes").fits(file, Version("1.0")) == wanted


def test_two_builds_are_the_same_to_the_byte(tmp_path, monkeypatch):
    pytest.importorskip("setuptools", minversion="77")
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("a build is made of what git tracks")
    build, made = tool("build").build, []
    for name, mask in (("one", 0o022), ("another", 0o077)):
        before = os.umask(mask)
        monkeypatch.setenv("TZ", "UTC" if name == "one" else "Asia/Tokyo")
        try:
            made.append({path.name: path.read_bytes() for path in build(tmp_path / name)})
        finally:
            os.umask(before)
    assert made[0] == made[1] and len(made[0]) == 2
    (wheel,), (archive,) = (tmp_path / "one").glob("*.whl"), (tmp_path / "one").glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
    package = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "genspp").rglob("*.py")}
    assert package | {"genspp/py.typed", "genspp/report/report.css", "genspp/report/serve.js"} <= names
    assert not any("test" in Path(name).name or name.endswith(".pyc") for name in names)
    with tarfile.open(archive) as file:
        inside = {member.name.partition("/")[2] for member in file.getmembers()}
        assert {member.mtime for member in file.getmembers()} == {int(commit_time())}
    assert {"pyproject.toml", "LICENSE", "README.md", "src/genspp/cli/__init__.py"} <= inside


def commit_time() -> str:
    asked = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def test_this_python_is_at_hand():
    found = tool("installed").pythons()
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert version not in tool("installed").VERSIONS or version in found


def test_the_quick_tests_exist():
    assert [name for name in tool("installed").TESTS if not (ROOT / "tests" / name).exists()] == []
