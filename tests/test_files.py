import errno
import os
import subprocess
import sys

import pytest

from genspp import files
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


LEFT = ".f.txt.0123abcd"


def test_what_a_kill_left_is_swept_away_by_the_next_write(tmp_path):
    for name in (LEFT, ".f.txt.0123abcx", ".f.txt.0123abcde", ".g.txt.0123abcd", ".f.txt"):
        (tmp_path / name).write_text("half")
    os.mkfifo(tmp_path / ".f.txt.11111111")
    (tmp_path / ".f.txt.00000000").symlink_to("f.txt")
    write_text(tmp_path / "f.txt", "whole")
    assert not (tmp_path / LEFT).exists() and (tmp_path / "f.txt").read_text() == "whole"
    assert len(list(tmp_path.iterdir())) == 7  # what is not ours stays


def test_what_is_being_written_is_not_swept_away(tmp_path):
    code = "import os, sys; from genspp import files; os.fsync = lambda _: (print(1, flush=True), input()); "
    code += "files.write_text(files.Path(sys.argv[1]), 'theirs')"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "f.txt")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout.readline() == b"1\n"
        write_text(tmp_path / "f.txt", "ours")
        assert len(list(tmp_path.iterdir())) == 2
        other.communicate(b"\n")
    assert other.returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["f.txt"] and (tmp_path / "f.txt").read_text() == "theirs"


def test_a_folder_is_held_by_one_process_and_let_go_of_with_it(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_PATIENCE", 0.2)
    code = "import sys; from genspp import files; held = files.hold(files.Path(sys.argv[1])); print(1, flush=True); "
    code += "input()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout.readline() == b"1\n"
        with pytest.raises(BlockingIOError):
            files.hold(tmp_path)
        other.kill()
        other.wait()
        held = files.hold(tmp_path)
    assert held is files.hold(tmp_path)  # the same process may
    assert list(tmp_path.iterdir()) == []  # and no lock is a file


def test_where_there_are_no_locks_files_are_written_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_fcntl", None)
    (tmp_path / LEFT).write_text("half")
    write_text(tmp_path / "f.txt", "whole")
    assert (tmp_path / "f.txt").read_text() == "whole" and (tmp_path / LEFT).exists()
    assert files.hold(tmp_path) is None
