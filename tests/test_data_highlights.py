import pytest

from genspp.data.highlights import EITHER, INDICES, MASK, HighlightError, column_form, parse, resolve

TEXT = "no good at all"
SPANS = [(0, 2), (3, 7), (8, 10), (11, 14)]


def mask(value, spans=SPANS, column=EITHER):
    return list(resolve(parse(value), spans, len(TEXT), column))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([0, 1, 0, 0], [0, 1, 0, 0]),
        ([1.0, 0.0, 0.0, 1.0], [1, 0, 0, 1]),
        ([True, False, False, False], [1, 0, 0, 0]),
        ("0 1 1 0", [0, 1, 1, 0]),
        ("[0, 1, 1, 0]", [0, 1, 1, 0]),
        ([1, 3], [0, 1, 0, 1]),
        ([3, 0], [1, 0, 0, 1]),
        ("2", [0, 0, 1, 0]),
        (" 1  2 ", [0, 1, 1, 0]),
        ([0], [1, 0, 0, 0]),
        ([], [0, 0, 0, 0]),
        ("[]", [0, 0, 0, 0]),
        ([[3, 7]], [0, 1, 0, 0]),
        ("[[0, 1], [6, 9]]", [1, 1, 1, 0]),
        ([[2, 3]], [0, 0, 0, 0]),  # the space between two tokens
        ([[0, 14]], [1, 1, 1, 1]),
    ],
)
def test_forms(value, expected):
    assert mask(value) == expected


@pytest.mark.parametrize("value", [None, "", "  "])
def test_nothing_is_no_gold(value):
    assert parse(value) is None


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([0, 1, 0], "3 values but the text has 4 tokens"),
        ("0 1 0 0 1", "5 values but the text has 4 tokens"),
        ([0, 0], "2 values"),
        ([0, 1], "2 values"),
        ([True], "1 values"),
        ([1, 4], "token index 4 but the text has 4 tokens"),
        ([2, 2], "repeats"),
        ([-1], "-1"),
        ([[3, 15]], r"span \[3, 15\] but the text has 14 characters"),
        ([[5, 5]], r"\[5, 5\]"),
        ([[-1, 2]], r"\[-1, 2\]"),
        ([[1, 2], 3], r"\[1, 2\]"),
        ([0.5, 1], "0.5"),
        (["a"], "'?\"?a"),
        ("good", "'good'"),
        ("[1, 2", r"'\[1, 2'"),
        ({"a": 1}, "the highlight is"),
        (3, "the highlight is '3'"),
    ],
)
def test_wrong_ones(value, said):
    with pytest.raises(HighlightError, match=said):
        mask(value)


def test_a_mask_over_characters_gets_a_hint():
    with pytest.raises(HighlightError, match="tokenizer 'characters'"):
        mask([0, 1] * 7)


def test_the_column_decides_what_could_be_either():
    masks, indices = parse([0, 0, 1]), parse([2, 5])
    assert column_form([masks, parse([0, 1]), None]) == MASK
    assert column_form([indices, parse([0]), None]) == INDICES
    assert column_form([masks, indices]) == column_form([parse([0])]) == EITHER
    with pytest.raises(HighlightError, match="2 values but the text has 4 tokens"):
        mask([0, 1], column=MASK)
    assert mask([0, 1], spans=SPANS[:2]) == [0, 1]
    assert mask([0, 1], spans=SPANS[:2], column=INDICES) == [1, 1]
