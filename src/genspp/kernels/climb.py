"""All steps of a generator's climb between two frozen predictors, in one go: what a guided search does most of."""

from typing import NamedTuple

from genspp.kernels.adam import Powers, adam
from genspp.kernels.compile import kernel, routine
from genspp.kernels.gru import Sizes
from genspp.kernels.inputs import Table
from genspp.kernels.lanes import WIDTH
from genspp.kernels.losses import draw_mask, press, task_loss
from genspp.kernels.memory import Floats, Longs, floats, load, store
from genspp.kernels.network import texts_back, texts_forward, tokens_back, tokens_forward
from genspp.kernels.space import Space
from genspp.kernels.texts import Layout, Texts, forget, lay_out, lay_tokens


class Frozen(NamedTuple):
    """A predictor that shows the way: it is read, and gradients go back through it, but it does not change.

    keep, soft, selected, skipping: as `texts_forward` has them; numba would compile that anew for literal ones.
    """

    sizes: Sizes
    keep: int
    soft: bool
    selected: bool
    skipping: bool
    weights: Floats
    space: Space
    logits: Floats
    d_logits: Floats


class Drawn(NamedTuple):
    """Memory for a step's masks, (places, WIDTH), and for what its texts cost, (groups, WIDTH)."""

    margins: Floats
    uniform: Floats
    mask: Floats
    slopes: Floats
    rest: Floats
    d_mask: Floats
    d_rest: Floats
    counts: Floats
    costs: Floats


class Descent(NamedTuple):
    """What is descended: task * task loss + rest * max(0, chance - rest loss) + pressure * selection rate."""

    task: float
    rest: float
    chance: float
    sharpness: float


class Steps(NamedTuple):
    """A generator's weights under Adam."""

    rates: Floats
    weights: Floats
    gradient: Floats
    moments: Floats
    squares: Floats
    powers: Powers


def make_drawn(groups: int, places: int) -> Drawn:
    """Return the memory for steps of at most so many groups and places."""
    return Drawn(*map(floats, [*[places * WIDTH] * (len(Drawn._fields) - 1), groups * WIDTH]))


@routine
def _judge(groups: int, words: int, layout: Layout, table: Table, frozen: Frozen, mask: Floats, d_mask: Floats,
           nothing: Floats) -> float:  # fmt: skip
    """Return a frozen predictor's loss at a mask, and write the gradient of the mask."""
    sizes, weights, space, logits, d_logits = frozen.sizes, frozen.weights, frozen.space, frozen.logits, frozen.d_logits
    texts_forward(
        groups, words, frozen.keep, sizes, layout, table, weights, space, mask, frozen.soft, frozen.selected,
        frozen.skipping, logits,
    )  # fmt: skip
    loss = task_loss(groups, sizes.outputs, logits, layout.labels, layout.shares, d_logits)
    texts_back(
        groups, words, sizes, layout, table, weights, space, mask, frozen.skipping, d_logits, nothing, d_mask, nothing
    )  # fmt: skip
    return loss


@routine
def _lay_noise(chosen: Longs, texts: Texts, layout: Layout, flat: Floats, at: int, begin: Longs, lanes: Floats) -> int:
    """Write the numbers of a step's tokens, in the order of its texts, to their places; return where the next begin."""
    for text in chosen:
        begin[text] = at
        at += texts.span[text]
    lay_tokens(len(chosen), layout, begin, texts.span, flat, lanes)
    return at


@kernel
def climb_steps(
    order: Longs, size: int, pressures: Powers, uniform: Floats, texts: Texts, class_weights: Floats,
    mark_costs: Floats, token_costs: Floats, table: Table, layout: Layout, sizes: Sizes, space: Space,
    predictor: Frozen, adversary: Frozen, descent: Descent, begin: Longs, drawn: Drawn, steps: Steps, nothing: Floats,
) -> None:  # fmt: skip
    """Take a generator down its cost, one step for every pressure, on as many texts as `size` of `order` each.

    uniform: a number per token of all steps' texts. mark_costs: what a mark costs in a text of a class.
    token_costs: how much every token counts among those of its text.
    """
    at = 0
    for step in range(len(pressures)):
        chosen = order[step * size : (step + 1) * size]
        words = lay_out(chosen, texts, class_weights, 3 * sizes.hidden, False, layout)
        groups = -(-size // WIDTH)
        places = layout.first[groups]
        cells = places * WIDTH
        at = _lay_noise(chosen, texts, layout, uniform, at, begin, drawn.uniform)
        tokens_forward(groups, words, predictor.keep, sizes, layout, table, steps.weights, space, drawn.margins, cells)
        for cell in range(0, cells, WIDTH):
            store(drawn.margins, cell, load(drawn.margins, cell) * descent.sharpness)
        draw_mask(places, drawn.margins, drawn.uniform, layout.real, drawn.mask, drawn.slopes)
        _judge(groups, words, layout, table, predictor, drawn.mask, drawn.d_mask, nothing)
        for cell in range(0, cells, WIDTH):
            store(drawn.rest, cell, load(layout.real, cell) - load(drawn.mask, cell))
            store(drawn.d_mask, cell, load(drawn.d_mask, cell) * descent.task)
        if descent.rest > 0:
            loss = _judge(groups, words, layout, table, adversary, drawn.rest, drawn.d_rest, nothing)
            # Its loss is to rise, and what it sees is 1 - mask: minus twice.
            if loss < descent.chance:
                for cell in range(0, cells, WIDTH):
                    d_mask = load(drawn.d_mask, cell) + load(drawn.d_rest, cell) * descent.rest
                    store(drawn.d_mask, cell, d_mask)
        for lane in range(groups * WIDTH):
            drawn.costs[lane] = mark_costs[int(layout.labels[lane])] if lane < size else 0
        lay_tokens(size, layout, texts.begin, texts.span, token_costs, drawn.counts)
        for cell in range(0, cells, WIDTH):
            store(drawn.counts, cell, load(drawn.counts, cell) * load(layout.real, cell))
        press(groups, layout.first, drawn.counts, drawn.costs, pressures[step] / size, drawn.slopes, drawn.d_mask)
        for cell in range(0, cells, WIDTH):
            store(drawn.d_mask, cell, load(drawn.d_mask, cell) * descent.sharpness)
        tokens_back(
            groups, words, sizes, layout, table, steps.weights, space, drawn.d_mask, cells, steps.gradient, nothing
        )  # fmt: skip
        adam(steps.rates, steps.weights, steps.gradient, steps.moments, steps.squares, steps.powers)
        forget(words, layout)
