"""Straight-through Gumbel masks and the losses on them, after methods.md 1.2 and 1.4.

Masks are (tokens, texts) of 0.0 and 1.0. Whether padding counts in the losses is a setting: the released code
counts the padding that a mask selects, though not in the denominator (discrepancies D3).
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from genspp.methods.fast_math import Counts, Floats, fill, kernel, sigmoid, total
from genspp.methods.networks import Batch, margins

_NO_WEIGHT = 1e-30  # so that texts whose classes all weigh nothing have no loss, and not 0 / 0
_ZERO, _ONE = np.float32(0), np.float32(1)
_LEAST = 2.0**-26  # of a uniform number, whose logit shall be finite; float32 holds no such number near 1


def logistic_noise(shape: Sequence[int], source: torch.Generator) -> Tensor:
    """Draw what is added to the margin of selecting a token over dropping it.

    Only the difference of the two channels' Gumbel noises matters, and that is logistic: one number a token.
    """
    return torch.logit(torch.rand(shape, generator=source), _LEAST)


@kernel
def draw(logits: Floats, noise: Floats, counted: Counts, mask: Floats, slopes: Floats) -> None:
    """Fill in, (tokens, texts), whether selecting wins with the noise added, and the slope of the sigmoid there.

    logits: (2, tokens, texts). counted: (tokens,), how many texts count at each place; for the others both are 0.
    """
    for t in range(len(mask)):
        drop, select, add, out, slope = logits[0, t], logits[1, t], noise[t], mask[t], slopes[t]
        for i in range(counted[t]):
            margin = select[i] - drop[i] + add[i]
            chance = sigmoid(margin)
            out[i] = _ONE if margin > 0 else _ZERO
            slope[i] = chance * (_ONE - chance)
        fill(out, counted[t], len(out), _ZERO)
        fill(slope, counted[t], len(out), _ZERO)


class Scales(NamedTuple):
    """What the regularisers of a batch's masks are: rate * |selected / tokens - alpha| + scatter * switches.

    counted: (tokens,), how many texts count at each place; a pair of neighbours counts where its second token does.
    """

    counted: Counts
    rate: float
    scatter: float
    tokens: int
    alpha: float


@kernel
def regularise(mask: Floats, scales: Scales, gradient: Floats) -> float:
    """Return the regularisers of a mask, and fill in its gradient."""
    selected, switches = 0.0, 0.0
    for t in range(len(mask)):
        selected += total(mask[t])
    excess = selected / scales.tokens - scales.alpha
    pull = np.float32(scales.rate / scales.tokens * np.sign(excess))
    for t in range(len(gradient)):
        fill(gradient[t], 0, len(gradient[t]), pull)
    for t in range(1, len(mask)):
        before, now, d_before, d_now = mask[t - 1], mask[t], gradient[t - 1], gradient[t]
        for i in range(scales.counted[t]):
            step = now[i] - before[i]
            slope = np.float32(scales.scatter) * np.sign(step)
            d_now[i] += slope
            d_before[i] -= slope
            switches += abs(step)
    return scales.rate * abs(excess) + scales.scatter * switches


@kernel
def cross_entropy(logits: Floats, labels: Counts, class_weights: Floats, gradient: Floats) -> float:
    """Return the weighted mean cross-entropy of logits (texts, classes), and fill in their gradient."""
    loss, weight = 0.0, _NO_WEIGHT
    for label in labels:
        weight += class_weights[label]
    for i in range(len(logits)):
        share, highest, mass = class_weights[labels[i]] / weight, logits[i].max(), 0.0
        for k in range(len(logits[i])):
            mass += math.exp(logits[i, k] - highest)
        for k in range(len(logits[i])):
            chance = math.exp(logits[i, k] - highest) / mass
            gradient[i, k] = share * (chance - (k == labels[i]))
        loss += share * (math.log(mass) + highest - logits[i, labels[i]])
    return loss


class _GumbelMask(torch.autograd.Function):
    """1 where selecting a token wins with the noise added; backwards, the gradient of the chance that it does."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, noise: Tensor, counted: Counts) -> Tensor:
        """Return the mask, (tokens, texts)."""
        mask, slopes = torch.empty_like(noise), torch.empty_like(noise)
        draw(logits.contiguous().numpy(), noise.numpy(), counted, mask.numpy(), slopes.numpy())
        ctx.save_for_backward(slopes)
        return mask

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        """Return the gradient of the logits."""
        slope = gradient * ctx.saved_tensors[0]
        return torch.stack([-slope, slope]), None, None


class _Omega(torch.autograd.Function):
    """The regularisers of a mask and their gradient, in one go."""

    @staticmethod
    def forward(ctx: Any, mask: Tensor, scales: Scales) -> Tensor:
        """Return the loss that `regularise` finds."""
        gradient = torch.empty_like(mask)
        loss = regularise(mask.contiguous().numpy(), scales, gradient.numpy())
        ctx.save_for_backward(gradient)
        return torch.tensor(loss, dtype=mask.dtype)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        """Return the gradient of the mask."""
        return gradient * ctx.saved_tensors[0], None


@dataclass(frozen=True)
class Losses:
    """The terms that every method shares.

    alpha: the wanted share of selected tokens. lambda_s, lambda_c: the weights of sparsity and contiguity.
    class_weights: (classes,). padding: whether padding counts in the losses.
    """

    alpha: float
    lambda_s: float
    lambda_c: float
    class_weights: Tensor
    padding: bool

    def sample(self, logits: Tensor, batch: Batch, source: torch.Generator) -> Tensor:
        """Draw a mask from selection logits, (2, tokens, texts): Gumbel-softmax at temperature 1, straight through."""
        noise = logistic_noise(logits.shape[1:], source)
        mask: Tensor = _GumbelMask.apply(logits, noise, self._counted(batch))  # type: ignore[no-untyped-call]
        return mask

    def argmax(self, logits: Tensor, batch: Batch) -> Tensor:
        """Return the likelier mask."""
        chosen = margins(logits) > 0
        return (chosen if self.padding else chosen & batch.real).to(logits.dtype)

    def task(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the (weighted) mean cross-entropy."""
        total = F.cross_entropy(logits, labels, self.class_weights, reduction="sum")
        return total / (self.class_weights[labels].sum() + _NO_WEIGHT)

    def omega(self, mask: Tensor, batch: Batch) -> Tensor:
        """Return the weighted regularisers of a mask: distance from the wanted share, and scatter."""
        loss: Tensor = _Omega.apply(mask, self.scales(batch))  # type: ignore[no-untyped-call]
        return loss

    def scales(self, batch: Batch) -> Scales:
        """Return what the regularisers of a batch's masks are."""
        scatter = self.lambda_c / max(self.pairs(batch), 1)
        return Scales(self._counted(batch), float(self.lambda_s), scatter, batch.tokens, float(self.alpha))

    def switches(self, mask: Tensor, batch: Batch) -> Tensor:
        """Return how many neighbours differ in being selected."""
        steps = mask.diff(dim=0).abs()
        return (steps if self.padding else steps * batch.real[1:]).sum()

    def pairs(self, batch: Batch) -> int:
        """Return how many pairs of neighbours there are."""
        return (batch.places - 1) * len(batch) if self.padding else batch.tokens - len(batch)

    def _counted(self, batch: Batch) -> Counts:
        """Return how many texts count at each place, (tokens,)."""
        return np.full(batch.places, len(batch)) if self.padding else batch.active


@dataclass
class Tally:
    """The loss over a whole split, from batches of any size: sums first, quotients at the end (discrepancies D23)."""

    losses: Losses
    sums: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add_task(self, logits: Tensor, batch: Batch) -> None:
        """Count the task loss of a batch."""
        weights = self.losses.class_weights
        self._add(
            task_loss=F.cross_entropy(logits, batch.labels, weights, reduction="sum"),
            weight=weights[batch.labels].sum(),
        )

    def add(self, logits: Tensor, mask: Tensor, batch: Batch, own: Tensor | float = 0.0) -> None:
        """Count a batch; `own` is the sum over its texts of a term of the method's own."""
        self.add_task(logits, batch)
        real = mask * batch.real if batch.padded else mask
        rate = (real.sum(0) / torch.from_numpy(batch.lengths)).sum()
        self._add(selected=mask.sum(), tokens=batch.tokens)
        self._add(switches=self.losses.switches(mask, batch), pairs=self.losses.pairs(batch))
        self._add(rate=rate, texts=len(batch), own=own)

    def _add(self, **terms: Tensor | float) -> None:
        for name, term in terms.items():
            self.sums[name] += float(term)

    @property
    def task(self) -> float:
        """The (weighted) mean cross-entropy."""
        return self.sums["task_loss"] / self.sums["weight"]

    def loss(self) -> float:
        """Return task loss, regularisers and the mean over texts of the method's own term."""
        sparsity = abs(self.sums["selected"] / self.sums["tokens"] - self.losses.alpha)
        contiguity = self.sums["switches"] / max(self.sums["pairs"], 1)
        omega = self.losses.lambda_s * sparsity + self.losses.lambda_c * contiguity
        return self.task + omega + self.sums["own"] / self.sums["texts"]

    @property
    def selection_rate(self) -> float:
        """The mean over texts of selected / real tokens."""
        return self.sums["rate"] / self.sums["texts"]
