"""The name of a data source, as it is typed on the command line, and what belongs to it."""

from dataclasses import dataclass
from pathlib import Path

from genspp.data import toy as toy_data
from genspp.data.corpus import Splits
from genspp.data.hatexplain import MAX_LENGTH, hatexplain
from genspp.data.rows import format_of
from genspp.data.tables import Columns, load_table
from genspp.errors import DataError, SettingsError

_HATEXPLAIN = "hatexplain:"
_FORMS = "toy, toy-contaminated, hatexplain:FOLDER, or a file that ends in .jsonl or .csv"


@dataclass(frozen=True, slots=True)
class SourceDefaults:
    """The settings that go with a source.

    paper_threshold: the paper's feasibility threshold, if any. alpha, lambda_c, lambda_g: sparsity level and weights of
    contiguity and guidance of the gradient-trained methods; gradient_width: columns of their one-hot vectors.
    penalise_empty: whether GenSPP is kept from leaving texts without a highlight; the paper does not, people want it.
    generations: of GenSPP's search; with that price the way to good highlights is longer than the paper's 100.
    """

    hidden: int | None
    vectors: str
    width: int | None
    paper_threshold: float | None
    alpha: float = 0.2
    lambda_c: float = 0.0
    lambda_g: float = 1.0
    gradient_width: int | None = None
    penalise_empty: bool = False
    generations: int = 100


def defaults_of(source: str) -> SourceDefaults:
    """Return the settings that go with a source: the paper's for its two data sets."""
    if source in toy_data.VARIANTS:
        return SourceDefaults(
            hidden=8,
            vectors="onehot",
            width=26,
            paper_threshold=0.1,
            alpha=0.15,
            lambda_c=2.0,
            gradient_width=25,
        )
    if source.startswith(_HATEXPLAIN):
        return SourceDefaults(hidden=16, vectors="corpus", width=None, paper_threshold=0.6, alpha=0.22, lambda_g=2.5)
    return SourceDefaults(
        hidden=None, vectors="corpus", width=None, paper_threshold=None, penalise_empty=True, generations=150
    )


def load_source(
    source: str,
    *,
    columns: Columns | None = None,
    val: Path | str | None = None,
    test: Path | str | None = None,
    max_length: int | None = None,
    tokenizer: str | None = None,
) -> Splits:
    """Read a source. `max_length=None` is no limit, except for HateXplain, where it is the paper's 30 tokens.

    Columns, extra files and the tokeniser are for one's own files only.
    """
    own = format_of(source) is not None and not source.startswith(_HATEXPLAIN)
    if own:
        return load_table(source, columns, val=val, test=test, max_length=max_length, tokenizer=tokenizer or "words")
    if source not in toy_data.VARIANTS and not source.startswith(_HATEXPLAIN):
        raise DataError(f"The source {source!r} is not known; give {_FORMS}.")
    if val is not None or test is not None or tokenizer is not None or columns not in (None, Columns()):
        raise SettingsError(f"Columns, --val, --test and a tokenizer are for your own files, not for {source}.")
    if source.startswith(_HATEXPLAIN):
        folder = source.removeprefix(_HATEXPLAIN)
        if not folder:
            raise DataError("The source 'hatexplain:' names no folder; give hatexplain:FOLDER.")
        return hatexplain(folder, MAX_LENGTH if max_length is None else max_length)
    if max_length is not None and max_length < toy_data.LENGTH:
        raise SettingsError(f"max_length is {max_length}, but a Toy string has {toy_data.LENGTH} characters.")
    return toy_data.toy(source)
