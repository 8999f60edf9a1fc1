import pytest

from genspp.data.columns import Columns, find_columns
from genspp.data.rows import RawRows
from genspp.errors import DataError


def raw(*names):
    return RawRows("a.csv", "csv", names, ())


@pytest.mark.parametrize(
    ("names", "columns", "expected"),
    [
        (("text", "label"), Columns(), ("text", "label", None, None)),
        (("Text", " LABEL ", "Split"), Columns(), ("Text", " LABEL ", None, "Split")),
        (("Text", "text", "label", "Label"), Columns(), ("text", "label", None, None)),
        (("Tokens", "label"), Columns(), ("Tokens", "label", None, None)),
        (("tokens", "Text", "label"), Columns(), ("Text", "label", None, None)),
        (("Body", "Class ", "m"), Columns(text="body", label="class", highlight="M"), ("Body", "Class ", "m", None)),
        (("text", "label", "Highlight", "HIGHLIGHT"), Columns(), ("text", "label", None, None)),
    ],
)  # fmt: skip
def test_capitals_and_blanks_are_forgiven_and_told(names, columns, expected):
    found = find_columns(raw(*names), columns)
    assert (found.text, found.label, found.highlight, found.split) == expected
    wanted = (columns.text or ("tokens" if found.is_tokens else "text"), columns.label or "label",
              columns.highlight or "highlight", columns.split or "split")  # fmt: skip
    told = [f"a.csv: the column {name!r} is read as {want!r}." for name, want in zip(expected, wanted, strict=True)
            if name not in (None, want)]  # fmt: skip
    assert list(found.notes) == told


def test_two_columns_that_could_be_meant_are_named():
    with pytest.raises(DataError, match="has no column 'text'; .* --text, one of 'Text', 'TEXT'"):
        find_columns(raw("Text", "TEXT", "label"), Columns())
    with pytest.raises(DataError, match="has no column 'MARKS'; .* one of 'marks', 'Marks'"):
        find_columns(raw("text", "label", "marks", "Marks"), Columns(highlight="MARKS"))


def test_what_is_not_looked_at_need_not_be_there():
    found = find_columns(raw("text", "split", "id"), Columns(label="gone", highlight="gone"), labels=False, split=False)
    assert (found.label, found.highlight, found.split, found.id) == (None, None, None, "id")
