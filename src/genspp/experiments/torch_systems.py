"""The related systems by torch alone, and all gradient methods by name."""

import math

import torch
from torch import Tensor, nn
from torch.distributions import Bernoulli, kl_divergence
from torch.nn import functional as F

from genspp.experiments.torch_methods import (
    TorchGRAT,
    TorchMCD,
    TorchMethod,
    TorchMGR,
    divergence,
    straight_through,
)
from genspp.experiments.torch_texts import Padded
from genspp.methods.vib import TEMPERATURE


class TorchA2R(TorchMethod):
    """A second predictor with soft attention, which teaches the generator; no mask is drawn."""

    def update(self, batch: Padded) -> float:
        """Train on a batch and return its loss."""
        margins = self.pair.generator.margins(*batch.inputs)
        return self.descend(self._both(batch, margins, straight_through(margins, batch)))

    def validate(self, batch: Padded) -> float:
        """Return the loss at the likelier mask."""
        margins = self.pair.generator.margins(*batch.inputs)
        return float(self._both(batch, margins, (margins >= 0) & batch.real))

    def _both(self, batch: Padded, margins: Tensor, mask: Tensor) -> Tensor:
        hard = self.pair.predictor(*batch.inputs, mask.detach())
        soft = self.companions["soft"](*batch.inputs, _over_tokens(margins, batch))
        p, q = hard.log_softmax(1), soft.log_softmax(1)
        apart = divergence(p, q) + divergence(q, p)
        loss = self.task(hard, batch) + self.task(soft, batch) + self.omega(batch, mask)
        return loss + float(self.settings["lambda_d"]) * apart


class TorchDAR(TorchMethod):
    """A frozen full-text predictor judges the highlight too."""

    def loss(self, batch: Padded, mask: Tensor) -> Tensor:
        """Return the task losses of predictor and judge, and the regularisers."""
        judged = self.task(self.full_text(*batch.inputs, mask), batch)
        return super().loss(batch, mask) + float(self.settings["lambda_a"]) * judged


class TorchDR(TorchMethod):
    """RNP whose predictor learns at a rate that goes with the share of selected tokens."""

    def _optimizers(self) -> list[torch.optim.Adam]:
        return [self._adam([(self.pair.generator, 1.0), (self.pair.predictor, 1.0)])]

    def loss(self, batch: Padded, mask: Tensor) -> Tensor:
        """Return RNP's loss, and set the rate of the predictor."""
        share = float(mask.detach().float().sum()) / batch.tokens
        self.optimizers[0].param_groups[1]["lr"] = self.settings["learning_rate"] * share
        return super().loss(batch, mask)


class TorchMRD(TorchMCD):
    """MCD mirrored: the rest must be far from the full text."""

    def fitted(self, batch: Padded, mask: Tensor) -> list[Tensor]:
        """Return what the predictor is trained on, as masks."""
        return [*super().fitted(batch, mask), _rest(batch, mask)]

    def apart(self, batch: Padded, seen: Tensor) -> Tensor:
        """Return -KL(full text || rest)."""
        return -super().apart(batch, _rest(batch, seen))


class TorchThreePlayer(TorchMethod):
    """A complement predictor, against which the generator plays; the full text's loss is taken to be 0."""

    def update(self, batch: Padded) -> float:
        """Train on a batch and return the generator's loss."""
        mask, complement = self.draw(self.pair.generator.margins(*batch.inputs), batch), self.companions["complement"]
        left = self.task(complement(*batch.inputs, _rest(batch, mask.detach())), batch)
        players = nn.ModuleList([self.pair.predictor, complement])
        loss = self.loss(batch, mask)
        players.requires_grad_(False)
        loss = loss + self._missing(batch, mask)
        players.requires_grad_(True)
        return self.descend(loss + left) - float(left.detach())

    def validate(self, batch: Padded) -> float:
        """Return the generator's loss at the likelier mask."""
        mask = self.pair.generator.select(*batch.inputs)
        return float(self.loss(batch, mask) + self._missing(batch, mask))

    def _missing(self, batch: Padded, mask: Tensor) -> Tensor:
        task = self.task(self.pair.predictor(*batch.inputs, mask), batch)
        left = self.task(self.companions["complement"](*batch.inputs, _rest(batch, mask)), batch)
        margin = math.log(self.pair.predictor.output.out_features)
        return float(self.settings["lambda_r"]) * torch.relu(margin - (left - task))


class TorchVIB(TorchMethod):
    """Relaxed masks, and their divergence from a prior of alpha."""

    def update(self, batch: Padded) -> float:
        """Train on a batch and return its loss."""
        margins = self.pair.generator.margins(*batch.inputs)
        gates = ((margins + torch.logit(self.uniform(margins.shape))) / TEMPERATURE).sigmoid()
        mask = torch.where(gates > 1e-5, gates, 0) * batch.real
        return self.descend(self._bounded(batch, mask, margins))

    def validate(self, batch: Padded) -> float:
        """Return the loss at the likeliest tokens."""
        margins = self.pair.generator.margins(*batch.inputs)
        return float(self._bounded(batch, _highest(batch, margins, self.settings["alpha"]), margins))

    def _bounded(self, batch: Padded, mask: Tensor, margins: Tensor) -> Tensor:
        prior, drawn = Bernoulli(torch.tensor(float(self.settings["alpha"]))), Bernoulli(logits=margins[batch.real])
        apart = kl_divergence(drawn, prior).mean()
        task = self.task(self.pair.predictor(*batch.inputs, mask), batch)
        loss: Tensor = task + self.scatter(batch, mask) + self.settings["lambda_s"] * apart
        return loss


class TorchHardKuma(TorchMethod):
    """Rectified Kumaraswamy gates, and a Lagrange multiplier on their expected rate."""

    excess, multiplier = 0.0, 0.0

    def update(self, batch: Padded) -> float:
        """Train on a batch and return its loss."""
        self.multiplier = self.multiplier or self.settings["lambda_0"]
        a, b = F.softplus(self.pair.generator(*batch.inputs)).unbind(-1)
        u = self.uniform(a.shape).clamp(0.001, 0.999)
        gates = ((1 - (1 - u) ** (1 / b)) ** (1 / a) * 1.2 - 0.1).clamp(0, 1) * batch.real
        rate = ((1 - (1 / 12) ** a) ** b * batch.real).sum() / batch.tokens
        self.excess = 0.99 * self.excess + 0.01 * (float(rate.detach()) - self.settings["alpha"])
        self.multiplier = self.multiplier * math.exp(self.settings["eta"] * self.excess)
        held = self.multiplier * (rate - rate.detach() + self.excess)
        task = self.task(self.pair.predictor(*batch.inputs, gates), batch)
        return self.descend(task + self.scatter(batch, gates) + held)


class TorchFRESH(TorchMethod):
    """A predictor behind what a full-text predictor looked at."""

    def _optimizers(self) -> list[torch.optim.Adam]:
        return [self._adam([(self.pair.predictor, 1.0)])]

    def update(self, batch: Padded) -> float:
        """Train the predictor on a batch and return its loss."""
        return self.descend(self.task(self.pair.predictor(*batch.inputs, self._highlight(batch)), batch))

    def validate(self, batch: Padded) -> float:
        """Return the loss at the highlight."""
        return float(self.loss(batch, self._highlight(batch)))

    def _highlight(self, batch: Padded) -> Tensor:
        return _highest(batch, self.pair.generator.margins(*batch.inputs), self.settings["alpha"])


def _highest(batch: Padded, scores: Tensor, share: float) -> Tensor:
    """Return the mask of a share of the tokens of every text, rounded up, those of the highest scores."""
    ranks = scores.masked_fill(~batch.real, -torch.inf).argsort(dim=1, descending=True, stable=True).argsort(dim=1)
    return ranks < (share * batch.real.sum(1, keepdim=True) - 1e-9).ceil().clamp(min=1)


def _rest(batch: Padded, mask: Tensor) -> Tensor:
    """Return the mask of the tokens that another leaves out."""
    return (1 - mask.float()) * batch.real


def _over_tokens(logits: Tensor, batch: Padded) -> Tensor:
    """Return the softmax over the tokens of every text, (texts, tokens)."""
    return logits.masked_fill(~batch.real, -torch.inf).softmax(1)


TORCH_METHODS: dict[str, type[TorchMethod]] = {
    "rnp": TorchMethod,
    "fr": TorchMethod,
    "mgr": TorchMGR,
    "mcd": TorchMCD,
    "a2r": TorchA2R,
    "dar": TorchDAR,
    "dr": TorchDR,
    "fresh": TorchFRESH,
    "hardkuma": TorchHardKuma,
    "mrd": TorchMRD,
    "threeplayer": TorchThreePlayer,
    "vib": TorchVIB,
    "grat": TorchGRAT,
}
