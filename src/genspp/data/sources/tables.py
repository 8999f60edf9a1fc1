"""One's own data: a file of rows, in three parts."""

from collections.abc import Collection
from pathlib import Path
from typing import Self

from genspp.data.corpus import SPLIT_SEED, Corpus, Splits
from genspp.data.rows import endings, format_of, read_raw
from genspp.data.sources.base import SOURCES, Options, Source
from genspp.data.sources.parts import extra_files, in_parts, records_of, rows_to_score


def load_tables(path: Path | str, options: Options | None = None, seed: int = SPLIT_SEED) -> Splits:
    """Read one's own data in three parts."""
    options = options or Options()
    return in_parts(records_of(path, options), extra_files(options), options.max_length, seed)


@SOURCES.register("files")
class Tables(Source):
    """A file with a text, a label and, if people marked them, a highlight in every row."""

    title = "Own file"
    takes_columns = True

    @classmethod
    def form(cls, name: str) -> str:
        """Return how one's own file is typed."""
        return f"a file that ends in {endings()}"

    @classmethod
    def typed(cls, name: str, text: str) -> Self | None:
        """Return the source of a file that ends as it must."""
        head, colon, _ = text.partition(":")
        return None if format_of(text) is None or (colon and head in SOURCES) else cls(name, text)

    @property
    def absolute(self) -> str:
        """The whole path of the file."""
        return str(Path(self.place).resolve())

    @property
    def command(self) -> str:
        """The name of the file."""
        return Path(self.place).name

    @property
    def called(self) -> str:
        """The name of the file without its ending."""
        return Path(self.place).stem

    def _load(self, options: Options) -> Splits:
        return load_tables(self.place, options)

    def fieldnames(self) -> tuple[str, ...]:
        """Return the columns of the file."""
        return read_raw(self.place, keep_broken=True).fieldnames

    def test_rows(self, options: Options, known: Collection[str]) -> Corpus:
        """Return all rows of the file."""
        return rows_to_score(self.place, options, known)
