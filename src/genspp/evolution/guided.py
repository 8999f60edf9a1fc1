"""Gradient proposes, fresh predictors dispose: the search of preset `sound`.

A child is its parent after a climb: some Adam steps of the generator, between the two predictors that judged the
parent and that stay frozen. It is then judged as everybody is, by predictors that it has never met. A gradient may
follow a code that generator and predictor share; a fresh predictor does not know the code, so it does not survive.

How a child climbs (steps, rate, pressure to select little, noise) it inherits, changed a little, so that what works
spreads.
The best individual is judged again in every generation, and its evaluations are averaged: luck does not last. Of the
descendants of one of the first individuals only some survive, so that a good start does not crowd out a better one.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from genspp.errors import SettingsError
from genspp.evolution.fitness import Objective
from genspp.evolution.individuals import Genomes, Individuals
from genspp.evolution.search import STRATEGIES, Ascent, Draw, Search, State
from genspp.kernels.losses import exponentials
from genspp.population.evaluator import Climb
from genspp.settings import Setting, number, optional, whole
from genspp.streams import Purpose, stream

# The columns of a manner of climbing, and by how much (log-normally) a child's differs from its parent's.
PRESSURE, RATE, STEPS, TEMPERATURE = range(4)
_CHANGE = np.array([0.4, 0.3, 0.4, 0.3])
_FEWEST, _MOST = 5, 600  # steps
_COLDEST, _HOTTEST = 0.2, 5.0
_AFRESH = 0.25  # the share of the children that climb between readers instead, which know no generator
_SPREAD = 2.0  # the first manners differ more
_KIN = 0.5  # the share of the survivors that may descend from the same one of the first individuals
_GAIN = 0.01  # of the cost: less is no improvement


@STRATEGIES.register("guided")
class GuidedSearch(Search):
    """Children climb by gradient between their parent's frozen judges, and are judged by fresh ones."""

    own: ClassVar[dict[str, Setting]] = {
        "climb_steps": Setting(200, whole(1), "guided: Adam steps of a climb, at first"),
        "climb_rate": Setting(
            None,
            optional(number(0, open_ends=True)),
            "guided: their learning rate, at first; None: by whether first generators know word lists",
        ),
        "pressure": Setting(0.4, number(0, open_ends=True), "guided: what selecting all tokens costs there, at first"),
        "stall": Setting(10, whole(1), "guided: generations without a better individual that end the search"),
    }

    def __init__(
        self, draw: Draw, objective: Objective, settings: Mapping[str, Any], climb: Ascent | None = None
    ) -> None:
        super().__init__(draw, objective, settings, climb)
        if climb is None:
            raise SettingsError("the search 'guided' needs gradients; choose another one.")
        self._stream = stream(settings["seed"], Purpose.SEARCH)
        self._manners = np.zeros((0, 4))  # of the individuals, and `_asked_manners` of those that were asked for
        self._asked_manners = self._manners
        self._founders = np.zeros(0, np.int64)  # which of the first individuals each descends from
        self._asked_founders = self._founders
        self._judged = np.zeros(0, np.int64)  # how often each was judged
        self._best_cost, self._stalled = np.inf, 0

    @property
    def finished(self) -> bool:
        """Whether nothing has improved for a while, or all generations have been told."""
        return super().finished or self._stalled >= self.settings["stall"]

    def _propose(self) -> Genomes:
        """Return the first population; later children, and the best individual once more."""
        first = np.array([*(self.settings[name] for name in ("pressure", "climb_rate", "climb_steps")), 1.0])
        if self.generation < 0:
            genomes = self.draw(2 * self.settings["population"])
            self._asked_manners = self._changed(np.tile(first, (len(genomes), 1)), _SPREAD)
            self._asked_founders = np.arange(len(genomes))
            return genomes
        parents = self._stream.integers(len(self.individuals), size=self.settings["population"])
        manners = self._changed(self._manners[parents])
        afresh = self._stream.random(len(parents)) < _AFRESH
        climbs = [
            Climb(
                steps=int(steps),
                learning_rate=float(rate),
                pressure=float(pressure),
                seed=self.seed(Purpose.CLIMB, self.generation + 1, number),
                judged=None if afresh[number] else int(self.individuals.seeds[parent]),
                temperature=float(temperature),
            )
            for number, (parent, (pressure, rate, steps, temperature)) in enumerate(zip(parents, manners, strict=True))
        ]
        assert self.climb is not None
        children = self.climb(self.individuals.genomes[parents], climbs)
        self._asked_manners, self._asked_founders = manners, self._founders[parents]
        return np.concatenate([children, self.individuals.genomes[:1]])

    def _learn(self, told: Individuals) -> None:
        """Average what the best individual was judged to be worth, and keep the best."""
        if self.generation == 0:
            everybody, manners, founders = told, self._asked_manners, self._asked_founders
            judged = np.ones(len(told), np.int64)
        else:
            children = told.take(slice(len(told) - 1))
            everybody = self._averaged(told.take(slice(len(told) - 1, None))).join(children)
            manners = np.concatenate([self._manners, self._asked_manners])
            founders = np.concatenate([self._founders, self._asked_founders])
            judged = np.concatenate([self._judged, np.ones(len(children), np.int64)])
            judged[0] += 1
        order = self._survivors(np.argsort(-self.fitness(everybody), kind="stable"), founders)
        self.individuals, self._manners, self._judged = everybody.take(order), manners[order], judged[order]
        self._founders = founders[order]
        cost = self.objective.cost(self.best().evaluation)
        better = cost < self._best_cost * (1 - _GAIN)
        self._stalled = 0 if better else self._stalled + 1
        self._best_cost = cost if better else self._best_cost

    def _survivors(self, ranked: npt.NDArray[np.int64], founders: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return who lives on, best first: of one founder's descendants no more than some, while there are others."""
        wanted, most = self.settings["population"], max(1, int(_KIN * self.settings["population"]))
        kin = np.array(
            [np.count_nonzero(founders[ranked[:place]] == founders[one]) for place, one in enumerate(ranked)]
        )
        chosen = np.concatenate([ranked[kin < most], ranked[kin >= most]])[:wanted]
        return np.asarray(chosen[np.argsort(np.argsort(ranked)[chosen], kind="stable")])

    def _averaged(self, again: Individuals) -> Individuals:
        """Return the individuals, the evaluation of the first one averaged with a further one."""
        evaluations = {}
        for name, values in self.individuals.evaluations.items():
            evaluations[name] = values.copy()
            evaluations[name][0] += (again.evaluations[name][0] - values[0]) / (self._judged[0] + 1)
        return Individuals(self.individuals.genomes, self.individuals.seeds, evaluations)

    def _changed(self, manners: npt.NDArray[np.float64], spread: float = 1.0) -> npt.NDArray[np.float64]:
        """Return manners, every number of them multiplied by one near 1."""
        drawn = self._stream.random(manners.shape) + self._stream.random(manners.shape) - 1
        changed = manners * exponentials((spread * 2.5 * _CHANGE * drawn).ravel()).reshape(manners.shape)
        changed[:, STEPS] = np.clip(np.rint(changed[:, STEPS]), _FEWEST, _MOST)
        changed[:, TEMPERATURE] = np.clip(changed[:, TEMPERATURE], _COLDEST, _HOTTEST)
        return np.asarray(changed)

    def _memory(self) -> State:
        return {
            "stream": self._stream.bit_generator.state,
            "manners": self._manners,
            "judged": self._judged,
            "founders": self._founders,
            "best_cost": self._best_cost,
            "stalled": self._stalled,
        }

    def _remember(self, memory: Mapping[str, Any]) -> None:
        self._stream.bit_generator.state = memory["stream"]
        self._manners, self._judged = np.asarray(memory["manners"]), np.asarray(memory["judged"])
        self._founders = np.asarray(memory["founders"])
        self._best_cost, self._stalled = float(memory["best_cost"]), int(memory["stalled"])
