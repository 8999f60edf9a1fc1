"""Running a trained pair over many texts, on the compiled kernels: flat masks and probabilities out."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from genspp.data.encode import Encoded, Mask
from genspp.kernels.lanes import WIDTH
from genspp.kernels.losses import logit_noise
from genspp.kernels.memory import floats
from genspp.model.networks import Committee, Generator, Pair, Predictor, Saliency, WordList
from genspp.model.passes import Batch, Network, highest, prepare
from genspp.model.weights import flatten, kernel_order, pack, sizes_of
from genspp.streams import Purpose, stream

_AT_ONCE = 1024
Probabilities = npt.NDArray[np.float64]


@contextmanager
def one_thread() -> Iterator[None]:
    """Use one torch thread inside, and give the caller back the number that was set.

    The matrices here are so small that a second thread only costs, many times over on a busy machine.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def flushed() -> Iterator[None]:
    """Take denormal numbers for zero inside, in this thread: they mean nothing and cost ten times the time."""
    before = bool(np.float32(1e-40) * np.float32(1) == 0)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)


def kernel_weights(network: Generator | Predictor) -> npt.NDArray[np.float32]:
    """Return a network's weights in the kernels' order."""
    return pack(flatten(network), kernel_order(sizes_of(network)))


def select(pair: Pair, data: Encoded) -> Mask:
    """Return the flat highlight of all texts: the tokens whose margin, with noise where it is drawn, is at least 0.

    Where a share of every text is selected, the tokens of the highest margins.
    """
    flat = _margins(pair, data)
    if pair.sampled is not None:
        flat = flat + text_noise(pair.sampled, data)
    if pair.share is not None:
        return highest(flat, np.repeat(np.arange(len(data)), data.lengths), pair.share)
    return np.asarray(flat >= 0).view(np.uint8)


def _margins(pair: Pair, data: Encoded) -> npt.NDArray[np.float32]:
    """Return by how much selecting every token is preferred to dropping it."""
    if isinstance(pair.generator, WordList):
        return pair.generator.of(torch.from_numpy(data.ids.astype(np.int64))).numpy()
    if isinstance(pair.generator, Saliency):
        return _saliency(pair, pair.generator.predictor, data)
    batch, network = _laid_out(pair, pair.generator, data)
    with flushed():
        return batch.by_token(network.margins(batch, kernel_weights(pair.generator)))


def _saliency(pair: Pair, predictor: Predictor, data: Encoded) -> npt.NDArray[np.float32]:
    """Return the saliency of every token; some texts at a time, for going back needs all that was computed forwards."""
    found = [np.zeros(0, np.float32)]
    for first in range(0, len(data), _AT_ONCE):
        starts = data.starts[first : first + _AT_ONCE + 1]
        part = Encoded(data.ids[starts[0] : starts[-1]], starts - starts[0], data.labels[:0])
        batch, network = _laid_out(pair, predictor, part)
        with flushed():
            found.append(batch.by_token(network.saliency(batch, kernel_weights(predictor))))
    return np.concatenate(found)


def classify(pair: Pair, data: Encoded, mask: Mask) -> Probabilities:
    """Return the class probabilities, (texts, classes), at a flat mask."""
    return _probabilities(pair, pair.predictor, data, mask)


def classify_full_text(pair: Pair, predictor: Predictor | Committee, data: Encoded) -> Probabilities:
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


def _laid_out(pair: Pair, module: Generator | Predictor, data: Encoded) -> tuple[Batch, Network]:
    classes = pair.predictor.classes
    table, (rows,) = prepare(pair.vectors.numpy(), classes, data)
    return Batch.of_all(rows, np.ones(classes, np.float32), module.encoder.gru.hidden_size), Network(module, table)


def _probabilities(pair: Pair, predictor: Predictor | Committee, data: Encoded, mask: Mask) -> Probabilities:
    members: list[Any] = list(predictor.members) if isinstance(predictor, Committee) else [predictor]
    batch, network = _laid_out(pair, members[0], data)
    marked, total = batch.from_tokens(mask), np.zeros((len(data), predictor.classes))
    for member in members:
        with flushed():
            logits = network.texts(batch, kernel_weights(member), marked, keep=False)
        found = batch.by_text(logits, network.sizes.outputs).astype(np.float64)
        powers = np.exp(found - found.max(axis=1, keepdims=True))
        total += powers / powers.sum(axis=1, keepdims=True)
    return total / len(members)
