"""Where data comes from: one file per source, each found by its being here."""

from genspp.data.sources.base import SOURCES, Options, Source, find_source, forms, load_source

__all__ = ["SOURCES", "Options", "Source", "find_source", "forms", "load_source"]
