"""One file per method, all behind one estimator contract; a method is found by its file being here."""

from typing import Any

from genspp.methods.base import METHODS, Rationalizer

__all__ = ["METHODS", "Rationalizer"]


def __getattr__(name: str) -> Any:
    """Return the method whose class has that name."""
    if name[:1].isupper():  # as a class is called; anything else may be a module
        for kind in METHODS.values():
            if kind.__name__ == name:
                return kind
    raise AttributeError(f"module 'genspp.methods' has no attribute {name!r}")
