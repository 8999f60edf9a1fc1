"""Settings: what each is called, what it may be, what the presets make of it. A method declares its own.

    own = {"lambda_g": Setting(1.0, number(0), "the weight of guidance")}

A setting whose default differs between the presets is `None` in a method's signature, and takes the preset's value.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from genspp.errors import SettingsError

PRESETS = ("sound", "paper")
_SAME: Any = object()  # as in the other preset

Check = tuple[Callable[[Any], bool], str]


def whole(least: int, most: float = math.inf, *, even: bool = False) -> Check:
    """Return the check of a whole number. most: where memory is made by it, so that none is asked for in vain."""

    def check(value: Any) -> bool:
        if not isinstance(value, Integral) or isinstance(value, bool):
            return False
        return least <= int(value) <= most and not (even and int(value) % 2)

    between = f"of at least {least}" if most == math.inf else f"from {least} to {most:,}"
    return check, f"{'an even' if even else 'a whole'} number {between}"


def number(least: float, most: float = math.inf, *, open_ends: bool = False) -> Check:
    """Return the check of a finite number between two others."""

    def check(value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool):
            return False
        try:
            found = float(value)
        except OverflowError:  # a whole number of hundreds of digits
            return False
        return math.isfinite(found) and (least < found < most if open_ends else least <= found <= most)

    between = f"above {least:g}" if most == math.inf else f"between {least:g} and {most:g}"
    if most == math.inf and not open_ends:
        between = f"of at least {least:g}"
    return check, f"a number {between}"


def one_of(*names: str) -> Check:
    """Return the check of a name."""
    return lambda value: value in names, "one of " + ", ".join(names)


def optional(check: Check) -> Check:
    """Return a check that also lets `None` pass."""
    return lambda value: value is None or check[0](value), f"{check[1]}, or None"


FLAG: Check = (lambda value: isinstance(value, bool), "True or False")


@dataclass(frozen=True)
class Setting:
    """One setting: its default (under preset `paper` another, if given), what it may be, one line on what it does."""

    default: Any
    check: Check
    help: str
    paper: Any = _SAME

    def of(self, preset: str) -> Any:
        """Return the default under a preset."""
        return self.default if preset != "paper" or self.paper is _SAME else self.paper

    @property
    def shown(self) -> Any:
        """The default in a signature."""
        return self.default if self.paper is _SAME else None


def resolve(given: Mapping[str, Any], declared: Mapping[str, Setting]) -> dict[str, Any]:
    """Fill in the preset's values for what is `None`, and check all settings."""
    check_one("preset", given["preset"], declared)
    settings = {name: declared[name].of(given["preset"]) if value is None else value for name, value in given.items()}
    settings = {name: plain(value) for name, value in settings.items()}
    for name, value in settings.items():
        check_one(name, value, declared)
    return settings


def plain(value: Any) -> Any:
    """Return what comes from numpy, as in a grid search, as plain values, which can be saved, inside others too."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {plain(key): plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


def check_one(name: str, value: Any, declared: Mapping[str, Setting]) -> None:
    """Raise a sentence that names the setting if it is not what it may be."""
    allowed, description = declared[name].check
    if not allowed(value):
        raise SettingsError(f"{name} is {value!r}; it takes {description}.")


def parse(text: str) -> Any:
    """Return the value that somebody typed: a JSON value, `True`, `False` or `None`, or else the text itself."""
    try:
        return json.loads({"True": "true", "False": "false", "None": "null"}.get(text, text))
    except (ValueError, RecursionError):
        return text
