"""What the gradient-trained methods share: settings, drawn masks in training, epochs, validation, the loop.

A method says which modules it has (`_modules`, `_companions`), which networks are trained (`_in_training`), how a
batch updates them (`_update`) and, where it differs, what validation measures (`_measure`). The default is RNP's: one
loss, one optimizer, one update.

One deviation from the released code of these methods: there the recurrence runs over padding, so a text's highlight
depends on how long its batch mates are. Here padding never enters it; the states of padding are zero. As published,
unselected tokens stay in the sequence as zero vectors and are pooled, so the predictor knows where a highlight lies;
preset `sound` has predictors that skip them (`skip_gaps`).
"""

import math
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn
from torch.random import fork_rng

from genspp.kernels.inputs import Table
from genspp.kernels.memory import Floats, floats
from genspp.methods.base import MOST_AT_ONCE, MOST_HIDDEN, Rationalizer, logger
from genspp.methods.in_training import GeneratorInTraining, Losses, PredictorInTraining, Tally
from genspp.methods.lesson import Lesson
from genspp.methods.loop import Dealer, Loop, validation_batches
from genspp.methods.masks import MASKS
from genspp.methods.recorder import Recorder
from genspp.methods.skew import SKEW_EPOCHS, Code, skew
from genspp.model.inference import flushed
from genspp.model.networks import Encoder, Generator, Pair, Predictor, Shape
from genspp.model.optimizer import Adam
from genspp.model.passes import Batch, Rows, prepare
from genspp.model.stopping import EarlyStopping
from genspp.model.weights import count, draw, load_flat
from genspp.settings import FLAG, Setting, number, one_of, whole
from genspp.streams import Purpose, epoch_order, seed_of, stream

# On data that it solves, the loss of a full-text predictor falls for ever; less than this much is of no account.
_FULL_TEXT_GAIN = 1e-3


@dataclass
class Session:
    """What an update has at hand.

    generators, predictors: in training, first the model's own. companions: modules that are trained beside the model
    and then discarded. noise: the random numbers of this epoch. updates: how many batches there were before
    this one, counted over all epochs; batches: those of one epoch. full_text_loss: the validation loss of a predictor
    of full texts, where the method has it trained first. memory: numbers of a method's own that the next update
    depends on.
    """

    settings: dict[str, Any]
    losses: Losses
    table: Table
    optimizers: tuple[Adam, ...]
    companions: nn.ModuleDict
    full_text_loss: float = math.nan
    generators: list[GeneratorInTraining] = field(default_factory=list)
    predictors: list[PredictorInTraining] = field(default_factory=list)
    epoch: int = 0
    updates: int = 0
    batches: int = 0
    noise: np.random.Generator = field(default_factory=np.random.default_rng)
    memory: dict[str, float] = field(default_factory=dict)

    def begin(self, epoch: int, batches: int) -> None:
        """Begin an epoch of so many batches."""
        self.epoch, self.updates, self.batches = epoch, epoch * batches, batches
        self.noise = stream(self.settings["seed"], Purpose.NOISE, epoch)

    def evaluation_mask(self, batch: Batch) -> Floats:
        """Return a validation mask: the likelier one, or in preset `paper` a drawn one."""
        if self.settings["eval_mask"] == "sample":
            return self.generators[0].draw(batch, self.noise).numbers
        mask = floats(batch.cells)
        mask[: batch.cells] = (self.generators[0].margins(batch) >= 0) * batch.counted[: batch.cells]
        return mask


class GradientRationalizer(Rationalizer):
    """A generator and a predictor trained together by gradient."""

    own: ClassVar[dict[str, Setting]] = {
        "hidden": Setting(16, whole(1, MOST_HIDDEN), "hidden units per direction"),
        "alpha": Setting(0.2, number(0, 1), "the share of tokens to select"),
        "lambda_s": Setting(1.0, number(0), "the weight of missing alpha"),
        "lambda_c": Setting(0.0, number(0), "the weight of scattered highlights"),
        "batch_size": Setting(64, whole(1, MOST_AT_ONCE), "texts per update"),
        "learning_rate": Setting(1e-3, number(0, open_ends=True), "Adam's"),
        "max_epochs": Setting(500, whole(1), "epochs at most"),
        "patience": Setting(30, whole(1), "epochs without a lower validation loss that end training"),
        "eval_mask": Setting(
            "argmax", one_of("argmax", "sample"), "how a token is chosen at evaluation", paper="sample"
        ),
        "padding_in_losses": Setting(False, FLAG, "whether padding that a training mask selects counts", paper=True),
        "skew_epochs": SKEW_EPOCHS,
    }
    on_source: ClassVar[dict[str | tuple[str, str], dict[str, Any]]] = {
        "toy": {"alpha": 0.15, "lambda_c": 2.0, "vector_width": 25},
        "hatexplain": {"alpha": 0.22},
    }
    mask: ClassVar[str] = "gumbel"
    share_of_each: ClassVar[bool] = False  # whether a highlight is alpha of its text, the tokens of the highest margins
    full_text_first: ClassVar[bool] = False  # whether the model needs the full-text predictor in its training

    # ------------------------------------------------------------------ what a method may change

    def _encoder(self, shape: Shape, *, norm: bool = True) -> Encoder:
        """Return an encoder with a norm of its own, or with none."""
        return Encoder(shape, "bigru", nn.LayerNorm(2 * shape.hidden) if norm else None)

    def _generator(self, encoder: Encoder) -> Generator:
        """Return an untrained generator."""
        return Generator(encoder, MASKS[self.mask].outputs)

    def _predictor(self, encoder: Encoder, shape: Shape) -> Predictor:
        """Return an untrained predictor."""
        return Predictor(encoder, shape.classes, skipping=self._settings_["skip_gaps"])

    def _modules(self, shape: Shape) -> tuple[Generator, Predictor]:
        """Return an untrained pair."""
        return self._generator(self._encoder(shape)), self._predictor(self._encoder(shape), shape)

    def _full_text_predictor(self, shape: Shape) -> Predictor:
        """Return an untrained predictor of the method's own kind."""
        return self._predictor(self._encoder(shape), shape)

    def _companions(self, shape: Shape) -> nn.ModuleDict:
        """Return what is trained beside the pair and not part of the model."""
        return nn.ModuleDict()

    def _optimizers(self, settings: dict[str, Any], companions: nn.ModuleDict) -> tuple[Adam, ...]:
        """Return the optimizers, over the modules that each of them moves."""
        return (Adam([(self.model_, settings["learning_rate"]), (companions, settings["learning_rate"])]),)

    def _in_training(self, session: Session) -> None:
        """Put the generators and predictors into a session."""
        optimizer = session.optimizers[0]
        session.generators = [GeneratorInTraining(self.model_.generator, optimizer, session.table, MASKS[self.mask])]
        session.predictors = [PredictorInTraining(self.model_.predictor, optimizer, session.table)]

    def _phases(self, settings: dict[str, Any]) -> tuple[int, int]:
        """Return how many epochs there are at most, and from which one on early stopping is armed."""
        return settings["max_epochs"], 0

    def _update(self, session: Session, batch: Batch) -> float:
        """Train on a batch and return its loss: the sum, over the generators, of task loss and regularisers."""
        (optimizer,), predictor, total = session.optimizers, session.predictors[0], 0.0
        optimizer.clear()
        for generator in session.generators:
            mask = generator.draw(batch, session.noise)
            omega, d_omega = session.losses.omega(batch, mask.numbers)
            task, d_mask = predictor.fit(batch, mask.numbers)
            generator.learn_from(batch, mask.back(d_mask + d_omega))
            total += task + omega
        optimizer.step()
        return total

    def _measure(self, session: Session, batch: Batch, tally: Tally) -> None:
        """Count a validation batch."""
        mask, predictor = session.evaluation_mask(batch), session.predictors[0]
        tally.add(predictor, predictor.look(batch, mask), mask, batch)

    # ------------------------------------------------------------------ what they share

    @property
    def parameter_count(self) -> int:
        """The number of parameters that training moves, those of discarded companions included."""
        self._check_fitted()
        with fork_rng(devices=[]):
            return count(nn.ModuleList([self.model_, self._companions(self._shape())]))

    def _shape(self) -> Shape:
        return Shape(self.vectors_.table.shape[1], self._settings_["hidden"], len(self.classes_))

    def _networks(self, settings: dict[str, Any], inputs: int, classes: int) -> tuple[nn.Module, nn.Module]:
        shape, seed = Shape(inputs, settings["hidden"], classes), settings["seed"]
        sampled = seed if settings["eval_mask"] == "sample" else None
        share = settings["alpha"] if self.share_of_each else None
        pair = Pair(torch.from_numpy(self.vectors_.table), *self._modules(shape), sampled, share)
        full_text = self._full_text_predictor(shape)
        load_flat(pair, draw(stream(seed, Purpose.WEIGHTS), pair))
        load_flat(full_text, draw(stream(seed_of(seed, Purpose.FULL_TEXT), Purpose.WEIGHTS), full_text))
        return pair, full_text

    def _train(self, settings: dict[str, Any], lesson: Lesson, recorder: Recorder) -> None:
        losses = Losses(
            settings["alpha"],
            settings["lambda_s"],
            settings["lambda_c"],
            lesson.class_weights,
            settings["padding_in_losses"],
            lesson.mark_costs,
        )
        table, (seen, unseen) = prepare(lesson.table, len(self.classes_), lesson.train, lesson.val)
        full_text_loss = math.nan
        with flushed():
            if self.full_text_first:
                recorder.say("training the predictor of full texts")
                full_text_loss = self._train_full_text(settings, losses, table, seen, unseen)
            self._train_model(settings, losses, table, seen, unseen, full_text_loss, recorder)
            if not self.full_text_first:
                recorder.say("training the predictor of full texts")
                self._train_full_text(settings, losses, table, seen, unseen)

    def _train_model(
        self,
        settings: dict[str, Any],
        losses: Losses,
        table: Table,
        train: Rows,
        val: Rows,
        full_text_loss: float,
        recorder: Recorder,
    ) -> None:
        companions = self._companions(self._shape())
        if len(companions):
            load_flat(companions, draw(stream(settings["seed"], Purpose.COMPANIONS), companions))

        def begin() -> Session:
            optimizers = self._optimizers(settings, companions)
            session = Session(settings, losses, table, optimizers, companions, full_text_loss)
            self._in_training(session)
            return session

        state, skewed = recorder.restore(), {}
        if settings["skew_epochs"] and state is None:
            codes = [Code(rows, len(self.classes_)) for rows in (train, val)]
            before = begin()
            skewed = skew(before.generators, before.optimizers, codes[0], codes[1], settings)
        session = begin()
        epochs, armed_from = self._phases(settings)
        loop = Loop(session.optimizers, EarlyStopping(epochs, settings["patience"], armed_from))
        if state is not None:
            self.history_, session.memory = list(state.pop("history")), state.pop("memory")
            loop.restore(state)
        deal, val_batches = Dealer(train, losses, settings), validation_batches(val, losses, settings)
        recorder.say(f"at most {epochs} epochs, fewer if {settings['patience']} bring no lower validation loss")
        # Before an epoch that may be the best one there is nothing to stop with.
        while not (loop.stopping.finished or (loop.stopping.best_epoch is not None and recorder.enough())):
            started, epoch = perf_counter(), loop.stopping.epoch
            session.begin(epoch, math.ceil(len(train) / settings["batch_size"]))
            loss = 0.0
            for batch in deal.epoch(epoch_order(settings["seed"], epoch, len(train))):
                loss += self._update(session, batch) * batch.texts / len(train)
                session.updates += 1
            tally = Tally(losses)
            for batch in val_batches:
                self._measure(session, batch, tally)
            figures = {"train_loss": loss, "val_loss": tally.loss(), "selection_rate": tally.selection_rate}
            line = {"epoch": epoch, **{n: f if math.isfinite(f) else None for n, f in figures.items()}}
            line |= skewed if epoch == 0 else {}
            loop.close_epoch(figures["val_loss"])
            self.history_.append(line)
            seconds = round(perf_counter() - started, 3)
            state = {"history": self.history_, "memory": session.memory, **loop.state()}
            if session.generators:
                state["generator"] = session.generators[0].flat
            recorder.record({**line, "seconds": seconds}, state, epochs)
        if loop.stopping.best_epoch is None:
            logger.warning("the validation loss was never a number; the model is not trained. Lower learning_rate.")
        loop.end()

    def _train_full_text(self, settings: dict[str, Any], losses: Losses, table: Table, train: Rows, val: Rows) -> float:
        """Train the predictor that sees everything: same optimizer, same early stopping, its own seed.

        Return its validation loss.
        """
        optimizer = Adam([(self.full_text_, settings["learning_rate"])])
        predictor, seed = (
            PredictorInTraining(self.full_text_, optimizer, table),
            seed_of(settings["seed"], Purpose.FULL_TEXT),
        )
        loop = Loop([optimizer], EarlyStopping(settings["max_epochs"], settings["patience"], 0, _FULL_TEXT_GAIN))
        deal = Dealer(train, losses, {**settings, "padding_in_losses": False})
        whole_val = Batch.of_all(val, losses.class_weights, settings["hidden"])
        while not loop.stopping.finished:
            for batch in deal.epoch(epoch_order(seed, loop.stopping.epoch, len(train))):
                optimizer.clear()
                predictor.fit(batch, batch.real, asked=False)
                optimizer.step()
            tally = Tally(losses)
            tally.add_task(predictor, predictor.look(whole_val, whole_val.real), whole_val)
            loop.close_epoch(tally.task)
        loop.end()
        return loop.stopping.best_loss
