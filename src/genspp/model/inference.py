"""Running a trained pair over many texts, on the compiled kernels: flat masks and probabilities out."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from genspp.data.encode import Encoded, Mask
from genspp.kernels.denormals import flush_denormals
from genspp.kernels.lanes import WIDTH
from genspp.kernels.losses import logit_noise, softmax
from genspp.kernels.memory import floats
from genspp.model.forms import KernelPair, SalientTo, Together, Weighed, WordMargins, members_of
from genspp.model.passes import Batch, Network, highest, prepare
from genspp.streams import Purpose, stream

_AT_ONCE = 1024
Probabilities = npt.NDArray[np.float64]


@contextmanager
def flushed() -> Iterator[None]:
    """Take denormal numbers for zero inside, in this thread: they mean nothing and cost ten times the time."""
    before = flush_denormals(True)
    try:
        yield
    finally:
        flush_denormals(before)


def select(pair: KernelPair, data: Encoded) -> Mask:
    """Return the flat highlight of all texts: the tokens whose margin, with noise where it is drawn, is at least 0.

    Where a share of every text is selected, the tokens of the highest margins.
    """
    flat = margins(pair, data)
    if pair.sampled is not None:
        flat = flat + text_noise(pair.sampled, data)
    if pair.share is not None:
        return highest(flat, np.repeat(np.arange(len(data)), data.lengths), pair.share)
    return np.asarray(flat >= 0).view(np.uint8)


def margins(pair: KernelPair, data: Encoded) -> npt.NDArray[np.float32]:
    """Return by how much selecting every token is preferred to dropping it."""
    if isinstance(pair.generator, WordMargins):
        return pair.generator.of(data.ids)
    if isinstance(pair.generator, SalientTo):
        return _saliency(pair, pair.generator.predictor, data)
    batch, network = _laid_out(pair, pair.generator, data)
    with flushed():
        return batch.by_token(network.margins(batch, pair.generator.weights))


def _saliency(pair: KernelPair, predictor: Weighed, data: Encoded) -> npt.NDArray[np.float32]:
    """Return the saliency of every token; some texts at a time, for going back needs all that was computed forwards."""
    found = [np.zeros(0, np.float32)]
    for first in range(0, len(data), _AT_ONCE):
        starts = data.starts[first : first + _AT_ONCE + 1]
        part = Encoded(data.ids[starts[0] : starts[-1]], starts - starts[0], data.labels[:0])
        batch, network = _laid_out(pair, predictor, part)
        with flushed():
            found.append(batch.by_token(network.saliency(batch, predictor.weights)))
    return np.concatenate(found)


def classify(pair: KernelPair, data: Encoded, mask: Mask) -> Probabilities:
    """Return the class probabilities, (texts, classes), at a flat mask."""
    return _probabilities(pair, pair.predictor, data, mask)


def classify_full_text(pair: KernelPair, predictor: Weighed | Together, data: Encoded) -> Probabilities:
    """Return what a predictor that sees every token says, (texts, classes)."""
    return _probabilities(pair, predictor, data, np.ones(len(data.ids), np.uint8))


def text_noise(seed: int, data: Encoded) -> npt.NDArray[np.float32]:
    """Return logistic noise, one number per token, that is a function of the seed and of the token's text alone.

    So a drawn highlight, too, is the same whatever else is in the batch, and the same at every call.
    """
    uniform, noise = floats(len(data.ids)), floats(len(data.ids))
    for start, end in zip(data.starts, data.starts[1:], strict=False):
        uniform[start:end] = stream(seed, Purpose.SAMPLE, *data.ids[start:end].tolist()).random(end - start)
    logit_noise(-(-len(data.ids) // WIDTH), uniform, noise)
    return noise[: len(data.ids)]


def _laid_out(pair: KernelPair, network: Weighed, data: Encoded) -> tuple[Batch, Network]:
    classes = members_of(pair.predictor)[0].form.sizes.outputs
    table, (rows,) = prepare(pair.vectors, classes, data)
    batch = Batch.of_all(rows, np.ones(classes, np.float32), network.form.sizes.units)
    return batch, Network(network.form, table)


def _probabilities(pair: KernelPair, predictor: Weighed | Together, data: Encoded, mask: Mask) -> Probabilities:
    members = members_of(predictor)
    batch, network = _laid_out(pair, members[0], data)
    marked, total = batch.from_tokens(mask), np.zeros((len(data), network.sizes.outputs))
    for member in members:
        with flushed():
            logits = network.texts(batch, member.weights, marked, keep=False)
        found = batch.by_text(logits, network.sizes.outputs).astype(np.float64)
        total += softmax(found)
    mean, words = total / len(members), predictor.words if isinstance(predictor, Together) else None
    if words is None:
        return mean
    texts, chosen = np.repeat(np.arange(len(data)), data.lengths), mask != 0
    return (mean + softmax(words.logits(texts[chosen], data.ids[chosen], len(data)))) / 2
