"""requirements.txt from constraints.txt: every version with the SHA-256 of its files on PyPI, for Python 3.11 to 3.13.

    python tools/hashes.py        (or `make hashes`, whenever constraints.txt has changed)

torch is left out: which of its files is right depends on the machine (see SECURITY.md).
"""

import re
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

ROOT = Path(__file__).parent.parent
INDEX = "https://pypi.org/simple"
LEFT_OUT = ("torch",)
HEAD = """\
# Made by `make hashes` from constraints.txt: its versions, with the SHA-256 of their files on PyPI, checked by pip.
# torch is not among them (see SECURITY.md).
"""
_LINK = re.compile(r'<a [^>]*href="[^"#]*/([^/"#]+)#sha256=([0-9a-f]{64})"')
_PYTHONS = ("py3", "cp311", "cp312", "cp313")


def pinned(path: Path = ROOT / "constraints.txt") -> dict[str, str]:
    """Return the versions of constraints.txt by name."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def fits(filename: str, version: Version) -> bool:
    """Tell whether a file is of that version, and for a Python that we are for."""
    try:
        if not filename.endswith(".whl"):
            return parse_sdist_filename(filename)[1] == version
        _, of, _, tags = parse_wheel_filename(filename)
    except (InvalidSdistFilename, InvalidWheelFilename):
        return False
    return of == version and any(tag.interpreter in _PYTHONS or tag.abi == "abi3" for tag in tags)


def hashes(name: str, version: str) -> list[str]:
    """Return the checksums of a version's files."""
    with urllib.request.urlopen(f"{INDEX}/{re.sub('[-_.]+', '-', name).lower()}/", timeout=60) as page:
        links = _LINK.findall(page.read().decode())
    found = sorted({checksum for filename, checksum in links if fits(filename, Version(version))})
    if not found:
        raise SystemExit(f"{INDEX} has no files of {name} {version}.")
    return found


def main() -> None:
    """Write the file."""
    wanted = {name: version for name, version in pinned().items() if name not in LEFT_OUT}
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(hashes, wanted, wanted.values()))
    lines = [
        " \\\n".join([f"{name}=={version}", *(f"    --hash=sha256:{checksum}" for checksum in checksums)])
        for (name, version), checksums in zip(wanted.items(), found, strict=True)
    ]
    (ROOT / "requirements.txt").write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
