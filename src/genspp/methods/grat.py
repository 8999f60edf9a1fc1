"""G-RAT: a soft attention model, the guider, shows the generator which tokens matter.

Hu & Yu 2024, "Learning Robust Rationales for Model Explainability: A Guidance-Based Approach" (AAAI;
https://github.com/shuaibo919/g-rat). The guider is trained alone first, then goes on beside the pair, and is discarded
in the end. Two deviations from the released code: the divergence is the true Jensen-Shannon one, where that code
compares with the mean of logits, and the loss that chooses the best epoch holds only terms whose weights stay as they
are, so that epochs can be compared.
"""

from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from genspp.kernels.guider import attend, fit_guider
from genspp.kernels.guider_space import GuiderSizes, Room, guider_layout, make_guider_space, make_room
from genspp.kernels.inputs import Table
from genspp.kernels.lanes import WIDTH
from genspp.kernels.losses import binary_cross_entropy, jensen_shannon
from genspp.kernels.memory import Floats, floats
from genspp.kernels.space import Extent, Space
from genspp.kernels.texts import Layout
from genspp.methods.base import METHODS
from genspp.methods.gradient import GradientRationalizer, Session
from genspp.methods.in_training import GeneratorInTraining, PredictorInTraining
from genspp.methods.masks import MASKS
from genspp.model.forms import Places, kernel_order, padded_hidden
from genspp.model.networks import Encoder, Generator, Predictor, Shape
from genspp.model.optimizer import Adam
from genspp.model.passes import Batch
from genspp.settings import FLAG, Setting, number, whole

_NOTHING = np.zeros(0, np.float32)
Arguments = tuple[int, int, GuiderSizes, Layout, Table, Floats, Space, Room]


class Guider(nn.Module):
    """Attention over a bidirectional GRU, attention pooling, linear layer: what the kernels are tested against."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        wide = 2 * shape.hidden
        self.residual = nn.Linear(shape.inputs, wide)
        self.encoder = Encoder(shape, "bigru")
        self.norm = nn.LayerNorm(wide)
        self.attention = nn.Sequential(nn.Linear(wide, wide), nn.GELU(), nn.Linear(wide, 1))
        self.projection = nn.Linear(wide, wide)
        self.pooling = nn.Sequential(nn.Linear(wide, wide), nn.LayerNorm(wide), nn.GELU(), nn.Linear(wide, 1))
        self.output = nn.Linear(wide, shape.classes)

    def forward(self, vectors: Tensor, real: Tensor, noise: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the attention, (texts, tokens), and the class logits; `noise` is added to the attention's logits."""
        states = self.norm(self.encoder(vectors, real) + self.residual(vectors))
        logits = self.attention(states).squeeze(-1)
        attention = _over_tokens(logits if noise is None else logits + noise, real)
        states = self.norm(F.gelu(self.projection(attention.unsqueeze(-1) * states)))
        pooled = _over_tokens(self.pooling(states).squeeze(-1), real)
        return attention, self.output((pooled.unsqueeze(-1) * states).sum(1))


def _over_tokens(logits: Tensor, real: Tensor) -> Tensor:
    """Return the softmax over the real tokens of every text."""
    return logits.masked_fill(~real, -torch.inf).softmax(1)


class Guide:
    """A guider on kernels, and the optimizer that moves its weights."""

    def __init__(self, module: Guider, optimizer: Adam, table: Table) -> None:
        gru, self.optimizer, self._table = module.encoder.gru, optimizer, table
        hidden, classes = padded_hidden(gru.hidden_size), module.output.out_features
        self._layout = guider_layout(gru.input_size, hidden, gru.hidden_size, classes)
        own, order = optimizer.vector.places(module.parameters()), _kernel_order(module)
        self._places = np.where(order >= 0, own[order], optimizer.vector.size)
        self._extent = Extent(0, 0, 0, 0)

    def fit(self, batch: Batch, noise: Floats) -> float:
        """Return the task loss with noise on the attention's logits, (places, WIDTH), and learn."""
        gradient, attention = floats(self._layout.size), floats(batch.cells)
        loss: float = fit_guider(*self._arguments(batch), noise, attention, gradient, _NOTHING)
        self.optimizer.add(self._places, gradient)
        return loss

    def look(self, batch: Batch) -> tuple[Floats, Floats]:
        """Return the attention, (places, WIDTH), and the class logits, (groups, classes, WIDTH); without noise."""
        attention, logits = floats(batch.cells), floats(batch.groups * self._layout.token.outputs * WIDTH)
        attend(*self._arguments(batch), attention, logits, _NOTHING)
        return attention, logits

    def _arguments(self, batch: Batch) -> Arguments:
        """Return what both kernels begin with; the memory is made anew where the last one is too small."""
        if any(a > b for a, b in zip(batch.extent, self._extent, strict=True)):
            self._extent = Extent(*map(max, batch.extent, self._extent))
            self._memory = make_guider_space(self._layout, self._extent), make_room(self._layout, self._extent)
        weights = self.optimizer.vector.numbers[self._places]
        return (batch.groups, batch.words, self._layout, batch.layout, self._table, weights, *self._memory)


def _kernel_order(guider: Guider) -> Places:
    """Return, for every number of the guider's weights in the kernels' order, its place in torch's; -1 for padding."""
    gru, classes = guider.encoder.gru, guider.output.out_features
    layout = guider_layout(gru.input_size, padded_hidden(gru.hidden_size), gru.hidden_size, classes)
    ends = np.cumsum([parameter.numel() for parameter in guider.parameters()])
    numbers = {
        name: np.arange(end - parameter.numel(), end).reshape(parameter.shape)
        for (name, parameter), end in zip(guider.named_parameters(), ends, strict=True)
    }
    wide, gates = layout.token.hidden, 3 * layout.gru.hidden

    def padded(name: str, *shape: int) -> Places:
        room, part = np.full(shape, -1, np.int64), numbers[name].T
        room[tuple(slice(size) for size in part.shape)] = part
        return room.ravel()

    def linear(name: str) -> list[Places]:
        return [padded(f"{name}.weight", wide, wide), padded(f"{name}.bias", wide)]

    def norm(name: str) -> list[Places]:
        return [padded(f"{name}.weight", wide), padded(f"{name}.bias", wide)]

    def score(name: str) -> list[Places]:
        return [padded(f"{name}.weight", wide, 1), padded(f"{name}.bias", WIDTH)]

    recurrent, head = kernel_order(layout.gru), np.full((classes, wide), -1, np.int64)
    head[:, : 2 * gru.hidden_size] = numbers["output.weight"]
    laid = [np.where(recurrent >= 0, recurrent + numbers["encoder.gru.weight_ih_l0"][0, 0], -1)]
    laid += [padded("residual.weight", gru.input_size, gates), padded("residual.bias", gates), *norm("norm")]
    laid += [*linear("attention.0"), *score("attention.2"), *linear("projection")]
    laid += [*linear("pooling.0"), *norm("pooling.1"), *score("pooling.3"), head.ravel(), numbers["output.bias"]]
    return np.concatenate(laid)


@METHODS.register("grat")
class GRAT(GradientRationalizer):
    """RNP with one norm for both encoders, guided by attention."""

    title: ClassVar[str] = "G-RAT"
    own: ClassVar[dict[str, Setting]] = {
        "lambda_g": Setting(1.0, number(0), "the weight of guidance"),
        "lambda_jsd": Setting(1.0, number(0), "the weight of matching the guider's prediction"),
        "decay": Setting(1e-5, number(0), "how much of the guidance each update gives to the matching"),
        "pretrain_epochs": Setting(10, whole(0), "epochs of the guider alone"),
        "sigma": Setting(1.0, number(0), "of the noise on the guider's attention"),
        "stop_in_pretraining": Setting(
            False, FLAG, "whether epochs count, and early stopping is armed, from pre-training on", paper=True
        ),
    }
    on_source: ClassVar[dict[str | tuple[str, str], dict[str, Any]]] = {"hatexplain": {"lambda_g": 2.5}}

    def _modules(self, shape: Shape) -> tuple[Generator, Predictor]:
        norm = nn.LayerNorm(2 * shape.hidden)
        choosing, reading = Encoder(shape, "bigru", norm), Encoder(shape, "bigru", norm)
        return self._generator(choosing), self._predictor(reading, shape)

    def _companions(self, shape: Shape) -> nn.ModuleDict:
        return nn.ModuleDict({"guider": Guider(shape)})

    def _optimizers(self, settings: dict[str, Any], companions: nn.ModuleDict) -> tuple[Adam, ...]:
        return tuple(Adam([(part, settings["learning_rate"])]) for part in (self.model_, companions))

    def _in_training(self, session: Session) -> None:
        for_pair, for_guider = session.optimizers
        session.generators = [GeneratorInTraining(self.model_.generator, for_pair, session.table, MASKS[self.mask])]
        session.predictors = [PredictorInTraining(self.model_.predictor, for_pair, session.table)]
        guider = session.companions["guider"]
        self._guide = Guide(guider, for_guider, session.table)  # type: ignore[arg-type]

    def _phases(self, settings: dict[str, Any]) -> tuple[int, int]:
        if settings["stop_in_pretraining"]:
            return settings["max_epochs"], 0
        return settings["pretrain_epochs"] + settings["max_epochs"], settings["pretrain_epochs"]

    def _update(self, session: Session, batch: Batch) -> float:
        """Train the guider, then, once it is pre-trained, the pair; return the loss of the last one trained."""
        optimizer, noise = self._guide.optimizer, floats(batch.cells)
        drawn = session.noise.standard_normal(batch.cells, dtype=np.float32)
        noise[: batch.cells] = np.abs(drawn) * np.float32(session.settings["sigma"])
        optimizer.clear()
        loss = self._guide.fit(batch, noise)
        optimizer.step()
        if session.epoch < session.settings["pretrain_epochs"]:
            return loss
        return self._follow(session, batch, *self._guide.look(batch))

    def _follow(self, session: Session, batch: Batch, attention: Floats, guided: Floats) -> float:
        """Train the pair, given the guider's attention and class logits, and return its loss."""
        generator, predictor, optimizer = session.generators[0], session.predictors[0], session.optimizers[0]
        guidance = self._guidance(session)
        to_guide: float = session.settings["lambda_g"] * guidance
        to_match: float = session.settings["lambda_jsd"] * (1 - guidance)
        optimizer.clear()
        mask = generator.draw(batch, session.noise)
        omega, d_omega = session.losses.omega(batch, mask.numbers)
        guide, d_choices = guide_loss(generator.logits, attention, batch)
        logits = predictor.logits(batch, mask.numbers)
        task, d_logits = predictor.task(batch, logits)
        match, d_match = _divergence(predictor.network.sizes.outputs, logits, guided, batch)
        d_mask = predictor.learn_from(batch, d_logits + np.float32(to_match) * d_match)
        generator.learn_from(batch, mask.back(d_mask + d_omega) + np.float32(to_guide) * d_choices)
        optimizer.step()
        return task + omega + to_guide * guide + to_match * match

    def _guidance(self, session: Session) -> float:
        """Return what is left of the guidance: 1 for the first two updates of the pair, then less with each."""
        updates: int = session.updates - session.settings["pretrain_epochs"] * session.batches
        lost: float = session.settings["decay"] * max(0, updates - 1)
        return max(0.0, 1 - lost)


def guide_loss(logits: Floats, attention: Floats, batch: Batch) -> tuple[float, Floats]:
    """Return the cross-entropy of select logits against the importance that attention gives a token, and its gradient.

    A token is fully important from about two even shares on. Where a batch is padded, the share is that of the padded
    length and padding counts as unimportant tokens, as in the released code.
    """
    cells, lengths, places = batch.cells, batch.lengths, np.diff(batch.layout.first[: batch.groups + 1])
    longest = np.full_like(lengths, places.max()) if batch.padded else np.maximum(lengths, 1)
    even = np.repeat(1e-8 + 1 / longest + 1 / (1 + lengths), places, axis=0).ravel()
    targets, shares, gradient = floats(cells), floats(cells), floats(2 * cells)
    targets[:cells] = np.minimum(attention[:cells] / even, 1)
    shares[:cells] = batch.counted[:cells] / np.float32(batch.pairs + batch.texts)
    return binary_cross_entropy(batch.places, logits, cells, targets, shares, gradient), gradient


def _divergence(classes: int, logits: Floats, guided: Floats, batch: Batch) -> tuple[float, Floats]:
    """Return the mean over texts of the Jensen-Shannon divergence, and the gradient of the first logits."""
    gradient, spare = np.zeros_like(logits), np.zeros_like(logits)
    return jensen_shannon(batch.groups, classes, logits, guided, batch.shares, gradient, spare), gradient
