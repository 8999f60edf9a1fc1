import json
import math

import numpy as np

from genspp.model.stopping import EarlyStopping


def run(losses, epochs=20, patience=3, resumed_after=None, **settings):
    """Return a training whose weights are the number of the epoch, and how many losses it took."""
    stopping = EarlyStopping(epochs, patience, **settings)
    for number, loss in enumerate(losses):
        if stopping.finished:
            break
        if number == resumed_after:
            state = stopping.state()
            best = state.pop("best").copy()
            stopping = EarlyStopping(epochs, patience, **settings)
            stopping.restore({**json.loads(json.dumps(state, allow_nan=False)), "best": best})
        stopping.close_epoch(loss, np.full(2, number, np.float32))
    return stopping


def summary(stopping):
    return stopping.finished, stopping.epoch, stopping.best_epoch, stopping.best_loss, stopping.best.tolist()


def test_training_stops_when_the_loss_has_not_fallen_for_so_many_epochs():
    assert summary(run([5, 4, 4, 4.5, math.nan, 1])) == (True, 5, 1, 4, [1, 1])
    assert not run([5, 4, 4, 4.5]).finished
    assert run([5, 4, 3], epochs=3).finished


def test_a_gain_that_is_too_small_is_none():
    stopping = run([5, 4.8, 4.6, 4.4, 4.3], least_gain=0.5)
    assert (stopping.best_epoch, stopping.best_loss) == (3, 4.4)


def test_epochs_before_it_is_armed_do_not_count():
    stopping = run([1, 1, 1, 1, 1, 3, 2, 2, 2, 2], armed_from=5)
    assert (stopping.epoch, stopping.best_epoch, stopping.best_loss) == (10, 6, 2)
    assert run([math.nan] * 9, armed_from=5).epoch == 8


def test_a_loss_that_is_never_a_number_has_no_best_epoch():
    stopping = run([math.nan] * 9)
    assert (stopping.finished, stopping.epoch, stopping.best_epoch, stopping.best_loss) == (True, 3, None, math.inf)


def test_weights_that_are_no_numbers_are_never_the_best():
    stopping = EarlyStopping(9, 3)
    stopping.close_epoch(1.0, np.array([1, 2], np.float32))
    stopping.close_epoch(0.5, np.array([1, np.inf], np.float32))
    assert stopping.best_epoch == 0


def test_without_patience_the_last_epoch_counts_whatever_its_loss():
    assert summary(run([1, 2, math.nan], epochs=3, patience=None))[:3] == (True, 3, 2)
    assert run([1, 2, 3], epochs=3, patience=None).best.tolist() == [2, 2]


def test_only_losses_that_matter_are_asked_for():
    stopping, measured = EarlyStopping(3, None), []
    while not stopping.finished:
        measured.append(stopping.measured)
        stopping.close_epoch(0.0, np.zeros(1, np.float32))
    assert measured == [False, False, True]
    assert EarlyStopping(3, 2).measured


def test_the_best_weights_are_a_copy():
    stopping, weights = EarlyStopping(9, 3), np.ones(2, np.float32)
    stopping.close_epoch(1.0, weights)
    weights[:] = 7
    assert stopping.best.tolist() == [1, 1]


def test_resumed_from_every_epoch_it_is_uninterrupted():
    for losses in ([5, 4, 4, 4.5, math.nan, 1], [math.nan, math.nan, 3, 2, 5, 5, 5], [math.nan] * 5):
        for epoch in range(len(losses)):
            assert summary(run(losses, resumed_after=epoch)) == summary(run(losses))
