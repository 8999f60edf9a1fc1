"""How files hold rows: one file per kind, each found by its being here."""

from genspp.data.formats.base import FORMATS, Format, Row, plain

__all__ = ["FORMATS", "Format", "Row", "plain"]
