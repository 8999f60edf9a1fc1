"""What is the user's, texts and labels and names of files, as something that steers neither a terminal nor a page."""

import json
from typing import Any

# Control characters, those that turn the direction of what follows, and halves of surrogate pairs.
_TURNS, _HALVES = (*range(0x202A, 0x202F), *range(0x2066, 0x206A)), range(0xD800, 0xE000)
_CONTROLS = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160), *_TURNS, *_HALVES), "�")
_ESCAPES = {code: f"\\u{code:04x}" for code in (*range(127, 160), 0x2028, 0x2029, *_TURNS, *_HALVES)}


def json_line(value: Any) -> str:
    """Return one line of JSON that does not steer the terminal: the controls that JSON leaves are escaped, too."""
    return json.dumps(value, ensure_ascii=False).translate(_ESCAPES)


def harmless(value: Any) -> str:
    """Return something of the user's as text that cannot steer a terminal or a page, of the same length."""
    return str(value).translate(_CONTROLS)


def in_one_line(value: Any) -> str:
    """Return something of the user's, a label or a message with names in it, as harmless text that is one line."""
    return harmless(value).replace("\n", "�")
