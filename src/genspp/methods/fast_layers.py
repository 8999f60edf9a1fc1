"""Networks of a GRU, a layer norm and a linear layer, for tokens and for texts: forward and back, compiled.

States are feature-major, (features, tokens, texts): see `fast_math`. What the norm and the layers behind it compute is
used as it comes and, but for the pooled values, not kept; the way back computes it again from the states. The weights
of a network are one vector: those of the GRU (see `fast_gru`), weight and bias of the norm if there is one, weights and
biases of the layer.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from genspp.methods.fast_gru import Tape, gru_size, joined, parted
from genspp.methods.fast_math import BLOCK, Counts, Floats, fill, inner, kernel, routine, total

_LANES = 64  # texts that are run at once when no gradient is wanted
_ZERO, _ONE, _EPSILON = np.float32(0), np.float32(1), np.float32(1e-5)  # as in nn.LayerNorm


class Layout(NamedTuple):
    """The sizes of a network; hidden units are per direction."""

    inputs: int
    hidden: int
    outputs: int
    normed: bool


@routine
def _normalise(states: Floats) -> Floats:
    """Turn states (features, tokens) into their distances from their mean in deviations; return 1 / deviation."""
    features, tokens = states.shape
    share = np.float32(1 / features)
    scales = np.empty(tokens, np.float32)
    mean, spread = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32)
    for start in range(0, tokens, BLOCK):
        size = min(BLOCK, tokens - start)
        scale = scales[start : start + size]
        fill(mean, 0, size, _ZERO)
        fill(spread, 0, size, _ZERO)
        for feature in range(features):
            row = states[feature, start : start + size]
            for i in range(size):
                mean[i] += row[i] * share
        for feature in range(features):
            row = states[feature, start : start + size]
            for i in range(size):
                row[i] -= mean[i]
                spread[i] += row[i] * row[i] * share
        for i in range(size):
            scale[i] = _ONE / np.sqrt(spread[i] + _EPSILON)
        for feature in range(features):
            row = states[feature, start : start + size]
            for i in range(size):
                row[i] *= scale[i]
    return scales


@routine
def _normalise_back(d_normal: Floats, normal: Floats, scales: Floats) -> None:
    """Turn the gradient of normal, (features, tokens), into that of the states."""
    features, tokens = normal.shape
    share = np.float32(1 / features)
    mean, slope = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32)
    for start in range(0, tokens, BLOCK):
        size = min(BLOCK, tokens - start)
        scale = scales[start : start + size]
        fill(mean, 0, size, _ZERO)
        fill(slope, 0, size, _ZERO)
        for feature in range(features):
            row, value = d_normal[feature, start : start + size], normal[feature, start : start + size]
            for i in range(size):
                mean[i] += row[i] * share
                slope[i] += row[i] * value[i] * share
        for feature in range(features):
            row, value = d_normal[feature, start : start + size], normal[feature, start : start + size]
            for i in range(size):
                row[i] = scale[i] * (row[i] - mean[i] - value[i] * slope[i])


@routine
def _layers(weights: Floats, layout: Layout) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return the parts of a network's weights: GRU, weight and bias of the norm, weights and biases of the layer."""
    features = 2 * layout.hidden
    norm = gru_size(layout.inputs, layout.hidden)
    head = norm + 2 * features if layout.normed else norm
    biases = head + layout.outputs * features
    if layout.normed:
        scale, shift = weights[norm : norm + features], weights[norm + features : head]
    else:
        scale, shift = np.ones(features, np.float32), np.zeros(features, np.float32)
    return weights[:norm], scale, shift, weights[head:biases].reshape(layout.outputs, features), weights[biases:]


@routine
def _normal(states: Floats, layout: Layout) -> tuple[Floats, Floats]:
    """Return a copy of states (features, tokens, texts), normalised if there is a norm, and the scales."""
    features, tokens, texts = states.shape
    normal, given = np.empty((features, tokens * texts), np.float32), states.reshape(features, tokens * texts)
    for feature in range(features):
        for i in range(tokens * texts):
            normal[feature, i] = given[feature, i]
    return normal, _normalise(normal) if layout.normed else np.empty(0, np.float32)


@kernel
def choose(weights: Floats, layout: Layout, states: Floats, logits: Floats) -> None:
    """Fill in logits, (outputs, tokens, texts): norm and linear layer of states (2 hidden, tokens, texts)."""
    _, scale, shift, head, biases = _layers(weights, layout)
    normal, _ = _normal(states, layout)
    for out in range(layout.outputs):
        row = logits[out].reshape(normal.shape[1])
        fill(row, 0, len(row), biases[out] + inner(head[out], shift))
        for feature in range(len(normal)):
            factor, value = head[out, feature] * scale[feature], normal[feature]
            for i in range(len(row)):
                row[i] += factor * value[i]


@kernel
def choose_back(
    weights: Floats, layout: Layout, d_logits: Floats, states: Floats, d_states: Floats, d_weights: Floats
) -> None:
    """Fill in the gradient of the states, and add to that of the weights."""
    _, scale, shift, head, _ = _layers(weights, layout)
    _, d_scale, d_shift, d_head, d_biases = _layers(d_weights, layout)
    normal, scales = _normal(states, layout)
    found = d_states.reshape(normal.shape)
    fill(d_states.reshape(d_states.size), 0, d_states.size, _ZERO)
    for out in range(layout.outputs):
        given = d_logits[out].reshape(normal.shape[1])
        d_bias = total(given)
        d_biases[out] += d_bias
        for feature in range(len(normal)):
            met, factor, row = inner(given, normal[feature]), head[out, feature], found[feature]
            d_head[out, feature] += scale[feature] * met + shift[feature] * d_bias
            d_scale[feature] += factor * met
            d_shift[feature] += factor * d_bias
            factor *= scale[feature]
            for i in range(len(row)):
                row[i] += factor * given[i]
    if layout.normed:
        _normalise_back(found, normal, scales)


@kernel
def classify(
    weights: Floats, layout: Layout, states: Floats, active: Counts, highest: Floats, places: Counts, logits: Floats
) -> None:
    """Fill in logits, (texts, outputs): norm, greatest value over the real tokens, linear layer.

    Also filled in: highest and places, (features, texts): the greatest values and the tokens that they are at.
    """
    _, scale, shift, head, biases = _layers(weights, layout)
    normal, _ = _normal(states, layout)
    features, tokens, texts = states.shape
    for feature in range(features):
        best, where, w, b = highest[feature], places[feature], scale[feature], shift[feature]
        first = normal[feature, :texts]
        for i in range(texts):
            best[i] = first[i] * w + b
        fill(where, 0, texts, 0)
        for t in range(1, tokens):
            row = normal[feature, t * texts : (t + 1) * texts]
            for i in range(active[t]):
                value = row[i] * w + b
                better = value > best[i] or np.isnan(value)
                best[i] = value if better else best[i]
                where[i] = t if better else where[i]
    for i in range(texts):
        for out in range(layout.outputs):
            found = biases[out]
            for feature in range(features):
                found += head[out, feature] * highest[feature, i]
            logits[i, out] = found


@kernel
def classify_back(
    weights: Floats,
    layout: Layout,
    d_logits: Floats,
    states: Floats,
    highest: Floats,
    places: Counts,
    d_states: Floats,
    d_weights: Floats,
) -> None:
    """Fill in the gradient of the states, and add to that of the weights."""
    _, scale, _, head, _ = _layers(weights, layout)
    _, d_scale, d_shift, d_head, d_biases = _layers(d_weights, layout)
    normal, scales = _normal(states, layout)
    features, texts = highest.shape
    found = d_states.reshape(normal.shape)
    fill(d_states.reshape(d_states.size), 0, d_states.size, _ZERO)
    for i in range(texts):
        for out in range(layout.outputs):
            given = d_logits[i, out]
            d_biases[out] += given
            for feature in range(features):
                d_head[out, feature] += given * highest[feature, i]
    for feature in range(features):
        for i in range(texts):
            at, given = places[feature, i] * texts + i, np.float32(0)
            for out in range(layout.outputs):
                given += head[out, feature] * d_logits[i, out]
            d_shift[feature] += given
            d_scale[feature] += given * normal[feature, at]
            found[feature, at] = given * scale[feature]
    if layout.normed:
        _normalise_back(found, normal, scales)


class TokenPass:
    """A network's way over all tokens of a batch, and back."""

    def __init__(self, layout: Layout) -> None:
        self.layout, self._tape = layout, Tape(layout.hidden)

    def forward(self, weights: Floats, vectors: Floats, active: Counts) -> Floats:
        """Return the logits of every token, (outputs, tokens, texts)."""
        logits = np.empty((self.layout.outputs, *vectors.shape[1:]), np.float32)
        choose(weights, self.layout, self._tape.run(weights, vectors, None, active), logits)
        return logits

    def back(self, weights: Floats, d_logits: Floats, d_weights: Floats, *, last: bool = False) -> None:
        """Add to the gradient of the weights. `last`: nobody will go back again."""
        tape = self._tape
        choose_back(weights, self.layout, d_logits, tape.states, tape.d_states, d_weights)
        tape.back(weights, tape.d_states, d_weights, last=last)


class TextPass:
    """A network's way over all texts of a batch, and back."""

    def __init__(self, layout: Layout) -> None:
        self.layout, self._tape = layout, Tape(layout.hidden)

    def forward(self, weights: Floats, vectors: Floats, mask: Floats | None, active: Counts) -> Floats:
        """Return the logits of every text, (texts, outputs), at a mask (tokens, texts); None: every token."""
        texts, features = vectors.shape[2], 2 * self.layout.hidden
        self._highest, self._places = np.empty((features, texts), np.float32), np.empty((features, texts), np.int64)
        logits = np.empty((texts, self.layout.outputs), np.float32)
        states = self._tape.run(weights, vectors, mask, active)
        classify(weights, self.layout, states, active, self._highest, self._places, logits)
        return logits

    def back(self, weights: Floats, d_logits: Floats, d_weights: Floats, *, last: bool = False) -> Floats:
        """Add to the gradient of the weights, and return that of the mask. `last`: nobody will go back again."""
        tape = self._tape
        pooled = (self._highest, self._places)
        classify_back(weights, self.layout, d_logits, tape.states, *pooled, tape.d_states, d_weights)
        return tape.back(weights, tape.d_states, d_weights, last=last)


class _TokenLogits(torch.autograd.Function):
    """The logits of every token as one step of the graph."""

    @staticmethod
    def forward(ctx: Any, layout: Layout, vectors: Tensor, active: Counts, *parameters: Tensor) -> Tensor:
        """Return the logits, (outputs, tokens, texts)."""
        ctx.weights, ctx.parameters, ctx.taken = joined(parameters), parameters, TokenPass(layout)
        return torch.from_numpy(ctx.taken.forward(ctx.weights, vectors.contiguous().numpy(), active))

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, d_logits: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of the parameters."""
        d_weights = np.zeros_like(ctx.weights)
        ctx.taken.back(ctx.weights, d_logits.contiguous().numpy(), d_weights)
        return None, None, None, *parted(d_weights, ctx.parameters)


class _TextLogits(torch.autograd.Function):
    """The logits of every text as one step of the graph."""

    @staticmethod
    def forward(
        ctx: Any, layout: Layout, vectors: Tensor, mask: Tensor | None, active: Counts, *parameters: Tensor
    ) -> Tensor:
        """Return the logits, (texts, outputs)."""
        ctx.weights, ctx.parameters, ctx.taken = joined(parameters), parameters, TextPass(layout)
        seen = None if mask is None else mask.contiguous().numpy()
        return torch.from_numpy(ctx.taken.forward(ctx.weights, vectors.contiguous().numpy(), seen, active))

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, d_logits: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of the mask and of the parameters."""
        d_weights = np.zeros_like(ctx.weights)
        d_mask = torch.from_numpy(ctx.taken.back(ctx.weights, d_logits.contiguous().numpy(), d_weights))
        return None, None, d_mask if ctx.needs_input_grad[2] else None, None, *parted(d_weights, ctx.parameters)


def token_logits(layout: Layout, vectors: Tensor, active: Counts, parameters: Sequence[Tensor]) -> Tensor:
    """Return what a network makes of every token, (outputs, tokens, texts).

    vectors: (inputs, tokens, texts), texts longest first. active: how many texts have a token at each place.
    parameters: of GRU, norm if there is one, and linear layer, in torch's order.
    """
    parts = [
        _TokenLogits.apply(layout, vectors[:, :, texts], there, *parameters)  # type: ignore[no-untyped-call]
        for texts, there in _lanes(vectors, active)
    ]
    return parts[0] if len(parts) == 1 else torch.cat(parts, 2)


def text_logits(
    layout: Layout, vectors: Tensor, mask: Tensor | None, active: Counts, parameters: Sequence[Tensor]
) -> Tensor:
    """Return what a network makes of every text, (texts, outputs), from the greatest states of its tokens.

    mask: (tokens, texts), what the vectors are multiplied by, if by anything. Otherwise as in `token_logits`.
    """
    parts = [
        _TextLogits.apply(  # type: ignore[no-untyped-call]
            layout, vectors[:, :, texts], None if mask is None else mask[:, texts], there, *parameters
        )
        for texts, there in _lanes(vectors, active)
    ]
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _lanes(vectors: Tensor, active: Counts) -> Iterator[tuple[slice, Counts]]:
    """Cut a batch that needs no gradient into parts, so that what one of them needs stays in the cache."""
    texts = vectors.shape[2]
    if torch.is_grad_enabled() or texts <= _LANES:
        yield slice(None), active
        return
    for start in range(0, texts, _LANES):
        yield slice(start, start + _LANES), np.clip(active - start, 0, _LANES)
