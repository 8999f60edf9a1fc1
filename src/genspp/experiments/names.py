"""What the benchmarks are about: methods and data sets, from the registries, in the order of the tables.

GenSPP first, then the paper's methods and data in the paper's order, then all others by name.
"""

from collections.abc import Iterable
from functools import cache

from genspp.data.sources import SOURCES, find_source
from genspp.experiments import paper
from genspp.methods import METHODS

OURS = "genspp"
REFERENCES = {"random": "Random highlights", "matching": "String matching"}  # rows that need no training


@cache
def methods() -> tuple[str, ...]:
    """Return the names of all methods."""
    return _ordered([OURS, *(method for _, method, _ in paper.BENCHMARK)], METHODS)


@cache
def data_sets() -> tuple[str, ...]:
    """Return the names of all data sets but people's own files."""
    named = [name for name, source in SOURCES.items() if not source.takes_columns]
    return _ordered([data for data, _, _ in paper.BENCHMARK], named)


def _ordered(first: Iterable[str], everything: Iterable[str]) -> tuple[str, ...]:
    known = sorted(everything)
    return tuple(dict.fromkeys([*(name for name in first if name in known), *known]))


def method_title(method: str) -> str:
    """Return what tables call a method."""
    return REFERENCES[method] if method in REFERENCES else METHODS[method].title


def data_name(source: str) -> str:
    """Return the name of the data set that somebody typed: people's own files go by the file's, without its ending."""
    return find_source(source).called


def data_title(data: str) -> str:
    """Return what tables call a data set."""
    return SOURCES[data].title if data in SOURCES else data


def data_form(data: str) -> str:
    """Return how a data set is typed, with names in the place of local paths."""
    return SOURCES[data].form(data) if data in SOURCES else f"{data}.jsonl"


def family(data: str) -> str:
    """Return the kind of data that a data set is a form of: the one that settings go with."""
    return (SOURCES[data] if data in SOURCES else SOURCES["files"]).family


def can_be_skewed(method: str) -> bool:
    """Tell whether a method can be given a start that is locked in."""
    return declares(method, "skew_epochs") and METHODS[method].declared["skew_epochs"].check[0](1)


def declares(method: str, setting: str) -> bool:
    """Tell whether a method has a setting."""
    return setting in METHODS[method].declared
