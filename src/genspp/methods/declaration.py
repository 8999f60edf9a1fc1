"""Declared settings as the keyword arguments of a class, so that scikit-learn's tools and `help` know them."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from genspp.settings import Setting

T = TypeVar("T")


def merged(parts: Iterable[Mapping[str, T]]) -> dict[str, T]:
    """Return all entries in one dictionary, later ones over earlier ones."""
    whole: dict[str, T] = {}
    for part in parts:
        whole |= part
    return whole


def constructor(declared: Mapping[str, Setting]) -> Callable[..., None]:
    """Return an `__init__` that takes the declared settings by keyword and keeps them as they are."""

    def __init__(self: Any, **given: Any) -> None:  # noqa: N807
        foreign = sorted(given.keys() - declared.keys())
        if foreign:
            raise TypeError(f"{type(self).__name__} has no setting {foreign[0]!r}; it has {', '.join(declared)}")
        for name, setting in declared.items():
            setattr(self, name, given.get(name, setting.shown))

    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for name, setting in declared.items():
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=setting.shown))
    __init__.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return __init__
