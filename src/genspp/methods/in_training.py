"""Networks in training by gradient: generators that draw masks, predictors that read them; and what masks cost."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genspp.kernels.inputs import Table
from genspp.kernels.lanes import WIDTH
from genspp.kernels.losses import Omega, imitation, regularise, task_loss
from genspp.kernels.memory import Floats, floats
from genspp.methods.masks import Mask
from genspp.model.forms import kernel_order, unpack
from genspp.model.networks import Generator, Predictor
from genspp.model.optimizer import Adam
from genspp.model.passes import Batch, Network
from genspp.model.weights import form_of


class NetworkInTraining:
    """A network and the optimizer that moves its weights; both ways over a batch add to that optimizer's gradient."""

    def __init__(self, module: Generator | Predictor, optimizer: Adam, table: Table) -> None:
        self.network, self.optimizer = Network(form_of(module), table), optimizer
        self._places = optimizer.vector.kernel_places(module)

    @property
    def weights(self) -> Floats:
        """The present weights, in the kernels' order."""
        return self.optimizer.vector.numbers[self._places]

    @property
    def flat(self) -> Floats:
        """The present weights, in torch's order."""
        return unpack(self.weights, kernel_order(self.network.sizes))

    def learn(self, gradient: Floats) -> None:
        """Add to the gradient of the weights."""
        self.optimizer.add(self._places, gradient)


class GeneratorInTraining(NetworkInTraining):
    """A generator that draws masks."""

    def __init__(self, module: Generator, optimizer: Adam, table: Table, mask: type[Mask]) -> None:
        super().__init__(module, optimizer, table)
        self._mask = mask

    def draw(self, batch: Batch, noise: np.random.Generator) -> Mask:
        """Return a drawn mask."""
        self._used = self.weights
        self.logits = self.network.tokens(batch, self._used)
        return self._mask(self.logits, batch, noise)

    def learn_from(self, batch: Batch, d_logits: Floats) -> None:
        """Add to the gradient of the weights, given that of the logits of the last draw."""
        self.learn(self.network.tokens_back(batch, self._used, d_logits))

    def imitate(self, batch: Batch, targets: Floats, counted: Floats) -> None:
        """Add to the gradient of the weights that of the mean cross-entropy of a selection.

        targets: 1 for what is to be selected, counted: 1 for what the mean is over; both (places, WIDTH).
        """
        used, cells, gradient = self.weights, batch.cells, floats(batch.cells)
        margins, share = self._margins(self.network.tokens(batch, used), cells), 1 / counted[:cells].sum(dtype=float)
        imitation(batch.places, margins, targets, counted, share, gradient)
        if self.network.sizes.outputs == 2:
            gradient = np.concatenate([-gradient[:cells], gradient[:cells]])
        self.learn(self.network.tokens_back(batch, used, gradient))

    def margins(self, batch: Batch) -> Floats:
        """Return by how much selecting is preferred to dropping, (places, WIDTH); nobody goes back."""
        return self.network.margins(batch, self.weights)

    def _margins(self, logits: Floats, cells: int) -> Floats:
        return logits[:cells] if self.network.sizes.outputs == 1 else logits[cells : 2 * cells] - logits[:cells]


class PredictorInTraining(NetworkInTraining):
    """A predictor. frozen: it judges, and its weights stay."""

    def __init__(self, module: Predictor, optimizer: Adam, table: Table, *, frozen: bool = False) -> None:
        super().__init__(module, optimizer, table)
        self._frozen = frozen

    def logits(self, batch: Batch, mask: Floats, *, soft: bool = False) -> Floats:
        """Return the logits of every text, (groups, classes, WIDTH), at a mask."""
        self._used, self._seen = self.weights, mask
        return self.network.texts(batch, self._used, mask, soft=soft)

    def learn_from(self, batch: Batch, d_logits: Floats, *, asked: bool = True) -> Floats:
        """Add to the gradient of the weights, and return that of the mask (if asked for) of the last reading."""
        gradient, d_mask = self.network.texts_back(
            batch, self._used, self._seen, d_logits, asked=asked, frozen=self._frozen
        )
        if not self._frozen:
            self.learn(gradient)
        return d_mask

    def fit(self, batch: Batch, mask: Floats, *, asked: bool = True) -> tuple[float, Floats]:
        """Return the task loss at a mask and, if asked for, the gradient of the mask, and learn."""
        loss, d_logits = self.task(batch, self.logits(batch, mask))
        return loss, self.learn_from(batch, d_logits, asked=asked)

    def task(self, batch: Batch, logits: Floats) -> tuple[float, Floats]:
        """Return the (weighted) mean cross-entropy of logits, and their gradient."""
        d_logits, layout = np.zeros_like(logits), batch.layout
        classes = self.network.sizes.outputs
        return task_loss(batch.groups, classes, logits, layout.labels, layout.shares, d_logits), d_logits

    def look(self, batch: Batch, mask: Floats, *, soft: bool = False) -> Floats:
        """Return the logits at a mask; nobody goes back."""
        return self.network.texts(batch, self.weights, mask, soft=soft, keep=False)


@dataclass(frozen=True)
class Losses:
    """The terms that every method shares.

    alpha: the wanted share of selected tokens. lambda_s, lambda_c: the weights of missing it and of scatter. padding:
    whether padding that a mask selects counts, though not in the denominator. mark_costs: (classes,) what a selected
    token counts in a text of a class.
    """

    alpha: float
    lambda_s: float
    lambda_c: float
    class_weights: npt.NDArray[np.float32]
    padding: bool
    mark_costs: npt.NDArray[np.float32]

    def costs(self, batch: Batch) -> Floats:
        """Return what a selected token of every text counts, (groups, WIDTH)."""
        costs = floats(batch.groups * WIDTH)
        costs[: batch.texts] = self.mark_costs[batch.layout.labels[: batch.texts].astype(np.int64)]
        return costs

    def omega(self, batch: Batch, mask: Floats) -> tuple[float, Floats]:
        """Return lambda_s |share - alpha| + lambda_c (mean difference of neighbours) of a mask, and its gradient."""
        scatter, gradient = self.lambda_c / max(batch.pairs, 1), floats(batch.cells)
        omega = Omega(float(self.lambda_s), float(scatter), int(batch.tokens), float(self.alpha))
        first, costs = batch.layout.first, self.costs(batch)
        return regularise(batch.groups, first, batch.counted, costs, mask, omega, gradient), gradient


class Tally:
    """The loss over a whole split, from batches of any size: sums first, quotients at the end."""

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._task = self._mass = self._rates = self._own = self._selected = 0.0
        self._tokens = self._switches = self._pairs = self._texts = 0

    def add_task(self, predictor: PredictorInTraining, logits: Floats, batch: Batch) -> None:
        """Count the task loss of a batch."""
        labels = batch.layout.labels[: batch.texts].astype(np.int64)
        mass = float(self._losses.class_weights[labels].sum(dtype=np.float64))
        self._task += predictor.task(batch, logits)[0] * mass
        self._mass += mass

    def add(self, predictor: PredictorInTraining, logits: Floats, mask: Floats, batch: Batch, own: float = 0.0) -> None:
        """Count a batch; `own` is the sum over its texts of a term of the method's own."""
        self.add_task(predictor, logits, batch)
        omega = Omega(0.0, 1.0, 1, 0.0)
        first, spare = batch.layout.first, floats(batch.cells)
        costs = self._losses.costs(batch)
        self._switches += round(regularise(batch.groups, first, batch.counted, costs, mask, omega, spare))
        selected = np.add.reduceat(mask[: batch.cells].reshape(batch.places, WIDTH), first[: batch.groups])
        self._selected += float((selected.ravel() * costs[: selected.size]).sum(dtype=np.float64))
        real = (mask[: batch.cells] * batch.real[: batch.cells]).reshape(batch.places, WIDTH)
        selected = np.add.reduceat(real, first[: batch.groups])
        self._rates += float((selected / np.maximum(batch.lengths, 1)).sum(dtype=np.float64))
        self._tokens, self._pairs = self._tokens + batch.tokens, self._pairs + batch.pairs
        self._texts, self._own = self._texts + batch.texts, self._own + own

    @property
    def task(self) -> float:
        """The (weighted) mean cross-entropy; 0 where no text weighs anything."""
        return self._task / self._mass if self._mass else 0.0

    def loss(self) -> float:
        """Return task loss, regularisers and the mean over texts of the method's own term."""
        sparsity = abs(self._selected / self._tokens - self._losses.alpha)
        contiguity = self._switches / max(self._pairs, 1)
        omega = self._losses.lambda_s * sparsity + self._losses.lambda_c * contiguity
        return self.task + omega + self._own / self._texts

    @property
    def selection_rate(self) -> float:
        """The mean over texts of selected / real tokens."""
        return self._rates / self._texts
