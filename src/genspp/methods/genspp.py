"""GenSPP: an evolved generator in front of a predictor trained behind it.

Ruggeri & Signorelli, "Interlocking-free Selective Rationalization Through Genetic-based Learning".
"""

import math
from collections.abc import Sequence
from dataclasses import asdict
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn

from genspp.errors import SettingsError
from genspp.evolution.fitness import PaperObjective
from genspp.evolution.individuals import Genome, Genomes
from genspp.evolution.search import STRATEGIES, Search, settings_of, strategy_settings
from genspp.methods.base import METHODS, Rationalizer, logger
from genspp.methods.final import final_predictors, train_final
from genspp.methods.first_generators import all_marking, climb_rate, informed_genomes, initial_genomes
from genspp.methods.in_training import GeneratorInTraining
from genspp.methods.judging import JUDGING, Judging, descended, is_blind, judging, make_objective
from genspp.methods.lesson import Lesson
from genspp.methods.masks import MASKS
from genspp.methods.patience import searched
from genspp.methods.recorder import Recorder
from genspp.methods.skew import SKEW_EPOCHS, Code, skew
from genspp.model.inference import flushed
from genspp.model.networks import CELLS, Encoder, Generator, Pair, Shape
from genspp.model.optimizer import Adam
from genspp.model.passes import prepare
from genspp.model.weights import flatten, load_flat
from genspp.population.evaluator import Climb, Evaluator, Task
from genspp.settings import Setting, number, one_of, optional, whole
from genspp.streams import Purpose, seed_of, stream

_SKEW_RATE = 1e-3  # Adam's, as that of the gradient methods


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
        "skew_epochs": SKEW_EPOCHS,
        "skew_sigma": Setting(
            None,
            optional(number(0)),
            "deviation of the noise on copies of a skewed generator that all start as; None: one of them is skewed",
        ),
        "cell": Setting("bigru", one_of(*CELLS), "the generator's recurrence: one direction or both", paper="gru"),
        **JUDGING,
    }
    on_source: ClassVar[dict[str | tuple[str, str], dict[str, Any]]] = {
        # Letters are no words: none of them speaks for a class, and all are common.
        "toy": {"vector_width": 26, "regression": False, "commonness": 0.0},
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
        if settings["skew_sigma"] is not None and not settings["skew_epochs"]:
            raise SettingsError("skew_sigma is set, but skew_epochs is 0; no generator is skewed then.")
        return settings

    def _networks(self, settings: dict[str, Any], inputs: int, classes: int) -> tuple[nn.Module, nn.Module]:
        generator = Generator(Encoder(Shape(inputs, settings["hidden"], classes), settings["cell"]), 1)
        predictor, full_text = final_predictors(settings, inputs, classes, len(self.vectors_.table))
        return Pair(torch.from_numpy(self.vectors_.table), generator, predictor), full_text

    def _train(self, settings: dict[str, Any], lesson: Lesson, recorder: Recorder) -> None:
        some, final = searched(lesson, settings["seed"]), "training the final predictors"
        recorder.say("learning what the full texts tell")
        with judging(settings, some, settings["cell"]) as judged:
            search = self._search(settings, some, judged.evaluator, recorder)
            if some is lesson:
                recorder.say(final)
                self._finish(settings, judged, search)
        if some is not lesson:
            recorder.say(f"{final} on all rows")
            with judging(settings, lesson, settings["cell"]) as judged:
                self._finish(settings, judged, search)

    def _search(self, settings: dict[str, Any], lesson: Lesson, evaluator: Evaluator, recorder: Recorder) -> Search:
        recorder.say("preparing readers and judges")
        objective, state = make_objective(settings, evaluator), recorder.restore()
        blind = not settings["skew_epochs"] and is_blind(objective, evaluator.task, "all are marked")
        skewed, told = None, dict[str, Any]()
        if settings["skew_epochs"] and state is None:
            skewed, told = _skewed(settings, evaluator.task)

        def climb(genomes: Genomes, climbs: Sequence[Climb]) -> Genomes:
            return evaluator.climb(genomes, climbs, descended(objective).terms)

        def first(count: int) -> Genomes:
            genomes = others(count)
            return np.concatenate([all_marking(evaluator.task), genomes[1:]]) if blind else genomes

        def others(count: int) -> Genomes:
            if skewed is not None and settings["skew_sigma"] is not None:
                return _noisy_copies(skewed, count, settings)
            if settings["start"] == "random":
                genomes = initial_genomes(settings["seed"], count, evaluator.task)
            else:
                genomes = informed_genomes(settings, count, lesson, evaluator, descended(objective).first_terms)
            return genomes if skewed is None else np.concatenate([genomes[:-1], skewed[None]])

        run = {**settings, "climb_rate": climb_rate(settings, lesson)}
        search = STRATEGIES[settings["search"]](first, objective, run, climb)
        if state is not None:
            self.history_ = list(state.pop("history"))
            search.restore(state)
        recorder.say(_plan(settings) if state is not None else f"making the first generators; then {_plan(settings)}")
        while not (search.finished or recorder.enough()):
            started = perf_counter()
            genomes, seeds = search.ask()
            search.tell(evaluator.evaluate(genomes, seeds))
            self._warn_if_lost(search)
            line = {**_line(search), "evaluations": len(genomes), **(told if search.generation == 0 else {})}
            self.history_.append(line)
            recorder.record(
                {**line, "seconds": round(perf_counter() - started, 3)},
                {"history": self.history_, "generator": search.best().genome, **search.state()},
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

    def _finish(self, settings: dict[str, Any], judged: Judging, search: Search) -> None:
        """Put the best generator and predictors trained behind it into `model_`."""
        evaluator, best, objective = judged.evaluator, search.best(), search.objective
        if isinstance(objective, PaperObjective) and not objective.feasible(best.evaluation):
            logger.warning(
                "nobody was feasible to the end: the least bad individual is returned (validation loss %.3f, "
                "selection rate %.3f); expect a poor classifier, and try more generations or a larger threshold.",
                best.evaluation.task_loss,
                best.evaluation.selection_rate,
            )
        self.shares_ = objective.shares(best.evaluation)
        task = evaluator.task
        masks = evaluator.select(best.genome, task.train), evaluator.select(best.genome, task.val)
        load_flat(self.model_.generator, best.genome)
        train_final(self.model_, self.full_text_, settings, *judged, masks, best.seed)


def _skewed(settings: dict[str, Any], task: Task) -> tuple[Genome, dict[str, Any]]:
    """Return a genome that has learnt, from random weights of its own, to write labels, and what a log says of it."""
    generator = task.generator()
    load_flat(generator, initial_genomes(seed_of(settings["seed"], Purpose.SKEW), 1, task)[0])
    table, parts = prepare(task.vectors, task.shape.classes, task.train, task.val)
    train, val = (Code(rows, task.shape.classes) for rows in parts)
    optimizer = Adam([(generator, _SKEW_RATE)])
    with flushed():
        training = GeneratorInTraining(generator, optimizer, table, MASKS["threshold"])
        told = skew([training], [optimizer], train, val, settings)
    return flatten(generator), told


def _plan(settings: dict[str, Any]) -> str:
    """Return in a few words how long the search goes on."""
    plan = f"at most {settings['generations']} generations"
    if "stall" in settings_of(STRATEGIES[settings["search"]]):
        return f"{plan}, fewer if {settings['stall']} bring nothing better"
    return plan


def _noisy_copies(genome: Genome, count: int, settings: dict[str, Any]) -> Genomes:
    """Return a genome as it is, and copies of it with noise on every gene."""
    seed, sigma = seed_of(settings["seed"], Purpose.SKEW), settings["skew_sigma"]
    noise = [stream(seed, Purpose.NOISE, i).normal(0.0, sigma, genome.shape) for i in range(1, count)]
    return np.stack([genome, *(genome + one for one in noise)]).astype(np.float32)


def _line(search: Search) -> dict[str, Any]:
    """Return what the log says of a generation; a loss that is no number is None, for JSON has none."""
    best = search.best().evaluation
    told = asdict(best) | search.objective.shares(best)
    finite = {f"best_{name}": value if math.isfinite(value) else None for name, value in told.items()}
    return {"generation": search.generation, **search.progress(), **finite}
