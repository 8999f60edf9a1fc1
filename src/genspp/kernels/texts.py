"""A batch as the kernels read it: its different words, and its texts in groups of WIDTH that advance in lockstep.

Texts are sorted by length and dealt into groups, so that those of a group end together; a group has as many places as
its longest text has tokens, and no two groups share padding.
"""

from typing import NamedTuple

import numpy as np

from genspp.kernels.compile import kernel, routine
from genspp.kernels.lanes import WIDTH
from genspp.kernels.memory import Floats, Ints, Longs, floats, integers


class Texts(NamedTuple):
    """Texts laid end to end.

    words: (tokens,) rows of the word table, 0 for a token that nobody sees. begin, span: (texts,) where the tokens of
    a text begin and how many there are. lead: (texts,) how many unseen tokens come before these. labels: (texts,).
    """

    words: Ints
    begin: Longs
    span: Ints
    lead: Ints
    labels: Ints


class Layout(NamedTuple):
    """Some texts side by side. A place is a token of each of the WIDTH texts of a group.

    first: (groups + 1,) the first place of every group. rows: (groups, WIDTH) which text a lane holds. cells: (places,
    WIDTH) where the row of the word there begins among those of the batch's words, 0 for none. real: (places, WIDTH) 1
    for a token. lead: (groups, WIDTH) where the first state of a text begins in the prefix. labels, shares: (groups,
    WIDTH) the label of a text, and its share of a weighted mean over texts, 0 for lanes without text. used: the batch's
    words, from 1 on. slots: (words of the table,) where their rows begin, 0 for those that do not occur. counts: for
    sorting.
    """

    first: Ints
    rows: Ints
    cells: Ints
    real: Floats
    lead: Ints
    labels: Floats
    shares: Floats
    used: Ints
    slots: Ints
    counts: Ints


def make_layout(texts: int, longest: int, words: int, places: int | None = None) -> Layout:
    """Return the memory for batches of so many texts of at most `longest` tokens, among `words` different words.

    places: how many there will be at most, where that is known to be less than these need.
    """
    groups = -(-texts // WIDTH)
    places = groups * longest if places is None else places
    return Layout(
        first=integers(groups + 1),
        rows=integers(groups * WIDTH),
        cells=integers(places * WIDTH),
        real=floats(places * WIDTH),
        lead=integers(groups * WIDTH),
        labels=floats(groups * WIDTH),
        shares=floats(groups * WIDTH),
        used=integers(2 + min(words, places * WIDTH)),
        slots=integers(words + 1),
        counts=integers(longest + 1),
    )


@routine
def _rank(batch: Longs, span: Ints, counts: Ints, ranked: Ints) -> int:
    """Sort the texts of a batch by length, longest first, and return that of the longest."""
    longest = 0
    for text in batch:
        longest = max(longest, span[text])
    for length in range(longest + 1):
        counts[length] = 0
    for text in batch:
        counts[span[text]] += 1
    position = 0
    for back in range(longest + 1):
        length = longest - back
        position, counts[length] = position + counts[length], position
    for text in batch:
        ranked[counts[span[text]]] = text
        counts[span[text]] += 1
    return longest


@routine
def _share(batch: int, known: Ints, class_weights: Floats, layout: Layout) -> None:
    """Note the labels, `known` of all texts, and a text's share of the weighted mean; if nothing weighs anything, 0."""
    rows, labels, shares = layout.rows, layout.labels, layout.shares
    mass = 0.0
    for lane in range(batch):
        mass += class_weights[known[rows[lane]]]
    for lane in range(len(labels)):
        labels[lane] = shares[lane] = 0
    for lane in range(batch):
        label = known[rows[lane]]
        labels[lane] = label
        shares[lane] = class_weights[label] / mass if mass > 0 else 0


@routine
def lay_out(batch: Longs, texts: Texts, class_weights: Floats, row: int, padded: bool, layout: Layout) -> int:
    """Lay out some texts, number their words, and return how many different ones there are.

    row: how many numbers a word's row has. padded: give every group as many places as the longest text of the batch
    has tokens.
    """
    words, begin, span = texts.words, texts.begin, texts.span
    first, rows, cells, real, lead = layout.first, layout.rows, layout.cells, layout.real, layout.lead
    used, slots = layout.used, layout.slots
    longest, found = _rank(batch, span, layout.counts, rows), 0
    if len(texts.labels) > 0:
        _share(len(batch), texts.labels, class_weights, layout)
    for group in range(-(-len(batch) // WIDTH)):
        start, lanes = first[group], min(WIDTH, len(batch) - group * WIDTH)
        places = longest if padded else span[rows[group * WIDTH]]
        for cell in range(start * WIDTH, (start + places) * WIDTH):
            cells[cell], real[cell] = 0, 0
        for lane in range(WIDTH):
            lead[group * WIDTH + lane] = 0
        for lane in range(lanes):
            text = rows[group * WIDTH + lane]
            lead[group * WIDTH + lane] = texts.lead[text] * row // 3
            for place in range(span[text]):
                word, cell = words[begin[text] + place], (start + place) * WIDTH + lane
                if word > 0 and slots[word] == 0:
                    found += 1
                    slots[word] = found * row
                    used[found] = word
                cells[cell], real[cell] = slots[word], 1
        first[group + 1] = start + places
    return found


@routine
def forget(count: int, layout: Layout) -> None:
    """Take the numbers of a batch's words back."""
    slots, used = layout.slots, layout.used
    for slot in range(1, count + 1):
        slots[used[slot]] = 0


@kernel
def lay_out_batch(batch: Longs, texts: Texts, class_weights: Floats, row: int, padded: bool, layout: Layout) -> int:
    """Lay out a batch that several networks read; see `lay_out`."""
    count = lay_out(batch, texts, class_weights, row, padded, layout)
    forget(count, layout)
    return count


@kernel
def lay_tokens(texts: int, layout: Layout, begin: Longs, span: Ints, flat: Floats, lanes: Floats) -> None:
    """Write numbers of tokens, those of a text from flat[begin[text]] on, to the places of the texts of a batch."""
    for lane in range(texts):
        text = layout.rows[lane]
        place = layout.first[lane // WIDTH] * WIDTH + lane % WIDTH
        for token in range(span[text]):
            lanes[place + token * WIDTH] = flat[begin[text] + token]


@kernel
def survey(words: Ints, starts: Longs, begin: Longs, span: Ints, lead: Ints) -> None:
    """Find, in texts that begin at `starts`, the stretch from the first to the last token that is seen."""
    for text in range(len(starts) - 1):
        first, last = starts[text], starts[text + 1]
        while first < last and words[first] == 0:
            first += 1
        while last > first and words[last - 1] == 0:
            last -= 1
        span[text] = last - first
        begin[text] = first
        lead[text] = first - starts[text] if last > first else 0


def whole(ids: Ints, starts: Longs, labels: Ints) -> Texts:
    """Return texts of which every token is seen."""
    return Texts(ids, starts[:-1].copy(), np.diff(starts).astype(np.int32), np.zeros(len(starts) - 1, np.int32), labels)


def stretches(ids: Ints, starts: Longs, labels: Ints) -> Texts:
    """Return texts without the unseen tokens before and after all those that are seen."""
    texts = len(starts) - 1
    begin, span, lead = np.empty(texts, np.int64), np.empty(texts, np.int32), np.empty(texts, np.int32)
    survey(ids, starts, begin, span, lead)
    return Texts(ids, begin, span, lead, labels)
