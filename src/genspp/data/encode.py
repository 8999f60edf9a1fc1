"""Texts as arrays: what every method is trained on. There is no field for gold highlights here, on purpose."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Encoded:
    """Texts laid end to end.

    Text i is `ids[starts[i]:starts[i + 1]]`; a mask over all texts is flat in the same way.

    ids: (tokens,) int32, rows of the vector table; 0 is padding and never occurs here.
    starts: (texts + 1,) int64.
    labels: (texts,) int32 class numbers, or empty where the labels are not known.
    """

    ids: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of tokens of every text."""
        return np.diff(self.starts)

    def take(self, rows: npt.NDArray[np.int64]) -> "Encoded":
        """Return some of the texts, in the order of `rows`."""
        lengths = self.lengths[rows]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        tokens = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], lengths)
        return Encoded(self.ids[tokens], starts, self.labels[rows])

    def padded(self, rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Return ids and the mask of real tokens of some rows, (rows, longest), padded with 0 and False."""
        return pad(self.ids, self.starts, rows)

    def batches(self, texts: int = 512, tokens: int = 65_536) -> Iterator[npt.NDArray[np.int64]]:
        """Deal all rows into batches of texts of similar length, so that little is padded.

        No batch has more than `texts` rows, nor, unless it is a single text, more than `tokens` padded tokens.
        """
        lengths = self.lengths
        order = np.argsort(lengths, kind="stable")
        end = len(order)
        while end > 0:
            start = max(0, end - max(1, min(texts, tokens // int(lengths[order[end - 1]]))))
            yield order[start:end]
            end = start

    def split(self, flat: npt.NDArray[np.uint8]) -> list[Mask]:
        """Cut a flat array over all tokens into one array per text."""
        return [flat[start:end] for start, end in zip(self.starts, self.starts[1:], strict=False)]


def pad(
    flat: npt.NDArray[np.generic], starts: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Lay some rows of a flat array side by side, (rows, longest), with the mask of what is real."""
    lengths = starts[rows + 1] - starts[rows]
    positions = np.arange(int(lengths.max(initial=0)))
    real = positions < lengths[:, None]
    index = np.where(real, starts[rows][:, None] + positions, 0)
    return np.where(real, flat[index], 0).astype(np.int64), real


def encode(
    keys: Sequence[Sequence[str]],
    index: dict[str, int],
    unknown: int,
    labels: Sequence[int] | npt.NDArray[np.int32] = (),
) -> Encoded:
    """Look tokens up: `index` gives the row of a known word, `unknown` is the row of all the others."""
    lengths = np.array([len(text) for text in keys], dtype=np.int64)
    ids = np.fromiter((index.get(key, unknown) for text in keys for key in text), dtype=np.int32)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return Encoded(ids, starts, np.asarray(labels, dtype=np.int32))
