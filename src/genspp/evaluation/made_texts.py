"""Texts made from others at fixed highlights: without their gaps, with tokens in front, with a highlight pasted in."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from genspp.data.encode import Encoded, Mask
from genspp.errors import DataError

Ids = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Marked:
    """Texts and a highlight of each: `mask` is flat, one number per token of `data`."""

    data: Encoded
    mask: Mask

    @classmethod
    def whole(cls, data: Encoded) -> "Marked":
        """Return texts of which every token is marked."""
        return cls(data, np.ones(len(data.ids), np.uint8))

    @classmethod
    def of(cls, texts: Sequence[tuple[Ids, Mask]]) -> "Marked":
        """Lay texts, each ids and mask, end to end; nobody has labelled them."""
        starts = np.cumsum([0, *(len(ids) for ids, _ in texts)])
        ids, mask = (np.concatenate(part) for part in zip(*texts, strict=True))
        return cls(Encoded(ids, starts.astype(np.int64), np.zeros(0, np.int32)), mask)

    @property
    def rest(self) -> "Marked":
        """The same texts with all that is not marked marked, and nothing else."""
        return Marked(self.data, (self.mask == 0).view(np.uint8))

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """The number of marked tokens of every text."""
        return np.asarray(np.add.reduceat(self.mask.astype(np.int64), self.data.starts[:-1]))

    def text(self, row: int) -> tuple[Ids, Mask]:
        """Return ids and mask of one text."""
        part = slice(self.data.starts[row], self.data.starts[row + 1])
        return self.data.ids[part], self.mask[part]

    def keeping(self, kept: npt.NDArray[np.bool_]) -> "Marked":
        """Return the texts with some tokens only; one that would be empty keeps its first token, unmarked."""
        first = self.data.starts[:-1]
        lengths = np.add.reduceat(kept.astype(np.int64), first)
        last = first[lengths == 0]
        kept, mask = kept.copy(), self.mask.copy()
        kept[last], mask[last] = True, 0
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.maximum(lengths, 1))])
        return Marked(replace(self.data, ids=self.data.ids[kept], starts=starts), mask[kept])

    def without_gaps(self) -> "Marked":
        """Return the texts without their unmarked tokens."""
        return self.keeping(self.mask != 0)

    def behind_others(self, tokens: int, random: np.random.Generator) -> "Marked":
        """Return the texts with so many unmarked tokens in front of each, drawn from the other texts."""
        starts, lengths = self.data.starts, self.data.lengths
        elsewhere = len(self.data.ids) - lengths[:, None]
        if not elsewhere.all():
            raise DataError("there is only one text; tokens of others can be put in front of two at least.")
        places = random.integers(0, elsewhere, (len(self.data), tokens))
        places += np.where(places >= starts[:-1, None], lengths[:, None], 0)
        before = np.repeat(starts[:-1], tokens)
        ids = np.insert(self.data.ids, before, self.data.ids[places.ravel()])
        moved = starts + tokens * np.arange(len(starts))
        return Marked(replace(self.data, ids=ids, starts=moved), np.insert(self.mask, before, 0))


@dataclass(frozen=True)
class Pasted:
    """Highlights in foreign texts. texts: host and highlight. hosts: the same without the highlight."""

    texts: Marked
    hosts: Marked


def paste(
    texts: Marked, donors: npt.NDArray[np.int64], hosts: npt.NDArray[np.int64], random: np.random.Generator
) -> Pasted | None:
    """Put the highlight of every donor, in one piece, at a random place among the unmarked tokens of a random host.

    donors, hosts: rows of the texts. A text without highlight has nothing to give, one without unmarked tokens no
    place for it. None where no donor or no host is left.
    """
    donors, hosts = donors[texts.counts[donors] > 0], hosts[texts.rest.counts[hosts] > 0]
    if not len(donors) or not len(hosts):
        return None
    made, alone = [], []
    for donor, host in zip(donors, random.choice(hosts, len(donors)), strict=True):
        (ids, mask), (around, taken) = texts.text(donor), texts.text(host)
        piece, room = ids[mask != 0], around[taken == 0]
        place = int(random.integers(0, len(room) + 1))
        marks = np.insert(np.zeros(len(room), np.uint8), [place] * len(piece), 1)
        made.append((np.insert(room, [place] * len(piece), piece), marks))
        alone.append((room, np.zeros(len(room), np.uint8)))
    return Pasted(Marked.of(made), Marked.of(alone))
