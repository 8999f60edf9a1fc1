"""What must hold for any file and any rows, tried on many that hypothesis makes."""

import string
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from genspp.data.faults import Faults  # noqa: E402
from genspp.data.formats import FORMATS  # noqa: E402
from genspp.data.tokenize import NAMES, Tokenizer  # noqa: E402
from genspp.errors import GenSPPError  # noqa: E402
from genspp.experiments.readers import READERS  # noqa: E402
from genspp.harmless import harmless, in_one_line  # noqa: E402

# The same examples every time, so that a change that breaks nothing fails nothing.
settings.register_profile("same", derandomize=True, max_examples=60, deadline=None, database=None)
settings.load_profile("same")
SLOW = settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
NAME = st.text(string.ascii_letters, min_size=1, max_size=5)
ROWS = st.lists(NAME, min_size=1, max_size=4, unique=True).flatmap(
    lambda names: st.lists(st.fixed_dictionaries(dict.fromkeys(names, TEXT)), min_size=1, max_size=5)
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAME, inner, max_size=3),
    max_leaves=6,
)


def again(ending: str, rows: list[dict]) -> list[dict]:
    faults = Faults("t")
    read = FORMATS[ending].read(FORMATS[ending].write(rows), faults)[1]
    assert not faults.reasons
    return [row.fields for row in read]


def blank(row: dict) -> bool:
    return not any(value.strip() for value in row.values())


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@given(rows=ROWS)
def test_rows_come_back_from_text(ending, rows):
    """Lines that hold nothing but blanks are none."""
    rows = [row for row in rows if not blank(row)]
    assert again(ending, rows) == rows


@given(rows=st.lists(st.dictionaries(NAME, VALUES, min_size=1, max_size=4), min_size=1, max_size=5))
def test_rows_come_back_from_json(rows):
    assert again("jsonl", rows) == rows


@SLOW
@given(rows=ROWS)
def test_rows_come_back_from_parquet(rows):
    pytest.importorskip("pyarrow")
    assert again("parquet", rows) == rows


@SLOW
@given(rows=ROWS)
def test_rows_come_back_from_a_workbook(rows):
    pytest.importorskip("openpyxl")

    def held(text: str) -> str:
        """Return what a workbook can hold of a text: no control characters, and no surrogates."""
        return "".join("\ufffd" if ord(c) < 32 and c not in "\t\n\r" else c for c in text)

    def plain(text: str) -> bool:
        return "_x" not in text and not any(0xFFFE <= ord(c) <= 0xFFFF or 0x7F <= ord(c) <= 0x9F for c in text)

    rows = [row for row in rows if not blank(row) and all(map(plain, row.values()))]
    if rows:
        expected = [{name: held(value) for name, value in row.items()} for row in rows]
        assert again("xlsx", rows) == [row for row in expected if not blank(row)]


@pytest.mark.parametrize("name", [name for name in READERS if name not in ("model folder", "run folder")])
@given(content=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(name, content):
    with TemporaryDirectory() as folder:
        try:
            READERS[name].read(content, Path(folder))
        except GenSPPError as error:
            assert str(error)


@pytest.mark.parametrize("name", NAMES)
@given(text=st.text(max_size=60))
def test_tokens_are_what_stands_at_their_places(name, text):
    tokens, spans = Tokenizer(name)(text)
    assert [text[start:end] for start, end in spans] == list(tokens)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


@given(text=st.text(max_size=60))
def test_nothing_steers_a_terminal(text):
    assert len(harmless(text)) == len(text)
    assert all(c.isprintable() or ord(c) > 159 or c in "\t\n" for c in harmless(text))
    assert "\n" not in in_one_line(text)
