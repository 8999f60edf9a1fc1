"""G-RAT: a soft attention model, the guider, shows the generator which tokens matter.

Hu & Yu 2024, "Learning Robust Rationales for Model Explainability: A Guidance-Based Approach" (AAAI;
https://github.com/shuaibo919/g-rat). The guider is trained alone first, then goes on beside the pair, and is discarded
in the end. The divergence is the true Jensen-Shannon one (discrepancies D9b), and the loss that chooses the
best epoch holds only terms whose weights stay as they are (D10b).
"""

from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from genspp.methods.adam import Adam, descend
from genspp.methods.fast_gru import BiGRU
from genspp.methods.gradient import GradientRationalizer, Session
from genspp.methods.base import METHODS
from genspp.settings import FLAG, Setting, number, whole
from genspp.methods.networks import Batch, Encoder, Generator, Predictor
from genspp.model.spp import Shape


class Guider(nn.Module):
    """Attention over a bidirectional GRU, attention pooling, linear layer (methods.md 6.2)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        wide = 2 * shape.hidden
        self.residual = nn.Linear(shape.inputs, wide)
        self.gru = BiGRU(shape.inputs, shape.hidden)
        self.norm = nn.LayerNorm(wide)
        self.attention = nn.Sequential(nn.Linear(wide, wide), nn.GELU(), nn.Linear(wide, 1))
        self.projection = nn.Linear(wide, wide)
        self.pooling = nn.Sequential(nn.Linear(wide, wide), nn.LayerNorm(wide), nn.GELU(), nn.Linear(wide, 1))
        self.output = nn.Linear(wide, shape.classes)

    def forward(self, batch: Batch, noise: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the attention, (tokens, texts), and the class logits; `noise` is added to the attention's logits."""
        states = self.gru(batch.vectors, batch.active).permute(1, 2, 0)
        states = self.norm(states + self.residual(batch.vectors.permute(1, 2, 0)))
        logits = self.attention(states).squeeze(-1)
        attention = _over_tokens(logits if noise is None else logits + noise, batch)
        states = self.norm(F.gelu(self.projection(attention.unsqueeze(-1) * states)))
        pooled = _over_tokens(self.pooling(states).squeeze(-1), batch)
        return attention, self.output((pooled.unsqueeze(-1) * states).sum(0))


def _over_tokens(logits: Tensor, batch: Batch) -> Tensor:
    """Return the softmax over the real tokens of each text."""
    if batch.padded:
        logits = logits.masked_fill(~batch.real, torch.finfo(logits.dtype).min)
    return logits.softmax(0)


@METHODS.register("grat")
class GRAT(GradientRationalizer):
    """RNP with one norm for both encoders, guided by attention.

    lambda_g, lambda_jsd: the weights of guidance and of matching the guider's prediction. decay: how much of the
    guidance each update takes away and gives to the matching. pretrain_epochs: of the guider alone. sigma: of the
    noise on the guider's attention. stop_in_pretraining: whether early stopping is armed, and epochs are
    counted, from the first epoch of pre-training on. The other settings are those of `GradientRationalizer`.
    """

    title = "G-RAT"
    own: ClassVar[dict[str, Setting]] = {
        "lambda_g": Setting(1.0, number(0), "the weight of guidance"),
        "lambda_jsd": Setting(1.0, number(0), "the weight of matching the guider's prediction"),
        "decay": Setting(1e-5, number(0), "how much of the guidance each update takes away"),
        "pretrain_epochs": Setting(10, whole(0), "of the guider alone"),
        "sigma": Setting(1.0, number(0), "of the noise on the guider's attention"),
        "stop_in_pretraining": Setting(False, FLAG, "whether early stopping is armed at once", paper=True),
    }
    on_source: ClassVar[dict[str | tuple[str, str], dict[str, Any]]] = {"hatexplain": {"lambda_g": 2.5}}

    def _modules(self, shape: Shape) -> tuple[Generator, Predictor]:
        norm = nn.LayerNorm(2 * shape.hidden)
        return Generator(Encoder(shape, norm), shape), Predictor(Encoder(shape, norm), shape)

    def _companions(self, shape: Shape) -> nn.ModuleDict:
        return nn.ModuleDict({"guider": Guider(shape)})

    def _optimizers(self, settings: dict[str, Any], companions: nn.ModuleDict) -> tuple[Adam, ...]:
        return tuple(Adam([(part.parameters(), settings["learning_rate"])]) for part in (self.model_, companions))

    def _phases(self, settings: dict[str, Any]) -> tuple[int, int]:
        if settings["stop_in_pretraining"]:
            return settings["max_epochs"], 0
        return settings["pretrain_epochs"] + settings["max_epochs"], settings["pretrain_epochs"]

    def _update(self, session: Session, batch: Batch) -> float:
        """Train the guider, then, once it is pre-trained, the pair; return the loss of the last one trained."""
        guider, (for_pair, for_guider) = session.companions["guider"], session.optimizers
        shape = batch.vectors.shape[1:]
        noise = torch.randn(shape, generator=session.noise).abs() * self._settings_["sigma"]
        loss = descend(session.losses.task(guider(batch, noise)[1], batch.labels), for_guider)
        if session.epoch < self._settings_["pretrain_epochs"]:
            return loss
        with torch.no_grad():
            attention, guided = guider(batch)
        return descend(self._loss(session, batch, attention, guided), for_pair)

    def _loss(self, session: Session, batch: Batch, attention: Tensor, guided: Tensor) -> Tensor:
        """Return the pair's loss, given the guider's attention and class logits."""
        settings, losses = self._settings_, session.losses
        choices = self.model_.generator(batch)
        mask = losses.sample(choices, batch, session.noise)
        logits = self.model_.predictor(batch, mask)
        guidance = self._guidance(session)
        loss: Tensor = losses.task(logits, batch.labels) + losses.omega(mask, batch)
        guide: float = settings["lambda_g"] * guidance
        match: float = settings["lambda_jsd"] * (1 - guidance)
        loss = loss + guide * guide_loss(choices, attention, batch, losses.padding)
        return loss + match * jensen_shannon(logits, guided)

    def _guidance(self, session: Session) -> float:
        """Return what is left of the guidance: 1 for the first two updates of the pair, then less with each."""
        updates: int = session.updates - self._settings_["pretrain_epochs"] * session.batches
        lost: float = self._settings_["decay"] * max(0, updates - 1)
        return max(0.0, 1 - lost)


def guide_loss(choices: Tensor, attention: Tensor, batch: Batch, padding: bool) -> Tensor:
    """Return the cross-entropy of the select logit against the importance that attention gives a token.

    choices: (2, tokens, texts). attention: (tokens, texts), sums to 1 over the tokens of a text. A token is fully
    important from about two even shares on. With `padding`, the share is that of the padded length and padding
    counts as unimportant tokens, as in the released code.
    """
    lengths = torch.from_numpy(batch.lengths).to(attention.dtype)
    share = 1 / torch.full_like(lengths, len(attention)) if padding else 1 / lengths
    target = (attention / (1e-8 + share + 1 / (1 + lengths))).clamp(max=1) * batch.real
    losses = F.binary_cross_entropy_with_logits(choices[1], target, reduction="none")
    return losses.mean() if padding else (losses * batch.real).sum() / batch.tokens


def jensen_shannon(logits: Tensor, others: Tensor) -> Tensor:
    """Return the Jensen-Shannon divergence of two softmaxes, the mean over texts."""
    p, q = logits.log_softmax(1), others.log_softmax(1)
    middle = torch.logsumexp(torch.stack([p, q]), 0) - torch.log(torch.tensor(2.0))
    parts = [F.kl_div(middle, side, reduction="batchmean", log_target=True) for side in (p, q)]
    return (parts[0] + parts[1]) / 2
