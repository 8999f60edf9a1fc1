import errno
import os

import pytest

from genspp.files import write_text


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_ordinary_file_is_left_alone(tmp_path, kind):
    path = tmp_path / "it"
    path.mkdir() if kind == "folder" else os.mkfifo(path)
    with pytest.raises(FileExistsError) as raised:
        write_text(path, "a")
    assert raised.value.filename == str(path)
    assert ("folder" in raised.value.strerror) == (kind == "folder")
    assert [other.name for other in tmp_path.iterdir()] == ["it"] and not path.is_file()


@pytest.mark.parametrize("fails", ["fsync", "replace"])
def test_a_write_that_fails_names_its_file_and_leaves_the_old_one(tmp_path, monkeypatch, fails):
    path = tmp_path / "f.txt"
    write_text(path, "old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "something else")

    monkeypatch.setattr(os, fails, full)
    with pytest.raises(OSError) as raised:
        write_text(path, "new")
    assert raised.value.filename == str(path)
    assert [other.name for other in tmp_path.iterdir()] == ["f.txt"] and path.read_text() == "old"
