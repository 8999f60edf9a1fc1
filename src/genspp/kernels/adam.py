"""torch.optim.Adam with its default constants, over a flat vector of weights."""

import numpy as np
import numpy.typing as npt

from genspp.kernels.compile import kernel, routine
from genspp.kernels.lanes import WIDTH, fma, square_root
from genspp.kernels.memory import Floats, load, store

Powers = npt.NDArray[np.float64]


@routine
def adam(rates: Floats, weights: Floats, gradient: Floats, moments: Floats, squares: Floats, powers: Powers) -> None:
    """m <- b1 m + (1 - b1) g; v <- b2 v + (1 - b2) g^2; w <- w - rate (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + 1e-8).

    powers: b1^(t-1) and b2^(t-1), moved on: as running products, for a power function may differ between machines.
    """
    powers[0] *= 0.9
    powers[1] *= 0.999
    size, correction = 1 / (1 - powers[0]), np.sqrt(1 - powers[1])
    for at in range(0, len(weights), WIDTH):
        slope, moment = load(gradient, at), load(moments, at)
        moment = fma(slope - moment, 1 - 0.9, moment)
        square = fma(slope * slope, 1 - 0.999, load(squares, at) * 0.999)
        store(moments, at, moment)
        store(squares, at, square)
        step = load(rates, at) * size * moment / (square_root(square) / correction + 1e-8)
        store(weights, at, load(weights, at) - step)


@kernel
def adam_step(
    rates: Floats, weights: Floats, gradient: Floats, moments: Floats, squares: Floats, powers: Powers
) -> None:
    """Move the weights down their gradient; arrays of whole vectors."""
    adam(rates, weights, gradient, moments, squares, powers)
