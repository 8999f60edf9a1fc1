"""From GenSPP's settings and a lesson to what a search needs: the task, the objective, the first generators."""

import math
import os
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from genspp.data.encode import Encoded, Mask
from genspp.errors import SettingsError
from genspp.evolution.fitness import EvidenceObjective, Objective, PaperObjective
from genspp.evolution.individuals import Genomes
from genspp.kernels.losses import exponentials, logarithms
from genspp.methods.base import MOST_AT_ONCE
from genspp.methods.lesson import Lesson
from genspp.methods.patience import patient_epochs, texts_per_update
from genspp.model.networks import Cell, Committee, Encoder, Pair, Predictor, Shape
from genspp.model.weights import draw, load_flat
from genspp.population.compiled import CompiledEvaluator
from genspp.population.evaluator import Adversary, Climb, Evaluator, Task, Terms, TrainedPredictor, Training
from genspp.population.sequential import SequentialEvaluator
from genspp.settings import FLAG, Setting, number, one_of, optional, whole
from genspp.streams import Purpose, seed_of, stream

ENGINES: dict[str, Callable[[Task, int], Evaluator]] = {
    "compiled": CompiledEvaluator,
    "sequential": SequentialEvaluator,
}
# How highlights are judged, whoever makes them.
JUDGING: dict[str, Setting] = {
    "objective": Setting(
        "evidence", one_of("evidence", "paper"), "small, sufficient and complete, or eq. 7 of the paper", "paper"
    ),
    "completeness": Setting(0.4, number(0), "evidence: what all that is left to the adversary costs; 0: none"),
    "insufficiency": Setting(10.0, number(0), "evidence: what a nat costs that the predictor lacks"),
    "epsilon": Setting(
        0.005, number(0), "how much higher than that of the full text a highlight's loss may be", paper=0.05
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
    "batch_size": Setting(64, whole(1, MOST_AT_ONCE), "texts per update, fewer where they are long"),
    "learning_rate": Setting(3e-3, number(0, open_ends=True), "of these predictors", paper=1e-2),
    "predictors": Setting(5, whole(1, 1000), "final predictors, which decide together", paper=1),
    "retrain": Setting(True, FLAG, "train the final predictors anew, to the end", paper=False),
    "retrain_learning_rate": Setting(1e-3, number(0, open_ends=True), "of the final predictors"),
    "max_epochs": Setting(500, whole(1), "of a final predictor, at most"),
    "patience": Setting(30, whole(1), "epochs without a lower validation loss that end it, fewer where they are long"),
    "engine": Setting("compiled", one_of(*ENGINES), "the population engine"),
}
# How the first generators come by what they know: Adam steps and their rate.
_LISTED, _CLIMBED, _RATE = 200, 300, 1e-2
_SHARES = 0.02, 0.3  # of the tokens: the shortest and the longest word list that a first generator learns
_PRESSURES = 0.1, 1.5  # the least and the most that one which climbs is under


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
        skipping=settings["skip_gaps"],
        adversary=adversary,
        readers=seed_of(settings["seed"], Purpose.READERS) if settings["readers"] else None,
    )


def search_budget(settings: dict[str, Any], train: Encoded) -> Training:
    """Return how an individual's predictor is trained: whole epochs, `min_steps` steps at least."""
    size = texts_per_update(settings["batch_size"], train)
    epochs = max(settings["epochs"], math.ceil(settings["min_steps"] / math.ceil(len(train) / size)))
    return Training(epochs, size, settings["learning_rate"])


def to_the_end(settings: dict[str, Any], train: Encoded) -> Training:
    """Return how a predictor is trained that is kept: until its validation loss falls no more."""
    size = texts_per_update(settings["batch_size"], train)
    patience = patient_epochs(settings["patience"], len(train), size)
    return Training(settings["max_epochs"], size, settings["retrain_learning_rate"], patience)


def final_predictors(settings: dict[str, Any], inputs: int, classes: int) -> tuple[Predictor | Committee, ...]:
    """Return untrained predictors, one to be kept behind the highlights and one that sees everything."""
    shape = Shape(inputs, settings["hidden"], classes)

    def one() -> Predictor:
        return Predictor(Encoder(shape, "gru"), classes, selected=True, skipping=settings["skip_gaps"])

    many = settings["predictors"]
    return tuple(one() if many == 1 else Committee(one() for _ in range(many)) for _ in range(2))


def train_final(
    pair: Pair,
    full_text: Predictor | Committee,
    settings: dict[str, Any],
    evaluator: Evaluator,
    masks: tuple[Mask, Mask],
    seed: int,
) -> None:
    """Train the predictors that are kept behind final highlights, and those that see everything.

    The first starts from the readers' weights, others from their own. Where none is trained anew, the first is that of
    the individual whose highlights they are, by its seed.
    """
    ones = np.ones(len(masks[0]), np.uint8), np.ones(len(masks[1]), np.uint8)
    purposes = (Purpose.FINAL, Purpose.FULL_TEXT)
    training = to_the_end(settings, evaluator.task.train) if settings["retrain"] else None
    for kept, seen, purpose in zip((pair.predictor, full_text), (masks, ones), purposes, strict=True):
        members = kept.members if isinstance(kept, Committee) else [kept]
        seeds = [seed_of(settings["seed"], purpose, number) for number in range(len(members))]
        if not settings["retrain"]:
            seeds[0] = seed if purpose is Purpose.FINAL else seed_of(settings["seed"], purpose)
        for member, trained in zip(members, evaluator.train_predictors(*seen, seeds, training), strict=True):
            load_flat(member, trained.weights)


def make_evaluator(engine: str, task: Task, workers: int | None = None) -> Evaluator:
    """Return the population engine of that name."""
    return ENGINES[engine](task, workers or os.cpu_count() or 1)


def full_text_predictor(evaluator: Evaluator, seed: int, training: Training) -> TrainedPredictor:
    """Train a predictor that sees every token."""
    masks = [np.ones(len(data.ids), np.uint8) for data in (evaluator.task.train, evaluator.task.val)]
    return evaluator.train_predictors(masks[0], masks[1], [seed_of(seed, Purpose.FULL_TEXT)], training)[0]


def make_objective(settings: dict[str, Any], evaluator: Evaluator) -> Objective:
    """Return the objective; what it measures highlights against is what full-text predictors reach."""
    task, seed = evaluator.task, settings["seed"]
    if settings["objective"] == "evidence":
        full = full_text_predictor(evaluator, seed, task.training).task_loss
        weights = (settings[name] for name in ("completeness", "insufficiency", "epsilon"))
        return EvidenceObjective(task.chance, full, *weights)
    # By `decimal`, whose logarithm is the same on every machine.
    scale = float(Decimal(task.shape.classes).ln()) if settings["normalise_loss"] else 1.0
    threshold = settings["threshold"]
    if threshold is None:
        threshold = full_text_predictor(evaluator, seed, task.training).task_loss / scale + settings["epsilon"]
    return PaperObjective(threshold, scale, settings["graded_failures"])


def initial_genomes(seed: int, population: int, task: Task) -> Genomes:
    """Draw the first population, (individuals, genes), every individual from its own stream."""
    generator = task.generator()
    return np.stack([draw(stream(seed, Purpose.GENOME, i), generator) for i in range(population)])


def informed_genomes(
    settings: dict[str, Any], count: int, lesson: Lesson, evaluator: Evaluator, terms: Terms
) -> Genomes:
    """Return a first population that knows the task: one half has learnt word lists, the other has climbed.

    Word lists of several lengths, made from the labels alone; where no words' weights are learnt, all climb, under
    several pressures, between the readers that no generator has touched.
    """
    genomes, seed = initial_genomes(settings["seed"], count, evaluator.task), settings["seed"]
    listed = count // 2 if lesson.evidence is not None else 0
    climbs = [
        Climb(_LISTED if i < listed else _CLIMBED, _RATE, pressure, seed_of(seed, Purpose.CLIMB, 0, i))
        for i, pressure in enumerate([*_ladder(*_PRESSURES, listed), *_ladder(*_PRESSURES, count - listed)])
    ]
    parts = []
    if listed:
        lists = [above(lesson.evidence_of(lesson.train), least) for least in list_thresholds(lesson, listed)]
        parts.append(evaluator.imitate(genomes[:listed], lists, climbs[:listed]))
    parts.append(evaluator.climb(genomes[listed:], climbs[listed:], terms))
    return np.concatenate(parts)


def descended(objective: Objective) -> EvidenceObjective:
    """Return an objective that generators can climb down."""
    if not isinstance(objective, EvidenceObjective):
        raise SettingsError("the paper's objective has no gradient; choose search genetic and start random with it.")
    return objective


def list_thresholds(lesson: Lesson, count: int) -> list[float]:
    """Return the least evidence of a word that word lists of several lengths hold, the shortest list first."""
    ranked = np.sort(lesson.evidence_of(lesson.train))[::-1]
    places = [min(len(ranked) - 1, int(share * len(ranked))) for share in _ladder(*_SHARES, count)]
    return [float(ranked[place]) for place in places]


def above(evidence: npt.NDArray[np.float32], least: float) -> Mask:
    """Return which tokens say as much, as a flat mask; those that speak against are never among them."""
    return np.asarray((evidence >= least) & (evidence > 0)).view(np.uint8)


def _ladder(least: float, most: float, rungs: int) -> list[float]:
    """Return numbers from the least to the most, each as many times the last one."""
    first, last = logarithms(np.array([least, most]))
    return [float(rung) for rung in exponentials(np.linspace(first, last, rungs))]
