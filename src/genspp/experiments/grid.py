"""The runs that a benchmark is made of: which there are, what they are called, in what order they go.

A run's name says all that tells it from the others of its benchmark, so that a finished one is known by its
file alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any

from genspp.data.sources import SOURCES, find_source
from genspp.data.sources.toy import TRIPLES, VARIANTS
from genspp.errors import DataError, SettingsError
from genspp.experiments import paper
from genspp.experiments.ablation import variants_on
from genspp.experiments.names import OURS, REFERENCES, data_form, data_name, data_sets, declares, family, methods
from genspp.experiments.skew import starts
from genspp.experiments.sparsity import settings_of
from genspp.methods import METHODS
from genspp.settings import PRESETS

RANDOM_SIZES = {"toy": (2, 3, 4)}
OTHER_RANDOM_SIZES = (2, 4)
NO_PRESET = "trivial"  # what stands for the preset in the name of a run that has none
UNPUBLISHED_MINUTES = 5.0  # a guess that only orders the runs


@dataclass(frozen=True, slots=True)
class Effort:
    """How much of the full work is done: settings that every method takes that has them.

    Its name keeps the results of different efforts apart; the full effort has none.
    """

    name: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def of(self, method: str) -> dict[str, Any]:
        """Return the settings of one method."""
        return {name: value for name, value in self.settings.items() if declares(method, name)}


FULL = Effort()
QUICK = Effort("quick", {"generations": 3, "population": 4, "min_steps": 0, "max_epochs": 10, "pretrain_epochs": 2})


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of a grid.

    benchmark: whose folder its result goes to. source: the data as typed; `data` is its name without a path.
    variant: the one setting that the benchmark varies, as in `paper` ("alpha=0.10"), or empty.
    settings: all that is passed to the method besides preset and seed.
    """

    benchmark: str
    source: str
    method: str
    preset: str
    seed: int
    variant: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    effort: str = ""

    @property
    def data(self) -> str:
        """The name of the data set."""
        return data_name(self.source)

    @property
    def name(self) -> str:
        """What its files are called."""
        variant = [self.variant.replace("=", "").replace(" ", "-")] if self.variant else []
        return "-".join([self.data, self.preset, self.method, *variant, f"seed{self.seed}"])

    @property
    def file(self) -> Path:
        """Where its result is, below the folder of all results."""
        return Path(self.effort) / self.benchmark / f"{self.name}.json"

    @property
    def folder(self) -> Path:
        """Where its run folder is, below the folder of all runs."""
        return Path(self.effort) / self.benchmark / self.name

    def key(self) -> dict[str, Any]:
        """Return what identifies the run in its result."""
        parts = ("benchmark", "data", "preset", "method", "variant", "seed")
        return {name: getattr(self, name) for name in parts}

    def asked(self) -> dict[str, Any]:
        """Return the settings without the folder of the vectors: what may stand in a result."""
        shown = dict(self.settings)
        if "vectors" in shown:
            shown["vectors"] = Path(shown["vectors"]).name
        return shown

    def is_what(self, asked: Mapping[str, Any]) -> bool:
        """Tell whether a result was asked for with the same settings; the number of workers changes none."""
        return _without_workers(asked) == _without_workers(self.asked())

    def command(self) -> str:
        """Return what one types to repeat it, with names in the place of local paths."""
        source = quote(find_source(self.source).command)
        vectors = [f"--vectors {self.asked()['vectors']}"] if "vectors" in self.settings else []
        if not self.effort and not self.variant:
            extra = [*vectors, *(["--workers 1"] if "workers" in self.settings else [])]
            chosen = f"--method {self.method} --preset {self.preset} --seed {self.seed}"
            return " ".join(["genspp train", source, chosen, *extra, f"--out runs/{self.name}"])
        chosen = f"--data {source} --methods {self.method} --seeds {self.seed}"
        preset = [f"--preset {self.preset}"] if self.preset in PRESETS else []
        effort = [f"--{self.effort}"] if self.effort else []
        return " ".join(["genspp benchmark", self.benchmark, chosen, *preset, *vectors, *effort])

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values; `Trial(**values)` is the way back."""
        return asdict(self)


def _without_workers(asked: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in asked.items() if name != "workers"}


def expand(
    benchmark: str,
    *,
    sources: Sequence[str],
    methods: Sequence[str] | None = None,
    preset: str = "sound",
    seeds: int = 5,
    vectors: Path | None = None,
    effort: Effort = FULL,
    spent: Mapping[tuple[str, int], int] | None = None,
) -> list[Trial]:
    """Return the runs of a benchmark, seeds 1 to `seeds`.

    spent: from (data, seed) to the evaluations of an ablation's full recipe; what must have as many is left out where
    these are not known yet.
    """
    wanted = _check(benchmark, sources, methods, preset, seeds)
    trials: list[Trial] = []
    for source in sources:
        if benchmark == "ablation":
            shared = effort.of(OURS) | _shared_settings(source, OURS, preset, vectors)
            trials += _ablation_trials(source, seeds, shared, effort, spent or {})
            continue
        for method in (method for method in wanted if method not in REFERENCES):
            settings = effort.of(method) | _shared_settings(source, method, preset, vectors)
            for place, variant, own, most in _variants(benchmark, data_name(source), method, preset, effort):
                trials += [
                    Trial(place, source, method, preset, seed, variant, {**settings, **own}, effort.name)
                    for seed in range(1, min(seeds, most or seeds) + 1)
                ]
        if benchmark == "table1":
            trials += _reference_trials(source, wanted, seeds, effort)
    return trials


def _shared_settings(source: str, method: str, preset: str, vectors: Path | None) -> dict[str, Any]:
    """Return what all runs are given: one core, and the vectors where the data come without their own."""
    # Several runs at once use the cores better than one run can.
    shared: dict[str, Any] = {"workers": 1}
    if vectors is not None and "vectors" not in METHODS[method].settings_on(family(data_name(source)), preset):
        shared["vectors"] = str(vectors)
    return shared


def _variants(
    benchmark: str, data: str, method: str, preset: str, effort: Effort
) -> Iterable[tuple[str, str, dict[str, Any], int | None]]:
    """Return the benchmark whose folder a variant belongs to, its name, its settings and, if any, its most seeds.

    What the paper's main table has, too, is a run of table1, whoever asks for it: its level of sparsity, a clean start.
    """
    if benchmark == "table1":
        yield "table1", "", {}, None
    elif benchmark == "skew":
        found = [("skew", *start) for start in starts(method, preset, quick=effort is not FULL)]
        yield from [("table1", "", {}, None), *found] if found else []
    else:
        for variant, own in settings_of(method, family(data), preset):
            yield ("alpha" if variant else "table1"), variant, own, None


def _ablation_trials(
    source: str, seeds: int, shared: dict[str, Any], effort: Effort, spent: Mapping[tuple[str, int], int]
) -> Iterable[Trial]:
    data, population = data_name(source), shared.get("population", METHODS[OURS].declared["population"].of("sound"))
    for seed in range(1, seeds + 1):
        for variant, own in variants_on(data, population, spent.get((data, seed))).items():
            yield Trial("ablation", source, OURS, "sound", seed, variant, {**shared, **own}, effort.name)


def _reference_trials(source: str, wanted: Sequence[str], seeds: int, effort: Effort) -> list[Trial]:
    data = data_name(source)
    trials = []
    if "random" in wanted:
        for size in RANDOM_SIZES.get(family(data), OTHER_RANDOM_SIZES):
            trials += [
                Trial("table1", source, "random", NO_PRESET, seed, f"k={size}", {"k": size}, effort.name)
                for seed in range(1, seeds + 1)
            ]
    if "matching" in wanted and data in VARIANTS:  # nothing in it is drawn: one seed says all
        trials += [
            Trial("table1", source, "matching", NO_PRESET, 1, " ".join(triple), {"triple": list(triple)}, effort.name)
            for triple in TRIPLES
        ]
    return trials


def _check(
    benchmark: str, sources: Sequence[str], chosen: Sequence[str] | None, preset: str, seeds: int
) -> tuple[str, ...]:
    """Return the methods that are wanted, in order; raise a sentence on what cannot be run."""
    if preset not in PRESETS:
        raise SettingsError(f"preset is {preset!r}; it takes one of {', '.join(PRESETS)}.")
    if seeds < 1:
        raise SettingsError(f"seeds is {seeds}; it takes a whole number of at least 1.")
    known = (*methods(), *REFERENCES)
    for method in chosen or ():
        if method not in known:
            raise SettingsError(f"method is {method!r}; choose from {', '.join(known)}.")
    if benchmark == "ablation" and (preset != "sound" or any(method != OURS for method in chosen or ())):
        raise SettingsError(f"an ablation is of {OURS} under preset sound; leave out --methods and --preset.")
    names = [data_name(source) for source in sources]
    for source, data in zip(sources, names, strict=True):
        if benchmark == "alpha" and not paper.alphas(family(data)):
            forms = ", ".join(data_form(data) for data in data_sets() if paper.alphas(family(data)))
            raise DataError(f"the data is {source!r}; choose from {forms}.")
        if data in SOURCES and find_source(source).takes_columns:
            raise DataError(f"the file {source} has the name of a data set, {data}; give it another.")
    if len(set(names)) < len(names):
        raise DataError(f"the data {', '.join(sources)} names a data set twice; name each once.")
    return tuple(method for method in known if chosen is None or method in chosen)


Seconds = Mapping[tuple[str, str, str], float]  # from (data, preset, method) to what such runs took here


def longest_first(trials: Sequence[Trial], seconds: Seconds) -> list[Trial]:
    """Return the runs in the order to start them: with the longest first no core idles for long at the end."""
    return sorted(trials, key=lambda trial: -expected_seconds(trial, seconds))


def expected_seconds(trial: Trial, seconds: Seconds) -> float:
    """Return about how long a run takes: as long as others of its kind here, or else as published."""
    if trial.method in REFERENCES:
        return 0.0
    known = seconds.get((trial.data, trial.preset, trial.method))
    if known is not None:
        return known
    cost = paper.COST.get((family(trial.data), trial.method))
    return 60 * (cost.minutes.mean if cost is not None else UNPUBLISHED_MINUTES)
