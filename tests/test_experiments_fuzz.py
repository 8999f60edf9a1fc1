"""What fuzzers have found, for ever after; and that whatever they would find next is noticed."""

import json
from random import Random

import pytest

from genspp.errors import DataError, GenSPPError
from genspp.experiments import fuzz
from genspp.experiments.readers import CUT, READERS

FINDS = fuzz.known_finds()


@pytest.mark.parametrize("find", FINDS, ids=[f"{find['reader']}: {find['what']}" for find in FINDS])
def test_what_was_found_is_mended(find, tmp_path):
    try:
        READERS[find["reader"]].read(fuzz.content_of(find), tmp_path)
    except GenSPPError as error:
        assert "\n" not in str(error) or str(error).splitlines()[0].endswith(":")


@pytest.mark.parametrize("name", READERS)
def test_seeds_are_read(name, tmp_path):
    if name in ("xlsx", "parquet"):
        pytest.importorskip("openpyxl" if name == "xlsx" else "pyarrow")
    read, seeds = READERS[name]
    readable = 0
    for number, content in enumerate(seeds()):
        (tmp_path / str(number)).mkdir()
        try:
            read(content, tmp_path / str(number))
            readable += 1
        except GenSPPError:
            continue
    assert readable


@pytest.mark.parametrize("name", ["jsonl", "ERASER", "HateXplain", "model folder", "run folder"])
def test_odd_values_are_put_in_and_only_our_errors_come_out(name, tmp_path):
    read, seeds = READERS[name]
    random, changed = Random(1), 0
    for number in range(60):
        content = random.choice(seeds())
        odd = fuzz.odd_value(content, random)
        assert odd is not None
        changed += odd != content
        (tmp_path / str(number)).mkdir()
        try:
            read(odd, tmp_path / str(number))
        except GenSPPError:
            continue
    assert changed > 30


def test_an_odd_value_needs_json():
    assert fuzz.odd_value(b"text,label\n", Random(0)) is None
    assert fuzz.odd_value(CUT.join((b"x", b"[1, 2]")), Random(0)).startswith(b"x" + CUT)


def test_which_error_and_where():
    try:
        READERS["GloVe"].read("no bytes", None)
    except TypeError as error:
        assert fuzz._place(error) == "TypeError in readers.py, _read_vectors"


def test_what_is_found_is_a_line_for_the_tests(tmp_path):
    line = fuzz._line("csv", "KeyError in x.py, y", b"\x00\xff")
    (tmp_path / "finds.jsonl").write_text(line + "\n")
    (find,) = fuzz.known_finds(tmp_path / "finds.jsonl")
    assert fuzz.content_of(find) == b"\x00\xff" and find["reader"] == "csv" and find["what"] == "KeyError in x.py, y"
    assert fuzz.known_finds(tmp_path / "none") == []


def test_the_figures_are_written_and_an_open_find_ends_with_a_code(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    find = json.loads(fuzz._line("csv", "KeyError in x.py, y", b"a"))
    open_finds = {name: [find] if name == "csv" else [] for name in READERS}
    monkeypatch.setattr(
        fuzz,
        "fuzz",
        lambda name, seconds: {"seconds": seconds, "executions": 7, "covered": 3, "open": open_finds[name]},
    )
    assert fuzz.main(["--minutes", "0.5"]) == 1
    written = json.loads((tmp_path / "results" / "fuzz.json").read_text())
    assert written["readers"]["csv"] == {"seconds": 30, "executions": 7, "covered": 3, "open": ["KeyError in x.py, y"]}
    assert '"content": "YQ=="' in capsys.readouterr().out
    assert fuzz.main(["tsv"]) == 0


def test_a_reader_that_lets_other_errors_out_would_be_found(tmp_path):
    with pytest.raises(DataError):
        READERS["csv"].read(b"\xff", tmp_path)
