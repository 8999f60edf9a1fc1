"""Where guests are found: a registry holds what the modules of one package have put into it, by name.

A guest is one file in that package; nothing else lists it.
"""

import pkgutil
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from threading import RLock
from typing import TypeVar

from genspp.errors import SettingsError

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """Guests of one kind by name, sorted; all modules of `package` are imported when it is first looked into."""

    def __init__(self, kind: str, package: str) -> None:
        self.kind, self.package = kind, package
        self._guests: dict[str, T] = {}
        self._complete, self._lock = False, RLock()

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that enters a guest under a name."""

        def enter(guest: T) -> T:
            if name in self._guests:
                raise ValueError(f"there are two guests called {name!r} among the {self.kind}s")
            self._guests[name] = guest
            return guest

        return enter

    def __getitem__(self, name: str) -> T:
        self._complete_once()
        try:
            return self._guests[name]
        except KeyError:
            raise SettingsError(f"{self.kind} is {name!r}; choose one of {', '.join(self)}.") from None

    def __contains__(self, name: object) -> bool:
        self._complete_once()
        return name in self._guests

    def __iter__(self) -> Iterator[str]:
        self._complete_once()
        return iter(sorted(self._guests))

    def __len__(self) -> int:
        self._complete_once()
        return len(self._guests)

    def _complete_once(self) -> None:
        with self._lock:  # another thread waits until all guests are there; a module that looks in meanwhile does not
            if self._complete:
                return
            self._complete = True
            for module in pkgutil.iter_modules(import_module(self.package).__path__):
                import_module(f"{self.package}.{module.name}")
