"""Steps of generators by gradient, on compiled kernels: down their cost, and towards given highlights.

A climb's masks are drawn: a token is selected if its margin, by the temperature, and logistic noise are positive
together, and gradients go back through the slope of that chance. Without noise, a token that is not selected would
hear nothing.
"""

import numpy as np
import numpy.typing as npt

from genspp.data.encode import Mask
from genspp.kernels.adam import adam_step
from genspp.kernels.climb import Descent, Frozen, Steps, climb_steps, make_drawn
from genspp.kernels.inputs import Table
from genspp.kernels.lanes import WIDTH
from genspp.kernels.losses import imitation
from genspp.kernels.memory import Floats, floats
from genspp.kernels.space import Extent
from genspp.kernels.texts import lay_tokens, make_layout
from genspp.model.forms import Weights, kernel_order, pack, unpack
from genspp.model.passes import Batch, Network, Rows
from genspp.model.weights import form_of
from genspp.population.evaluator import Climb, Task, Terms

_NOTHING = np.zeros(0, np.float32)


class Climber:
    """A generator and the predictors that show it the way, with the memory that they need; one thread's own."""

    def __init__(self, task: Task, table: Table, rows: Rows) -> None:
        self._task, self._table, self._rows = task, table, rows
        self._generator, self._predictor, self._opponent = (
            Network(form_of(module), table) for module in (task.generator(), task.predictor(), task.opponent())
        )
        size = min(task.training.batch_size, len(rows))
        self._layout = make_layout(size, rows.longest, rows.words)
        self._begin = np.zeros(len(rows), np.int64)
        self._weights = np.array(task.class_weights, np.float32)
        self._costs = task.costs(np.arange(task.shape.classes, dtype=np.int32)).astype(np.float32)
        self._token_costs = task.token_costs(rows.data)

    def climb(self, genome: Weights, predictor: Weights, adversary: Weights, climb: Climb, terms: Terms) -> Weights:
        """Return the genome after all steps of a climb, between frozen predictors."""
        order = climb.batches(len(self._rows), self._task.training.batch_size)
        lengths = self._rows.data.lengths[order]
        extent = self._extent(lengths)
        stepping = _Stepping(genome, self._generator, climb.learning_rate)
        climb_steps(
            order.ravel(), order.shape[1], climb.pressures(), climb.noise(int(lengths.sum())), self._rows.texts,
            self._weights, self._costs, self._token_costs, self._table, self._layout, self._generator.sizes,
            self._generator.room(extent),
            _frozen(self._predictor, predictor, extent), _frozen(self._opponent, adversary, extent),
            Descent(float(terms.task), float(terms.rest), float(terms.chance), 1 / climb.temperature),
            self._begin, make_drawn(extent.groups, extent.places), stepping.steps, _NOTHING,
        )  # fmt: skip
        return stepping.genome()

    def _extent(self, lengths: npt.NDArray[np.int64]) -> Extent:
        """Return what the memory of the fullest step must hold. lengths: (steps, texts)."""
        groups = -np.sort(-lengths, axis=1)[:, ::WIDTH]  # the longest text of every group
        words = min(self._rows.words, int(lengths.sum(axis=1).max()))
        return Extent(groups.shape[1], int(groups.sum(axis=1).max()), int(groups.max()), words)

    def imitate(self, genome: Weights, wanted: Mask, climb: Climb) -> Weights:
        """Return the genome after as many steps down the cross-entropy of given highlights."""
        stepping, targets = _Stepping(genome, self._generator, climb.learning_rate), wanted.astype(np.float32)
        for chosen in climb.batches(len(self._rows), self._task.training.batch_size):
            batch = Batch(self._rows, chosen, self._weights, self._task.shape.hidden, self._layout)
            lanes, gradient = floats(batch.cells), floats(batch.cells)
            lay_tokens(batch.texts, batch.layout, self._rows.texts.begin, self._rows.texts.span, targets, lanes)
            margins = self._generator.tokens(batch, stepping.steps.weights)
            imitation(batch.places, margins, lanes, batch.real, 1 / batch.tokens, gradient)
            stepping.step(self._generator.tokens_back(batch, stepping.steps.weights, gradient))
        return stepping.genome()


def _frozen(network: Network, weights: Weights, extent: Extent) -> Frozen:
    """Return a predictor that shows the way, with memory for steps of some extent."""
    sizes = network.sizes
    logits, d_logits = (floats(extent.groups * sizes.outputs * WIDTH) for _ in range(2))
    order = kernel_order(sizes)
    return Frozen(
        sizes,
        1,
        False,
        network.selected,
        network.skipping,
        pack(weights, order),
        network.room(extent),
        logits,
        d_logits,
    )


class _Stepping:
    """A generator's weights under Adam."""

    def __init__(self, genome: Weights, network: Network, rate: float) -> None:
        self._order = kernel_order(network.sizes)
        weights = pack(np.asarray(genome, np.float32), self._order)
        gradient, moments, squares = (np.zeros_like(weights) for _ in range(3))
        self.steps = Steps(np.full_like(weights, rate), weights, gradient, moments, squares, np.ones(2))

    def step(self, gradient: Floats) -> None:
        """Go a step down."""
        adam_step(*self.steps._replace(gradient=gradient))

    def genome(self) -> Weights:
        """Return the weights in torch's order."""
        return unpack(self.steps.weights, self._order)
