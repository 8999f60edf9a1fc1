"""Results, looked up by what they are, and the cells that tables make of them."""

from collections.abc import Sequence

from genspp.experiments.grid import NO_PRESET
from genspp.experiments.names import data_sets, methods
from genspp.experiments.results import Result
from genspp.report.result_table import Cell, summarise
from genspp.settings import PRESETS


class Board:
    """The results of a folder."""

    def __init__(self, results: Sequence[Result]) -> None:
        self.results = sorted(results, key=lambda run: run.seed)

    def find(self, data: str, preset: str, method: str, variant: str = "") -> list[Result]:
        """Return the runs of one row, by seed."""
        wanted = (data, preset, method, variant)
        return [run for run in self.results if (run.data, run.preset, run.method, run.variant) == wanted]

    def methods(self, data: str, preset: str) -> dict[str, list[Result]]:
        """Return the runs of every method without variants, in the order of the tables."""
        return {method: self.find(data, preset, method) for method in methods()}

    def grids(self, benchmark: str) -> list[tuple[str, str]]:
        """Return the data sets and presets that a benchmark has results of."""
        found = {(run.data, run.preset) for run in self.results if run.benchmark == benchmark}
        everything = dict.fromkeys([*data_sets(), *sorted(data for data, _ in found)])  # people's own files last
        return [(data, preset) for data in everything for preset in PRESETS if (data, preset) in found]

    def variants(self, data: str, method: str) -> list[str]:
        """Return the variants of a row that needs no training."""
        wanted = (data, NO_PRESET, method)
        return sorted({run.variant for run in self.results if (run.data, run.preset, run.method) == wanted})


def scale(metric: str) -> float:
    """Return what a metric is multiplied by in tables: all are fractions, shown in percent, but S."""
    return 1.0 if metric == "selection_size" else 100.0


def metric_cell(runs: Sequence[Result], metric: str, marks: tuple[str, ...] = ()) -> Cell | None:
    """Return a metric's mean and deviation over runs; None where one lacks it, as older files lack the references."""
    return over_seeds([run.metrics.get(metric) for run in runs], scale(metric), marks)


def over_seeds(values: Sequence[float | None], factor: float = 1.0, marks: tuple[str, ...] = ()) -> Cell | None:
    """Return mean and deviation; of a single run the value alone, for one run deviates from nothing."""
    cell = summarise(values, factor, marks)
    return Cell(cell.mean, None, marks) if cell is not None and len(values) == 1 else cell
