from itertools import pairwise

import pytest

from genspp.data.tokenize import NAMES, Tokenizer
from genspp.errors import SettingsError

TEXTS = [
    "Don't stop!",
    'She said: "5 % off", e.g. T-shirts – now',
    "naïve café, cafe\u0301; 日本語 العربية",
    "👍🏽 great 👨‍👩‍👧 ❤️!!",
    "tab\tnew\nline\r\n\u00a0nbsp\u2028sep\x00nul",
    "--- 'quoted' rock-'n'-roll- x_y",
    "what the **** !!!!! can`t, don’t... ?!? 😂😂 €€€",
    "",
    "   ",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", TEXTS)
def test_spans_show_the_tokens_in_order_and_lose_nothing_visible(name, text):
    tokens, spans = Tokenizer(name)(text)
    assert [text[start:end] for start, end in spans] == tokens
    assert all(start < end for start, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    covered = {i for start, end in spans for i in range(start, end)}
    assert all(i in covered or c.isspace() or not c.isprintable() for i, c in enumerate(text))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Don't stop!", ["Don't", "stop", "!"]),
        ("T-shirt, 3.5", ["T-shirt", ",", "3", ".", "5"]),
        ("'quoted' end-", ["'", "quoted", "'", "end", "-"]),
        ("good👍🏽ok", ["good", "👍🏽", "ok"]),
        ("👨‍👩‍👧!", ["👨‍👩‍👧", "!"]),
        ("cafe\u0301 x_y", ["cafe\u0301", "x_y"]),
        ("a\x00b", ["a", "b"]),
        ("质量不错，iPhone很好", ["质", "量", "不", "错", "，", "iPhone", "很", "好"]),
        ("かに はが\u3099 한국어", ["か", "に", "は", "が\u3099", "한국어"]),
        ("สวัสดี", ["ส", "วั", "ส", "ดี"]),
        ("what the ****!!! ...", ["what", "the", "****", "!!!", "..."]),
        ("can`t don’t isn´t `a` ?!", ["can`t", "don’t", "isn´t", "`", "a", "`", "?", "!"]),
        ("😂😂 👍🏽👍🏽 €€ --", ["😂", "😂", "👍🏽", "👍🏽", "€€", "--"]),  # each picture says something
    ],
)
def test_words(text, tokens):
    assert Tokenizer("words")(text)[0] == tokens


def test_words_of_earlier_versions_take_every_sign_for_a_token():
    assert Tokenizer("signs")("can`t don't!!")[0] == ["can", "`", "t", "don't", "!", "!"]


@pytest.mark.parametrize(
    ("token", "key"),
    [
        ("Don’t", "don't"),
        ("CAN`T", "can't"),
        ("!!!!!", "!!!"),
        ("!!", "!!"),
        ("`", "`"),
        ("ooo", "ooo"),
        ("---", "---"),
    ],
)
def test_how_words_are_looked_up(token, key):
    assert Tokenizer("words").key(token) == key


def test_spaces_and_characters():
    assert Tokenizer("spaces")(" it's  <user> !? ")[0] == ["it's", "<user>", "!?"]
    assert Tokenizer("characters")("a b") == (["a", " ", "b"], [(0, 1), (1, 2), (2, 3)])


def test_only_words_are_looked_up_in_lower_case():
    assert {name: Tokenizer(name).key("ABC") for name in NAMES} == {
        "words": "abc", "spaces": "ABC", "characters": "ABC", "signs": "abc"
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_joined_tokens_stand_at_their_spans(name):
    text, spans = Tokenizer(name).join(["ab", "c", "déf"])
    assert text == ("abcdéf" if name == "characters" else "ab c déf")
    assert [text[start:end] for start, end in spans] == ["ab", "c", "déf"]


def test_unknown_name():
    with pytest.raises(SettingsError, match=r"'word'.*words, spaces, characters, signs"):
        Tokenizer("word")
