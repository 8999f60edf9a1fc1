"""What the gradient-trained methods share: settings, Gumbel masks in training, epochs, validation, the loop.

A method says which modules it has (`_modules`, `_companions`), how a batch updates them (`_update`) and, where it
differs, what validation measures (`_measure`). The default is RNP's: one loss, one optimizer, one update.

Settings are those of the paper (methods.md, section 0). Where the two presets differ, and only there, settings are
`None` in the signature: evaluation masks and padding in the losses (discrepancies, section E).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from genspp.data.encode import Encoded
from genspp.methods.adam import Adam
from genspp.methods.base import Rationalizer, Recorder, logger
from genspp.methods.fast_pair import Highlight, Reading
from genspp.methods.losses import Losses, Tally
from genspp.methods.networks import Batch, Generator, Pair, Predictor, encoder
from genspp.settings import FLAG, Setting, number, one_of, whole
from genspp.methods.training import Loop, run_epoch, seeded
from genspp.model.inference import one_thread
from genspp.model.spp import Shape
from genspp.population.evaluator import epoch_order, seed_of

# What a random stream is for, after those of the population engines.
_MODEL, _FULL_TEXT, _COMPANIONS, _NOISE = range(10, 14)
# On data that it solves, the loss of a full-text predictor falls for ever; less than this much is of no account.
_FULL_TEXT_GAIN = 1e-3


@dataclass
class Session:
    """What an update has at hand.

    pair: the networks of the model. companions: networks that are trained beside it and then discarded. noise: the
    random numbers of this epoch. updates: how many batches there were before this one, counted over all epochs;
    batches: those of an epoch.
    """

    pair: Pair
    losses: Losses
    sampled: bool
    seed: int
    optimizers: tuple[Adam, ...]
    companions: nn.ModuleDict
    epoch: int = 0
    updates: int = 0
    batches: int = 0
    noise: torch.Generator = field(default_factory=torch.Generator)

    def __post_init__(self) -> None:
        self.highlight = Highlight(self.pair.generator.layout, self.losses)
        self.reading = Reading(self.pair.predictor.layout, self.losses)

    def begin(self, epoch: int, batches: int) -> None:
        """Begin an epoch of so many batches."""
        self.epoch, self.updates, self.batches = epoch, epoch * batches, batches
        self.noise.manual_seed(seed_of(self.seed, _NOISE, epoch))

    def sample(self, logits: Tensor, batch: Batch) -> Tensor:
        """Draw a training mask from selection logits."""
        return self.losses.sample(logits, batch, self.noise)

    def evaluation_mask(self, logits: Tensor, batch: Batch) -> Tensor:
        """Return a validation mask: the likelier one, or in preset `paper` a sample."""
        return self.sample(logits, batch) if self.sampled else self.losses.argmax(logits, batch)


class GradientRationalizer(Rationalizer):
    """A generator and a predictor trained together by gradient.

    vectors, vector_width, tokenizer, class_weight, validation_fraction: as in GenSPP. hidden: units per direction.
    alpha: the share of tokens to select. lambda_s, lambda_c: the weights of missing it and of scattered highlights.
    batch_size, learning_rate, max_epochs, patience: Adam until the validation loss has not fallen for so many epochs.
    eval_mask: "argmax" or "sample", how a token is chosen at evaluation. padding_in_losses: whether the padding that
    a training mask selects counts, as in the released code.
    """

    own: ClassVar[dict[str, Setting]] = {
        "hidden": Setting(16, whole(1), "hidden units per direction"),
        "alpha": Setting(0.2, number(0, 1), "the share of tokens to select"),
        "lambda_s": Setting(1.0, number(0), "the weight of missing alpha"),
        "lambda_c": Setting(0.0, number(0), "the weight of scattered highlights"),
        "batch_size": Setting(64, whole(1), "texts per step"),
        "learning_rate": Setting(1e-3, number(0, open_ends=True), "Adam's"),
        "max_epochs": Setting(500, whole(1), "at most"),
        "patience": Setting(30, whole(1), "epochs without a smaller validation loss"),
        "eval_mask": Setting("argmax", one_of("argmax", "sample"), "how a token is chosen", paper="sample"),
        "padding_in_losses": Setting(False, FLAG, "whether selected padding counts", paper=True),
    }
    on_source: ClassVar[dict[str | tuple[str, str], dict[str, Any]]] = {
        "toy": {"alpha": 0.15, "lambda_c": 2.0, "vector_width": 25},
        "hatexplain": {"alpha": 0.22},
    }

    # ------------------------------------------------------------------ what a method may change

    def _modules(self, shape: Shape) -> tuple[Generator, Predictor]:
        """Return an untrained generator and predictor."""
        return Generator(encoder(shape), shape), Predictor(encoder(shape), shape)

    def _full_text_predictor(self, shape: Shape) -> Predictor:
        """Return an untrained predictor of the method's own kind."""
        return Predictor(encoder(shape), shape)

    def _companions(self, shape: Shape) -> nn.ModuleDict:
        """Return what is trained beside the pair and not part of the model."""
        return nn.ModuleDict()

    def _optimizers(self, settings: dict[str, Any], companions: nn.ModuleDict) -> tuple[Adam, ...]:
        """Return the optimizers, over the parameters that each of them moves."""
        return (Adam([(self.model_.parameters(), settings["learning_rate"])]),)

    def _phases(self, settings: dict[str, Any]) -> tuple[int, int]:
        """Return how many epochs there are at most, and from which one on early stopping is armed."""
        return settings["max_epochs"], 0

    def _generators(self, companions: nn.ModuleDict) -> list[Generator]:
        """Return the generators in front of the predictor, first the model's own."""
        return [self.model_.generator]

    def _update(self, session: Session, batch: Batch) -> float:
        """Train on a batch and return its loss: the sum, over the generators, of task loss and regularisers."""
        (optimizer,), total = session.optimizers, 0.0
        optimizer.clear()
        read = optimizer.places(self.model_.predictor.weights)
        reading, d_reading = optimizer.weights[read], np.zeros(len(read), np.float32)
        for generator in self._generators(session.companions):
            chosen = optimizer.places(generator.weights)
            choosing, d_choosing = optimizer.weights[chosen], np.zeros(len(chosen), np.float32)
            mask, d_mask, omega = session.highlight.draw(choosing, batch, session.noise)
            task, d_read_mask = session.reading.fit(reading, batch, mask, d_reading)
            session.highlight.back(choosing, d_mask + d_read_mask, d_choosing)
            optimizer.gradient[chosen] += d_choosing
            total += task + omega
        optimizer.gradient[read] += d_reading
        optimizer.step()
        return total

    def _measure(self, session: Session, batch: Batch, tally: Tally) -> None:
        """Count a validation batch."""
        mask = session.evaluation_mask(self.model_.generator(batch), batch)
        tally.add(self.model_.predictor(batch, mask), mask, batch)

    # ------------------------------------------------------------------ what they share

    @property
    def parameter_count(self) -> int:
        """The number of parameters that training moves, those of discarded companions included."""
        self._check_fitted()
        with seeded(0):
            trained = (self.model_, self._companions(self._shape()))
        return sum(parameter.numel() for module in trained for parameter in module.parameters())

    def _shape(self) -> Shape:
        return Shape(self.vectors_.table.shape[1], self._settings_["hidden"], len(self.classes_))

    def _networks(self, settings: dict[str, Any], inputs: int, classes: int) -> tuple[nn.Module, nn.Module]:
        shape = Shape(inputs, settings["hidden"], classes)
        sample_seed = settings["seed"] if settings["eval_mask"] == "sample" else None
        with seeded(seed_of(settings["seed"], _MODEL)):
            pair = Pair(torch.from_numpy(self.vectors_.table), *self._modules(shape), sample_seed)
        with seeded(seed_of(settings["seed"], _FULL_TEXT)):
            full_text = self._full_text_predictor(shape)
        return pair, full_text

    def _train(
        self,
        settings: dict[str, Any],
        train: Encoded,
        val: Encoded,
        class_weights: npt.NDArray[np.float32],
        recorder: Recorder,
    ) -> None:
        losses = Losses(
            settings["alpha"],
            settings["lambda_s"],
            settings["lambda_c"],
            torch.from_numpy(class_weights),
            settings["padding_in_losses"],
        )
        with one_thread():
            self._train_model(settings, losses, train, val, recorder)
            self._train_full_text(settings, losses, train, val)

    def _train_model(
        self, settings: dict[str, Any], losses: Losses, train: Encoded, val: Encoded, recorder: Recorder
    ) -> None:
        with seeded(seed_of(settings["seed"], _COMPANIONS)):
            companions = self._companions(self._shape())
        optimizers = self._optimizers(settings, companions)
        session = Session(
            self.model_, losses, settings["eval_mask"] == "sample", settings["seed"], optimizers, companions
        )
        max_epochs, armed_from = self._phases(settings)
        trained = nn.ModuleDict({"model": self.model_, "companions": companions})
        loop = Loop(trained, optimizers, max_epochs, settings["patience"], armed_from)
        state = recorder.restore()
        if state is not None:
            self.history_ = list(state.pop("history"))
            loop.restore(state)

        def update(batch: Batch) -> float:
            loss = self._update(session, batch)
            session.updates += 1
            return loss

        while not loop.finished:
            started = perf_counter()
            session.begin(loop.epoch, math.ceil(len(train) / settings["batch_size"]))
            order = epoch_order(seed_of(settings["seed"], _MODEL), loop.epoch, len(train))
            loss = run_epoch(update, train, order, settings["batch_size"], self.model_.vectors)
            val_loss, rate = self._validate(session, val, settings["batch_size"])
            line = {
                "epoch": loop.epoch,
                "train_loss": _finite(loss),
                "val_loss": _finite(val_loss),
                "selection_rate": rate,
            }
            loop.close_epoch(val_loss)
            self.history_.append(line)
            seconds = round(perf_counter() - started, 3)
            recorder.record({**line, "seconds": seconds}, {"history": self.history_, **loop.state()}, max_epochs)
        if loop.best_epoch is None:
            logger.warning("the validation loss was never a number; the model is not trained. Lower learning_rate.")
        loop.restore_best()

    def _validate(self, session: Session, val: Encoded, size: int) -> tuple[float, float]:
        """Return the loss and the selection rate over the validation rows."""
        tally = Tally(session.losses)
        with torch.inference_mode():
            for rows in _validation_batches(val, size, session.losses.padding):
                self._measure(session, Batch.take(val, rows, self.model_.vectors), tally)
        return tally.loss(), tally.selection_rate

    def _train_full_text(self, settings: dict[str, Any], losses: Losses, train: Encoded, val: Encoded) -> None:
        """Train the predictor that sees everything: same optimizer, same early stopping, its own seed."""
        seed, table = seed_of(settings["seed"], _FULL_TEXT), self.model_.vectors
        optimizer = Adam([(self.full_text_.parameters(), settings["learning_rate"])])
        reading = Reading(self.full_text_.layout, losses)

        def update(batch: Batch) -> float:
            optimizer.clear()
            loss, _ = reading.fit(optimizer.weights, batch, None, optimizer.gradient)
            optimizer.step()
            return loss

        loop = Loop(
            self.full_text_, [optimizer], settings["max_epochs"], settings["patience"], least_gain=_FULL_TEXT_GAIN
        )

        while not loop.finished:
            order = epoch_order(seed, loop.epoch, len(train))
            run_epoch(update, train, order, settings["batch_size"], table)
            tally = Tally(losses)
            with torch.inference_mode():
                for rows in val.batches():
                    batch = Batch.take(val, rows, table)
                    tally.add_task(self.full_text_(batch), batch)
            loop.close_epoch(tally.task)
        loop.restore_best()


def _validation_batches(val: Encoded, size: int, padding: bool) -> Iterator[npt.NDArray[np.int64]]:
    """Deal the validation rows; where padding counts, into batches as they come, padded as in training."""
    if not padding:
        yield from val.batches()
        return
    rows = np.arange(len(val))
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
