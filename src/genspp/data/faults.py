"""Rows that cannot be used: collected while a file is read, so that all of them are told in one go."""

from dataclasses import dataclass, field

from genspp.errors import DataError, RowsError, SettingsError

ON_BAD_ROW = ("error", "skip")
LISTED = 20


@dataclass
class Faults:
    """The rows of one file that cannot be used: the number of each, and why. `counted`: whether lines or rows are."""

    name: str
    counted: str = "line"
    reasons: dict[int, str] = field(default_factory=dict)

    def add(self, number: int, reason: object) -> None:
        """Enter a row; what was found first is what is told."""
        self.reasons.setdefault(number, str(reason))

    def refuse(self, hint: str = "") -> None:
        """Raise one error that names all rows, the first twenty with their reasons, if there are any."""
        more = f" ({hint})" if hint else ""
        if len(self.reasons) == 1:
            ((number, reason),) = self.reasons.items()
            raise DataError(f"{self.name}, {self.counted} {number}: {reason}{more}.")
        if self.reasons:
            said = f"{self.name} has {len(self.reasons):,} rows that cannot be used{more}:"
            raise RowsError("\n".join([said, *self._listed()]))

    def note(self, rows: int) -> tuple[str, ...]:
        """Return what to tell about the rows that were left out of `rows`, if any were."""
        if not self.reasons:
            return ()
        return (f"{len(self.reasons):,} of {rows:,} rows of {self.name} were left out:", *self._listed())

    def _listed(self) -> list[str]:
        """Return a line per row, each a line whatever is in the reason."""
        first = sorted(self.reasons.items())[:LISTED]
        lines = [f"  {self.counted} {number}: {' '.join(reason.splitlines())}" for number, reason in first]
        return lines + ([f"  and {len(self.reasons) - LISTED:,} more"] if len(self.reasons) > LISTED else [])


def check_on_bad_row(asked: str) -> None:
    """Refuse what is no answer to what becomes of rows that cannot be used."""
    if asked not in ON_BAD_ROW:
        raise SettingsError(f"on_bad_row is {asked!r}; choose one of {', '.join(ON_BAD_ROW)}.")
