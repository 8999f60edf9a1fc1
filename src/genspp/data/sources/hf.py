"""Data sets of Hugging Face, by the package datasets: one of its hub, or a folder that holds one.

`hf:NAME` or `hf:NAME:CONFIG` is what `datasets.load_dataset` is given; a folder may also be what a data set's
`save_to_disk` has written. Its splits are the parts, whatever it calls the validation rows; where it has but one, that
is split as a file is. Columns are named as those of a file.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from genspp.data.corpus import Corpus, Splits
from genspp.data.fields import part_name
from genspp.data.formats.base import package
from genspp.data.frames import table_rows
from genspp.data.rows import RawRows
from genspp.data.sources.base import SOURCES, Options, Source
from genspp.data.sources.parts import extra_files, in_parts, records_of, rows_to_score
from genspp.errors import DataError


def _splits(place: str) -> dict[str, Any]:
    """Load a data set; return its splits by the names it gives them."""
    datasets = package("datasets", "hf", "A data set of Hugging Face")
    folder, (name, _, config) = Path(place), place.partition(":")
    try:
        if (folder / "dataset_dict.json").exists() or (folder / "state.json").exists():
            found = datasets.load_from_disk(place)
        else:
            found = datasets.load_dataset(name, config or None)
    except (OSError, ValueError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise DataError(
            f"The data set hf:{place} cannot be loaded ({reason}); check its name, and the network."
        ) from None
    return dict(found) if isinstance(found, Mapping) else {"train": found}


def _parts(place: str) -> tuple[dict[str, RawRows], list[str]]:
    """Return the rows of every part, and the names of splits that are none."""
    parts, others = dict[str, RawRows](), []
    for name, table in _splits(place).items():
        try:
            part = part_name(name)
        except ValueError:
            part = ""
        if part in ("", *parts):
            others.append(str(name))
        else:
            parts[part] = table_rows(table, f"hf:{place}, {name}")
    if not parts:
        raise DataError(f"The data set hf:{place} has no split of train, val or test, only {', '.join(others)}.")
    return parts, others


@SOURCES.register("hf")
class HuggingFace(Source):
    """A data set of Hugging Face's hub, or in its form in a folder."""

    title = "Hugging Face"
    in_folder = True
    takes_columns = True

    @classmethod
    def form(cls, name: str) -> str:
        """Return how such a data set is typed."""
        return f"{name}:NAME"

    @property
    def absolute(self) -> str:
        """The whole path of a folder; the name of a data set is the same everywhere."""
        return super().absolute if Path(self.place).is_dir() else f"{self.name}:{self.place}"

    @property
    def command(self) -> str:
        """The name of the data set."""
        return super().command if Path(self.place).is_dir() else self.absolute

    @property
    def called(self) -> str:
        """The name of the data set without that of its owner."""
        return Path(self.place).name.replace(":", "-")

    def _load(self, options: Options) -> Splits:
        parts, others = _parts(self.place)
        main = parts.pop("train" if len(parts) > 1 else next(iter(parts)), None)
        if main is None:
            raise DataError(f"The data set hf:{self.place} has no train split, only {' and '.join(parts)}.")
        extras = {part: records_of(rows, options, in_parts=False) for part, rows in parts.items()}
        files = extra_files(options)
        if twice := sorted(extras.keys() & files.keys()):
            raise DataError(
                f"The data set hf:{self.place} has {twice[0]} rows, and --{twice[0]} names others; use one."
            )
        splits = in_parts(records_of(main, options, in_parts=not extras), extras | files, options.max_length)
        unread = [f"hf:{self.place}: the split {name!r} is not read." for name in others]
        return replace(splits, notes=(*unread, *splits.notes))

    def fieldnames(self) -> tuple[str, ...]:
        """Return the columns of the rows that a model is scored on."""
        return self._scored().fieldnames

    def test_rows(self, options: Options, known: Collection[str]) -> Corpus:
        """Return the test rows, or all where there is one split only."""
        return rows_to_score(self._scored(), options, known)

    def _scored(self) -> RawRows:
        parts, _ = _parts(self.place)
        if "test" not in parts and len(parts) > 1:
            raise DataError(f"The data set hf:{self.place} has no test split, only {' and '.join(parts)}.")
        return parts["test"] if "test" in parts else next(iter(parts.values()))
