"""Running a trained model over many texts: padded batches in, flat masks and probabilities out."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from genspp.data.encode import Encoded, Mask, pad


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


def select(selector: Callable[[Tensor, Tensor], Tensor], data: Encoded) -> Mask:
    """Return the flat mask over `data`; `selector(ids, real)` gives that of a padded batch."""
    flat = np.zeros(len(data.ids), dtype=np.uint8)
    with one_thread(), torch.inference_mode():
        for rows in data.batches():
            ids, real = data.padded(rows)
            mask = selector(torch.from_numpy(ids), torch.from_numpy(real)).numpy()
            index = data.starts[rows][:, None] + np.arange(ids.shape[1])
            flat[index[real]] = mask[real]
    return flat


def classify(
    classifier: Callable[[Tensor, Tensor, Tensor], Tensor], data: Encoded, flat: Mask, classes: int
) -> npt.NDArray[np.float64]:
    """Return class probabilities, (texts, classes); `classifier(ids, real, mask)` gives a batch's logits."""
    probabilities = np.zeros((len(data), classes))
    with one_thread(), torch.inference_mode():
        for rows in data.batches():
            ids, real = data.padded(rows)
            mask, _ = pad(flat, data.starts, rows)
            logits = classifier(torch.from_numpy(ids), torch.from_numpy(real), torch.from_numpy(mask) > 0)
            probabilities[rows] = torch.softmax(logits.double(), dim=1).numpy()
    return probabilities
