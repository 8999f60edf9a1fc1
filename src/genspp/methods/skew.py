"""A start that is locked in: generators that have learnt to write the label into the first places of a text.

The c-th token is to be selected if and only if the text is of the c-th class, whatever the words: a code that a
predictor reads at a glance and that explains nothing. Whether a method finds its way out of such a start is what Liu et
al. 2022 (FR, https://arxiv.org/abs/2209.08285) asked. What is minimised is the mean cross-entropy of selecting the
first tokens, one per class; no other token counts, and no predictor is trained. The phase has a random stream and
optimizers of its own, so that what follows draws just what it would have drawn without it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from genspp.kernels.memory import Floats, floats
from genspp.kernels.texts import lay_tokens, make_layout
from genspp.methods.in_training import GeneratorInTraining
from genspp.model.optimizer import Adam
from genspp.model.passes import Batch, Rows
from genspp.settings import Setting, whole
from genspp.streams import Purpose, epoch_order, seed_of

SKEW_EPOCHS = Setting(0, whole(0), "epochs that a generator first learns to write the label into the first places")
# For a method whose highlights are not the tokens of which a generator prefers to select them.
NEVER_SKEWED = Setting(0, (lambda value: value == 0, "0"), "this method has no start that could be skewed")
_SHOWN = 10  # places whose selection is told

Flags = npt.NDArray[np.bool_]


class Code:
    """The labels of some texts, written into their first places.

    first: which tokens bear the code; wanted: which of them it selects. Both are flat, over all tokens.
    """

    def __init__(self, rows: Rows, classes: int) -> None:
        self.rows, self.classes = rows, classes
        self.places = np.arange(len(rows.ids)) - np.repeat(rows.starts[:-1], rows.data.lengths)
        self.labels = np.repeat(rows.labels, rows.data.lengths)
        self.first: Flags = self.places < classes
        self.wanted: Flags = self.places == self.labels

    def choice(self, generator: GeneratorInTraining, hidden: int) -> Flags:
        """Return which tokens a generator would rather select than not; flat, over all tokens."""
        batch = Batch.of_all(self.rows, np.ones(self.classes, np.float32), hidden)
        return np.asarray(batch.by_token(generator.margins(batch)) >= 0)

    def accuracy(self, chosen: Flags) -> float:
        """Return the share of texts in which a selection has, of the first tokens, that of the label alone."""
        right = (chosen == self.wanted) | ~self.first
        return float(np.logical_and.reduceat(right, self.rows.starts[:-1]).mean())

    def profile(self, chosen: Flags) -> list[list[float]]:
        """Return, of the texts of every class, the share that has its first, second... token selected."""
        shares = np.zeros((self.classes, _SHOWN))
        for label, place in np.ndindex(*shares.shape):
            there = chosen[(self.labels == label) & (self.places == place)]
            shares[label, place] = round(float(there.mean()), 4) if len(there) else 0.0
        return shares.tolist()


def skew(
    generators: Sequence[GeneratorInTraining],
    optimizers: Sequence[Adam],
    train: Code,
    val: Code,
    settings: dict[str, Any],
) -> dict[str, Any]:
    """Train generators to write the code, put the weights into their modules, and return what a log says of it.

    skew_train, skew_val: the accuracy that the first generator reaches. skew_selected: its profile on validation texts.
    """
    seed, rows, size = seed_of(settings["seed"], Purpose.SKEW), train.rows, settings["batch_size"]
    layout, weights = make_layout(min(size, len(rows)), rows.longest, rows.words), np.ones(train.classes, np.float32)
    first, wanted = (flags.astype(np.float32) for flags in (train.first, train.wanted))

    def laid(batch: Batch, flat: npt.NDArray[np.float32]) -> Floats:
        lanes = floats(batch.cells)
        lay_tokens(batch.texts, layout, rows.texts.begin, rows.texts.span, flat, lanes)
        return lanes

    for epoch in range(settings["skew_epochs"]):
        order = epoch_order(seed, epoch, len(rows))
        for start in range(0, len(order), size):
            batch = Batch(rows, order[start : start + size], weights, settings["hidden"], layout)
            counted, targets = laid(batch, first), laid(batch, wanted)
            for optimizer in optimizers:
                optimizer.clear()
            for generator in generators:
                generator.imitate(batch, targets, counted)
            for optimizer in optimizers:
                optimizer.step()
    for optimizer in optimizers:
        optimizer.put()
    chosen = [code.choice(generators[0], settings["hidden"]) for code in (train, val)]
    accuracy = {"skew_train": train.accuracy(chosen[0]), "skew_val": val.accuracy(chosen[1])}
    return {**accuracy, "skew_selected": val.profile(chosen[1])}
