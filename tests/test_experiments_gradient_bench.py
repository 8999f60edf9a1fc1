import io

import pytest
from rich.console import Console

from genspp.experiments import gradient_bench
from genspp.experiments.gradient_bench import Case, Texts, measure, quotient, random_case, show, toy_case
from genspp.experiments.population_bench import random_task
from genspp.methods import METHODS


@pytest.fixture
def small() -> Case:
    return random_case(random_task(texts=80, words=50, lengths=range(2, 9)))


@pytest.mark.parametrize("name", ["fr", "grat", "dar"])
def test_both_are_measured_on_the_same_data(name: str, small: Case) -> None:
    found = measure(name, small, rounds=1)
    assert found.keys() == {"seconds", "torch", "ratio"}
    assert found["ratio"] == pytest.approx(found["torch"] / found["seconds"], rel=0.1, abs=0.1)


def test_predictors_read_zero_vectors_and_sizes_are_the_paper_s(small: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    models = []
    original = gradient_bench.Clock
    monkeypatch.setattr(
        gradient_bench, "Clock", lambda *about, alone: models.append(about[1]) or original(*about, alone=alone)
    )
    for case in (small, toy_case()):
        measure("fr", case, rounds=1, alone=True)
    for model, hidden in zip(models, (16, 8), strict=True):
        assert not model.model_.predictor.skipping
        assert model.vectors_.table.shape[1] == 25
        assert model.settings()["hidden"] == hidden


def test_a_round_is_some_epochs_of_ours_and_one_of_torch_s(small: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = []
    original = gradient_bench.Clock
    monkeypatch.setattr(
        gradient_bench, "Clock", lambda *about, alone: clocks.append(original(*about, alone=alone)) or clocks[-1]
    )
    measure("fr", small, rounds=2)
    assert (len(clocks[0].seconds), len(clocks[0].torch)) == (2 * gradient_bench.EPOCHS, 2)


def test_a_method_that_torch_has_not_is_measured_alone(small: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(gradient_bench.TORCH_METHODS, "rnp")
    assert measure("rnp", small, rounds=1).keys() == {"seconds"}


def test_two_methods_are_measured_in_turn(small: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([3.0, 1.0, 9.0, 2.0, 4.0, 2.0])
    monkeypatch.setattr(gradient_bench, "measure", lambda *_, alone: {"seconds": next(seconds)})
    assert quotient("grat", "fr", small) == 3.0


def test_random_texts_are_those_of_the_task(small: Case) -> None:
    task = random_task(texts=80, words=50, lengths=range(2, 9))
    assert [len(tokens) for tokens in small.train.tokens] == task.train.lengths.tolist()
    assert small.train.labels == task.train.labels.tolist()
    first = small.vectors.index[small.train.tokens[0][0]]  # type: ignore[union-attr]
    assert first == task.train.ids[0]


def test_toy_has_the_settings_of_a_run_on_toy() -> None:
    case = toy_case()
    assert METHODS["fr"].settings_on(case.family, "paper")["vector_width"] == 25
    assert set(case.train.labels) == set(case.val.labels)
    assert isinstance(case.train, Texts)


def test_the_table_has_every_method_and_both_sums() -> None:
    epoch = {"fr": {"seconds": 0.1, "torch": 1.5, "ratio": 15.0}, "guest": {"seconds": 0.2}}
    content = {
        "epoch": {"toy": epoch},
        "grat_over_fr": {"toy": 2.5},
        "whole_run_of_fr": {"epochs": 7, "seconds": 3.0},
    }
    console = Console(file=io.StringIO(), width=120)
    show(content, console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    for part in ("15.0", "guest", "2.5 on toy", "7 epochs"):
        assert part in text
