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
def cut(space: Floats, start: int, rows: int, given: Given) -> Floats:
    """Return a part of the space as (rows, tokens, texts)."""
    _, tokens, texts = given.vectors.shape
    return space[start * tokens * texts : (start + rows) * tokens * texts].reshape(rows, tokens, texts)


@njit(**OPTIONS)  # type: ignore[untyped-decorator]
def room(space: Floats, start: int, hidden: int, given: Given) -> Room:
    """Return the parts of the space from row `start` on that a network of so many hidden units needs."""
    _, tokens, texts = given.vectors.shape
    gates = start + _PROJECTIONS * hidden
    return Room(
        cut(space, start, _PROJECTIONS * hidden, given).reshape(2, 3 * hidden, tokens, texts),
        cut(space, gates, _GATES * hidden, given).reshape(2, 4 * hidden, tokens, texts),
        cut(space, gates + _GATES * hidden, _STATES * hidden, given),
    )


@njit(**OPTIONS)  # type: ignore[untyped-decorator]
def highlight(
    weights: Floats, layout: Layout, given: Given, noise: Floats, counted: Counts, room: Room
) -> tuple[Floats, Floats]:
    """Return the mask that a generator draws, projections done, and how fast the chance of each token grows."""
    shape = given.vectors.shape[1:]
    mask, slopes, logits = np.empty(shape, np.float32), np.empty(shape, np.float32), np.empty((2, *shape), np.float32)
    run(weights, given.vectors, room.projected, np.ones(shape, np.float32), given.active, room.gates, room.states)
    choose(weights, layout, room.states, logits)
    draw(logits, noise, counted, mask, slopes)
    return mask, slopes


@njit(**OPTIONS)  # type: ignore[untyped-decorator]
def highlight_back(
    weights: Floats,
    layout: Layout,
    given: Given,
    room: Room,
    slopes: Floats,
    d_mask: Floats,
    d_states: Floats,
    d_weights: Floats,
) -> None:
    """Add to the gradient of a generator's weights; the room's gates are written over."""
    d_logits = np.empty((2, *d_mask.shape), np.float32)
    for t in range(len(d_mask)):
        for i in range(len(d_mask[t])):
            slope = d_mask[t, i] * slopes[t, i]
            d_logits[0, t, i], d_logits[1, t, i] = -slope, slope
    choose_back(weights, layout, d_logits, room.states, d_states, d_weights)
    ones, unused = np.ones(d_mask.shape, np.float32), np.zeros(d_mask.shape, np.float32)
    vectors, active = given.vectors, given.active
    run_back(weights, vectors, room.projected, ones, active, room.gates, room.states, d_states, unused, d_weights)


@njit(**OPTIONS)  # type: ignore[untyped-decorator]
def read(weights: Floats, layout: Layout, given: Given, mask: Floats, room: Room) -> tuple[Floats, Floats, Counts]:
    """Return the logits of a predictor at a mask, (texts, classes), projections done; and what `read_back` needs."""
    features, _, texts = room.states.shape
    highest, places = np.empty((features, texts), np.float32), np.empty((features, texts), np.int64)
    logits = np.empty((texts, layout.outputs), np.float32)
    run(weights, given.vectors, room.projected, mask, given.active, room.gates, room.states)
    classify(weights, layout, room.states, given.active, highest, places, logits)
    return logits, highest, places


@njit(**OPTIONS)  # type: ignore[untyped-decorator]
def read_back(
    weights: Floats,
    layout: Layout,
    given: Given,
    mask: Floats,
    room: Room,
    highest: Floats,
    places: Counts,
    d_logits: Floats,
    d_states: Floats,
    d_mask: Floats,
    d_weights: Floats,
) -> None:
    """Add to the gradients of the mask and of a predictor's weights; the room's gates are written over."""
    classify_back(weights, layout, d_logits, room.states, highest, places, d_states, d_weights)
    vectors, active = given.vectors, given.active
    run_back(weights, vectors, room.projected, mask, active, room.gates, room.states, d_states, d_mask, d_weights)


@njit(**OPTIONS)  # type: ignore[untyped-decorator]
def fit(
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
    logits, highest, places = read(weights, layout, given, mask, room)
    d_logits = np.empty_like(logits)
    loss: float = cross_entropy(logits, given.labels, given.class_weights, d_logits)
    read_back(weights, layout, given, mask, room, highest, places, d_logits, d_states, d_mask, d_weights)
    return loss


@njit(**OPTIONS)  # type: ignore[untyped-decorator]
def rooms(space: Floats, chooser: Layout, reader: Layout, given: Given) -> tuple[Room, Room, Floats]:
    """Cut the space for a generator and a predictor: the room of each, and that for a gradient of states."""
    own = room(space, 0, chooser.hidden, given)
    other = room(space, _ROOM * chooser.hidden, reader.hidden, given)
    return own, other, cut(space, _ROOM * (chooser.hidden + reader.hidden), _STATES * reader.hidden, given)


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
    own, other, d_states = rooms(space, chooser, reader, given)
    reading = weights[predictor]
    d_reading = np.zeros_like(reading)
    if generators[0, 0] == predictor[0]:  # one encoder, one projection
        other = Room(own.projected, other.gates, other.states)
    else:
        project(reading, given.vectors, other.projected)
    loss = 0.0
    for number in range(len(generators)):
        choosing = weights[generators[number]]
        d_choosing = np.zeros_like(choosing)
        project(choosing, given.vectors, own.projected)
        mask, slopes = highlight(choosing, chooser, given, noise[number], scales.counted, own)
        d_mask = np.empty_like(mask)
        loss += regularise(mask, scales, d_mask)
        loss += fit(reading, reader, given, mask, other, d_states, d_mask, d_reading)
        highlight_back(choosing, chooser, given, own, slopes, d_mask, d_states, d_choosing)
        _add(d_choosing, generators[number], gradient)
    _add(d_reading, predictor, gradient)
    return loss


@njit(**OPTIONS)  # type: ignore[untyped-decorator]
def _text_gradient(
    weights: Floats, predictor: Counts, reader: Layout, given: Given, space: Floats, gradient: Floats
) -> float:
    """Return the task loss of a predictor that sees every token, and add to the gradient."""
    own = room(space, 0, reader.hidden, given)
    d_states = cut(space, _ROOM * reader.hidden, _STATES * reader.hidden, given)
    ones = np.ones(given.vectors.shape[1:], np.float32)
    reading = weights[predictor]
    d_reading = np.zeros_like(reading)
    project(reading, given.vectors, own.projected)
    loss: float = fit(reading, reader, given, ones, own, d_states, np.zeros_like(ones), d_reading)
    _add(d_reading, predictor, gradient)
    return loss


class Workspace:
    """Space for the arrays of a batch, which grows to the largest one, and the batch as compiled code takes it."""

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._space = np.empty(0, np.float32)

    def given(self, batch: Batch) -> Given:
        """Return the batch."""
        labels, class_weights = batch.labels.numpy(), self._losses.class_weights.numpy()
        return Given(batch.vectors.numpy(), batch.active, labels, class_weights)

    def space(self, batch: Batch, *layouts: Layout) -> Floats:
        """Return space for the rooms of some networks, and for a gradient of the last one's states."""
        rows = sum(_ROOM * layout.hidden for layout in layouts) + _STATES * layouts[-1].hidden
        needed = rows * batch.places * len(batch)
        if len(self._space) < needed:
            self._space = np.empty(needed, np.float32)
        return self._space


class HighlightUpdate:
    """Updates of generators, all of one layout, and of the predictor that reads what each of them highlights."""

    def __init__(self, generators: Sequence[Generator], predictor: Predictor, optimizer: Adam, losses: Losses) -> None:
        places = np.stack([optimizer.places(generator.weights) for generator in generators])
        self._networks = (places, generators[0].layout, optimizer.places(predictor.weights), predictor.layout)
        self._optimizer, self._losses, self._work = optimizer, losses, Workspace(losses)

    def __call__(self, batch: Batch, noise: torch.Generator) -> float:
        """Train on a batch and return its loss."""
        optimizer, losses = self._optimizer, self._losses
        generators, chooser, _, reader = self._networks
        optimizer.clear()
        loss = _highlight_gradient(
            optimizer.weights,
            *self._networks,
            self._work.given(batch),
            losses.noise((len(generators), batch.places, len(batch)), noise).numpy(),
            losses.scales(batch),
            self._work.space(batch, chooser, reader),
            optimizer.gradient,
        )
        optimizer.step()
        return float(loss)


class TextUpdate:
    """Updates of a predictor that reads whole texts."""

    def __init__(self, predictor: Predictor, optimizer: Adam, losses: Losses) -> None:
        self._network = (optimizer.places(predictor.weights), predictor.layout)
        self._optimizer, self._work = optimizer, Workspace(losses)

    def __call__(self, batch: Batch) -> float:
        """Train on a batch and return its loss."""
        optimizer, given, space = self._optimizer, self._work.given(batch), self._work.space(batch, self._network[1])
        optimizer.clear()
        loss = _text_gradient(optimizer.weights, *self._network, given, space, optimizer.gradient)
        optimizer.step()
        return float(loss)
