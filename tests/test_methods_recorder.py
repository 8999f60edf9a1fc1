"""A training that is told to stop now makes a model of the best it has; every method does."""

import numpy as np
import pytest

from conftest import sentences
from genspp.methods import METHODS
from genspp.methods.gradient import GradientRationalizer
from genspp.methods.recorder import Forgetful

TEXTS, LABELS = sentences(60)
SMALL = {
    "hidden": 2, "workers": 1, "population": 2, "generations": 9, "min_steps": 2, "max_epochs": 6, "pretrain_epochs": 3,
    "patience": 6, "lists": 5,
}  # fmt: skip


class Impatient(Forgetful):
    """A recorder that keeps what it is told, and has enough after some steps."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.said, self.lines, self.states = list[str](), list[dict](), list[dict]()

    def say(self, what: str) -> None:
        self.said.append(what)

    def record(self, line, state, total) -> None:
        self.lines.append(line)
        self.states.append(state)

    def enough(self) -> bool:
        return len(self.lines) >= self.steps


def small(name: str, **changes):
    asked = SMALL | changes
    return METHODS[name](**{key: value for key, value in asked.items() if key in METHODS[name].declared})


def weights(module):
    return {key: value.numpy() for key, value in module.state_dict().items()}


def same(one, other) -> bool:
    return all(np.array_equal(one[key], other[key]) for key in one | other)


@pytest.mark.parametrize("name", METHODS)
def test_it_stops_and_the_model_is_whole(name):
    recorder = Impatient(2)
    model = small(name).fit(TEXTS, LABELS, recorder=recorder)
    steps = [next(iter(line.values())) for line in recorder.lines]
    # Before an epoch may be the best one, as in G-RAT's pre-training, there is nothing to stop with.
    assert steps == list(range(4 if name == "grat" else 2))
    assert [next(iter(line.values())) for line in model.history_] == steps
    assert all(line["seconds"] >= 0 for line in recorder.lines)
    assert len(model.explain(TEXTS)) == 60 and np.isfinite(model.predict_proba(TEXTS)).all()
    assert len(model.predict_full_text(TEXTS)) == 60
    assert recorder.said[0] == "learning the words of 48 training texts" and len(recorder.said) >= 3


def test_a_search_that_is_stopped_is_one_of_fewer_generations():
    stopped = small("genspp").fit(TEXTS, LABELS, recorder=Impatient(2))
    whole = small("genspp", generations=1).fit(TEXTS, LABELS)
    assert stopped.history_ == whole.history_ and stopped.shares_ == whole.shares_
    assert same(weights(stopped.model_), weights(whole.model_))
    assert same(weights(stopped.full_text_), weights(whole.full_text_))


@pytest.mark.parametrize("name", ["rnp", "mgr"])
def test_a_gradient_method_that_is_stopped_has_the_weights_of_its_best_epoch(name):
    assert issubclass(METHODS[name], GradientRationalizer)
    stopped = small(name, learning_rate=0.3).fit(TEXTS, LABELS, recorder=Impatient(5))
    losses = [line["val_loss"] for line in stopped.history_]
    best = int(np.argmin(losses))
    assert best < 4  # else this says nothing
    whole = small(name, learning_rate=0.3, max_epochs=best + 1).fit(TEXTS, LABELS)
    assert same(weights(stopped.model_), weights(whole.model_))


def test_it_is_said_how_long_a_training_goes_on():
    def plan(name, **changes):
        recorder = Impatient(1)
        small(name, **changes).fit(TEXTS, LABELS, recorder=recorder)
        return next(said for said in recorder.said if "at most" in said or "lists" in said)

    first = "making the first generators; then"
    assert plan("genspp") == f"{first} at most 9 generations, fewer if 10 bring nothing better"
    genetic = {"search": "genetic", "objective": "paper", "start": "random"}
    assert plan("genspp", **genetic) == f"{first} at most 9 generations"
    assert plan("rnp") == "at most 6 epochs, fewer if 6 bring no lower validation loss"
    assert plan("wordlist") == "judging 5 lists of words"
