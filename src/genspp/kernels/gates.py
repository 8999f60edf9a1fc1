"""Soft masks: gates between 0 and 1 that are drawn for tokens, with the slopes that gradients go back through.

    concrete     sigma((margin + logit u) / temperature), u uniform: a relaxed draw of Bernoulli(sigma(margin))
    divergence   KL(Bernoulli(sigma(margin)) || Bernoulli(prior))

Numbers of tokens are (places, WIDTH), logits (outputs, places, WIDTH).
"""

from genspp.kernels.compile import kernel
from genspp.kernels.lanes import WIDTH, fma, larger, smaller
from genspp.kernels.losses import logistic
from genspp.kernels.math import logarithm, sigmoid, softplus
from genspp.kernels.memory import Floats, Ints, load, store, total, vector


@kernel
def draw_concrete(
    places: int, margins: Floats, uniform: Floats, counted: Floats, temperature: float, mask: Floats, slopes: Floats
) -> None:
    """Write relaxed draws, and their slopes in the margins; both are 0 where `counted` is."""
    for at in range(0, places * WIDTH, WIDTH):
        gate = sigmoid((load(margins, at) + logistic(load(uniform, at))) / temperature)
        there = load(counted, at)
        store(mask, at, gate * there)
        store(slopes, at, gate * (1.0 - gate) / temperature * there)


@kernel
def bernoulli_divergence(
    groups: int, first: Ints, counted: Floats, priors: Floats, margins: Floats, share: float, gradient: Floats
) -> float:
    """Return the sum over counted tokens of share KL(Bernoulli(p) || Bernoulli(prior)), and write that of the margins.

    With x = logit p and y that of the prior, (groups, WIDTH), it is p (x - y) - ln(1 + e**x) - ln(1 - prior), and its
    slope in x is p (1 - p) (x - y).
    """
    loss = vector(0.0)
    for group in range(groups):
        prior = smaller(0.999999, larger(0.000001, load(priors, group * WIDTH)))
        unselected = logarithm(1.0 - prior)
        y = logarithm(prior) - unselected
        for at in range(first[group] * WIDTH, first[group + 1] * WIDTH, WIDTH):
            x, there = load(margins, at), share * load(counted, at)
            p = sigmoid(x)
            loss = fma(fma(p, x - y, 0.0 - softplus(x) - unselected), there, loss)
            store(gradient, at, p * (1.0 - p) * (x - y) * there)
    return float(total(loss))
