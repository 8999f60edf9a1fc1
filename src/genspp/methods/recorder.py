"""What a method tells while it is trained, and what it is told: where it had come to, and that it is to stop now."""

from typing import Any, Protocol


class Recorder(Protocol):
    """Whoever looks on while a method is trained."""

    def restore(self) -> dict[str, Any] | None:
        """Return the last recorded state, or None at the start."""
        ...

    def say(self, what: str) -> None:
        """Take in a few words what is done from now on."""
        ...

    def record(self, line: dict[str, Any], state: dict[str, Any], total: int) -> None:
        """Take a line for the log, the state to resume from, and how many lines there will be at most.

        state: the weights of the present (or best) `generator` are in it for whoever looks on.
        """
        ...

    def enough(self) -> bool:
        """Tell whether to stop now, and to make a model of the best there is; asked where training would go on."""
        ...


class Forgetful:
    """A recorder that keeps nothing; what `fit` uses when it is given none. `history_` has the lines all the same."""

    def restore(self) -> dict[str, Any] | None:
        """Return nothing: such a fit starts at the start."""
        return None

    def say(self, what: str) -> None:
        """Take nothing."""

    def record(self, line: dict[str, Any], state: dict[str, Any], total: int) -> None:
        """Take nothing."""

    def enough(self) -> bool:
        """Tell that training goes on to its end."""
        return False
