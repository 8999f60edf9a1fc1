"""Word vectors that know the task: further columns hold what a word says for every class.

Weights that are learnt on the texts that then read them are trusted too much there: a word of two texts seems to decide
both. So the columns are cross-fitted. A training text reads weights that were learnt without it, on the folds of
training texts that it is not in; a text that training has not seen reads those of all training texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from genspp.data.corpus_vectors import KIND
from genspp.data.encode import Encoded
from genspp.data.vectors import UNKNOWN, Vectors, vocabulary
from genspp.data.word_weights import word_weights
from genspp.streams import frozen

FOLDS = 5
# What a few texts tell of a word's contexts is mostly chance, and predictors would learn it by heart. So columns that
# were made from the training texts are made small, and those that know the labels are larger than they: how small, and
# how many times as large. A file of vectors has seen more texts.
_SMALL, _LOUDER = 0.3, 6.0
# How many texts a word needs to say anything. Where vectors are made from the training texts, only the label tells of a
# word that one text has what it may mean, and short texts are full of such words; others tell more, or each word apart.
_SEEN, _SEEN_BESIDE_OTHERS = 1, 2
_FOLD_SEED = 0


@dataclass(frozen=True, eq=False)
class Informed:
    """Vectors with columns that know the labels, and what training texts read instead.

    vectors: for texts that training has not seen. table: their rows, then those of every fold. fold: (training texts,)
    the fold that a text is in. weights: (rows of the table, classes) what a word says for each class.
    """

    vectors: Vectors
    table: npt.NDArray[np.float32]
    fold: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float32]

    def for_training(self, train: Encoded) -> Encoded:
        """Return the training texts with the rows of their folds in place of those that `vectors` gave them."""
        shift = np.repeat(1 + self.fold, train.lengths) * len(self.vectors.table)
        return replace(train, ids=(train.ids + shift).astype(np.int32))

    def evidence(self, wanted: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
        """Return the most that every word says for one of the wanted classes, (rows of the table,)."""
        return np.asarray(self.weights[:, wanted].max(axis=1))


def inform(vectors: Vectors, keys: Sequence[Sequence[str]], labels: npt.NDArray[np.int32], classes: int) -> Informed:
    """Add columns to vectors: one per class, or one for two classes; and a row for every training word without one."""
    small = replace(vectors, table=_SMALL * vectors.table) if vectors.kind == KIND else vectors
    return inform_again(small, keys, labels, classes)


def inform_again(
    vectors: Vectors, keys: Sequence[Sequence[str]], labels: npt.NDArray[np.int32], classes: int
) -> Informed:
    """Add the columns to what is left of a model's vectors without them."""
    words = vocabulary(keys)
    known = _with_rows(vectors, words)
    fold, seen = _folds(labels), _SEEN if vectors.kind == KIND else _SEEN_BESIDE_OTHERS

    def learnt(texts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        return _weights(known.words, [keys[text] for text in texts], labels[texts], classes, seen)

    weights = [learnt(np.arange(len(keys))), *(learnt(np.flatnonzero(fold != k)) for k in range(fold.max() + 1))]
    columns = [part if classes > 2 else part[:, 1:] for part in weights]
    # As large as the other columns of the training words, or several times, where a word has any weight at all.
    size = np.sqrt((columns[0] ** 2).sum() / max(1, np.count_nonzero(columns[0])))
    wanted = (_LOUDER if vectors.kind == KIND else 1) * float(known.table[[known.index[word] for word in words]].std())
    factor = wanted / size if size > 0 else 1.0
    tables = [np.concatenate([known.table, factor * part], axis=1).astype(np.float32) for part in columns]
    kept = np.concatenate([part.astype(np.float32) for part in weights])
    return Informed(replace(known, table=tables[0]), np.concatenate(tables), fold, kept)


def _with_rows(vectors: Vectors, words: Sequence[str]) -> Vectors:
    """Return vectors with a row for every one of some words; a new one is that of the unknown word."""
    new = [word for word in words if word not in vectors.index]
    rows = np.repeat(vectors.table[UNKNOWN : UNKNOWN + 1], len(new), axis=0)
    return replace(vectors, words=(*vectors.words, *new), table=np.concatenate([vectors.table, rows]))


def _folds(labels: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Deal texts into folds, every class evenly."""
    order = frozen(_FOLD_SEED).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), np.int64)
    fold[order] = np.arange(len(labels)) % min(FOLDS, len(labels))
    return fold


def _weights(
    words: Sequence[str], keys: Sequence[Sequence[str]], labels: npt.NDArray[np.int32], classes: int, seen: int
) -> npt.NDArray[np.float64]:
    """Return the weights of all rows, learnt on some texts; padding and the unknown word have zeros."""
    found = np.zeros((len(words) + UNKNOWN + 1, classes))
    if keys:
        found[UNKNOWN + 1 :] = word_weights(keys, labels, classes, seen=seen).of(words)
    return found
