"""What a method is trained on: texts looked up, the vectors they read, what texts and marks weigh."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from genspp.data.encode import Encoded
from genspp.errors import SettingsError

# Where evidence for some classes only is wanted, what a mark in a text of the other classes costs.
_UNWANTED = 3.0


@dataclass(frozen=True)
class Lesson:
    """Training and validation rows, and what goes with them.

    table: (rows, inputs) the word vectors that their ids are rows of. class_weights: (classes,) what a text of a class
    weighs in the loss. mark_costs: (classes,) what a selected token costs in a text of a class. words: how many rows of
    the table later texts have; those of every fold follow, in the same order. evidence: (rows,) how much a word says
    for a class whose evidence is wanted, to a training text what others say of it; None where that is not learnt.
    """

    train: Encoded
    val: Encoded
    table: npt.NDArray[np.float32]
    class_weights: npt.NDArray[np.float32]
    mark_costs: npt.NDArray[np.float32]
    words: int
    evidence: npt.NDArray[np.float32] | None = None

    def evidence_of(self, data: Encoded) -> npt.NDArray[np.float32]:
        """Return the evidence of every token, which must be learnt."""
        assert self.evidence is not None
        return self.evidence[data.ids]

    @property
    def one_sided(self) -> bool:
        """Whether evidence is wanted for some of the classes only."""
        return bool(self.mark_costs.min() < self.mark_costs.max())


def mark_costs(evidence_for: Sequence[Any] | None, classes: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Return what a selected token costs in a text of each class."""
    if evidence_for is None:
        return np.ones(len(classes), np.float32)
    wanted, names = {str(label) for label in evidence_for}, [str(label) for label in classes]
    foreign = sorted(wanted - set(names))
    if foreign:
        raise SettingsError(f"evidence_for names {foreign[0]!r}, which is no label; the labels are {', '.join(names)}.")
    return np.array([1.0 if name in wanted else _UNWANTED for name in names], np.float32)
