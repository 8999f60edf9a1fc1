"""The predictors that are kept: those behind final highlights, and those that see everything."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from genspp.data.encode import Encoded, Mask
from genspp.methods.marked_words import train_words
from genspp.methods.patience import patient_epochs, texts_per_update
from genspp.model.networks import Committee, Encoder, MarkedWords, Pair, Predictor, Shape
from genspp.model.weights import load_flat
from genspp.population.evaluator import Evaluator, Task, TrainedPredictor, Training
from genspp.streams import Purpose, seed_of


def final_predictors(
    settings: dict[str, Any], inputs: int, classes: int, rows: int
) -> tuple[Predictor | Committee, ...]:
    """Return untrained predictors, one to be kept behind the highlights and one that sees everything.

    rows: how many the table of the vectors has.
    """
    shape = Shape(inputs, settings["hidden"], classes)

    def one() -> Predictor:
        return Predictor(Encoder(shape, "gru"), classes, selected=True, skipping=settings["skip_gaps"])

    def together() -> Predictor | Committee:
        words = MarkedWords(rows, classes) if settings["regression"] else None
        if words is None and settings["predictors"] == 1:
            return one()
        return Committee((one() for _ in range(settings["predictors"])), words)

    return together(), together()


def to_the_end(settings: dict[str, Any], train: Encoded) -> Training:
    """Return how a predictor is trained that is kept: until its validation loss falls no more."""
    size = texts_per_update(settings["batch_size"], train)
    patience = patient_epochs(settings["patience"], len(train), size)
    return Training(settings["max_epochs"], size, settings["retrain_learning_rate"], patience)


def train_final(
    pair: Pair,
    full_text: Predictor | Committee,
    settings: dict[str, Any],
    evaluator: Evaluator,
    seeing_all: list[TrainedPredictor] | None,
    masks: tuple[Mask, Mask],
    seed: int,
) -> None:
    """Train the predictors that are kept behind final highlights, and those that see everything.

    The first starts from the readers' weights, others from their own. Where none is trained anew, the first is that of
    the individual whose highlights they are, by its seed. seeing_all: predictors that see everything, if there are any
    already.
    """
    training = to_the_end(settings, evaluator.task.train) if settings["retrain"] else None
    seeds = [seed_of(settings["seed"], Purpose.FINAL, number) for number in range(settings["predictors"])]
    if not settings["retrain"]:
        seeds[0] = seed
    _keep(pair.predictor, evaluator.train_predictors(*masks, seeds, training), evaluator.task, masks)
    seeing_all = seeing_all or full_text_predictors(settings, evaluator)
    _keep(full_text, seeing_all, evaluator.task, everything(evaluator.task))


def _keep(
    kept: Predictor | Committee, trained: Sequence[TrainedPredictor], task: Task, masks: tuple[Mask, Mask]
) -> None:
    for member, one in zip(kept.members if isinstance(kept, Committee) else [kept], trained, strict=True):
        load_flat(member, one.weights)
    if isinstance(kept, Committee) and kept.words is not None:
        train_words(kept.words, task, *masks)


def full_text_predictors(settings: dict[str, Any], evaluator: Evaluator) -> list[TrainedPredictor]:
    """Train the predictors that see every token and are kept beside a model."""
    task, seed = evaluator.task, settings["seed"]
    seeds = [seed_of(seed, Purpose.FULL_TEXT, number) for number in range(settings["predictors"])]
    if settings["retrain"]:
        return evaluator.train_predictors(*everything(task), seeds, to_the_end(settings, task.train))
    return evaluator.train_predictors(*everything(task), [seed_of(seed, Purpose.FULL_TEXT), *seeds[1:]])


def everything(task: Task) -> tuple[Mask, Mask]:
    """Return the highlights of training and validation texts that mark every token."""
    return np.ones(len(task.train.ids), np.uint8), np.ones(len(task.val.ids), np.uint8)
