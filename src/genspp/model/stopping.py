"""When a training ends, and which epoch's weights it ends with: one rule for every training of the package."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from genspp.model.forms import Weights


@dataclass
class EarlyStopping:
    """How far a training has come: epochs done, and the best of them with its weights.

    patience: end when the validation loss has not fallen for so many epochs; None: never before `epochs`, and the last
    epoch's weights count. armed_from: the first epoch (from 0) that may be the best one and that patience counts from.
    least_gain: how much lower a loss must be to count as lower.
    """

    epochs: int
    patience: int | None
    armed_from: int = 0
    least_gain: float = 0.0
    epoch: int = field(default=0, init=False)
    best_epoch: int | None = field(default=None, init=False)
    best_loss: float = field(default=math.inf, init=False)
    best: Weights = field(default_factory=lambda: np.zeros(0, np.float32), init=False)

    @property
    def finished(self) -> bool:
        """Whether all epochs are done, or the loss has not fallen for too long."""
        last = self.armed_from - 1 if self.best_epoch is None else self.best_epoch
        patient = self.patience is None or self.epoch - 1 - last < self.patience
        return self.epoch >= self.epochs or not patient

    @property
    def measured(self) -> bool:
        """Whether the validation loss of the present epoch matters to anybody."""
        return self.patience is not None or self.epoch == self.epochs - 1

    def close_epoch(self, loss: float, weights: Weights) -> None:
        """Count an epoch; keep its weights if its loss is the smallest yet. One without numbers never is.

        Without patience the last epoch's are kept, whatever its loss.
        """
        if self.patience is None:
            better = self.epoch == self.epochs - 1
        else:
            lower = self.epoch >= self.armed_from and loss < self.best_loss - self.least_gain
            better = lower and bool(np.isfinite(weights).all())
        if better:
            self.best_epoch, self.best_loss, self.best = self.epoch, loss, weights.copy()
        self.epoch += 1

    def state(self) -> dict[str, Any]:
        """Return all that the next epoch depends on, as arrays and JSON values."""
        return {
            "epoch": self.epoch,
            "best_epoch": self.best_epoch,
            "best_loss": None if self.best_epoch is None else self.best_loss,
            "best": self.best,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to what `state` returned."""
        self.epoch, self.best_epoch = state["epoch"], state["best_epoch"]
        self.best_loss = math.inf if self.best_epoch is None else state["best_loss"]
        self.best = np.array(state["best"], np.float32)
