"""How highlights are judged, whoever makes them: task, engine, what judges are measured against, objective."""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from genspp.cluster import PLACE, connect
from genspp.data.encode import Encoded
from genspp.errors import SettingsError
from genspp.evolution.fitness import EvidenceObjective, Objective, PaperObjective
from genspp.kernels.losses import logarithms, softmax
from genspp.methods.base import MOST_AT_ONCE, logger
from genspp.methods.final import everything, full_text_predictors
from genspp.methods.lesson import Lesson
from genspp.methods.patience import texts_per_update
from genspp.model.forms import Weights, kernel_order, pack
from genspp.model.inference import flushed
from genspp.model.networks import Cell, Shape
from genspp.model.passes import Batch, Network, prepare
from genspp.model.weights import form_of
from genspp.population.compiled import CompiledEvaluator
from genspp.population.evaluator import Adversary, Evaluator, Task, TrainedPredictor, Training
from genspp.population.on_ray import RayEvaluator
from genspp.population.sequential import SequentialEvaluator
from genspp.settings import FLAG, Setting, number, one_of, optional, whole
from genspp.streams import Purpose, seed_of

ENGINES: dict[str, Callable[[Task, int], Evaluator]] = {
    "compiled": CompiledEvaluator,
    "sequential": SequentialEvaluator,
}
JUDGING: dict[str, Setting] = {
    "objective": Setting(
        "evidence", one_of("evidence", "paper"), "small, sufficient and complete, or eq. 7 of the paper", "paper"
    ),
    "completeness": Setting(0.4, number(0), "evidence: what all that is left to the adversary costs; 0: none"),
    "insufficiency": Setting(
        10.0,
        number(0),
        "evidence: what a nat costs that the predictor lacks; about a third of it where texts tell little",
    ),
    "commonness": Setting(
        20.0,
        number(0),
        "how much more a mark on a word counts that all texts have than one on a rare word; 0: all count the same",
        paper=0.0,
    ),
    "epsilon": Setting(
        0.01, number(0), "how much higher than that of the full text a highlight's loss may be, at least", paper=0.05
    ),
    "threshold": Setting(
        None,
        optional(number(0, open_ends=True)),
        "paper: the loss below which an individual is feasible; None: that of a full-text predictor + epsilon",
    ),
    "normalise_loss": Setting(True, FLAG, "paper: measure the loss in units of chance level, ln C", paper=False),
    "graded_failures": Setting(True, FLAG, "paper: rank infeasible individuals by their loss", paper=False),
    "readers": Setting(True, FLAG, "start all judges from weights that were trained on random highlights", paper=False),
    "epochs": Setting(1, whole(1), "of the predictors that judge an individual, at least", paper=3),
    "min_steps": Setting(300, whole(0), "updates of these predictors, at least", paper=0),
    "beliefs": Setting(
        True,
        FLAG,
        "measure their best epoch against what full-text predictors believe of texts, too, not the last against labels",
        paper=False,
    ),
    "batch_size": Setting(64, whole(1, MOST_AT_ONCE), "texts per update, fewer where they are long"),
    "learning_rate": Setting(3e-3, number(0, open_ends=True), "of these predictors", paper=1e-2),
    "predictors": Setting(5, whole(1, 1000), "final predictors, which decide together", paper=1),
    "regression": Setting(
        True, FLAG, "let a regression on the marked words have as much of a say as the final predictors", paper=False
    ),
    "retrain": Setting(True, FLAG, "train the final predictors anew, to the end", paper=False),
    "retrain_learning_rate": Setting(1e-3, number(0, open_ends=True), "of the final predictors"),
    "max_epochs": Setting(500, whole(1), "of a final predictor, at most"),
    "patience": Setting(30, whole(1), "epochs without a lower validation loss that end it, fewer where they are long"),
    "engine": Setting("compiled", one_of(*ENGINES), "the population engine"),
    "on": Setting(None, PLACE, "the cluster whose workers judge; None: the cores of this machine"),
}
_SHARPNESS = 1.0, 0.7, 0.5, 0.35  # what the logits of judges may be multiplied by
_AS_GOOD = 1000  # validation texts: of as many, labels count as much as what predictors believe of them
_ERROR = 0.5  # nats, about, of a mean over texts times the root of their number: what tells less tells nothing


def make_task(settings: dict[str, Any], lesson: Lesson, cell: Cell = "gru") -> Task:
    """Return what every evaluation shares. cell: the generator's, where there is one."""
    adversary: Adversary = "none"
    if settings["objective"] == "evidence" and settings["completeness"] > 0:
        # Where one class has no evidence, its texts have no gaps: an adversary that saw gaps would see the class.
        adversary = "packed" if lesson.one_sided else "gaps"
    return Task(
        shape=Shape(lesson.table.shape[1], settings["hidden"], len(lesson.class_weights)),
        cell=cell,
        vectors=lesson.table,
        train=lesson.train,
        val=lesson.val,
        class_weights=lesson.class_weights,
        training=search_budget(settings, lesson.train),
        mark_costs=lesson.mark_costs,
        word_costs=word_costs(settings, lesson),
        skipping=settings["skip_gaps"],
        adversary=adversary,
        readers=seed_of(settings["seed"], Purpose.READERS) if settings["readers"] else None,
    )


def word_costs(settings: dict[str, Any], lesson: Lesson) -> npt.NDArray[np.float32] | None:
    """Return how much tokens count among those of their texts, by their words: more where many texts have the word.

    A word that most texts have can be hardly anybody's reason, yet there are so many of them that a little that each
    tells would pay. Where no words' evidence is learnt (words may be letters there), all count the same.
    """
    if lesson.evidence is None or not settings["commonness"]:
        return None
    words, train = lesson.words, lesson.train
    texts = np.repeat(np.arange(len(train)), train.lengths)
    found = np.unique(texts * words + train.ids % words) % words  # the rows of all folds follow each other
    shares = np.bincount(found, minlength=words) / len(train)
    return np.resize(1 + settings["commonness"] * shares, len(lesson.table)).astype(np.float32)


def search_budget(settings: dict[str, Any], train: Encoded) -> Training:
    """Return how an individual's predictor is trained: whole epochs, for `min_steps` steps.

    Where texts are few and epochs many it may know them by heart before, so it is judged by its best epoch, and ends
    when a third of the epochs have not brought a better one.
    """
    size = texts_per_update(settings["batch_size"], train)
    epochs = max(settings["epochs"], math.ceil(settings["min_steps"] / math.ceil(len(train) / size)))
    return Training(epochs, size, settings["learning_rate"], math.ceil(epochs / 3) if settings["beliefs"] else None)


class Judging(NamedTuple):
    """What judges highlights, and predictors that see every token, where judges are measured against them."""

    evaluator: Evaluator
    full_text: list[TrainedPredictor] | None


@contextmanager
def judging(settings: dict[str, Any], lesson: Lesson, cell: Cell = "gru") -> Iterator[Judging]:
    """Open a population engine on some rows, and close it.

    Where judges are measured against beliefs, predictors that see every token are trained first. What a text's label
    adds to what they believe of it is chance, or what nobody could read out of its words, or where they are wrong; on a
    few hundred validation texts chance outweighs what a highlight lacks.
    """
    task, full_text = make_task(settings, lesson, cell), None
    if settings["beliefs"]:
        with closing(_evaluator(settings, replace(task, readers=None))) as first:
            full_text = full_text_predictors(settings, first)
        task = replace(task, beliefs=beliefs(task, [trained.weights for trained in full_text]))
        with closing(_evaluator(settings, task)) as evaluator:
            task = replace(task, sharpness=suiting_sharpness(evaluator, settings["seed"]))
            if task.sharpness == evaluator.task.sharpness:
                yield Judging(evaluator, full_text)
                return
    with closing(_evaluator(settings, task)) as evaluator:
        yield Judging(evaluator, full_text)


def beliefs(task: Task, predictors: Sequence[Weights]) -> npt.NDArray[np.float32]:
    """Return what predictors that see every token believe of validation texts in the mean, weighted, 1 in all.

    Predictors may be wrong alike, labels are right in the mean: of many texts their labels count as well.
    """
    believed = np.zeros((len(task.val), task.shape.classes))
    for weights in predictors:
        believed += softmax(_full_text_logits(task, weights)) / len(predictors)
    share = len(task.val) / (len(task.val) + _AS_GOOD)
    labels = np.eye(task.shape.classes)[task.val.labels]
    weighted = (share * labels + (1 - share) * believed) * task.class_weights
    return np.asarray(weighted / weighted.sum(), np.float32)


def suiting_sharpness(evaluator: Evaluator, seed: int) -> float:
    """Return what the logits of the full text's judge are best multiplied by.

    Beliefs are those of several predictors in the mean, and a single one that is as right is surer of itself. Where
    texts are few and classes many, it would look worse than chance by that.
    """
    task = evaluator.task
    assert task.beliefs is not None
    logits = _full_text_logits(task, full_text_judge(evaluator, seed).weights)
    losses = [
        -float((task.beliefs * logarithms(softmax(sharpness * logits).ravel()).reshape(logits.shape)).sum())
        for sharpness in _SHARPNESS
    ]
    return _SHARPNESS[int(np.argmin(losses))]


def full_text_judge(evaluator: Evaluator, seed: int) -> TrainedPredictor:
    """Train the judge behind full texts."""
    return evaluator.judge(*everything(evaluator.task), seed_of(seed, Purpose.FULL_TEXT)).predictor


def _full_text_logits(task: Task, weights: Weights) -> npt.NDArray[np.float64]:
    """Return what a predictor that sees every token says of validation texts, (texts, classes)."""
    table, (rows,) = prepare(task.vectors, task.shape.classes, task.val)
    network = Network(form_of(task.predictor()), table)
    batch = Batch.of_all(rows, task.class_weights, task.shape.hidden)
    with flushed():
        packed, seen = pack(weights, kernel_order(network.sizes)), batch.from_tokens(np.ones(len(task.val.ids)))
        logits = network.texts(batch, packed, seen, keep=False)
    return batch.by_text(logits, network.sizes.outputs).astype(np.float64)


def _evaluator(settings: dict[str, Any], task: Task) -> Evaluator:
    """Return the population engine that settings ask for, here or on a cluster."""
    engine, workers, on = (settings[name] for name in ("engine", "workers", "on"))
    if on is None:
        return make_evaluator(engine, task, workers)
    if engine != "compiled":
        raise SettingsError(f"engine is {engine!r}, and workers of a cluster have the compiled one; leave out --on.")
    return RayEvaluator(task, connect(on, workers), workers)


def make_evaluator(engine: str, task: Task, workers: int | None = None) -> Evaluator:
    """Return the population engine of that name."""
    return ENGINES[engine](task, workers or os.cpu_count() or 1)


def make_objective(settings: dict[str, Any], evaluator: Evaluator) -> Objective:
    """Return the objective; what it measures highlights against is what full-text predictors reach."""
    task, seed = evaluator.task, settings["seed"]
    if settings["objective"] == "evidence":
        full = full_text_judge(evaluator, seed).task_loss
        weights = {name: settings[name] for name in ("completeness", "insufficiency", "epsilon")}
        # Judges that count by their last epoch may be worse than chance for having been trained too long.
        blind = settings["beliefs"] and task.chance - full < _ERROR / math.sqrt(len(task.val))
        return EvidenceObjective(task.chance, full, **weights, blind=blind)
    # By `decimal`, whose logarithm is the same on every machine.
    scale = float(Decimal(task.shape.classes).ln()) if settings["normalise_loss"] else 1.0
    threshold = settings["threshold"]
    if threshold is None:
        threshold = full_text_judge(evaluator, seed).task_loss / scale + settings["epsilon"]
    return PaperObjective(threshold, scale, settings["graded_failures"])


def is_blind(objective: Objective, task: Task, so: str) -> bool:
    """Tell whether judges are blind and, if so, say what comes of it."""
    blind = isinstance(objective, EvidenceObjective) and objective.blind
    if blind:
        logger.warning(
            "%d validation texts tell too little to say which words could be left out, so %s; give more texts.",
            len(task.val),
            so,
        )
    return blind


def descended(objective: Objective) -> EvidenceObjective:
    """Return an objective that generators can climb down."""
    if not isinstance(objective, EvidenceObjective):
        raise SettingsError("the paper's objective has no gradient; choose search genetic and start random with it.")
    return objective
