"""GenSPP: an evolved generator in front of a predictor trained behind it.

Ruggeri & Signorelli, "Interlocking-free Selective Rationalization Through Genetic-based Learning".
"""

import math
import os
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from genspp.data.encode import Encoded
from genspp.evolution.fitness import Objective
from genspp.evolution.genetic import GeneticSearch, Mutation
from genspp.methods.base import METHODS, Rationalizer, Recorder, logger
from genspp.methods.settings import FLAG, Setting, number, one_of, optional, whole
from genspp.model.genome import draw, generator_parts, load_flat, predictor_parts
from genspp.model.spp import CELLS, SPP, Predictor, Shape
from genspp.population.compiled import CompiledEvaluator
from genspp.population.evaluator import (
    FINAL,
    FULL_TEXT,
    INITIAL_GENOMES,
    Evaluator,
    Task,
    Training,
    seed_of,
    stream,
)
from genspp.population.sequential import SequentialEvaluator


@METHODS.register("genspp")
class GenSPP(Rationalizer):
    """The method of the paper.

    >>> model = GenSPP(seed=1).fit(texts, labels)            # doctest: +SKIP
    >>> model.explain(["What a lovely day"])[0].label        # doctest: +SKIP

    Settings left at `None` take the preset's value: `sound` (the default) or `paper`.

    vectors: "corpus" (made from the training texts), "onehot", the path of a GloVe text file, or `Vectors`.
    vector_width: columns of one-hot vectors, spare ones zero. tokenizer: for texts given as strings.
    hidden: units, per direction; None: 8 for up to four classes, else 16. cell: "gru" or "bigru", the generator's.
    class_weight: None, "balanced" or a dictionary, as in scikit-learn.
    threshold: the loss below which an individual is feasible; None: that of a full-text predictor + `epsilon`.
    penalise_empty: let a text without a highlight cost twice what the others cost on average. In the paper it costs
    nothing, so the search may learn to leave one class unmarked; for a model that always shows its reasons, set it.
    epochs, min_steps, batch_size, learning_rate: the budget of an individual's predictor.
    retrain: train the final predictor anew, to the end (`retrain_learning_rate`, `patience`, `max_epochs`).
    bias_sigma: mutation of the output bias, where it is to differ from `mutation_sigma`.
    engine: "compiled" or "sequential"; workers: how many cores to use, None for all.
    """

    title = "GenSPP"
    own: ClassVar[dict[str, Setting]] = {
        "generations": Setting(100, whole(0), "generations of the search"),
        "population": Setting(50, whole(2, even=True), "individuals in a generation"),
        "cell": Setting("gru", one_of(*CELLS), "the generator's"),
        "threshold": Setting(None, optional(number(0, open_ends=True)), "the loss below which one is feasible"),
        "epsilon": Setting(0.05, number(0), "what a full-text predictor's loss may be exceeded by"),
        "normalise_loss": Setting(True, FLAG, "divide the loss by ln(classes)", paper=False),
        "graded_failures": Setting(True, FLAG, "rank infeasible individuals", paper=False),
        "penalise_empty": Setting(False, FLAG, "let a text without a highlight cost"),
        "epochs": Setting(3, whole(1), "of an individual's predictor"),
        "min_steps": Setting(300, whole(0), "at least", paper=0),
        "batch_size": Setting(64, whole(1), "texts per step"),
        "learning_rate": Setting(1e-2, number(0, open_ends=True), "of an individual's predictor"),
        "retrain": Setting(True, FLAG, "train the final predictor anew", paper=False),
        "retrain_learning_rate": Setting(1e-3, number(0, open_ends=True), "of the final predictor"),
        "max_epochs": Setting(500, whole(1), "of the final predictor"),
        "patience": Setting(30, whole(1), "of the final predictor"),
        "mutation_sigma": Setting(0.05, number(0, open_ends=True), "of a mutation"),
        "mutation_probability": Setting(1.0, number(0, 1), "of a mutation"),
        "bias_sigma": Setting(None, optional(number(0)), "of the output bias"),
        "reevaluate_elites": Setting(False, FLAG, "evaluate survivors again"),
        "engine": Setting("compiled", one_of("compiled", "sequential"), "which engine"),
        "workers": Setting(None, optional(whole(1)), "cores to use"),
    }
    on_source: ClassVar[dict[str | tuple[str, str], dict[str, Any]]] = {
        "toy": {"vector_width": 26},
        ("toy", "paper"): {"threshold": 0.1},
        ("hatexplain", "paper"): {"threshold": 0.6},
        "files": {"penalise_empty": True, "generations": 150},
    }

    def _networks(self, settings: dict[str, Any], inputs: int, classes: int) -> tuple[nn.Module, nn.Module]:
        shape = Shape(inputs, settings["hidden"], classes, settings["cell"])
        return SPP(shape, torch.from_numpy(self.vectors_.table)), Predictor(shape)

    def _train(
        self,
        settings: dict[str, Any],
        train: Encoded,
        val: Encoded,
        class_weights: npt.NDArray[np.float32],
        recorder: Recorder,
    ) -> None:
        shape = Shape(self.vectors_.table.shape[1], settings["hidden"], len(self.classes_), settings["cell"])
        budget = search_budget(settings, len(train))
        task = Task(shape, self.vectors_.table, train, val, class_weights, budget, settings["penalise_empty"])
        evaluator = make_evaluator(settings["engine"], task, settings["workers"])
        try:
            search = self._search(settings, evaluator, recorder)
            self._finish(settings, evaluator, search)
        finally:
            evaluator.close()

    def _search(self, settings: dict[str, Any], evaluator: Evaluator, recorder: Recorder) -> GeneticSearch:
        search = GeneticSearch(
            initial_genomes(settings["seed"], settings["population"], evaluator.task.shape),
            make_objective(settings, evaluator),
            settings["seed"],
            Mutation(settings["mutation_sigma"], settings["mutation_probability"], settings["bias_sigma"]),
            settings["reevaluate_elites"],
        )
        self.threshold_ = search.objective.threshold
        first = 0
        state = recorder.restore()
        if state is not None:
            self.history_ = list(state.pop("history"))
            search.restore(state)
            first = search.generation + 1
        for generation in range(first, settings["generations"] + 1):
            started = perf_counter()
            genomes, seeds = search.ask()
            search.tell(evaluator.evaluate(genomes, seeds))
            line = self._line(search, generation)
            self._warn_if_lost(line, generation)
            self.history_.append(line)
            recorder.record(
                {**line, "seconds": round(perf_counter() - started, 3)},
                {"history": self.history_, **search.state()},
                settings["generations"] + 1,
            )
        return search

    def _line(self, search: GeneticSearch, generation: int) -> dict[str, Any]:
        fitness = search.fitness
        _, _, best = search.best()
        feasible = [search.objective.feasible(type(best)(*row)) for row in search.evaluations]
        return {
            "generation": generation,
            "best_fitness": float(fitness[0]),
            "mean_fitness": float(fitness.mean()),
            "best_loss": best.task_loss if math.isfinite(best.task_loss) else None,
            "best_selection_rate": best.selection_rate,
            "feasible": float(np.mean(feasible)),
        }

    def _warn_if_lost(self, line: dict[str, Any], generation: int) -> None:
        """Say once, at the start of every stretch, that nobody is feasible."""
        if line["feasible"] == 0 and (not self.history_ or self.history_[-1]["feasible"] > 0):
            loss = line["best_loss"] if line["best_loss"] is not None else math.nan
            logger.warning(
                "generation %d has nobody feasible: the least loss is %.3f, the threshold %.3f%s.",
                generation,
                loss / (math.log(len(self.classes_)) if self._settings_["normalise_loss"] else 1),
                self.threshold_,
                "" if self._settings_["graded_failures"] else "; all are equally fit, so the search drifts",
            )

    def _finish(self, settings: dict[str, Any], evaluator: Evaluator, search: GeneticSearch) -> None:
        """Put the best generator and a predictor trained behind it into `model_`."""
        genome, seed, evaluation = search.best()
        task = evaluator.task
        if not search.objective.feasible(evaluation):
            logger.warning(
                "nobody was feasible to the end: the least bad individual is returned (validation loss %.3f, "
                "selection rate %.3f); expect a poor classifier, and try more generations or a larger threshold.",
                evaluation.task_loss,
                evaluation.selection_rate,
            )
        training = task.training
        if settings["retrain"]:
            training = Training(
                settings["max_epochs"],
                settings["batch_size"],
                settings["retrain_learning_rate"],
                settings["patience"],
            )
            seed = seed_of(settings["seed"], FINAL)
        masks = evaluator.select(genome, task.train), evaluator.select(genome, task.val)
        parts = predictor_parts(task.shape)
        load_flat(self.model_.generator, genome, generator_parts(task.shape))
        load_flat(self.model_.predictor, evaluator.train_predictor(*masks, seed, training).weights, parts)
        load_flat(self.full_text_, full_text_predictor(evaluator, settings["seed"], training).weights, parts)


def search_budget(settings: dict[str, Any], rows: int) -> Training:
    """Return how an individual's predictor is trained: whole epochs, `min_steps` steps at least."""
    steps = math.ceil(rows / settings["batch_size"])
    epochs = max(settings["epochs"], math.ceil(settings["min_steps"] / steps))
    return Training(epochs, settings["batch_size"], settings["learning_rate"])


def make_evaluator(engine: str, task: Task, workers: int | None = None) -> Evaluator:
    """Return the population engine of that name."""
    kinds: dict[str, Any] = {"compiled": CompiledEvaluator, "sequential": SequentialEvaluator}
    evaluator: Evaluator = kinds[engine](task, workers or os.cpu_count() or 1)
    return evaluator


def initial_genomes(seed: int, population: int, shape: Shape) -> npt.NDArray[np.float32]:
    """Draw the first population, (individuals, genes), every individual from its own stream."""
    parts = generator_parts(shape)
    return np.stack([draw(stream(seed, INITIAL_GENOMES, i), shape, parts) for i in range(population)])


def full_text_predictor(evaluator: Evaluator, seed: int, training: Training) -> Any:
    """Train a predictor that sees every token."""
    masks = [np.ones(len(data.ids), np.uint8) for data in (evaluator.task.train, evaluator.task.val)]
    return evaluator.train_predictor(masks[0], masks[1], seed_of(seed, FULL_TEXT), training)


def make_objective(settings: dict[str, Any], evaluator: Evaluator) -> Objective:
    """Return the objective; where no threshold is given, a full-text predictor of the same budget sets it."""
    task = evaluator.task
    scale = math.log(task.shape.classes) if settings["normalise_loss"] else 1.0
    threshold = settings["threshold"]
    if threshold is None:
        full = full_text_predictor(evaluator, settings["seed"], task.training)
        threshold = full.task_loss / scale + settings["epsilon"]
    return Objective(threshold, scale, settings["graded_failures"])
