"""GenSPP: an evolved generator in front of a predictor trained behind it.

Ruggeri & Signorelli, "Interlocking-free Selective Rationalization Through Genetic-based Learning".
"""

import math
import os
from collections.abc import Callable
from dataclasses import asdict
from decimal import Decimal
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from genspp.data.encode import Encoded
from genspp.errors import SettingsError
from genspp.evolution.fitness import Objective
from genspp.evolution.individuals import Genomes
from genspp.evolution.search import STRATEGIES, Search, settings_of, strategy_settings
from genspp.methods.base import METHODS, Rationalizer, Recorder, logger
from genspp.model.networks import CELLS, Encoder, Generator, Pair, Predictor, Shape
from genspp.model.weights import draw, load_flat
from genspp.population.compiled import CompiledEvaluator
from genspp.population.evaluator import Evaluator, Task, TrainedPredictor, Training
from genspp.population.sequential import SequentialEvaluator
from genspp.settings import FLAG, Setting, number, one_of, optional, whole
from genspp.streams import Purpose, seed_of, stream

_ENGINES: dict[str, Callable[[Task, int], Evaluator]] = {
    "compiled": CompiledEvaluator,
    "sequential": SequentialEvaluator,
}


@METHODS.register("genspp")
class GenSPP(Rationalizer):
    """The generator is evolved; every candidate is judged by a predictor trained from scratch behind it.

    >>> model = GenSPP(seed=1).fit(texts, labels)            # doctest: +SKIP
    >>> model.explain(["What a lovely day"])[0].label        # doctest: +SKIP
    """

    title: ClassVar[str] = "GenSPP"
    own: ClassVar[dict[str, Setting]] = {
        "generations": Setting(100, whole(0), "how many, the first population not counted"),
        "search": Setting("genetic", one_of(*STRATEGIES), "the strategy that looks for generators"),
        **strategy_settings(),
        "cell": Setting("gru", one_of(*CELLS), "the generator's recurrence: one direction or both"),
        "threshold": Setting(
            None,
            optional(number(0, open_ends=True)),
            "the loss below which an individual is feasible; None: that of a full-text predictor + epsilon",
        ),
        "epsilon": Setting(0.05, number(0), "what a highlight may cost in loss, where threshold is None"),
        "normalise_loss": Setting(True, FLAG, "measure the loss in units of chance level, ln C", paper=False),
        "graded_failures": Setting(True, FLAG, "rank infeasible individuals by their loss", paper=False),
        "penalise_empty": Setting(
            False,
            FLAG,
            "let a text without a highlight cost twice what the others cost on average; in the paper it costs nothing, "
            "so the search may leave one class unmarked",
        ),
        "epochs": Setting(3, whole(1), "of the predictor that judges an individual, at least"),
        "min_steps": Setting(300, whole(0), "updates of that predictor, at least", paper=0),
        "batch_size": Setting(64, whole(1), "texts per update"),
        "learning_rate": Setting(1e-2, number(0, open_ends=True), "of that predictor"),
        "retrain": Setting(True, FLAG, "train the final predictor anew, to the end", paper=False),
        "retrain_learning_rate": Setting(1e-3, number(0, open_ends=True), "of the final predictor"),
        "max_epochs": Setting(500, whole(1), "of the final predictor, at most"),
        "patience": Setting(30, whole(1), "epochs without a lower validation loss that end its training"),
        "engine": Setting("compiled", one_of(*_ENGINES), "the population engine"),
        "workers": Setting(None, optional(whole(1)), "how many cores to use, None for all"),
    }
    on_source: ClassVar[dict[str | tuple[str, str], dict[str, Any]]] = {
        "toy": {"vector_width": 26},
        ("toy", "paper"): {"threshold": 0.1},
        ("hatexplain", "paper"): {"threshold": 0.6},
        # People want a reason for every text; with that price the way to good highlights is longer.
        "files": {"penalise_empty": True, "generations": 150},
    }

    def settings(self, classes: int | None = None) -> dict[str, Any]:
        """Return all settings, as every method does; one that only another search has must be left as it is."""
        settings = super().settings(classes)
        used = settings_of(STRATEGIES[settings["search"]])
        for name, setting in strategy_settings().items():
            if name not in used and settings[name] != setting.default:
                raise SettingsError(f"{name} is not a setting of the search {settings['search']!r}; leave it out.")
        return settings

    def _networks(self, settings: dict[str, Any], inputs: int, classes: int) -> tuple[nn.Module, nn.Module]:
        shape = Shape(inputs, settings["hidden"], classes)
        generator = Generator(Encoder(shape, settings["cell"]), 1)
        predictors = [Predictor(Encoder(shape, "gru"), classes, selected=True) for _ in range(2)]
        return Pair(torch.from_numpy(self.vectors_.table), generator, predictors[0]), predictors[1]

    def _train(
        self,
        settings: dict[str, Any],
        train: Encoded,
        val: Encoded,
        class_weights: npt.NDArray[np.float32],
        recorder: Recorder,
    ) -> None:
        shape, table = Shape(self.vectors_.table.shape[1], settings["hidden"], len(self.classes_)), self.vectors_.table
        budget, cell = search_budget(settings, len(train)), settings["cell"]
        task = Task(shape, cell, table, train, val, class_weights, budget, settings["penalise_empty"])
        evaluator = make_evaluator(settings["engine"], task, settings["workers"])
        try:
            search = self._search(settings, evaluator, recorder)
            self._finish(settings, evaluator, search)
        finally:
            evaluator.close()

    def _search(self, settings: dict[str, Any], evaluator: Evaluator, recorder: Recorder) -> Search:
        def first(count: int) -> Genomes:
            return initial_genomes(settings["seed"], count, evaluator.task)

        search = STRATEGIES[settings["search"]](first, make_objective(settings, evaluator), settings)
        self.threshold_ = search.objective.threshold
        state = recorder.restore()
        if state is not None:
            self.history_ = list(state.pop("history"))
            search.restore(state)
        while search.generation < settings["generations"]:
            started = perf_counter()
            genomes, seeds = search.ask()
            search.tell(evaluator.evaluate(genomes, seeds))
            self._warn_if_lost(search)
            line = _line(search)
            self.history_.append(line)
            recorder.record(
                {**line, "seconds": round(perf_counter() - started, 3)},
                {"history": self.history_, **search.state()},
                settings["generations"] + 1,
            )
        return search

    def _warn_if_lost(self, search: Search) -> None:
        """Say once, at the start of every stretch, that nobody is feasible."""
        if search.progress()["feasible"] == 0 and (not self.history_ or self.history_[-1]["feasible"] > 0):
            logger.warning(
                "generation %d has nobody feasible: the least loss is %.3f, the threshold %.3f%s.",
                search.generation,
                search.objective.loss(search.best().evaluation),
                search.objective.threshold,
                "" if search.objective.graded_failures else "; all are equally fit, so the search drifts",
            )

    def _finish(self, settings: dict[str, Any], evaluator: Evaluator, search: Search) -> None:
        """Put the best generator and a predictor trained behind it into `model_`."""
        best, task = search.best(), evaluator.task
        if not search.objective.feasible(best.evaluation):
            logger.warning(
                "nobody was feasible to the end: the least bad individual is returned (validation loss %.3f, "
                "selection rate %.3f); expect a poor classifier, and try more generations or a larger threshold.",
                best.evaluation.task_loss,
                best.evaluation.selection_rate,
            )
        training, seed = task.training, best.seed
        if settings["retrain"]:
            training = Training(
                settings["max_epochs"],
                settings["batch_size"],
                settings["retrain_learning_rate"],
                settings["patience"],
            )
            seed = seed_of(settings["seed"], Purpose.FINAL)
        masks = evaluator.select(best.genome, task.train), evaluator.select(best.genome, task.val)
        load_flat(self.model_.generator, best.genome)
        load_flat(self.model_.predictor, evaluator.train_predictor(*masks, seed, training).weights)
        load_flat(self.full_text_, full_text_predictor(evaluator, settings["seed"], training).weights)


def _line(search: Search) -> dict[str, Any]:
    """Return what the log says of a generation; a loss that is no number is None, for JSON has none."""
    best = asdict(search.best().evaluation)
    finite = {f"best_{name}": value if math.isfinite(value) else None for name, value in best.items()}
    return {"generation": search.generation, **search.progress(), **finite}


def search_budget(settings: dict[str, Any], rows: int) -> Training:
    """Return how an individual's predictor is trained: whole epochs, `min_steps` steps at least."""
    steps = math.ceil(rows / settings["batch_size"])
    epochs = max(settings["epochs"], math.ceil(settings["min_steps"] / steps))
    return Training(epochs, settings["batch_size"], settings["learning_rate"])


def make_evaluator(engine: str, task: Task, workers: int | None = None) -> Evaluator:
    """Return the population engine of that name."""
    return _ENGINES[engine](task, workers or os.cpu_count() or 1)


def initial_genomes(seed: int, population: int, task: Task) -> Genomes:
    """Draw the first population, (individuals, genes), every individual from its own stream."""
    generator = task.generator()
    return np.stack([draw(stream(seed, Purpose.GENOME, i), generator) for i in range(population)])


def full_text_predictor(evaluator: Evaluator, seed: int, training: Training) -> TrainedPredictor:
    """Train a predictor that sees every token."""
    masks = [np.ones(len(data.ids), np.uint8) for data in (evaluator.task.train, evaluator.task.val)]
    return evaluator.train_predictor(masks[0], masks[1], seed_of(seed, Purpose.FULL_TEXT), training)


def make_objective(settings: dict[str, Any], evaluator: Evaluator) -> Objective:
    """Return the objective; where no threshold is given, a full-text predictor of the same budget sets it."""
    task = evaluator.task
    # By `decimal`, whose logarithm is the same on every machine.
    scale = float(Decimal(task.shape.classes).ln()) if settings["normalise_loss"] else 1.0
    threshold = settings["threshold"]
    if threshold is None:
        full = full_text_predictor(evaluator, settings["seed"], task.training)
        threshold = full.task_loss / scale + settings["epsilon"]
    return Objective(threshold, scale, settings["graded_failures"])
