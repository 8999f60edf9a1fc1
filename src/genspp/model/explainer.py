"""A trained model at work: labels, probabilities and highlights of texts, the same for every method.

What it is asked with is plain arrays on kernels, so that a saved model answers without torch.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from genspp.data.corpus import Corpus, Texts, as_corpus
from genspp.data.encode import Encoded, Mask, encode
from genspp.data.vectors import UNKNOWN, Vectors
from genspp.errors import DataError
from genspp.model.forms import KernelPair, Weighed
from genspp.model.inference import classify, margins, select
from genspp.model.rationale import Rationale


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

    @abstractmethod
    def _pair(self) -> KernelPair:
        """Return the trained pair, on the present vectors."""

    def predict(self, texts: Texts, masks: Sequence[Sequence[int]] | None = None) -> npt.NDArray[Any]:
        """Return the label of every text, decided from its own highlight or from the given `masks`."""
        best = self.predict_proba(texts, masks).argmax(1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, texts: Texts, masks: Sequence[Sequence[int]] | None = None) -> npt.NDArray[np.float64]:
        """Return the probability of every class, (texts, classes), in the order of `classes_`."""
        corpus, data = self._read(texts)
        pair = self._pair()
        flat = select(pair, data) if masks is None else flat_masks(masks, corpus)
        return classify(pair, data, flat)

    def explain(self, texts: Texts) -> list[Rationale]:
        """Return for every text the decision and the words it was made from."""
        corpus, data = self._read(texts)
        pair = self._pair()
        flat = select(pair, data)
        probabilities = classify(pair, data, flat)
        names = self.classes_.tolist()
        masks, unknown = data.split(flat), data.split((data.ids == UNKNOWN).view(np.uint8))
        return [
            Rationale(
                document,
                names[int(row.argmax())],
                dict(zip(names, row.tolist(), strict=True)),
                mask.tolist(),
                tuple(np.flatnonzero(flags).tolist()),
            )
            for document, mask, flags, row in zip(corpus, masks, unknown, probabilities, strict=True)
        ]

    def soft_masks(self, texts: Texts) -> list[npt.NDArray[np.float64]] | None:
        """Return by how much every token is preferred to being dropped, from 0 to 1; 1/2: neither is.

        None where the generator gives no such margin: it knows single words, or ranks the tokens of a text.
        """
        _, data = self._read(texts)
        pair = self._pair()
        if not isinstance(pair.generator, Weighed):
            return None
        soft = 1 / (1 + np.exp(-np.clip(margins(pair, data).astype(np.float64), -50, 50)))
        return [soft[start:end] for start, end in zip(data.starts, data.starts[1:], strict=False)]

    def _read(self, texts: Texts) -> tuple[Corpus, Encoded]:
        """Return texts cut and looked up, words that the table lacks in the vectors' file."""
        corpus = as_corpus(texts, self.cut_by)
        keys = corpus.keys(self.cut_by)
        self.vectors_ = self.vectors_.extended(keys)
        return corpus, encode(keys, self.vectors_.index, UNKNOWN)


def flat_masks(masks: Sequence[Sequence[int]], corpus: Corpus) -> Mask:
    """Return one mask per text as one array over all tokens."""
    if len(masks) != len(corpus):
        raise DataError(f"there are {len(corpus)} texts but {len(masks)} masks; give one mask per text.")
    for number, (mask, document) in enumerate(zip(masks, corpus, strict=True)):
        if len(mask) != len(document.tokens):
            raise DataError(
                f"the mask of text {number} (from 0) has {len(mask)} entries, but the text has "
                f"{len(document.tokens)} tokens; give one entry per token."
            )
    flat = np.concatenate([np.asarray(mask) for mask in masks])
    if not np.isin(flat, (0, 1)).all():
        raise DataError("a mask holds something other than 0 and 1; give 1 for a selected token, else 0.")
    return flat.astype(np.uint8)
