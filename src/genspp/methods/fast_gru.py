"""A bidirectional GRU for small sizes on one core: torch's mathematics and parameter names, a compiled recurrence.

With 64 texts and 8 or 16 hidden units `nn.GRU` spends its time on calling operators, not on numbers: forward and
backward over a Toy batch take it about 24 ms, this about 1 ms (one AVX2 core). Input projections and weight
gradients are one matrix product each; only what must go step by step is a compiled loop. In it the texts are
innermost, so that every loop over texts is a vector loop.

Texts of different lengths need no packing here: they come longest first, and at every step only the texts that have
a token there move. The others keep a state of zero (before the backward direction has reached them) or are done
(forward), so padding changes nothing; its states are returned as zeros.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from numba import njit
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

Floats = npt.NDArray[np.float32]
Counts = npt.NDArray[np.int64]

_LANES = 64  # texts run at once when no gradient is wanted: what a batch of them needs then stays in the cache
_ONE, _TWO, _HALF = np.float32(1), np.float32(2), np.float32(0.5)
_P0, _P1, _P2 = np.float32(135135), np.float32(17325), np.float32(378)
_Q1, _Q2, _Q3 = np.float32(62370), np.float32(3150), np.float32(28)
_FLAT = np.float32(9)  # from here on float32 cannot tell tanh from 1

# No "reassoc": a text's numbers must not depend on how the loop over its neighbours was cut into vectors.
_OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",  # Python's would test every division for zero, and nothing would vectorise
    "fastmath": {"contract", "nnan", "ninf", "nsz"},
}


@njit(inline="always", **_OPTIONS)  # type: ignore[untyped-decorator]
def _tanh(x: Any) -> Any:
    """Return tanh(x) within 3e-7, by Lambert's continued fraction at x / 2: the library's would not vectorise."""
    y = min(max(x, -_FLAT), _FLAT) * _HALF
    s = y * y
    half = y * (_P0 + s * (_P1 + s * (_P2 + s))) / (_P0 + s * (_Q1 + s * (_Q2 + s * _Q3)))
    return _TWO * half / (_ONE + half * half)


@njit(inline="always", **_OPTIONS)  # type: ignore[untyped-decorator]
def _sigmoid(x: Any) -> Any:
    return _HALF + _HALF * _tanh(_HALF * x)


@njit(**_OPTIONS)  # type: ignore[untyped-decorator]
def _add_product(weights: Floats, states: Floats, sums: Floats, texts: int) -> None:
    """Add weights (rows, units) times states (units, texts) to sums (rows, texts), for the first `texts`."""
    rows, units = weights.shape
    for row in range(rows):
        total = sums[row]
        unit = 0
        while unit + 4 <= units:  # four at a time: a sum is loaded and stored a quarter as often
            w0, w1, w2, w3 = weights[row, unit], weights[row, unit + 1], weights[row, unit + 2], weights[row, unit + 3]
            s0, s1, s2, s3 = states[unit], states[unit + 1], states[unit + 2], states[unit + 3]
            for i in range(texts):
                total[i] += w0 * s0[i] + w1 * s1[i] + w2 * s2[i] + w3 * s3[i]
            unit += 4
        while unit < units:
            weight, state = weights[row, unit], states[unit]
            for i in range(texts):
                total[i] += weight * state[i]
            unit += 1


@njit(**_OPTIONS)  # type: ignore[untyped-decorator]
def _forward(
    inputs: Floats, weights: Floats, biases: Floats, active: Counts, before: Floats, gates: Floats, states: Floats
) -> None:
    """Run both directions over all steps.

    inputs: (2, 3 hidden, tokens, texts), projected, with their biases; gates in torch's order: reset, update, new.
    weights: (2, 3 hidden, hidden). biases: (2, 3 hidden). active: (tokens,), how many texts have a token there.
    Filled in: before (2, hidden, tokens, texts), the state that a step starts from; gates (2, 4 hidden, tokens,
    texts), the three gates and the recurrent part of the new one; states (tokens, texts, 2 hidden).
    """
    hidden, tokens, texts = weights.shape[2], inputs.shape[2], inputs.shape[3]
    recurrent = np.empty((3 * hidden, texts), np.float32)
    for direction in range(2):
        state = np.zeros((hidden, texts), np.float32)
        for step in range(tokens):
            t = step if direction == 0 else tokens - 1 - step
            count = active[t]
            for row in range(3 * hidden):
                recurrent[row, :count] = biases[direction, row]
            _add_product(weights[direction], state, recurrent, count)
            for j in range(hidden):
                k, m = hidden + j, 2 * hidden + j
                in_r, in_z, in_n = inputs[direction, j, t], inputs[direction, k, t], inputs[direction, m, t]
                re_r, re_z, re_n = recurrent[j], recurrent[k], recurrent[m]
                out_r, out_z, out_n = gates[direction, j, t], gates[direction, k, t], gates[direction, m, t]
                out_re, old, now = gates[direction, hidden + m, t], before[direction, j, t], state[j]
                for i in range(count):
                    r = _sigmoid(in_r[i] + re_r[i])
                    z = _sigmoid(in_z[i] + re_z[i])
                    n = _tanh(in_n[i] + r * re_n[i])
                    out_r[i], out_z[i], out_n[i], out_re[i] = r, z, n, re_n[i]
                    old[i] = now[i]
                    now[i] = n + z * (now[i] - n)
                for i in range(count):
                    states[t, i, direction * hidden + j] = now[i]
                if count < texts:
                    old[count:] = 0
                    states[t, count:, direction * hidden + j] = 0


@njit(**_OPTIONS)  # type: ignore[untyped-decorator]
def _backward(
    d_states: Floats, transposed: Floats, active: Counts, before: Floats, gates: Floats, gradients: Floats
) -> None:
    """Run both directions back.

    d_states: (tokens, texts, 2 hidden). transposed: (2, hidden, 3 hidden), the recurrent weights. Filled in:
    gradients (2, 4 hidden, tokens, texts): of the input to the new gate, then of the recurrent sums of all three.
    Those of the reset and update gates are also the gradients of their inputs.
    """
    hidden, tokens, texts = transposed.shape[1], gradients.shape[2], gradients.shape[3]
    sums = np.empty((3 * hidden, texts), np.float32)
    for direction in range(2):
        d_state = np.zeros((hidden, texts), np.float32)
        for step in range(tokens):
            t = tokens - 1 - step if direction == 0 else step
            count = active[t]
            for j in range(hidden):
                k, m = hidden + j, 2 * hidden + j
                g_r, g_z, g_n = gates[direction, j, t], gates[direction, k, t], gates[direction, m, t]
                g_re, old, d_now = gates[direction, hidden + m, t], before[direction, j, t], d_state[j]
                sum_r, sum_z, sum_n, d_n = sums[j], sums[k], sums[m], gradients[direction, j, t]
                for i in range(count):
                    d_now[i] += d_states[t, i, direction * hidden + j]
                for i in range(count):
                    r, z, n, d_h = g_r[i], g_z[i], g_n[i], d_now[i]
                    d_new = d_h * (_ONE - z) * (_ONE - n * n)
                    d_n[i] = d_new
                    sum_r[i] = d_new * g_re[i] * r * (_ONE - r)
                    sum_z[i] = d_h * (old[i] - n) * z * (_ONE - z)
                    sum_n[i] = d_new * r
                    d_now[i] = d_h * z
                if count < texts:
                    d_n[count:] = 0
            _add_product(transposed[direction], sums, d_state, count)
            for row in range(3 * hidden):
                out, total = gradients[direction, hidden + row, t], sums[row]
                for i in range(count):
                    out[i] = total[i]
                if count < texts:
                    out[count:] = 0


class _Recurrence(torch.autograd.Function):
    """Both directions over (tokens, texts, inputs), as one step of the graph."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, active: Counts, *parameters: Tensor) -> Tensor:
        """Return the states, (tokens, texts, 2 hidden). `parameters` are those of `BiGRU`, in its order."""
        tokens, texts, width = vectors.shape
        w_ih, w_hh, b_ih, b_hh = (torch.stack(pair) for pair in zip(parameters[:4], parameters[4:], strict=True))
        hidden = w_hh.shape[2]
        flat = vectors.reshape(tokens * texts, width)
        inputs = torch.addmm(b_ih.view(-1, 1), w_ih.view(-1, width), flat.t()).view(2, 3 * hidden, tokens, texts)
        before = torch.empty(2, hidden, tokens, texts)
        gates = torch.empty(2, 4 * hidden, tokens, texts)
        states = torch.empty(tokens, texts, 2 * hidden)
        arrays = (tensor.numpy() for tensor in (before, gates, states))
        _forward(inputs.numpy(), w_hh.numpy(), b_hh.numpy(), active, *arrays)
        ctx.save_for_backward(flat, w_ih, w_hh, before, gates)
        ctx.active = active
        return states

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, d_states: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of the vectors, where they are wanted, and of the parameters."""
        flat, w_ih, w_hh, before, gates = ctx.saved_tensors
        _, hidden, tokens, texts = before.shape
        gradients = torch.empty(2, 4 * hidden, tokens, texts)
        transposed = w_hh.transpose(1, 2).contiguous()
        arrays = (tensor.numpy() for tensor in (before, gates, gradients))
        _backward(d_states.contiguous().numpy(), transposed.numpy(), ctx.active, *arrays)
        gradients = gradients.view(2, 4 * hidden, -1)
        of_inputs, of_sums = gradients[:, : 3 * hidden], gradients[:, hidden:]  # new, reset, update; reset, update, new
        d_vectors = None
        if ctx.needs_input_grad[0]:
            rolled = w_ih.roll(hidden, 1)
            d_vectors = torch.addmm(of_inputs[0].t() @ rolled[0], of_inputs[1].t(), rolled[1]).view(tokens, texts, -1)
        d_w_ih = [(part @ flat).roll(-hidden, 0) for part in of_inputs]
        d_w_hh = of_sums @ before.view(2, hidden, -1).transpose(1, 2)
        totals = gradients.sum(2)
        d_b_ih, d_b_hh = totals[:, : 3 * hidden].roll(-hidden, 1), totals[:, hidden:]
        found = (d_w_ih, d_w_hh, d_b_ih, d_b_hh)
        return d_vectors, None, *(gradient[0] for gradient in found), *(gradient[1] for gradient in found)


class BiGRU(nn.Module):
    """GRU(inputs -> hidden) in both directions: `nn.GRU(inputs, hidden, bidirectional=True)`, names and all."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        shapes = {
            "weight_ih": (3 * hidden, inputs),
            "weight_hh": (3 * hidden, hidden),
            "bias_ih": (3 * hidden,),
            "bias_hh": (3 * hidden,),
        }
        bound = hidden**-0.5
        for suffix in ("l0", "l0_reverse"):
            for name, shape in shapes.items():
                self.register_parameter(f"{name}_{suffix}", nn.Parameter(torch.empty(shape).uniform_(-bound, bound)))

    def forward(self, vectors: Tensor, active: Counts) -> Tensor:
        """Return the states, (tokens, texts, 2 hidden), zero where there is padding.

        vectors: (tokens, texts, inputs), texts longest first. active: how many texts have a token at each place.
        """
        parameters = tuple(self._parameters.values())  # as `parameters()`, without its search for submodules
        if torch.is_grad_enabled() or vectors.shape[1] <= _LANES:
            return _Recurrence.apply(vectors, active, *parameters)  # type: ignore[no-any-return,no-untyped-call]
        parts = [
            _Recurrence.apply(  # type: ignore[no-untyped-call]
                vectors[:, start : start + _LANES], np.clip(active - start, 0, _LANES), *parameters
            )
            for start in range(0, vectors.shape[1], _LANES)
        ]
        return torch.cat(parts, dim=1)
