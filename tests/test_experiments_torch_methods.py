"""An update of every gradient method against the same update by torch's modules, autograd and Adam."""

from typing import Any

import numpy as np
import pytest
import torch

from genspp.data.encode import Encoded
from genspp.data.vectors import Vectors
from genspp.experiments.torch_methods import TorchMethod
from genspp.experiments.torch_systems import TORCH_METHODS
from genspp.experiments.torch_texts import PaddedTexts
from genspp.kernels.lanes import WIDTH
from genspp.kernels.texts import make_layout
from genspp.methods import METHODS
from genspp.methods.gradient import GradientRationalizer, Session
from genspp.methods.in_training import Losses
from genspp.model.passes import Batch, prepare
from genspp.streams import Purpose, stream

CLASS_WEIGHTS = np.array([1.0, 2.0, 0.5], np.float32)
LENGTHS = [6, 1, 4, 9, 4, 2, 7, 3, 5, 8, 6]  # two groups of lanes, one not full
UPDATES = 40_000  # so far; of G-RAT's guidance something is gone by then, but not all
SETTINGS: dict[str, Any] = {"hidden": 5, "alpha": 0.3, "lambda_c": 0.7, "lambda_s": 1.3, "seed": 3}
ZEROS: dict[str, Any] = {"skip_gaps": False, "label_columns": False}  # zero vectors in place of unselected tokens
OWN: dict[str, dict[str, Any]] = {
    "a2r": {"lambda_d": 0.6},
    "dar": {"lambda_a": 0.6},
    "vib": {"lambda_s": 1.6},
    "hardkuma": {"lambda_0": 0.8, "eta": 30.0},
    "threeplayer": {"lambda_r": 0.6},
    "grat": {"lambda_g": 1.5, "lambda_jsd": 0.7, "sigma": 0.8, "pretrain_epochs": 0},
}


def texts() -> tuple[Encoded, Vectors]:
    random = np.random.RandomState(4)
    table = random.normal(0, 1, (14, 6)).astype(np.float32)
    table[0] = 0
    starts = np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int64)
    ids, labels = random.randint(1, 14, sum(LENGTHS)), random.randint(0, 3, len(LENGTHS))
    words = tuple(str(row) for row in range(2, 14))
    return Encoded(ids.astype(np.int32), starts, labels.astype(np.int32)), Vectors(words, table, "random")


def in_mid_training(
    name: str, data: Encoded, vectors: Vectors, *, skipping: bool = False
) -> tuple[GradientRationalizer, Session, Batch]:
    """Return a model with weights that are not those of the start, its session, and all texts as one batch."""
    model: Any = METHODS[name](**SETTINGS | ZEROS | OWN.get(name, {}) | {"skip_gaps": skipping})
    model._settings_ = settings = model.settings()
    model.classes_, model.vectors_ = np.arange(3), vectors
    model._make_networks()
    with torch.random.fork_rng():
        torch.manual_seed(5)
        companions = model._companions(model._shape())
        # A norm that is still the identity would hide a missing one.
        for module in (model.model_, companions, model.full_text_):
            for parameter in module.parameters():
                parameter.data += 0.2 * torch.randn(parameter.shape)
    table, (rows,) = prepare(vectors.table, 3, data)
    terms = [settings[name] for name in ("alpha", "lambda_s", "lambda_c")]
    losses = Losses(*terms, CLASS_WEIGHTS, False, np.ones(3, np.float32))
    session = Session(settings, losses, table, model._optimizers(settings, companions), companions, 0.0)
    model._in_training(session)
    session.begin(0, 7)
    session.updates = UPDATES
    layout = make_layout(len(data), rows.longest, rows.words)
    return model, session, Batch(rows, np.arange(len(data)), CLASS_WEIGHTS, settings["hidden"], layout)


def side_by_side(batch: Batch, lanes: np.ndarray) -> torch.Tensor:
    """Return an array over places as one over (texts, tokens)."""
    found = np.full((batch.texts, max(LENGTHS)), 0.5, np.float32)
    for rank, row in enumerate(batch.layout.rows[: batch.texts]):
        group, lane = divmod(rank, WIDTH)
        start = batch.layout.first[group] * WIDTH + lane
        found[row, : LENGTHS[row]] = lanes[start : start + LENGTHS[row] * WIDTH : WIDTH]
    return torch.from_numpy(found)


def reference_of(name: str, model: Any, session: Session, batch: Batch) -> TorchMethod:
    """Return the method by torch, in its exact form, with the random numbers that the session will draw."""
    noise = stream(SETTINGS["seed"], Purpose.NOISE, 0)
    reference = TORCH_METHODS[name](
        model.model_,
        session.companions,
        model.full_text_,
        model._settings_,
        CLASS_WEIGHTS,
        packed=True,
        uniform=lambda _: side_by_side(batch, noise.random(batch.cells, dtype=np.float32)),
        normal=lambda _: side_by_side(batch, noise.standard_normal(batch.cells, dtype=np.float32)),
    )
    reference.updates = UPDATES
    return reference


@pytest.mark.parametrize("name", [name for name in TORCH_METHODS if name in METHODS])
@pytest.mark.parametrize("skipping", [False, True])
def test_an_update_is_torch_s(name: str, skipping: bool) -> None:
    data, vectors = texts()
    model, session, batch = in_mid_training(name, data, vectors, skipping=skipping)
    reference = reference_of(name, model, session, batch)
    padded = PaddedTexts(data, vectors.table).batch(torch.arange(len(data)))
    assert model._update(session, batch) == pytest.approx(reference.update(padded), rel=1e-5)
    for ours, theirs in zip(session.optimizers, reference.optimizers, strict=True):
        # Adam's first moments are the gradients times 0.1, those of earlier updates times less.
        moments, rates = torch.from_numpy(ours.state()["exp_avg"]), torch.from_numpy(ours._rates)
        for group in theirs.param_groups:
            for parameter in group["params"]:
                moment, moments = moments[: parameter.numel()], moments[parameter.numel() :]
                rate, rates = rates[: parameter.numel()], rates[parameter.numel() :]
                expected = theirs.state[parameter]["exp_avg"].ravel()
                # Beside a softmax over tokens, a bias has no gradient but what rounding leaves.
                assert (moment - expected).abs().max() <= max(1e-4 * float(expected.abs().max()), 1e-8)
                assert rate.tolist() == pytest.approx([group["lr"]] * len(rate))
        assert not len(moments)


@pytest.mark.parametrize("name", [name for name in TORCH_METHODS if name in METHODS])
def test_the_fast_form_is_the_exact_one_where_nothing_is_padded(name: str) -> None:
    data, vectors = texts()
    same = Encoded(data.ids[:48], np.arange(0, 49, 6), data.labels[:8])
    model, session, _ = in_mid_training(name, same, vectors)
    modules = model.model_, session.companions, model.full_text_
    losses = []
    for packed in (False, True):
        with torch.random.fork_rng():
            torch.manual_seed(6)
            reference = TORCH_METHODS[name](*modules, model._settings_, CLASS_WEIGHTS, packed=packed)
            split = PaddedTexts(same, vectors.table)
            losses.append(reference.epoch(split, split, np.arange(8)))
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_texts_are_padded_to_the_longest_of_their_batch() -> None:
    data, vectors = texts()
    batch = PaddedTexts(data, vectors.table).batch(torch.tensor([1, 2]))
    assert batch.inputs[0].shape == (2, 4, 6)
    assert batch.real.tolist() == [[True, False, False, False], [True] * 4]
    assert batch.tokens == 5
    assert not batch.inputs[0][0, 1:].any()
