"""Files that are made to fill the memory, smaller here, as are the limits: one sentence each."""

import io
import os
import threading

import pytest

from genspp.data import limits
from genspp.data.records import read_records
from genspp.errors import DataError
from genspp.experiments.hostile import HOSTILE, _parquet, read

SMALL = {"FILE": 2**20, "LINE": 2**14, "COLUMNS": 50, "CELLS": 5_000, "UNPACKED": 2**17, "DIMENSIONS": 300}
SIZES = {
    "a field of a gigabyte": 2**15, "a field of a gigabyte, of many lines": 2**15, "a JSON string of a gigabyte": 2**15,
    "a million columns": 60, "a million columns, of tabs": 60, "lists ten million deep": 10**4,
    "3 GB of nothing": 2**21,
    "a zip bomb, 2 GB in 2 MB": 2**15, "cells that the sheet leaves out": 2, "a row of number a billion": 1,
    "entities inside entities": 11, "a value a hundred million times": 10**4, "a megabyte ten thousand times": 3,
    "20,000 columns": 60, "a line of a gigabyte": 2**14, "vectors of a million numbers": 400,
    "posts ten million deep": 10**4,
}  # fmt: skip


@pytest.fixture
def small(monkeypatch):
    """Let the limits be small wherever they are."""
    from genspp.data import vector_file
    from genspp.data.formats import delimited

    for name, value in SMALL.items():
        for module in (limits, delimited, vector_file):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_one_sentence(small, tmp_path, name):
    hostile = HOSTILE[name]
    if hostile.ending in ("xlsx", "parquet"):
        pytest.importorskip("openpyxl" if hostile.ending == "xlsx" else "pyarrow")
    path = tmp_path / f"t.{hostile.ending}"
    hostile.write(path, SIZES[name])
    with pytest.raises(DataError) as raised:
        read(path)
    said = str(raised.value)
    assert path.name in said and said.endswith(".") and "\n" not in said and len(said) < 500


def test_what_never_ends_is_read_to_the_limit(small, tmp_path):
    (tmp_path / "t.csv").symlink_to("/dev/zero")
    with pytest.raises(DataError, match="more than 1,048,576 bytes"):
        limits.read_file(tmp_path / "t.csv")


def test_a_pipe_is_read_to_its_end(tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    writer = threading.Thread(target=(tmp_path / "t.csv").write_bytes, args=(b"text,label\n" * 10,))
    writer.start()
    assert limits.read_file(tmp_path / "t.csv") == b"text,label\n" * 10
    writer.join()
    assert limits.read_open("it", io.BytesIO(b"abc")) == b"abc"


def test_a_long_line_is_named_and_lines_at_the_limit_are_not(small):
    fine = (b"a" * (limits.LINE - 1) + b"\n") * 3 + b"b" * limits.LINE
    limits.check_lines("t.csv", fine)
    limits.check_lines("t.csv", fine.replace(b"\n", b"\r"))
    with pytest.raises(DataError, match=r"t\.csv, line 4: the line has more than 16,384 bytes"):
        limits.check_lines("t.csv", fine + b"b")


def test_nesting_is_counted_through_lists_and_objects():
    def nested(depth):
        return [nested(depth - 1)] if depth % 2 else {"a": nested(depth - 1)} if depth else 1

    value = nested(limits.NESTING)
    assert limits.check_nesting(value) is value
    with pytest.raises(ValueError, match="more than 100 lists or objects"):
        limits.check_nesting(nested(limits.NESTING + 1))


def test_a_document_outside_its_folder_is_not_inside(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "d").write_text("a")
    (tmp_path / "secret").write_text("a")
    (tmp_path / "docs" / "link").symlink_to("../secret")
    (tmp_path / "docs" / "loop").symlink_to("loop")
    inside = {name: limits.is_inside(tmp_path / "docs" / name, tmp_path / "docs")
              for name in ("d", "e", "../secret", "link", "loop", "a" * 5000, "\0")}  # fmt: skip
    assert [name for name, there in inside.items() if there] == ["d"]


def test_a_value_that_a_parquet_file_holds_once_counts_as_often_as_it_is_named(small, tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    _parquet("a " * 2**13, 2)(path, 40)
    with pytest.raises(DataError, match=r"unpacks to more than 131,072 bytes"):
        read(path)
    _parquet("a " * 2**13, 2)(path, 2)
    assert len(read_records(path)) == 1  # once it is not too much
