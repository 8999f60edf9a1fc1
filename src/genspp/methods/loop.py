"""Epochs of the gradient methods: rows dealt into batches, and optimizers under early stopping."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from genspp.kernels.memory import Floats
from genspp.kernels.texts import make_layout
from genspp.methods.in_training import Losses
from genspp.model.optimizer import Adam
from genspp.model.passes import Batch, Rows
from genspp.model.stopping import EarlyStopping


class Dealer:
    """Deals rows into batches; all batches share the memory of one."""

    def __init__(self, rows: Rows, losses: Losses, settings: dict[str, Any]) -> None:
        self._rows, self._losses, self._settings = rows, losses, settings
        size = min(settings["batch_size"], len(rows))
        self._layout = make_layout(size, rows.longest, rows.words)

    def epoch(self, order: npt.NDArray[np.int64]) -> Iterator[Batch]:
        """Deal all rows in some order, the last partial batch too."""
        settings, size = self._settings, self._settings["batch_size"]
        for start in range(0, len(order), size):
            chosen, weights = order[start : start + size], self._losses.class_weights
            padded = settings["padding_in_losses"]
            yield Batch(self._rows, chosen, weights, settings["hidden"], self._layout, padded=padded)


def validation_batches(val: Rows, losses: Losses, settings: dict[str, Any]) -> list[Batch]:
    """Lay out the validation rows; where padding counts, in batches as they come, padded as in training."""
    if not losses.padding:
        return [Batch.of_all(val, losses.class_weights, settings["hidden"])]
    rows, size = np.arange(len(val)), settings["batch_size"]
    return [
        Batch(
            val,
            rows[start : start + size],
            losses.class_weights,
            settings["hidden"],
            make_layout(size, val.longest, val.words),
            padded=True,
        )
        for start in range(0, len(rows), size)
    ]


class Loop:
    """Optimizers under early stopping, in a form that can stop and go on anywhere, bit for bit.

    All random numbers of an epoch follow from its number, so they are no part of the state.
    """

    def __init__(self, optimizers: tuple[Adam, ...] | list[Adam], stopping: EarlyStopping) -> None:
        self.optimizers, self.stopping = optimizers, stopping

    def _weights(self) -> Floats:
        return np.concatenate([o.vector.numbers[: o.vector.size] for o in self.optimizers])

    def close_epoch(self, loss: float) -> None:
        """Count an epoch."""
        self.stopping.close_epoch(loss, self._weights())

    def end(self) -> None:
        """Write the best epoch's weights to the modules; the last ones if no epoch had a loss."""
        start = 0
        for optimizer in self.optimizers:
            size = optimizer.vector.size
            if self.stopping.best_epoch is not None:
                optimizer.vector.numbers[:size] = self.stopping.best[start : start + size]
            optimizer.put()
            start += size

    def state(self) -> dict[str, Any]:
        """Return all that the next epoch depends on, as arrays and JSON values."""
        state = self.stopping.state()
        for place, optimizer in enumerate(self.optimizers):
            state |= {f"{name}.{place}": value for name, value in optimizer.state().items()}
        return state

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to what `state` returned."""
        self.stopping.restore(state)
        for place, optimizer in enumerate(self.optimizers):
            ending = f".{place}"
            optimizer.restore({name.removesuffix(ending): v for name, v in state.items() if name.endswith(ending)})
