"""What the tests of the gradient-trained methods share: settings, models in mid-training, slow reference code."""

import copy
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from genspp.app.runs import write_checkpoint
from genspp.data.encode import Encoded
from genspp.data.vectors import Vectors, onehot
from genspp.kernels.lanes import WIDTH
from genspp.kernels.memory import Floats, floats
from genspp.kernels.texts import make_layout
from genspp.methods.gradient import GradientRationalizer, Session
from genspp.methods.in_training import Losses
from genspp.methods.recorder import Forgetful
from genspp.model.networks import Generator, Predictor
from genspp.model.passes import Batch, prepare
from genspp.model.weights import draw, load_flat

SIZES = {"toy": (25, 8, 3), "hatexplain": (25, 16, 2)}  # inputs, hidden units, classes
QUICK: dict[str, Any] = {
    "vectors": "onehot",
    "hidden": 4,
    "learning_rate": 0.03,
    "batch_size": 32,
    "alpha": 0.2,
    "max_epochs": 30,
    "patience": 12,
    "seed": 3,
}

# Nine texts of unequal length, so that two groups of lanes are needed and the second is not full; three classes.
LENGTHS = np.array([2, 6, 4, 1, 4, 3, 5, 1, 2])
TABLE = np.random.RandomState(4).normal(0, 1, (12, 5)).astype(np.float32) * (np.arange(12) > 0)[:, None]
TEXTS = Encoded(
    np.random.RandomState(5).randint(1, 12, LENGTHS.sum()).astype(np.int32),
    np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int64),
    np.array([0, 2, 1, 1, 0, 2, 2, 0, 1], np.int32),
)
CLASS_WEIGHTS = np.array([1.0, 2.0, 0.5], np.float32)
MARK_COSTS = np.array([1.0, 3.0, 2.0], np.float32)
FULL_TEXT_LOSS = 0.2
# Predictors that skip gaps; that read zero vectors in their place; and these where padding counts and masks are drawn.
READINGS: list[dict[str, Any]] = [{"skip_gaps": True}, {"skip_gaps": False}, {"preset": "paper"}]
each_reading = pytest.mark.parametrize("reading", READINGS, ids=["skipping", "zeros", "paper"])


class Notebook(Forgetful):
    """A recorder that keeps all lines, and the state after each of them in a folder if there is one."""

    def __init__(self, state: dict[str, Any] | None = None, folder: Path | None = None) -> None:
        self.state, self.folder = state, folder
        self.lines: list[dict[str, Any]] = []
        self.totals: set[int] = set()

    def restore(self) -> dict[str, Any] | None:
        return self.state

    def record(self, line: dict[str, Any], state: dict[str, Any], total: int) -> None:
        self.lines.append(line)
        self.totals.add(total)
        if self.folder is not None:
            write_checkpoint(self.folder / str(line["epoch"]), state)


def prepared(kind: type[GradientRationalizer], **settings: Any) -> tuple[Any, Session, Batch]:
    """Return a model with weights that are not the first ones, a session in its first epoch, and all `TEXTS`."""
    model: Any = kind(**{"hidden": 3, "alpha": 0.3, "lambda_c": 0.7, "lambda_s": 1.3, **settings})
    model._settings_ = full = model.settings()
    model.classes_, model.vectors_ = np.array(["x", "y", "z"]), Vectors(tuple(map(str, range(10))), TABLE, "random")
    model._make_networks()
    companions = model._companions(model._shape())
    for number, module in enumerate((model.model_, model.full_text_, companions)):
        if any(True for _ in module.parameters()):  # a norm that is still the identity would hide a missing one
            numbers = np.random.default_rng(number)
            flat = draw(numbers, module)
            load_flat(module, flat + numbers.normal(0, 0.3, len(flat)).astype(np.float32))
    table, (rows,) = prepare(TABLE, 3, TEXTS)
    terms = [full[name] for name in ("alpha", "lambda_s", "lambda_c")]
    losses = Losses(*terms, CLASS_WEIGHTS, full["padding_in_losses"], MARK_COSTS)
    session = Session(full, losses, table, model._optimizers(full, companions), companions, FULL_TEXT_LOSS)
    model._in_training(session)
    session.begin(0, 7)
    layout = make_layout(len(TEXTS), rows.longest, rows.words)
    batch = Batch(rows, np.arange(len(TEXTS)), CLASS_WEIGHTS, full["hidden"], layout, padded=losses.padding)
    return model, session, batch


def put(session: Session) -> None:
    """Write the weights of a session to its modules, which torch reads."""
    for optimizer in session.optimizers:
        optimizer.put()


def again(session: Session) -> np.random.Generator:
    """Return the random numbers of the session's epoch as they stand."""
    return copy.deepcopy(session.noise)


def parameter_count(kind: type[GradientRationalizer], data: str) -> int:
    """Return the number of trained parameters on a data set of the paper."""
    inputs, hidden, classes = SIZES[data]
    model: Any = kind(hidden=hidden)
    model._settings_ = model.settings()
    model.classes_ = np.arange(classes)
    model.vectors_ = onehot([[str(i) for i in range(inputs)]])
    model._make_networks()
    model._finished = True
    return int(model.parameter_count)


# ---- the definitions, text by text, by torch; arrays over tokens are flat, (places, WIDTH), as in the code -------


def lanes(batch: Batch) -> list[tuple[int, npt.NDArray[np.int64]]]:
    """Return every text of a batch in the order of its lanes, with the cells of its places, padding included."""
    found = []
    for lane in range(batch.texts):
        group, column = divmod(lane, WIDTH)
        places = np.arange(batch.layout.first[group], batch.layout.first[group + 1])
        found.append((int(batch.layout.rows[lane]), places * WIDTH + column))
    return found


def vectors_of(text: int) -> torch.Tensor:
    return torch.from_numpy(TABLE)[TEXTS.ids[TEXTS.starts[text] : TEXTS.starts[text + 1]].astype(np.int64)]


@torch.no_grad()
def choices(generator: Generator, batch: Batch) -> npt.NDArray[np.float32]:
    """Return the selection logits, (2, cells); the states of padding are zero before the norm."""
    found = np.zeros((2, batch.cells), np.float32)
    for text, cells in lanes(batch):
        vectors = torch.zeros(len(cells), TABLE.shape[1])
        vectors[: LENGTHS[text]] = vectors_of(text)
        real = torch.arange(len(cells)) < int(LENGTHS[text])
        found[:, cells] = generator(vectors[None], real[None])[0].t().numpy()
    return found


def drawn(logits: npt.NDArray[np.float32], batch: Batch, noise: np.random.Generator) -> Floats:
    """Return a Gumbel mask; where padding is no part of the losses, none of it is selected."""
    uniform = noise.random(batch.cells, dtype=np.float32).astype(np.float64)
    return masked(logits[1] - logits[0] + np.log(uniform) - np.log(1 - uniform) > 0, batch)


def likelier(logits: npt.NDArray[np.float32], batch: Batch) -> Floats:
    """Return the mask at evaluation."""
    return masked(logits[1] >= logits[0], batch)


def masked(chosen: npt.NDArray[np.bool_], batch: Batch) -> Floats:
    mask = floats(batch.cells)
    mask[: batch.cells] = chosen * batch.counted[: batch.cells]
    return mask


@torch.no_grad()
def classified(predictor: Predictor, batch: Batch, mask: Floats) -> torch.Tensor:
    """Return the class logits, (texts, classes), in the order of the lanes."""
    rows = []
    for text, cells in lanes(batch):
        seen = torch.from_numpy(np.array(mask[cells[: LENGTHS[text]]]))
        rows.append(predictor(vectors_of(text)[None], torch.ones(1, len(seen), dtype=torch.bool), seen[None])[0])
    return torch.stack(rows)


def everything(batch: Batch) -> Floats:
    """Return the mask of a full text."""
    return batch.real.copy()


def rest_of(mask: Floats, batch: Batch) -> Floats:
    """Return the mask of the tokens that another leaves out."""
    rest = floats(batch.cells)
    for text, cells in lanes(batch):
        rest[cells[: LENGTHS[text]]] = 1 - mask[cells[: LENGTHS[text]]]
    return rest


def cross_entropy(logits: torch.Tensor, batch: Batch) -> float:
    total = weight = 0.0
    for (text, _), row in zip(lanes(batch), logits.softmax(1).tolist(), strict=True):
        own = float(CLASS_WEIGHTS[TEXTS.labels[text]])
        total -= own * math.log(row[TEXTS.labels[text]])
        weight += own
    return total / weight


def divergence(full: torch.Tensor, highlight: torch.Tensor) -> float:
    """Return the mean over texts of KL(full || highlight)."""
    rows = zip(full.softmax(1).tolist(), highlight.softmax(1).tolist(), strict=True)
    return sum(p * math.log(p / q) for ps, qs in rows for p, q in zip(ps, qs, strict=True)) / len(full)


def omega(mask: Floats, batch: Batch, losses: Losses) -> float:
    """Return the weighted sparsity and contiguity losses."""
    selected = 0.0
    for text, cells in lanes(batch):
        seen = mask[cells if losses.padding else cells[: LENGTHS[text]]]
        selected += float(losses.mark_costs[TEXTS.labels[text]]) * float(seen.sum())
    sparsity = abs(selected / LENGTHS.sum() - losses.alpha)
    return float(losses.lambda_s * sparsity) + scatter(mask, batch, losses)


def scatter(mask: Floats, batch: Batch, losses: Losses) -> float:
    """Return the weighted contiguity loss."""
    switches = pairs = 0.0
    for text, cells in lanes(batch):
        seen = mask[cells if losses.padding else cells[: LENGTHS[text]]].tolist()
        switches += sum(abs(a - b) for a, b in pairwise(seen))
        pairs += len(seen) - 1
    return float(losses.lambda_c * switches / pairs)
