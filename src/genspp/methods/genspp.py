"""GenSPP: an evolved generator in front of a predictor trained behind it.

Ruggeri & Signorelli, "Interlocking-free Selective Rationalization Through Genetic-based Learning".
"""

import math
from collections.abc import Sequence
from dataclasses import asdict
from time import perf_counter
from typing import Any, ClassVar

import torch
from torch import nn

from genspp.errors import SettingsError
from genspp.evolution.fitness import PaperObjective
from genspp.evolution.individuals import Genomes
from genspp.evolution.search import STRATEGIES, Search, settings_of, strategy_settings
from genspp.methods.base import METHODS, Rationalizer, Recorder, logger
from genspp.methods.evolving import (
    JUDGING,
    descended,
    informed_genomes,
    initial_genomes,
    make_evaluator,
    make_objective,
    make_task,
    train_final,
)
from genspp.methods.lesson import Lesson
from genspp.model.networks import CELLS, Encoder, Generator, Pair, Predictor, Shape
from genspp.model.weights import load_flat
from genspp.population.evaluator import Climb, Evaluator
from genspp.settings import Setting, one_of, whole


@METHODS.register("genspp")
class GenSPP(Rationalizer):
    """The generator is evolved; every candidate is judged by a predictor trained from scratch behind it.

    >>> model = GenSPP(seed=1).fit(texts, labels)            # doctest: +SKIP
    >>> model.explain(["What a lovely day"])[0].label        # doctest: +SKIP
    """

    title: ClassVar[str] = "GenSPP"
    own: ClassVar[dict[str, Setting]] = {
        "generations": Setting(60, whole(0), "at most, the first population not counted", paper=100),
        "search": Setting("guided", one_of(*STRATEGIES), "the strategy that looks for generators", paper="genetic"),
        **strategy_settings(),
        "start": Setting(
            "informed",
            one_of("informed", "random"),
            "the first generators: random ones, or such as have climbed by gradient or learnt a word list",
            paper="random",
        ),
        "cell": Setting("bigru", one_of(*CELLS), "the generator's recurrence: one direction or both", paper="gru"),
        **JUDGING,
    }
    on_source: ClassVar[dict[str | tuple[str, str], dict[str, Any]]] = {
        "toy": {"vector_width": 26},
        ("toy", "paper"): {"threshold": 0.1},
        ("hatexplain", "paper"): {"threshold": 0.6},
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
        shape, skipping = Shape(inputs, settings["hidden"], classes), settings["skip_gaps"]
        generator = Generator(Encoder(shape, settings["cell"]), 1)
        predictors = [Predictor(Encoder(shape, "gru"), classes, selected=True, skipping=skipping) for _ in range(2)]
        return Pair(torch.from_numpy(self.vectors_.table), generator, predictors[0]), predictors[1]

    def _train(self, settings: dict[str, Any], lesson: Lesson, recorder: Recorder) -> None:
        evaluator = make_evaluator(
            settings["engine"], make_task(settings, lesson, settings["cell"]), settings["workers"]
        )
        try:
            search = self._search(settings, lesson, evaluator, recorder)
            self._finish(settings, evaluator, search)
        finally:
            evaluator.close()

    def _search(self, settings: dict[str, Any], lesson: Lesson, evaluator: Evaluator, recorder: Recorder) -> Search:
        objective = make_objective(settings, evaluator)

        def climb(genomes: Genomes, climbs: Sequence[Climb]) -> Genomes:
            return evaluator.climb(genomes, climbs, descended(objective).terms)

        def first(count: int) -> Genomes:
            if settings["start"] == "random":
                return initial_genomes(settings["seed"], count, evaluator.task)
            return informed_genomes(settings, count, lesson, evaluator, descended(objective).first_terms)

        search = STRATEGIES[settings["search"]](first, objective, settings, climb)
        state = recorder.restore()
        if state is not None:
            self.history_ = list(state.pop("history"))
            search.restore(state)
        while not search.finished:
            started = perf_counter()
            genomes, seeds = search.ask()
            search.tell(evaluator.evaluate(genomes, seeds))
            self._warn_if_lost(search)
            line = {**_line(search), "evaluations": len(genomes)}
            self.history_.append(line)
            recorder.record(
                {**line, "seconds": round(perf_counter() - started, 3)},
                {"history": self.history_, **search.state()},
                settings["generations"] + 1,
            )
        return search

    def _warn_if_lost(self, search: Search) -> None:
        """Say once, at the start of every stretch, that nobody is below the paper's threshold."""
        objective = search.objective
        if not isinstance(objective, PaperObjective):
            return
        if search.progress()["feasible"] == 0 and (not self.history_ or self.history_[-1]["feasible"] > 0):
            logger.warning(
                "generation %d has nobody feasible: the least loss is %.3f, the threshold %.3f%s.",
                search.generation,
                objective.loss(search.best().evaluation),
                objective.threshold,
                "" if objective.graded_failures else "; all are equally fit, so the search drifts",
            )

    def _finish(self, settings: dict[str, Any], evaluator: Evaluator, search: Search) -> None:
        """Put the best generator and a predictor trained behind it into `model_`."""
        best, task, objective = search.best(), evaluator.task, search.objective
        if isinstance(objective, PaperObjective) and not objective.feasible(best.evaluation):
            logger.warning(
                "nobody was feasible to the end: the least bad individual is returned (validation loss %.3f, "
                "selection rate %.3f); expect a poor classifier, and try more generations or a larger threshold.",
                best.evaluation.task_loss,
                best.evaluation.selection_rate,
            )
        self.shares_ = objective.shares(best.evaluation)
        masks = evaluator.select(best.genome, task.train), evaluator.select(best.genome, task.val)
        load_flat(self.model_.generator, best.genome)
        train_final(self.model_, self.full_text_, settings, evaluator, masks, best.seed)


def _line(search: Search) -> dict[str, Any]:
    """Return what the log says of a generation; a loss that is no number is None, for JSON has none."""
    best = search.best().evaluation
    told = asdict(best) | search.objective.shares(best)
    finite = {f"best_{name}": value if math.isfinite(value) else None for name, value in told.items()}
    return {"generation": search.generation, **search.progress(), **finite}
