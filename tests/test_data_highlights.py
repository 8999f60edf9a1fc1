import pytest

from genspp.data.corpus import as_corpus
from genspp.data.highlights import (
    CHARACTERS,
    EITHER,
    FORMS,
    MASK,
    NUMBERS,
    TOKENS,
    ColumnForm,
    HighlightError,
    column_form,
    parse,
    resolve,
)

TEXT = "no good at all"


def document(text=TEXT, tokenizer="words"):
    return as_corpus([text], tokenizer).documents[0]


def mask(value, text=TEXT, column=None):
    marked, given = parse(value), document(text)
    return list(resolve(marked, given, column or column_form([marked], [given])))


def masks(*rows, asked=None, tokenizer="words"):
    """The masks of a column of (text, highlight)."""
    documents = [document(text, tokenizer) for text, _ in rows]
    marks = [parse(value, asked) for _, value in rows]
    column = column_form(marks, documents, asked)
    return [list(resolve(marked, one, column)) for marked, one in zip(marks, documents, strict=True)]


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
        ([1, 4], "token number 4 but the text has 4 tokens, .*--highlight-form characters$"),
        ([1, 14], "token number 14 but the text has 4 tokens, counted from 0$"),
        ([2, 2], "repeats"),
        ([2, -1], "the highlight holds the number -1; tokens and characters are counted from 0"),
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
    masks, numbers = parse([0, 0, 1]), parse([2, 5])

    def either(*marks):
        return column_form(marks, [document()] * len(marks)).either

    assert either(masks, parse([0, 1]), None) == MASK
    assert either(numbers, parse([0]), None) == NUMBERS
    assert either(masks, numbers) == either(parse([0])) == EITHER
    with pytest.raises(HighlightError, match="2 values but the text has 4 tokens"):
        mask([0, 1], column=ColumnForm(either=MASK))
    assert mask([0, 1], "no good") == [0, 1]
    assert mask([0, 1], "no good", ColumnForm(either=NUMBERS)) == [1, 1]


POST = "you are such a stupid old fool, really"


def characters(*words):
    """The numbers of all characters of some words, as data sets of marked characters have them."""
    return [i for word in words for i in range(POST.index(word), POST.index(word) + len(word))]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(POST, characters("stupid", "fool"))], ["000010100"]),
        ([(POST, characters("stupid old fool"))], ["000011100"]),
        # What could be tokens or a mask by itself is of characters where the column is; a word may be cut now and then.
        ([(POST, characters("fool")), (POST, [0, 1, 2]), (POST, [])], ["000000100", "100000000", "000000000"]),
        ([(POST, characters("fool")), ("no", [0, 1])], ["000000100", "1"]),
        ([(POST, characters("fool")), (POST, characters("tup"))], ["000000100", "000010000"]),
        # As characters, numbers of tokens would start and end within words.
        ([(POST, [3, 4, 5])], ["000111000"]),
        ([(POST, [4, 6])], ["000010100"]),
        ([(POST, [3, 4, 5]), (POST, [0, 1, 2]), (POST, [5, 6])], ["000111000", "111000000", "000001100"]),
    ],
)
def test_numbers_of_characters_are_told_from_numbers_of_tokens(rows, expected):
    assert ["".join(map(str, row)) for row in masks(*rows)] == expected


def test_numbers_that_could_be_both_are_refused_until_somebody_says_what_they_are():
    both = (POST, [0, 1, 2])  # "you", or the first three words
    with pytest.raises(HighlightError, match="tokens or of characters; say which with --highlight-form"):
        masks(both)
    assert masks(both, asked=TOKENS) == [[1, 1, 1, 0, 0, 0, 0, 0, 0]]
    assert masks(both, asked=CHARACTERS) == [[1, 0, 0, 0, 0, 0, 0, 0, 0]]
    assert masks(("abcd", [1, 2, 3]), tokenizer="characters") == [[0, 1, 1, 1]]  # the same


def test_numbers_of_tokens_that_went_wrong_do_not_pass_for_characters():
    with pytest.raises(HighlightError, match="token number 9 but the text has 9 tokens"):
        masks((POST, [2, 3, 4]), (POST, [7, 8, 9]))
    with pytest.raises(HighlightError, match="character number 40 but the text has 38 characters"):
        masks((POST, [36, 37, 38, 39, 40]), asked=CHARACTERS)


@pytest.mark.parametrize(
    ("asked", "fine", "others"),
    [
        ("mask", [[0, 1], [True, False], []], [[0, 2], [[0, 1]]]),
        ("tokens", [[0, 1], [0, 2], []], [[0, 0], [[0, 1]]]),
        ("characters", [[0, 1], [0, 2], []], [[0, 0], [[0, 1]]]),
        ("spans", [[[0, 1]], []], [[0, 1], [0, 2], [0, 0]]),
    ],
)
def test_what_is_not_of_the_form_that_was_asked_for(asked, fine, others):
    assert asked in FORMS and all(parse(value, asked) is not None for value in fine)
    for value in others:
        with pytest.raises(HighlightError, match=f"does not have the form '{asked}'"):
            parse(value, asked)
