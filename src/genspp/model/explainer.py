"""A trained model at work: labels, probabilities and highlights of texts, the same for every method.

What it is asked with is plain arrays on kernels, so that a saved model answers without torch.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from genspp.data.corpus import Corpus, Texts, as_corpus, truncated_note
from genspp.data.encode import Encoded, Mask, encode
from genspp.data.vectors import UNKNOWN, Vectors
from genspp.errors import DataError
from genspp.kernels.losses import exponentials
from genspp.model.forms import KernelPair, Weighed
from genspp.model.inference import classify, margins, select
from genspp.model.rationale import Rationale

logger = logging.getLogger("genspp")

Masks = Sequence[Sequence[int] | None] | None  # one per text, over its tokens; None: what the model selects itself


class Explainer(ABC):
    """Something that explains its decisions. classes_: sorted."""

    classes_: npt.NDArray[Any]
    vectors_: Vectors

    @property
    @abstractmethod
    def method(self) -> str:
        """What its method is called."""

    @property
    @abstractmethod
    def cut_by(self) -> str:
        """The tokeniser of texts that are given as strings."""

    @property
    @abstractmethod
    def most_tokens(self) -> int | None:
        """How many tokens of a text are read at most, the first ones; None: all."""

    @abstractmethod
    def _pair(self) -> KernelPair:
        """Return the trained pair, on the present vectors."""

    def predict(self, texts: Texts, masks: Masks = None) -> npt.NDArray[Any]:
        """Return the label of every text, decided from its own highlight or from the given `masks` (None: its own)."""
        best = self.predict_proba(texts, masks).argmax(1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, texts: Texts, masks: Masks = None) -> npt.NDArray[np.float64]:
        """Return the probability of every class, (texts, classes), in the order of `classes_`."""
        corpus, data = self._read(texts)
        pair = self._pair()
        return classify(pair, data, _marked(pair, corpus, data, masks))

    def explain(self, texts: Texts, masks: Masks = None) -> list[Rationale]:
        """Return for every text the decision and the words it was made from, be they those of the given `masks`."""
        corpus, data = self._read(texts)
        pair = self._pair()
        flat = _marked(pair, corpus, data, masks)
        probabilities = classify(pair, data, flat)
        names = self.classes_.tolist()
        chosen, unknown = data.split(flat), data.split((data.ids == UNKNOWN).view(np.uint8))
        return [
            Rationale(
                document,
                names[int(row.argmax())],
                dict(zip(names, row.tolist(), strict=True)),
                mask.tolist(),
                tuple(np.flatnonzero(flags).tolist()),
            )
            for document, mask, flags, row in zip(corpus, chosen, unknown, probabilities, strict=True)
        ]

    def soft_masks(self, texts: Texts) -> list[npt.NDArray[np.float64]] | None:
        """Return by how much every token is preferred to being dropped, from 0 to 1; 1/2: neither is.

        None where the generator gives no such margin: it knows single words, or ranks the tokens of a text.
        """
        _, data = self._read(texts)
        pair = self._pair()
        if not isinstance(pair.generator, Weighed):
            return None
        soft = 1 / (1 + exponentials(-np.clip(margins(pair, data), -50, 50)))
        return [soft[start:end] for start, end in zip(data.starts, data.starts[1:], strict=False)]

    def forget(self) -> None:
        """Let go of the words that were looked up or guessed since training, before they fill the memory."""
        self._use(self.vectors_.trained())

    def _read(self, texts: Texts) -> tuple[Corpus, Encoded]:
        """Return texts cut and looked up, words that the table lacks in the vectors' file."""
        corpus = shortened(as_corpus(texts, self.cut_by), self.most_tokens)
        keys = corpus.keys(self.cut_by)
        self._use(self.vectors_.extended(keys))
        return corpus, encode(keys, self.vectors_.index, UNKNOWN)

    def _use(self, vectors: Vectors) -> None:
        self.vectors_ = vectors


def shortened(corpus: Corpus, most: int | None) -> Corpus:
    """Return texts with so many tokens at most, and say how many are cut for it."""
    short = corpus.truncated(most)
    for note in truncated_note((short,), most) if short is not corpus else ():
        logger.warning(note)
    return short


def _marked(pair: KernelPair, corpus: Corpus, data: Encoded, masks: Masks) -> Mask:
    """Return the flat highlight of all texts: the given masks, the model's own where there are none."""
    if masks is None:
        return select(pair, data)
    return flat_masks(masks, corpus, lambda: data.split(select(pair, data)))


def flat_masks(masks: Sequence[Sequence[int] | None], corpus: Corpus, own: Callable[[], Sequence[Mask]]) -> Mask:
    """Return one mask per text as one array over all tokens. own: finds the masks for those that are None."""
    if len(masks) != len(corpus):
        raise DataError(f"there are {len(corpus)} texts but {len(masks)} masks; give one mask per text.")
    for number, (mask, document) in enumerate(zip(masks, corpus, strict=True)):
        if mask is not None and len(mask) != len(document.tokens):
            raise DataError(
                f"the mask of text {number} (from 0) has {len(mask)} entries, but the text has "
                f"{len(document.tokens)} tokens; give one entry per token."
            )
    missing = own() if any(mask is None for mask in masks) else masks
    flat = np.concatenate(
        [np.asarray(found if mask is None else mask) for mask, found in zip(masks, missing, strict=True)]
    )
    if not np.isin(flat, (0, 1)).all():
        raise DataError("a mask holds something other than 0 and 1; give 1 for a selected token, else 0.")
    return flat.astype(np.uint8)
