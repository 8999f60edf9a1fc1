"""Straight-through Gumbel masks and the losses on them, after methods.md 1.2 and 1.4.

Masks are (tokens, texts) of 0.0 and 1.0. Whether padding counts in the losses is a setting: the released code
counts the padding that a mask selects, though not in the denominator (discrepancies D3).
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from genspp.methods.networks import Batch, margins


class _GumbelMask(torch.autograd.Function):
    """1 where selecting a token wins with the noise added; backwards, the gradient of the chance that it does."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, noise: Tensor) -> Tensor:
        """Return the mask, (tokens, texts)."""
        margin = margins(logits) + noise
        ctx.save_for_backward(torch.sigmoid(margin))
        return (margin > 0).to(margin.dtype)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        """Return the gradient of the logits."""
        (chance,) = ctx.saved_tensors
        slope = gradient * chance * (1 - chance)
        return torch.stack([-slope, slope], -1), None


class _Omega(torch.autograd.Function):
    """The regularisers of a mask and their gradient, at a fraction of the operators that autograd would record."""

    @staticmethod
    def forward(
        ctx: Any, mask: Tensor, neighbours: Tensor | None, rate: float, scatter: float, tokens: int, alpha: float
    ) -> Tensor:
        """Return rate * |selected / tokens - alpha| + scatter * switches.

        neighbours: (tokens - 1, texts), False where a pair does not count; None: all count.
        """
        excess = mask.sum() / tokens - alpha
        gradient = (rate / tokens * excess.sign()).expand_as(mask)
        loss = rate * excess.abs()
        if scatter:
            steps = mask.diff(dim=0)
            if neighbours is not None:
                steps = steps * neighbours
            loss = loss + scatter * steps.abs().sum()
            slopes = F.pad(scatter * steps.sign(), (0, 0, 1, 1))
            gradient = gradient - slopes.diff(dim=0)
        ctx.save_for_backward(gradient)
        return loss

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradient of the mask."""
        return gradient * ctx.saved_tensors[0], None, None, None, None, None


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

    def sample(self, logits: Tensor, batch: Batch, noise: torch.Generator) -> Tensor:
        """Draw a mask from selection logits, (tokens, texts, 2): Gumbel-softmax at temperature 1, straight through.

        Only the difference of the two channels' Gumbel noises matters, and that is logistic: one number a token.
        """
        logistic = torch.logit(torch.rand(logits.shape[:2], generator=noise))
        mask: Tensor = _GumbelMask.apply(logits, logistic)  # type: ignore[no-untyped-call]
        return self.counted(mask, batch)

    def argmax(self, logits: Tensor, batch: Batch) -> Tensor:
        """Return the likelier mask."""
        return self.counted((margins(logits) > 0).to(logits.dtype), batch)

    def counted(self, mask: Tensor, batch: Batch) -> Tensor:
        """Return the mask without padding, unless padding counts."""
        return mask if self.padding or not batch.padded else mask * batch.real

    def task(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the (weighted) mean cross-entropy."""
        return F.cross_entropy(logits, labels, self.class_weights)

    def omega(self, mask: Tensor, batch: Batch) -> Tensor:
        """Return the weighted regularisers of a mask: distance from the wanted share, and scatter."""
        neighbours, pairs = self._neighbours(mask, batch)
        scatter = self.lambda_c / max(pairs, 1)
        arguments = (mask, neighbours, self.lambda_s, scatter, batch.tokens, self.alpha)
        loss: Tensor = _Omega.apply(*arguments)  # type: ignore[no-untyped-call]
        return loss

    def switches(self, mask: Tensor, batch: Batch) -> tuple[Tensor, int]:
        """Return how many neighbours differ in being selected, and how many neighbours there are."""
        neighbours, pairs = self._neighbours(mask, batch)
        steps = mask.diff(dim=0).abs()
        return (steps if neighbours is None else steps * neighbours).sum(), pairs

    def _neighbours(self, mask: Tensor, batch: Batch) -> tuple[Tensor | None, int]:
        """Return which pairs of neighbours count, None for all, and their number."""
        if self.padding or not batch.padded:
            return None, mask[1:].numel()
        return batch.real[1:], batch.tokens - len(batch)


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
        switches, pairs = self.losses.switches(mask, batch)
        real = mask * batch.real if batch.padded else mask
        rate = (real.sum(0) / torch.from_numpy(batch.lengths)).sum()
        self._add(selected=mask.sum(), tokens=batch.tokens, switches=switches, pairs=pairs)
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
