"""Which columns of a file are read: by the names that somebody gave, or by those that go without saying."""

from dataclasses import dataclass

from genspp.data.rows import RawRows
from genspp.errors import DataError, SettingsError


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns or fields; `None` is the column of that very name: `text`, `label` and so on.

    A text (or tokens) and a label must be there. Highlight and split may be missing unless they were named. A
    column `id`, if there is one, names the rows. highlight_form: what the highlights are (see `highlights`), for
    where they could be two things.
    """

    text: str | None = None
    tokens: str | None = None
    label: str | None = None
    highlight: str | None = None
    split: str | None = None
    highlight_form: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The columns that a file really has, `None` for one that it has not or that is not looked at."""

    text: str
    is_tokens: bool
    label: str | None = None
    highlight: str | None = None
    split: str | None = None
    id: str | None = None
    notes: tuple[str, ...] = ()


def find_columns(raw: RawRows, columns: Columns, *, labels: bool = True, split: bool = True) -> Found:
    """Find the columns to read. labels: whether labels and highlights are looked at; split: whether parts are.

    A name is forgiven blanks around it and capitals, and that is noted.
    """
    if columns.text and columns.tokens:
        raise SettingsError("Both a text and a tokens column are named; name one of them.")
    there = _alike(raw, "text"), _alike(raw, "tokens")
    is_tokens = bool(columns.tokens or (not columns.text and there[1] and not there[0]))
    text = "tokens" if is_tokens else "text"
    asked = [(text, True), ("label", True), ("highlight", False)] if labels else [(text, True)]
    if split:
        asked.append(("split", False))
    found, notes = dict[str, str | None](), []
    for default, needed in asked:
        named = getattr(columns, default)
        found[default] = column = _find(raw, named, default, needed)
        if column is not None and column != (named or default):
            notes.append(f"{raw.name}: the column {column!r} is read as {named or default!r}.")
    return Found(
        str(found[text]),
        is_tokens,
        label=found.get("label"),
        highlight=found.get("highlight"),
        split=found.get("split"),
        id="id" if "id" in raw.fieldnames else None,
        notes=tuple(notes),
    )


def find_label(raw: RawRows, named: str | None, known: str | None) -> str | None:
    """Return the column of labels: the one that is named; else that of the training data, if it is there."""
    if named is not None:
        return _find(raw, named, "label", True)
    alike = _alike(raw, known or "label")
    return alike[0] if len(alike) == 1 else None


def _alike(raw: RawRows, name: str) -> list[str]:
    """Return the column of that name or else all that differ from it by blanks and capitals only."""
    if name in raw.fieldnames:
        return [name]
    return [column for column in raw.fieldnames if column.strip().casefold() == name.strip().casefold()]


def _find(raw: RawRows, named: str | None, default: str, needed: bool) -> str | None:
    """Return the column to read, `None` where an optional one is missing."""
    wanted = named or default
    alike = _alike(raw, wanted)
    if len(alike) == 1:
        return alike[0]
    if not needed and named is None:
        return None
    there = ", ".join(repr(name) for name in alike or raw.fieldnames)
    raise DataError(f"{raw.name} has no column {wanted!r}; name the {default} column with --{default}, one of {there}.")
