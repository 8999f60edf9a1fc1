"""What the documentation quotes is what stands in the code."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DIFF = re.compile(r"```diff\n\+\+\+ (\S+)\n(.*?)```", re.DOTALL)
QUOTED = DIFF.findall((ROOT / "docs" / "contributing.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("path", "diff"), QUOTED, ids=[path for path, _ in QUOTED])
def test_a_guest_is_shown_as_it_is(path, diff):
    source = (ROOT / path).read_text(encoding="utf-8")
    for part in diff.split("@@\n"):
        lines = part.splitlines()
        assert lines and all(line.startswith("+") for line in lines)
        assert "\n".join(line[1:] for line in lines) in source


def test_a_method_a_source_a_strategy_and_a_page_are_shown():
    rooms = {str(Path(path).parent) for path, _ in QUOTED}
    assert rooms == {f"src/genspp/{room}" for room in ("methods", "data/sources", "evolution", "report")}


METHODS = ("a2r", "dar", "dr", "fresh", "hardkuma", "mrd", "threeplayer", "vib")
GUESTS = [*(f"methods/{name}.py" for name in METHODS), "evolution/sepcma.py", "data/sources/eraser.py"]


@pytest.mark.parametrize("guest", GUESTS)
def test_a_guest_is_one_short_file(guest):
    assert len((ROOT / "src" / "genspp" / guest).read_text(encoding="utf-8").splitlines()) <= 120


def test_no_file_cites_what_is_not_in_the_repository():
    pattern = re.compile(
        r"methods\.md,? (section )?\d|discrepanc|evidence\.md|house\.md|\(D\d+[a-z]?\)|\bshared/(design|specs|paper)",
        re.IGNORECASE,
    )
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"]
    assert [str(path) for path in files if pattern.search(path.read_text(encoding="utf-8"))] == []


LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
PAGES = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_a_page_links_to_what_is_there(page):
    """Folders of results need not be there yet."""
    links = LINK.findall(re.sub(r"`[^`]*`", "", page.read_text(encoding="utf-8")))
    local = [link for link in links if "://" not in link and Path(link).suffix]
    assert [link for link in local if not (page.parent / link).exists()] == []
