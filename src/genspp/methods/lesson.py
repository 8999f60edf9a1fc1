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
    weighs in the loss. mark_costs: (classes,) what a selected token costs in a text of a class. evidence: (words,) how
    much a word says for a class whose evidence is wanted, by its row of the vectors; None where that is not learnt.
    """

    train: Encoded
    val: Encoded
    table: npt.NDArray[np.float32]
    class_weights: npt.NDArray[np.float32]
    mark_costs: npt.NDArray[np.float32]
    evidence: npt.NDArray[np.float32] | None = None

    @property
    def words(self) -> npt.NDArray[np.float32]:
        """The evidence of every word, which must be learnt."""
        if self.evidence is None:
            raise SettingsError("what words speak for is not learnt; set label_columns to True.")
        return self.evidence

    def evidence_of(self, data: Encoded) -> npt.NDArray[np.float32]:
        """Return the evidence of every token; the rows of all folds follow each other in the same order."""
        return self.words[data.ids % len(self.words)]

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
