"""What is the user's, texts and labels and names of files, as something that steers neither a terminal nor a page."""

import json
from typing import Any

_TURNS, _HALVES = ((0x202A, 0x202E), (0x2066, 0x2069)), (0xD800, 0xDFFF)
# Control characters, those that turn the direction of what follows, and halves of surrogate pairs: first and last.
_STEERING = ((0, 8), (11, 31), (127, 159), *_TURNS, _HALVES)
STEERING_PATTERN = "[" + "".join(f"\\u{first:04x}-\\u{last:04x}" for first, last in _STEERING) + "]"  # for scripts


def _codes(*stretches: tuple[int, int]) -> list[int]:
    return [code for first, last in stretches for code in range(first, last + 1)]


_CONTROLS = dict.fromkeys(_codes(*_STEERING), "�")
_ESCAPES = {code: f"\\u{code:04x}" for code in _codes((127, 159), (0x2028, 0x2029), *_TURNS, _HALVES)}


def json_line(value: Any) -> str:
    """Return one line of JSON that does not steer the terminal: the controls that JSON leaves are escaped, too."""
    return json.dumps(value, ensure_ascii=False).translate(_ESCAPES)


def harmless(value: Any) -> str:
    """Return something of the user's as text that cannot steer a terminal or a page, of the same length.

    Lines that end as Windows has it are lines.
    """
    return str(value).replace("\r\n", " \n").translate(_CONTROLS)


def in_one_line(value: Any) -> str:
    """Return something of the user's, a label or a message with names in it, as harmless text that is one line."""
    return harmless(value).replace("\n", "�")
