"""Whole updates in compiled code: generators and one predictor, forward and back, without a graph.

What the parts compute is said where they are defined (`fast_gru`, `fast_layers`, `losses`); this only chains them, as
torch would for the sum of task loss and regularisers behind every generator. It does so on the same few arrays at
every step, which stay in the cache; torch's operators and their arrays do not, and take five times as long.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numba import njit

from genspp.methods.adam import Adam
from genspp.methods.fast_gru import project, run, run_back
from genspp.methods.fast_layers import Layout, choose, choose_back, classify, classify_back
from genspp.methods.fast_math import OPTIONS, Counts, Floats
from genspp.methods.losses import Losses, Scales, cross_entropy, draw, regularise
from genspp.methods.networks import Batch, Generator, Predictor

_PROJECTIONS, _GATES, _STATES = 6, 8, 2  # how many numbers of each kind a token has, in hidden units
_ROOM = _PROJECTIONS + _GATES + _STATES


class Given(NamedTuple):
    """A batch: vectors (inputs, tokens, texts), texts a token, labels (texts,), weights of the classes."""

    vectors: Floats
    active: Counts
    labels: Counts
    class_weights: Floats


class Room(NamedTuple):
    """What `fast_gru` fills in: projections, gates and states."""

    projected: Floats
    gates: Floats
    states: Floats


@njit(**OPTIONS)  # type: ignore[untyped-decorator]
def _cut(space: Floats, start: int, rows: int, given: Given) -> Floats:
    """Return a part of the space as (rows, tokens, texts)."""
    _, tokens, texts = given.vectors.shape
    return space[start * tokens * texts : (start + rows) * tokens * texts].reshape(rows, tokens, texts)


@njit(**OPTIONS)  # type: ignore[untyped-decorator]
def _room(space: Floats, start: int, hidden: int, given: Given) -> Room:
    """Return the parts of the space from row `start` on that a network of so many hidden units needs."""
    _, tokens, texts = given.vectors.shape
    gates = start + _PROJECTIONS * hidden
    return Room(
        _cut(space, start, _PROJECTIONS * hidden, given).reshape(2, 3 * hidden, tokens, texts),
        _cut(space, gates, _GATES * hidden, given).reshape(2, 4 * hidden, tokens, texts),
        _cut(space, gates + _GATES * hidden, _STATES * hidden, given),
    )


@njit(**OPTIONS)  # type: ignore[untyped-decorator]
def _read(
    weights: Floats,
    layout: Layout,
    given: Given,
    mask: Floats,
    room: Room,
    d_states: Floats,
    d_mask: Floats,
    d_weights: Floats,
) -> float:
    """Return the task loss of a predictor at a mask, projections done; add to the gradients of mask and weights."""
    vectors, active = given.vectors, given.active
    features, _, texts = room.states.shape
    highest, places = np.empty((features, texts), np.float32), np.empty((features, texts), np.int64)
    logits, d_logits = np.empty((texts, layout.outputs), np.float32), np.empty((texts, layout.outputs), np.float32)
    run(weights, vectors, room.projected, mask, active, room.gates, room.states)
    classify(weights, layout, room.states, active, highest, places, logits)
    loss = cross_entropy(logits, given.labels, given.class_weights, d_logits)
    classify_back(weights, layout, d_logits, room.states, highest, places, d_states, d_weights)
    run_back(weights, vectors, room.projected, mask, active, room.gates, room.states, d_states, d_mask, d_weights)
    return loss


@njit(**OPTIONS)  # type: ignore[untyped-decorator]
def _add(found: Floats, places: Counts, gradient: Floats) -> None:
    for i in range(len(found)):
        gradient[places[i]] += found[i]


@njit(**OPTIONS)  # type: ignore[untyped-decorator]
def _highlight_gradient(
    weights: Floats,
    generators: Counts,
    chooser: Layout,
    predictor: Counts,
    reader: Layout,
    given: Given,
    noise: Floats,
    scales: Scales,
    space: Floats,
    gradient: Floats,
) -> float:
    """Return the sum over the generators of task loss and regularisers behind each, and add to the gradient.

    generators: (generators, weights of one), predictor: (weights,): where their weights lie. noise: (generators,
    tokens, texts), logistic.
    """
    vectors, active = given.vectors, given.active
    reading = weights[predictor]
    d_reading = np.zeros_like(reading)
    own = _room(space, 0, chooser.hidden, given)
    other = _room(space, _ROOM * chooser.hidden, reader.hidden, given)
    d_states = _cut(space, _ROOM * (chooser.hidden + reader.hidden), _STATES * reader.hidden, given)
    ones = np.ones(vectors.shape[1:], np.float32)
    mask, slopes, d_mask = np.empty_like(ones), np.empty_like(ones), np.empty_like(ones)
    logits = np.empty((2, *ones.shape), np.float32)
    if generators[0, 0] == predictor[0]:  # one encoder, one projection
        other = Room(own.projected, other.gates, other.states)
    else:
        project(reading, vectors, other.projected)
    loss = 0.0
    for number in range(len(generators)):
        choosing = weights[generators[number]]
        d_choosing = np.zeros_like(choosing)
        project(choosing, vectors, own.projected)
        run(choosing, vectors, own.projected, ones, active, own.gates, own.states)
        choose(choosing, chooser, own.states, logits)
        draw(logits, noise[number], scales.counted, mask, slopes)
        loss += regularise(mask, scales, d_mask)
        loss += _read(reading, reader, given, mask, other, d_states, d_mask, d_reading)
        for t in range(len(mask)):
            for i in range(len(mask[t])):
                slope = d_mask[t, i] * slopes[t, i]
                logits[0, t, i], logits[1, t, i] = -slope, slope  # now the gradient
        choose_back(choosing, chooser, logits, own.states, d_states, d_choosing)
        run_back(choosing, vectors, own.projected, ones, active, own.gates, own.states, d_states, d_mask, d_choosing)
        _add(d_choosing, generators[number], gradient)
    _add(d_reading, predictor, gradient)
    return loss


@njit(**OPTIONS)  # type: ignore[untyped-decorator]
def _text_gradient(
    weights: Floats, predictor: Counts, reader: Layout, given: Given, space: Floats, gradient: Floats
) -> float:
    """Return the task loss of a predictor that sees every token, and add to the gradient."""
    room = _room(space, 0, reader.hidden, given)
    d_states = _cut(space, _ROOM * reader.hidden, _STATES * reader.hidden, given)
    ones = np.ones(given.vectors.shape[1:], np.float32)
    reading = weights[predictor]
    d_reading = np.zeros_like(reading)
    project(reading, given.vectors, room.projected)
    loss: float = _read(reading, reader, given, ones, room, d_states, np.zeros_like(ones), d_reading)
    _add(d_reading, predictor, gradient)
    return loss


class _Update:
    """What both kinds of update share: the optimizer that moves all networks, and space for a batch."""

    def __init__(self, predictor: Predictor, optimizer: Adam, losses: Losses) -> None:
        self._predictor, self._reader = optimizer.places(predictor.weights), predictor.layout
        self._optimizer, self._losses = optimizer, losses
        self._space = np.empty(0, np.float32)

    def _given(self, batch: Batch) -> Given:
        labels, class_weights = batch.labels.numpy(), self._losses.class_weights.numpy()
        return Given(batch.vectors.numpy(), batch.active, labels, class_weights)

    def _space_for(self, batch: Batch, hidden: int) -> Floats:
        needed = (_ROOM * hidden + _STATES * self._reader.hidden) * batch.places * len(batch)
        if len(self._space) < needed:
            self._space = np.empty(needed, np.float32)
        return self._space


class HighlightUpdate(_Update):
    """Updates of generators, all of one layout, and of the predictor that reads what each of them highlights."""

    def __init__(self, generators: Sequence[Generator], predictor: Predictor, optimizer: Adam, losses: Losses) -> None:
        super().__init__(predictor, optimizer, losses)
        self._generators = np.stack([optimizer.places(generator.weights) for generator in generators])
        self._chooser = generators[0].layout

    def __call__(self, batch: Batch, noise: torch.Generator) -> float:
        """Train on a batch and return its loss."""
        optimizer, losses = self._optimizer, self._losses
        optimizer.clear()
        loss = _highlight_gradient(
            optimizer.weights,
            self._generators,
            self._chooser,
            self._predictor,
            self._reader,
            self._given(batch),
            losses.noise((len(self._generators), batch.places, len(batch)), noise).numpy(),
            losses.scales(batch),
            self._space_for(batch, self._chooser.hidden + self._reader.hidden),
            optimizer.gradient,
        )
        optimizer.step()
        return float(loss)


class TextUpdate(_Update):
    """Updates of a predictor that reads whole texts."""

    def __call__(self, batch: Batch) -> float:
        """Train on a batch and return its loss."""
        optimizer, space = self._optimizer, self._space_for(batch, self._reader.hidden)
        optimizer.clear()
        networks = (optimizer.weights, self._predictor, self._reader)
        loss = _text_gradient(*networks, self._given(batch), space, optimizer.gradient)
        optimizer.step()
        return float(loss)
