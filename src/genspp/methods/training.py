"""Epochs, early stopping and the best epoch's weights, in a form that can stop and go on anywhere, bit for bit."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from genspp.data.encode import Encoded
from genspp.methods.adam import Adam
from genspp.methods.networks import Batch


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Let torch draw from a seed inside, and give the caller back its random state."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def run_epoch(
    update: Callable[[Batch], float], data: Encoded, order: npt.NDArray[np.int64], size: int, table: Tensor
) -> float:
    """Update on every batch, the last partial one too, and return the mean loss over texts."""
    total = 0.0
    for start in range(0, len(order), size):
        batch = Batch.take(data, order[start : start + size], table)
        total += update(batch) * len(batch)
    return total / len(order)


@dataclass
class Loop:
    """How far a training has come, and when it ends.

    module: all that is trained. armed_from: the first epoch (from 0) that may be the best one and that patience
    counts from. least_gain: how much lower a loss must be to count as lower. All random numbers of an epoch follow from
    its number, so they are no part of the state.
    """

    module: nn.Module
    optimizers: Sequence[Adam]
    max_epochs: int
    patience: int
    armed_from: int = 0
    least_gain: float = 0.0

    def __post_init__(self) -> None:
        self.epoch = 0  # epochs done
        self.best_epoch: int | None = None
        self.best_loss = math.inf
        self.best = flat_weights(self.module)

    @property
    def finished(self) -> bool:
        """Whether all epochs are done, or the loss has not fallen for too long."""
        last = self.armed_from - 1 if self.best_epoch is None else self.best_epoch
        return self.epoch >= self.max_epochs or self.epoch - 1 - last >= self.patience

    def close_epoch(self, val_loss: float) -> None:
        """Count an epoch; keep its weights if its loss is the smallest yet. One without numbers never is."""
        if self.epoch >= self.armed_from and val_loss < self.best_loss - self.least_gain:
            weights = flat_weights(self.module)
            if bool(weights.isfinite().all()):
                self.best_epoch, self.best_loss, self.best = self.epoch, val_loss, weights
        self.epoch += 1

    def restore_best(self) -> None:
        """Put the best epoch's weights back; the last ones stay if no epoch had a loss."""
        if self.best_epoch is not None:
            load_flat_weights(self.module, self.best)

    def state(self) -> dict[str, Any]:
        """Return all that the next epoch depends on, as arrays and JSON values."""
        state: dict[str, Any] = {
            "epoch": self.epoch,
            "best_epoch": self.best_epoch,
            "best_loss": self.best_loss if self.best_epoch is not None else None,
            "best": self.best.numpy(),
            "weights": flat_weights(self.module).numpy(),
        }
        for number, optimizer in enumerate(self.optimizers):
            state |= {f"{name}.{number}": value for name, value in optimizer.state().items()}
        return state

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to what `state` returned."""
        self.epoch, self.best_epoch = state["epoch"], state["best_epoch"]
        self.best_loss = math.inf if self.best_epoch is None else state["best_loss"]
        self.best = torch.from_numpy(state["best"].copy())
        load_flat_weights(self.module, torch.from_numpy(state["weights"]))
        for number, optimizer in enumerate(self.optimizers):
            if state[f"steps.{number}"]:
                optimizer.restore({name: state[f"{name}.{number}"] for name in ("steps", "exp_avg", "exp_avg_sq")})


def flat_weights(module: nn.Module) -> Tensor:
    """Return a copy of all parameters, end to end; one that is shared counts once."""
    return torch.cat([parameter.detach().reshape(-1) for parameter in module.parameters()])


def load_flat_weights(module: nn.Module, flat: Tensor) -> None:
    """Write what `flat_weights` returned back, in place."""
    parameters = list(module.parameters())
    parts = flat.split([parameter.numel() for parameter in parameters])  # type: ignore[no-untyped-call]
    with torch.no_grad():
        for parameter, part in zip(parameters, parts, strict=True):
            parameter.copy_(part.view_as(parameter))
