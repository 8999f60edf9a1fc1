"""Steps of generators by gradient, on compiled kernels: down their cost, and towards given highlights.

A climb's masks are drawn: a token is selected if its margin, by the temperature, and logistic noise are positive
together, and gradients go back through the slope of that chance. Without noise, a token that is not selected would
hear nothing.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from genspp.data.encode import Mask
from genspp.kernels.adam import adam_step
from genspp.kernels.inputs import Table
from genspp.kernels.lanes import WIDTH
from genspp.kernels.losses import draw_mask, imitation, press, task_loss
from genspp.kernels.memory import Floats, floats
from genspp.kernels.texts import lay_tokens, make_layout
from genspp.model.forms import Weights, kernel_order, pack, unpack
from genspp.model.passes import Batch, Network, Rows
from genspp.model.weights import form_of
from genspp.population.evaluator import Climb, Task, Terms


class Climber:
    """A generator and the predictors that show it the way, with the memory that they need; one thread's own."""

    def __init__(self, task: Task, table: Table, rows: Rows) -> None:
        self._task, self._rows = task, rows
        self._generator, self._predictor, self._opponent = (
            Network(form_of(module), table) for module in (task.generator(), task.predictor(), task.opponent())
        )
        size = min(task.training.batch_size, len(rows))
        self._layout = make_layout(size, rows.longest, rows.words)
        self._begin = np.zeros(len(rows), np.int64)
        self._weights = np.array(task.class_weights, np.float32)

    def climb(self, genome: Weights, predictor: Weights, adversary: Weights, climb: Climb, terms: Terms) -> Weights:
        """Return the genome after all steps of a climb, between frozen predictors."""
        stepping = _Stepping(genome, self._generator, climb.learning_rate)
        frozen = (self._predictor, pack(predictor, kernel_order(self._predictor.sizes)))
        opposed = (self._opponent, pack(adversary, kernel_order(self._opponent.sizes)))
        sharpness = np.float32(1 / climb.temperature)
        for step, (chosen, batch) in enumerate(self._batches(climb)):
            margins = self._generator.tokens(batch, stepping.weights) * sharpness
            mask, slopes, rest = floats(batch.cells), floats(batch.cells), floats(batch.cells)
            noise = self._laid(batch, chosen, climb.noise(step, batch.tokens))
            draw_mask(batch.places, margins, noise, batch.real, mask, slopes)
            rest[: batch.cells] = batch.real[: batch.cells] - mask[: batch.cells]
            _, d_mask = _judge(*frozen, batch, mask)
            d_mask *= np.float32(terms.task)
            if terms.rest > 0:
                loss, d_rest = _judge(*opposed, batch, rest)
                if loss < terms.chance:  # its loss is to rise, and what it sees is 1 - mask: minus twice
                    d_mask += d_rest * np.float32(terms.rest)
            costs = floats(batch.groups * WIDTH)
            costs[: batch.texts] = self._task.costs(batch.layout.labels[: batch.texts].astype(np.int32))
            pressure = climb.pressure_at(step) / batch.texts
            press(batch.groups, batch.layout.first, batch.real, costs, pressure, slopes, d_mask)
            stepping.step(self._generator.tokens_back(batch, stepping.weights, d_mask * sharpness))
        return stepping.genome()

    def imitate(self, genome: Weights, wanted: Mask, climb: Climb) -> Weights:
        """Return the genome after as many steps down the cross-entropy of given highlights."""
        stepping, targets = _Stepping(genome, self._generator, climb.learning_rate), wanted.astype(np.float32)
        for _, batch in self._batches(climb):
            lanes, gradient = floats(batch.cells), floats(batch.cells)
            lay_tokens(batch.texts, batch.layout, self._rows.texts.begin, self._rows.texts.span, targets, lanes)
            margins = self._generator.tokens(batch, stepping.weights)
            imitation(batch.places, margins, lanes, batch.real, 1 / batch.tokens, gradient)
            stepping.step(self._generator.tokens_back(batch, stepping.weights, gradient))
        return stepping.genome()

    def _batches(self, climb: Climb) -> Iterator[tuple[npt.NDArray[np.int64], Batch]]:
        hidden = self._task.shape.hidden
        for chosen in climb.batches(len(self._rows), self._task.training.batch_size):
            yield chosen, Batch(self._rows, chosen, self._weights, hidden, self._layout)

    def _laid(self, batch: Batch, chosen: npt.NDArray[np.int64], flat: npt.NDArray[np.float32]) -> Floats:
        """Return numbers of the tokens of some texts, laid end to end, at their places."""
        lengths = self._rows.data.lengths[chosen]
        self._begin[chosen] = np.cumsum(lengths) - lengths
        lanes = floats(batch.cells)
        lay_tokens(batch.texts, batch.layout, self._begin, self._rows.texts.span, flat, lanes)
        return lanes


def _judge(network: Network, weights: Floats, batch: Batch, mask: Floats) -> tuple[float, Floats]:
    """Return the loss of a frozen predictor at a mask, and the gradient of the mask."""
    logits = network.texts(batch, weights, mask)
    d_logits = np.zeros_like(logits)
    loss = task_loss(batch.groups, network.sizes.outputs, logits, batch.layout.labels, batch.layout.shares, d_logits)
    return loss, network.texts_back(batch, weights, mask, d_logits, frozen=True)[1]


class _Stepping:
    """A generator's weights under Adam."""

    def __init__(self, genome: Weights, network: Network, rate: float) -> None:
        self._order = kernel_order(network.sizes)
        self.weights = pack(np.asarray(genome, np.float32), self._order)
        self._moments, self._squares = np.zeros_like(self.weights), np.zeros_like(self.weights)
        self._powers, self._rates = np.ones(2), np.full_like(self.weights, rate)

    def step(self, gradient: Floats) -> None:
        """Go a step down."""
        adam_step(self._rates, self.weights, gradient, self._moments, self._squares, self._powers)

    def genome(self) -> Weights:
        """Return the weights in torch's order."""
        return unpack(self.weights, self._order)
