"""JSON lines: one object per line. Blank lines are skipped."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from genspp.data.faults import Faults
from genspp.data.formats.base import FORMATS, Format, Row, Table, names_of
from genspp.data.formats.text import decode
from genspp.data.limits import check_nesting
from genspp.errors import DataError


@FORMATS.register("jsonl")
class JsonLines(Format):
    """JSON lines."""

    counted = "line"
    is_text = True

    @staticmethod
    def read(content: bytes, faults: Faults) -> Table:
        """Return the objects; the columns are the fields of any of them."""
        rows = []
        for line, text in enumerate(decode(faults.name, content).split("\n"), start=1):
            if text.strip():
                try:
                    rows.append(Row(line, _object(text)))
                except ValueError as error:
                    faults.add(line, error)
        return names_of([row.fields for row in rows]), rows

    @staticmethod
    def write(rows: Sequence[Mapping[str, Any]]) -> bytes:
        """Return a line per row."""
        return "".join(_line(row) for row in rows).encode()


def _object(text: str) -> dict[str, Any]:
    """Return what a line holds; ValueError where that is no JSON object."""
    try:
        fields = check_nesting(json.loads(text, parse_constant=_no_constant, parse_float=_finite))
    except json.JSONDecodeError as error:
        where = f"{error.msg}, column {error.colno}"
        raise ValueError(f"invalid JSON ({where}); every line must be one JSON object") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"invalid JSON ({error})") from None
    if not isinstance(fields, dict):
        raise ValueError(f"{type(fields).__name__} where a JSON object was expected")
    return fields


def _no_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _finite(text: str) -> float:
    """Return a number; one that a float cannot hold would be written again as Infinity, which is no JSON."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:40]} is too large")
    return value


def _line(row: Mapping[str, Any]) -> str:
    try:
        line = json.dumps(row, ensure_ascii=False, allow_nan=False)
        line.encode()
    except UnicodeEncodeError:  # half a surrogate pair: JSON can only hold it escaped
        line = json.dumps(row, allow_nan=False)
    except ValueError:
        raise DataError("a row holds an infinite number, which JSON cannot hold; write .csv instead.") from None
    return line + "\n"
