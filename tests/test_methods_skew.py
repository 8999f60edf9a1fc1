"""Starts that are locked in: what is learnt is what is logged, and nothing of it leaks into what follows."""

import copy
import math
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from conftest import sentences
from genspp import GenSPP
from genspp.app.runs import read_checkpoint
from genspp.data.encode import Encoded
from genspp.errors import SettingsError
from genspp.methods import METHODS, genspp, gradient
from genspp.methods.fr import FR
from genspp.methods.gradient import GradientRationalizer
from genspp.methods.skew import NEVER_SKEWED, Code, skew
from genspp.model.inference import select
from genspp.model.passes import prepare
from genspp.model.weights import flatten, load_flat, on_kernels
from genspp.population import evaluator
from genspp.population.compiled import CompiledEvaluator
from genspp.settings import Setting
from genspp.streams import Purpose, epoch_order, seed_of
from gradient_tools import QUICK, TABLE, Notebook, prepared
from gradient_tools import TEXTS as NINE

KINDS = [
    kind
    for kind in METHODS.values()
    if issubclass(kind, GradientRationalizer) and kind.declared["skew_epochs"] is not NEVER_SKEWED
]
TEXTS, LABELS = sentences(180)
SKEWED = QUICK | {"hidden": 8, "skew_epochs": 12, "max_epochs": 2, "label_columns": False}
SEARCHED = {"population": 4, "generations": 2, "hidden": 8, "min_steps": 30, "max_epochs": 5, "workers": 1}
PAPER = {"preset": "paper", "threshold": 1.0, "cell": "bigru"}
TOLD = {"skew_train", "skew_val", "skew_selected"}
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
each_start = pytest.mark.parametrize("start", [{}, PAPER], ids=["sound", "paper"])


@pytest.fixture(autouse=True)
def short_readings(monkeypatch):
    monkeypatch.setattr(evaluator, "_READER_STEPS", 100)
    monkeypatch.setattr("genspp.methods.judging._ERROR", -math.inf)  # such short trainings would leave judges blind


def accuracy(mask: np.ndarray, data: Encoded, classes: int) -> float:
    """Return the share of texts whose first tokens, one per class, have that of the label selected and no other."""
    right = 0
    for text, label in zip(data.split(mask), data.labels, strict=True):
        right += text[:classes].tolist() == [int(place == label) for place in range(classes)][: len(text)]
    return right / len(data)


class Spy:
    """Stands in for `skew` of a gradient method: keeps what it told, and the pair before and after.

    undo: put the weights back, so that all that is left of the phase is what it must not leave.
    """

    def __init__(self, model: Any, undo: bool = False) -> None:
        self.model, self.undo, self.calls = model, undo, 0

    def __call__(self, generators: Any, optimizers: Any, train: Code, val: Code, settings: dict[str, Any]) -> Any:
        self.calls += 1
        self.before, numbers = copy.deepcopy(self.model.model_), [o.vector.numbers.copy() for o in optimizers]
        self.told = skew(generators, optimizers, train, val, settings)
        self.after, self.rows = copy.deepcopy(self.model.model_), (train.rows.data, val.rows.data)
        for optimizer, first in zip(optimizers, numbers, strict=True):
            if self.undo:
                optimizer.vector.numbers[:] = first
                optimizer.put()
        return self.told


def without_skew(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in line.items() if name not in TOLD} for line in history]


# ---- gradient methods


@each_kind
@pytest.mark.parametrize("preset", ["sound", "paper"])
def test_the_first_places_encode_the_label_to_the_logged_accuracy(kind, preset, monkeypatch):
    model = kind(**SKEWED | {"preset": preset})
    monkeypatch.setattr(gradient, "skew", spy := Spy(model))
    model.fit(TEXTS, LABELS)
    spy.after.sampled = None
    for name, rows in zip(("skew_train", "skew_val"), spy.rows, strict=True):
        assert spy.told[name] == accuracy(select(on_kernels(spy.after), rows), rows, 3)
    assert spy.told["skew_train"] > 0.5 > accuracy(select(on_kernels(spy.before), spy.rows[0]), spy.rows[0], 3)
    assert {name: model.history_[0][name] for name in TOLD} == spy.told
    assert not any(TOLD & line.keys() for line in model.history_[1:])


@each_kind
def test_the_profile_says_where_texts_of_a_class_are_selected(kind, monkeypatch):
    model = kind(**SKEWED)
    monkeypatch.setattr(gradient, "skew", spy := Spy(model))
    model.fit(TEXTS, LABELS)
    rows, told = spy.rows[1], spy.told["skew_selected"]
    masks = rows.split(select(on_kernels(spy.after), rows))
    for label in range(3):
        for place in range(4):
            there = [mask[place] for mask, own in zip(masks, rows.labels, strict=True) if own == label]
            assert told[label][place] == pytest.approx(np.mean(there), abs=1e-4)


@each_kind
def test_only_generators_are_skewed(kind, monkeypatch):
    model = kind(**SKEWED)
    monkeypatch.setattr(gradient, "skew", spy := Spy(model))
    model.fit(TEXTS, LABELS)
    own = {id(parameter) for parameter in spy.after.generator.parameters()}
    moved = {name for name, p in spy.after.named_parameters() if not torch.equal(p, spy.before.get_parameter(name))}
    assert moved == {name for name, p in spy.after.named_parameters() if id(p) in own}


@each_kind
@pytest.mark.parametrize("preset", ["sound", "paper"])
def test_nothing_but_the_weights_leaks_into_what_follows(kind, preset, monkeypatch):
    settings = SKEWED | {"preset": preset, "max_epochs": 4}
    settings |= {"pretrain_epochs": 2} if "pretrain_epochs" in kind.declared else {}
    clean, undone = kind(**settings | {"skew_epochs": 0}).fit(TEXTS, LABELS), kind(**settings)
    monkeypatch.setattr(gradient, "skew", Spy(undone, undo=True))
    undone.fit(TEXTS, LABELS)
    assert without_skew(undone.history_) == clean.history_
    assert np.array_equal(flatten(undone.model_), flatten(clean.model_))


@each_kind
def test_a_skewed_run_that_is_resumed_is_uninterrupted_and_not_skewed_again(kind, tmp_path, monkeypatch):
    whole = Notebook(folder=tmp_path)
    expected, again = kind(**SKEWED).fit(TEXTS, LABELS, recorder=whole), kind(**SKEWED)
    monkeypatch.setattr(gradient, "skew", spy := Spy(again))
    again.fit(TEXTS, LABELS, recorder=Notebook(read_checkpoint(tmp_path / "0")))
    assert spy.calls == 0
    assert again.history_ == expected.history_
    assert np.array_equal(flatten(again.model_), flatten(expected.model_))


@each_kind
def test_it_is_the_cross_entropy_of_the_first_places_by_torch(kind):
    settings = {"skew_epochs": 2, "batch_size": 4, "learning_rate": 0.01, "seed": 7}
    model, session, _ = prepared(kind, **settings)
    twin = copy.deepcopy(model.model_.generator)
    rows = prepare(TABLE, 3, NINE)[1][0]
    skew(session.generators, session.optimizers, Code(rows, 3), Code(rows, 3), session.settings)
    optimizer, vectors = torch.optim.Adam(twin.parameters(), lr=0.01), torch.from_numpy(TABLE)
    for epoch in range(2):
        order = epoch_order(seed_of(7, Purpose.SKEW), epoch, len(NINE))
        for start in range(0, len(order), 4):
            chosen = order[start : start + 4]
            ids, real = NINE.padded(chosen)
            margins = twin.margins(vectors[torch.from_numpy(ids)], torch.from_numpy(real))[:, :3]
            there = torch.from_numpy(real)[:, :3]
            wanted = F.one_hot(torch.from_numpy(NINE.labels[chosen].astype(np.int64)), 3)[:, : there.shape[1]]
            optimizer.zero_grad()
            F.binary_cross_entropy_with_logits(margins[there], wanted[there].float()).backward()
            optimizer.step()
    assert flatten(model.model_.generator) == pytest.approx(flatten(twin), abs=2e-5)


def test_a_method_may_refuse():
    class Guest(FR):
        own: ClassVar[dict[str, Setting]] = {"skew_epochs": NEVER_SKEWED}

    assert Guest().settings()["skew_epochs"] == 0
    with pytest.raises(SettingsError, match="skew_epochs is 5; it takes 0"):
        Guest(skew_epochs=5).settings()


# ---- GenSPP


class Watch:
    """Keeps all genomes that are judged."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[np.ndarray] = []
        evaluate = CompiledEvaluator.evaluate

        def watched(engine: CompiledEvaluator, genomes: Any, seeds: Any) -> Any:
            self.engine = engine
            self.asked.append(genomes.copy())
            return evaluate(engine, genomes, seeds)

        monkeypatch.setattr(CompiledEvaluator, "evaluate", watched)


def searched(monkeypatch, **settings):
    watch = Watch(monkeypatch)
    model = GenSPP(**SEARCHED | {"label_columns": False} | settings).fit(TEXTS, LABELS)
    return model, watch


def accuracy_of(genome: np.ndarray, task: Any, data: Encoded) -> float:
    generator = task.generator()
    load_flat(generator, genome)
    ids, real = data.padded(np.arange(len(data)))
    with torch.no_grad():
        mask = generator.select(torch.from_numpy(task.vectors)[torch.from_numpy(ids)], torch.from_numpy(real)).numpy()
    return accuracy(mask[real].astype(np.uint8), data, 3)


@each_start
def test_the_skewed_individual_is_in_the_first_population(start, monkeypatch):
    clean, watched = searched(monkeypatch, **start)
    skewed, skew_watch = searched(monkeypatch, **start, skew_epochs=300)
    first, clean_first = skew_watch.asked[0], watched.asked[0]
    assert np.array_equal(first[:-1], clean_first[:-1])
    task, told = skew_watch.engine.task, skewed.history_[0]
    assert told["skew_train"] == accuracy_of(first[-1], task, task.train) > 0.5
    assert told["skew_val"] == accuracy_of(first[-1], task, task.val)
    assert accuracy_of(clean_first[-1], task, task.train) < 0.5
    assert not TOLD & clean.history_[0].keys()


@each_start
def test_all_may_start_as_noisy_copies_of_it(start, monkeypatch):
    _, one = searched(monkeypatch, **start, skew_epochs=20)
    _, copies = searched(monkeypatch, **start, skew_epochs=20, skew_sigma=0.1)
    assert copies.asked[0].shape == one.asked[0].shape
    assert np.array_equal(copies.asked[0][0], one.asked[0][-1])
    noise = copies.asked[0][1:] - copies.asked[0][0]
    assert noise.std() == pytest.approx(0.1, rel=0.1)
    assert len(np.unique(noise[:, 0])) == len(noise)


@each_start
def test_nothing_but_the_individual_leaks_into_the_search(start, monkeypatch):
    clean, watched = searched(monkeypatch, **start)
    real = genspp._skewed
    monkeypatch.setattr(genspp, "_skewed", lambda *given: (watched.asked[0][-1], real(*given)[1]))
    undone, again = searched(monkeypatch, **start, skew_epochs=3)
    assert all(np.array_equal(a, b) for a, b in zip(watched.asked[: len(again.asked)], again.asked, strict=True))
    assert without_skew(undone.history_) == clean.history_


def test_a_resumed_search_is_uninterrupted_and_not_skewed_again(tmp_path, monkeypatch):
    settings = SEARCHED | {"skew_epochs": 5, "skew_sigma": 0.05}

    class Recorder(Notebook):
        def record(self, line: dict[str, Any], state: dict[str, Any], total: int) -> None:
            super().record({**line, "epoch": line["generation"]}, state, total)

    expected = GenSPP(**settings).fit(TEXTS, LABELS, recorder=Recorder(folder=tmp_path))
    monkeypatch.setattr(genspp, "_skewed", lambda *_: pytest.fail("it was skewed again"))
    resumed = GenSPP(**settings).fit(TEXTS, LABELS, recorder=Recorder(read_checkpoint(tmp_path / "0")))
    assert resumed.history_ == expected.history_
    np.testing.assert_array_equal(resumed.predict_proba(TEXTS), expected.predict_proba(TEXTS))


def test_copies_of_nothing_are_an_error():
    with pytest.raises(SettingsError, match="skew_sigma is set, but skew_epochs is 0"):
        GenSPP(skew_sigma=0.05).settings()
