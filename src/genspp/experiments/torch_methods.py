"""The gradient methods by torch alone: its modules, its autograd, its Adam. Ours are measured and tested against them.

Here those of the paper; `torch_systems` has the related systems, and all of them by name.

Written to be fast, as torch goes: texts are padded to the longest of their batch, and recurrences run over the padding,
for packed sequences cost more than they save; a mask needs one random number per token; Adam is fused. With `packed`
they compute exactly what the methods define: then padding never enters a recurrence.
"""

import copy
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from genspp.experiments.torch_texts import OverPadding, Padded, PaddedTexts
from genspp.model.networks import Encoder, Generator, Pair, Predictor

Noise = Callable[[torch.Size], Tensor]


class TorchMethod:
    """RNP and FR, which differ in their modules alone; and what the other methods share with them.

    pair, companions, full_text: a method's modules, which are copied. packed: keep padding out of the recurrences.
    uniform, normal: where random numbers come from.
    """

    def __init__(
        self,
        pair: Pair,
        companions: nn.ModuleDict,
        full_text: Predictor,
        settings: dict[str, Any],
        class_weights: npt.NDArray[np.float32],
        *,
        packed: bool = False,
        uniform: Noise = torch.rand,
        normal: Noise = torch.randn,
    ) -> None:
        self.pair, self.companions, self.full_text = copy.deepcopy((pair, companions, full_text))
        self.settings, self.class_weights = settings, torch.from_numpy(class_weights)
        self.uniform, self.normal, self.updates = uniform, normal, 0
        self.full_text.requires_grad_(False)
        for module in nn.ModuleList([self.pair, self.companions, self.full_text]).modules():
            if isinstance(module, Encoder) and not packed:
                module.__class__ = OverPadding
        self.optimizers = self._optimizers()

    def _optimizers(self) -> list[torch.optim.Adam]:
        return [self._adam([(self.pair, 1.0), (self.companions, 1.0)])]

    def loss(self, batch: Padded, mask: Tensor) -> Tensor:
        """Return the task loss at a mask, and the regularisers."""
        return self.task(self.pair.predictor(*batch.inputs, mask), batch) + self.omega(batch, mask)

    def update(self, batch: Padded) -> float:
        """Train on a batch and return its loss."""
        return self.descend(self.loss(batch, self.draw(self.pair.generator.margins(*batch.inputs), batch)))

    def validate(self, batch: Padded) -> float:
        """Return the loss at the likelier mask."""
        return float(self.loss(batch, self.pair.generator.select(*batch.inputs)))

    def epoch(self, train: PaddedTexts, val: PaddedTexts, order: npt.NDArray[np.int64]) -> tuple[float, float]:
        """Train on all texts once, in some order, and return the mean loss and the validation loss."""
        loss = 0.0
        for rows in torch.from_numpy(order).split(self.settings["batch_size"]):  # type: ignore[no-untyped-call]
            loss += self.update(train.batch(rows)) * len(rows) / len(train)
            self.updates += 1
        with torch.no_grad():
            return loss, self.validate(val.batch(torch.arange(len(val))))

    def draw(self, margins: Tensor, batch: Padded) -> Tensor:
        """Return a straight-through Gumbel mask at margins."""
        return straight_through(margins + torch.logit(self.uniform(margins.shape)), batch)

    def task(self, logits: Tensor, batch: Padded) -> Tensor:
        """Return the (weighted) mean cross-entropy."""
        return F.cross_entropy(logits, batch.labels, self.class_weights)

    def omega(self, batch: Padded, mask: Tensor) -> Tensor:
        """Return what a mask costs: missing alpha, and scatter."""
        share = mask.float().sum() / batch.tokens
        omega: Tensor = self.settings["lambda_s"] * (share - self.settings["alpha"]).abs()
        return omega + self.scatter(batch, mask)

    def scatter(self, batch: Padded, mask: Tensor) -> Tensor:
        """Return what neighbours cost that differ."""
        switches = (mask.float().diff(dim=1).abs() * batch.real[:, 1:]).sum() / max(batch.tokens - len(mask), 1)
        scatter: Tensor = self.settings["lambda_c"] * switches
        return scatter

    def descend(self, loss: Tensor, *optimizers: torch.optim.Adam) -> float:
        """Take a step down a loss with some optimizers, or with all, and return it."""
        optimizers = optimizers or tuple(self.optimizers)
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        for optimizer in optimizers:
            optimizer.step()
        return float(loss.detach())

    def _adam(self, groups: Iterable[tuple[nn.Module, float]]) -> torch.optim.Adam:
        """Return Adam over modules, each with its multiple of the learning rate."""
        rate = self.settings["learning_rate"]
        parts = [{"params": list(module.parameters()), "lr": times * rate} for module, times in groups]
        return torch.optim.Adam([part for part in parts if part["params"]], fused=True)


class TorchMGR(TorchMethod):
    """Several generators and one predictor."""

    def _generators(self) -> list[Generator]:
        return [self.pair.generator, *self.companions["generators"]]  # type: ignore[misc]

    def _optimizers(self) -> list[torch.optim.Adam]:
        generators = self._generators()
        groups = [(generator, float(k)) for k, generator in enumerate(generators, start=1)]
        return [self._adam([(self.pair.predictor, 1 / len(generators)), *groups])]

    def update(self, batch: Padded) -> float:
        """Train on a batch and return the sum of the generators' losses."""
        masks = [self.draw(generator.margins(*batch.inputs), batch) for generator in self._generators()]
        return self.descend(torch.stack([self.loss(batch, mask) for mask in masks]).sum())


class TorchMCD(TorchMethod):
    """Two updates: the predictor fits, the generator matches."""

    def _optimizers(self) -> list[torch.optim.Adam]:
        return [self._adam([(part, 1.0)]) for part in (self.pair.generator, self.pair.predictor)]

    def update(self, batch: Padded) -> float:
        """Train on a batch and return the sum of both losses."""
        predictor, mask = self.pair.predictor, self.draw(self.pair.generator.margins(*batch.inputs), batch)
        fit = [self.task(predictor(*batch.inputs, seen), batch) for seen in self.fitted(batch, mask.detach())]
        fitted = self.descend(torch.stack(fit).sum() + self.omega(batch, mask))
        predictor.requires_grad_(False)
        mask = self.draw(self.pair.generator.margins(*batch.inputs), batch)
        matched = self.descend(self.apart(batch, mask) + self.omega(batch, mask), self.optimizers[0])
        predictor.requires_grad_(True)
        return fitted + matched

    def fitted(self, batch: Padded, mask: Tensor) -> list[Tensor]:
        """Return what the predictor is trained on, as masks."""
        return [mask, batch.real]

    def apart(self, batch: Padded, seen: Tensor) -> Tensor:
        """Return KL(full text || what is seen); the full text's side is given."""
        with torch.no_grad():
            full = self.pair.predictor(*batch.inputs, batch.real).log_softmax(1)
        return divergence(full, self.pair.predictor(*batch.inputs, seen).log_softmax(1))

    def validate(self, batch: Padded) -> float:
        """Return the loss at the likelier mask, and the divergence."""
        mask = self.pair.generator.select(*batch.inputs)
        return float(self.loss(batch, mask) + self.apart(batch, mask))


class TorchGRAT(TorchMethod):
    """A guider with soft attention, pre-trained by now, shows the generator what matters."""

    def _optimizers(self) -> list[torch.optim.Adam]:
        return [self._adam([(part, 1.0)]) for part in (self.pair, self.companions)]

    def update(self, batch: Padded) -> float:
        """Train the guider, then the pair, on a batch, and return the pair's loss."""
        guider, settings, (for_pair, for_guider) = self.companions["guider"], self.settings, self.optimizers
        noise = self.normal(batch.real.shape).abs() * settings["sigma"]
        self.descend(self.task(guider(*batch.inputs, noise)[1], batch), for_guider)
        with torch.no_grad():
            attention, guided = guider(*batch.inputs)
        choices = self.pair.generator(*batch.inputs)
        mask = self.draw(choices[..., 1] - choices[..., 0], batch)
        logits = self.pair.predictor(*batch.inputs, mask)
        guidance = max(0.0, 1 - settings["decay"] * max(0, self.updates - 1))
        loss = self.task(logits, batch) + self.omega(batch, mask)
        loss = loss + settings["lambda_g"] * guidance * _guide_loss(choices[..., 1], attention, batch)
        loss = loss + settings["lambda_jsd"] * (1 - guidance) * _jensen_shannon(logits, guided)
        return self.descend(loss, for_pair)


def _guide_loss(logits: Tensor, attention: Tensor, batch: Padded) -> Tensor:
    """Return the cross-entropy of selecting a token against its importance, full from about two even shares on."""
    lengths = batch.real.sum(1, keepdim=True)
    targets = (attention / (1e-8 + 1 / lengths + 1 / (1 + lengths))).clamp(max=1)
    losses = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    return (losses * batch.real).sum() / batch.tokens


def _jensen_shannon(logits: Tensor, others: Tensor) -> Tensor:
    """Return the mean over texts of the Jensen-Shannon divergence."""
    p, q = logits.log_softmax(1), others.log_softmax(1)
    middle = torch.logaddexp(p, q) - math.log(2)
    return (divergence(p, middle) + divergence(q, middle)) / 2


def divergence(p: Tensor, q: Tensor) -> Tensor:
    """Return the mean over texts of KL(p || q), given logarithms."""
    return F.kl_div(q, p, reduction="batchmean", log_target=True)


def straight_through(margins: Tensor, batch: Padded) -> Tensor:
    """Return a mask: 0 or 1 forwards, the slope of the chance backwards."""
    chance = margins.sigmoid()
    return ((margins > 0).float() - chance.detach() + chance) * batch.real
