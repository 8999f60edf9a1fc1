"""The word list: what TF-IDF and logistic regression say of single words, as a highlight. What every method must beat.

A word is on the list if its weight for a class whose evidence is wanted is high enough. How long the list is, judges
decide as they do for GenSPP's generators: lists of several lengths are judged by predictors trained behind them, and
the one of least cost is kept, with a predictor that reads nothing but its words.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict
from time import perf_counter
from typing import Any, ClassVar

import torch
from torch import nn

from genspp.data.encode import Mask
from genspp.methods.base import METHODS, Rationalizer
from genspp.methods.final import final_predictors, train_final
from genspp.methods.first_generators import above, list_thresholds
from genspp.methods.judging import JUDGING, Judging, is_blind, judging, make_objective
from genspp.methods.lesson import Lesson
from genspp.methods.patience import searched
from genspp.methods.recorder import Recorder
from genspp.model.networks import Pair, WordList
from genspp.settings import Check, Setting, whole
from genspp.streams import Purpose, seed_of

_LONGEST = 1.0  # all words that speak for anything
_ALWAYS: Check = (lambda value: value is True, "True: a list is what they know")


@METHODS.register("wordlist")
class WordListRationalizer(Rationalizer):
    """Words that a logistic regression gives much weight, and a predictor that reads these alone."""

    title: ClassVar[str] = "Word list"
    own: ClassVar[dict[str, Setting]] = {
        "lists": Setting(14, whole(1, 1000), "how many lists of different lengths are judged, at most"),
        "label_columns": Setting(True, _ALWAYS, "add vector columns that know what words say for classes"),
        **JUDGING,
    }
    on_source: ClassVar[dict[str | tuple[str, str], dict[str, Any]]] = {
        "toy": {"label_columns": True, "commonness": 0.0, "regression": False}
    }

    def _networks(self, settings: dict[str, Any], inputs: int, classes: int) -> tuple[nn.Module, nn.Module]:
        table = torch.from_numpy(self.vectors_.table)
        predictor, full_text = final_predictors(settings, inputs, classes, len(table))
        return Pair(table, WordList(len(table)), predictor), full_text

    def _train(self, settings: dict[str, Any], lesson: Lesson, recorder: Recorder) -> None:
        some = searched(lesson, settings["seed"])
        lengths = list_thresholds(lesson.evidence_of(lesson.train), settings["lists"], _LONGEST)
        thresholds = list(dict.fromkeys(lengths))  # of lists that are alike, one is enough
        recorder.say("learning what the full texts tell")
        with judging(settings, some) as judged:
            evaluator = judged.evaluator
            recorder.say("preparing readers and judges")
            objective, state = make_objective(settings, evaluator), recorder.restore()
            self.history_ = list(state["history"]) if state is not None else []
            is_blind(objective, evaluator.task, "the longest list is taken")
            recorder.say(f"judging {len(thresholds)} lists of words")
            for number in range(len(self.history_), len(thresholds)):
                if recorder.enough():
                    break
                started = perf_counter()
                masks = _masks(some, thresholds[number])
                found = evaluator.judge(*masks, _seed(settings, number)).evaluation(evaluator.task, masks[1])
                told = {name: value for name, value in asdict(found).items() if math.isfinite(value)}
                line = {"list": number, "cost": objective.cost(found), **told, **objective.shares(found)}
                self.history_.append(line)
                seconds = round(perf_counter() - started, 3)
                recorder.record({**line, "seconds": seconds}, {"history": self.history_}, len(thresholds))
            if some is lesson:
                self._finish(settings, lesson, judged, thresholds, recorder)
        if some is not lesson:
            with judging(settings, lesson) as judged:
                self._finish(settings, lesson, judged, thresholds, recorder)

    def _finish(
        self, settings: dict[str, Any], lesson: Lesson, judged: Judging, thresholds: Sequence[float], recorder: Recorder
    ) -> None:
        """Put the list of least cost and predictors trained behind it into `model_`."""
        recorder.say("training the final predictors")
        best = min(range(len(self.history_)), key=lambda number: float(self.history_[number]["cost"]))
        shares = ("sufficiency", "left_over")
        self.shares_ = {name: value for name, value in self.history_[best].items() if name in shares}
        assert lesson.evidence is not None
        self.model_.generator.keep(torch.from_numpy(lesson.evidence[: lesson.words]), thresholds[best])
        masks = _masks(lesson, thresholds[best])
        train_final(self.model_, self.full_text_, settings, *judged, masks, _seed(settings, best))


def _masks(lesson: Lesson, least: float) -> tuple[Mask, Mask]:
    """Return the highlights of the training and validation texts that a list gives."""
    return above(lesson.evidence_of(lesson.train), least), above(lesson.evidence_of(lesson.val), least)


def _seed(settings: dict[str, Any], number: int) -> int:
    """Return the seed of the judges of a list."""
    return seed_of(settings["seed"], Purpose.INDIVIDUAL, 0, number)
