"""Texts and networks as the compiled kernels have them: what training and inference of every method run on.

A `Batch` holds texts side by side, in groups of WIDTH lanes; arrays over its tokens are flat, (places, WIDTH), and
those over its texts are (groups, ..., WIDTH). A `Network` runs over batches, forwards and back.
"""

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from genspp.data.encode import Encoded, Mask
from genspp.errors import DataError
from genspp.kernels.gates import gate_margins
from genspp.kernels.inputs import Table, word_table
from genspp.kernels.lanes import WIDTH
from genspp.kernels.losses import log_odds
from genspp.kernels.memory import Floats, Ints, Longs, floats
from genspp.kernels.network import texts_back, texts_forward, tokens_back, tokens_forward
from genspp.kernels.space import Extent, Space, make_space, network_layout
from genspp.kernels.texts import Layout, Texts, lay_out_batch, make_layout, stretches, whole
from genspp.model.forms import Form, padded_hidden

_NOTHING = np.zeros(0, np.float32)


class Rows:
    """Texts as the kernels read them: ids are rows of a table of only the words that occur, 0 is no word."""

    def __init__(self, data: Encoded, words: npt.NDArray[np.int64], classes: int) -> None:
        if len(data.labels) and (data.labels.min() < 0 or data.labels.max() >= classes):
            raise DataError(f"labels run from {data.labels.min()} to {data.labels.max()}, with {classes} classes.")
        self.data, self.words = data, len(words)
        self.ids: Ints = (np.searchsorted(words, data.ids) + 1).astype(np.int32)
        self.starts: Longs = data.starts.astype(np.int64)
        self.labels: Ints = data.labels.astype(np.int32)
        self.longest = int(data.lengths.max(initial=0))
        self.texts = whole(self.ids, self.starts, self.labels)

    def __len__(self) -> int:
        return len(self.data)

    def behind(self, mask: Mask) -> Texts:
        """Return the texts as a predictor sees them through a mask: from the first selected token to the last."""
        return stretches(self.ids * (mask != 0), self.starts, self.labels)

    def packed(self, mask: Mask) -> Texts:
        """Return the selected tokens alone, one behind the other."""
        chosen = mask != 0
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(chosen, dtype=np.int64)])[self.starts]
        return whole(self.ids[chosen], starts, self.labels)


def prepare(vectors: npt.NDArray[np.float32], classes: int, *parts: Encoded) -> tuple[Table, list[Rows]]:
    """Return the table of the words that occur, and the texts with ids in it."""
    table, words = word_table(vectors, *(part.ids for part in parts))
    return table, [Rows(part, words, classes) for part in parts]


def highest(scores: Floats, texts: npt.NDArray[np.int64], share: float) -> Mask:
    """Return 1 for the highest scores of every text: a share of its tokens, rounded up, and at least one.

    texts: which text a token belongs to. Of equal scores the first is taken.
    """
    order = np.lexsort((-scores, texts))
    _, starts, lengths = np.unique(texts[order], return_index=True, return_counts=True)
    wanted = np.maximum(1, np.ceil(share * lengths - 1e-9))  # a share of 0.1 of 30 is 3, whatever its last bit
    chosen = np.zeros(len(scores), np.uint8)
    chosen[order] = np.arange(len(scores)) - np.repeat(starts, lengths) < np.repeat(wanted, lengths)
    return chosen


class Batch:
    """Some texts, laid out.

    padded: whether every group has as many places as the longest text has tokens.
    """

    _token_cells: Longs

    def __init__(
        self, rows: Rows, chosen: Longs, class_weights: Floats, hidden: int, layout: Layout, *, padded: bool = False
    ) -> None:
        self.layout, self.padded, self.texts = layout, padded, len(chosen)
        weights = np.array(class_weights, np.float32)  # numba would compile anew for an array that is read-only
        self.words = int(lay_out_batch(chosen, rows.texts, weights, 3 * padded_hidden(hidden), padded, layout))
        self.groups = -(-len(chosen) // WIDTH)
        self.places = int(layout.first[self.groups])
        self.cells = self.places * WIDTH
        self.tokens = int((rows.starts[chosen + 1] - rows.starts[chosen]).sum())

    @classmethod
    def of_all(cls, rows: Rows, class_weights: Floats, hidden: int) -> "Batch":
        """Lay out all texts there are."""
        lengths = -np.sort(-rows.data.lengths)
        layout = make_layout(len(rows), rows.longest, rows.words, int(lengths[::WIDTH].sum()))
        batch = cls(rows, np.arange(len(rows)), class_weights, hidden, layout)
        batch._token_cells = batch._find_token_cells(rows)
        return batch

    def _find_token_cells(self, rows: Rows) -> Longs:
        """Return where every token is among the places."""
        rank = np.empty(self.texts, np.int64)
        rank[self.layout.rows[: self.texts]] = np.arange(self.texts)
        base = self.layout.first[rank // WIDTH].astype(np.int64) * WIDTH + rank % WIDTH
        within = np.arange(len(rows.ids)) - np.repeat(rows.starts[:-1], rows.data.lengths)
        return np.asarray(np.repeat(base, rows.data.lengths) + within * WIDTH)

    @cached_property
    def extent(self) -> Extent:
        """What its memory must hold."""
        first = self.layout.first[: self.groups + 1]
        return Extent(self.groups, self.places, int(np.diff(first).max(initial=0)), self.words)

    @property
    def real(self) -> Floats:
        """1 for every token, (places, WIDTH)."""
        return self.layout.real

    @cached_property
    def counted(self) -> Floats:
        """1 for what may be selected, (places, WIDTH): the tokens, and padding where there is any."""
        if not self.padded:
            return self.layout.real
        counted, lanes = floats(self.cells), np.arange(self.groups * WIDTH).reshape(self.groups, WIDTH) < self.texts
        counted[: self.cells] = np.repeat(lanes, np.diff(self.layout.first[: self.groups + 1]), axis=0).ravel()
        return counted

    @cached_property
    def pairs(self) -> int:
        """The number of pairs of neighbours among what may be selected."""
        return int(self.counted[: self.cells].sum(dtype=np.float64)) - self.texts

    @cached_property
    def lengths(self) -> Floats:
        """The number of tokens of every lane's text, (groups, WIDTH); 0 for lanes without text."""
        first = self.layout.first[: self.groups]
        return np.add.reduceat(self.real[: self.cells].reshape(-1, WIDTH), first, axis=0)

    @cached_property
    def shares(self) -> Floats:
        """The share of every text in a plain mean over texts, (groups, WIDTH)."""
        shares = floats(self.groups * WIDTH)
        shares[: self.texts] = 1 / self.texts
        return shares

    def rest(self, mask: Floats) -> Floats:
        """Return the mask of the tokens that another leaves out."""
        rest = floats(self.cells)
        rest[: self.cells] = self.real[: self.cells] * (1 - mask[: self.cells])
        return rest

    def highest(self, scores: Floats, share: float) -> Floats:
        """Return the mask of a share of the tokens of every text, those of the highest scores."""
        mask, there = floats(self.cells), np.flatnonzero(self.real[: self.cells])
        groups = np.repeat(np.arange(self.groups), np.diff(self.layout.first[: self.groups + 1]))
        mask[there] = highest(scores[there], groups[there // WIDTH] * WIDTH + there % WIDTH, share)
        return mask

    def by_token(self, lanes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return an array over places, of a batch of all texts, as one over the tokens laid end to end."""
        return lanes[self._token_cells]

    def from_tokens(self, flat: npt.NDArray[np.generic]) -> Floats:
        """Return an array over the tokens laid end to end as one over the places of a batch of all texts."""
        lanes = floats(self.cells)
        lanes[self._token_cells] = flat
        return lanes

    def by_text(self, lanes: Floats, outputs: int) -> npt.NDArray[np.float32]:
        """Return logits (groups, outputs, WIDTH) of a batch of all texts as (texts, outputs), in their order."""
        found = np.empty((self.texts, outputs), np.float32)
        table = lanes[: self.groups * outputs * WIDTH].reshape(self.groups, outputs, WIDTH)
        found[self.layout.rows[: self.texts]] = table.transpose(0, 2, 1).reshape(-1, outputs)[: self.texts]
        return found


class Network:
    """A generator or a predictor on kernels, with the memory that its ways over batches need.

    weights: in the kernels' order (`forms.kernel_order`). What goes back follows what went forward last.
    """

    def __init__(self, form: Form, table: Table) -> None:
        self.sizes, self.selected, self.skipping, self.gated = form
        self.table = table
        self.size = network_layout(self.sizes)[2]
        self._rooms: dict[bool, tuple[Extent, bool, Space]] = {}

    def tokens(self, batch: Batch, weights: Floats, *, keep: bool = True) -> Floats:
        """Return the logits of every token, (outputs, places, WIDTH). keep: whether somebody will go back."""
        logits = floats(self.sizes.outputs * batch.cells)
        space, layout = self.room(batch.extent, keep=keep), batch.layout
        tokens_forward(
            batch.groups, batch.words, int(keep), self.sizes, layout, self.table, weights, space, logits, batch.cells
        )
        return logits

    def margins(self, batch: Batch, weights: Floats) -> Floats:
        """Return by how much selecting every token is preferred to dropping it, (places, WIDTH); nobody goes back."""
        logits, cells = self.tokens(batch, weights, keep=False), batch.cells
        if self.gated:
            margins = floats(cells)
            gate_margins(batch.places, logits, cells, margins)
            return margins[:cells]
        return logits[:cells] if self.sizes.outputs == 1 else logits[cells : 2 * cells] - logits[:cells]

    def tokens_back(self, batch: Batch, weights: Floats, d_logits: Floats) -> Floats:
        """Return the gradient of the weights."""
        gradient = floats(self.size)
        tokens_back(
            batch.groups, batch.words, self.sizes, batch.layout, self.table, weights, self.room(batch.extent), d_logits,
            batch.cells, gradient, _NOTHING,
        )  # fmt: skip
        return gradient

    def texts(self, batch: Batch, weights: Floats, mask: Floats, *, soft: bool = False, keep: bool = True) -> Floats:
        """Return the logits of every text, (groups, outputs, WIDTH), at a mask (places, WIDTH)."""
        logits = floats(batch.groups * self.sizes.outputs * WIDTH)
        texts_forward(
            batch.groups, batch.words, int(keep), self.sizes, batch.layout, self.table, weights,
            self.room(batch.extent, keep=keep, soft=soft), mask, soft, self.selected, self.skipping, logits,
        )  # fmt: skip
        return logits

    def texts_back(
        self, batch: Batch, weights: Floats, mask: Floats, d_logits: Floats, *, asked: bool = True, frozen: bool = False
    ) -> tuple[Floats, Floats]:
        """Return the gradients of the weights, unless they are frozen, and, if asked for, of the mask."""
        gradient = _NOTHING if frozen else floats(self.size)
        d_mask = floats(batch.cells) if asked else _NOTHING
        texts_back(
            batch.groups, batch.words, self.sizes, batch.layout, self.table, weights, self.room(batch.extent), mask,
            self.skipping, d_logits, gradient, d_mask, _NOTHING,
        )  # fmt: skip
        return gradient, d_mask

    def saliency(self, batch: Batch, weights: Floats) -> Floats:
        """Return the saliency of every token of full texts (`networks.Saliency`), (places, WIDTH).

        The gradient in the mask is that of a token's input times the input, where unselected tokens are zero vectors.
        """
        logits = self.texts(batch, weights, batch.real)
        d_logits = np.zeros_like(logits)
        log_odds(batch.groups, self.sizes.outputs, logits, d_logits)
        return np.abs(self.texts_back(batch, weights, batch.real, d_logits, frozen=True)[1])

    def room(self, needed: Extent, *, keep: bool = True, soft: bool = False) -> Space:
        """Return memory for batches of some extent, made anew where the last one is not large enough."""
        extent, had_soft, space = self._rooms.get(keep, (Extent(0, 0, 0, 0), False, None))
        if space is None or any(a > b for a, b in zip(needed, extent, strict=True)) or soft > had_soft:
            extent = Extent(*map(max, needed, extent))
            soft = soft or had_soft
            space = make_space(self.sizes, extent, keep=keep, soft=soft)
            self._rooms[keep] = (extent, soft, space)
        return space
