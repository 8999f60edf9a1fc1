"""Every random stream of the package, and what each is for.

A stream belongs to a seed, a purpose and numbers; its key is a hash of all three, so that no two streams share
numbers, however large a seed is and however many numbers a key has.
"""

import hashlib
import json
from enum import StrEnum

import numpy as np
import numpy.typing as npt


class Purpose(StrEnum):
    """What a stream is for."""

    GENOME = "initial genome"  # of an individual
    SEARCH = "search"  # couples, cuts, mutations, survivors; manners of climbing
    CLIMB = "climb"  # the seed of a child's batches and noise: generation, number
    INDIVIDUAL = "individual"  # the seed of its predictor: generation, number
    FULL_TEXT = "full-text predictor"
    FINAL = "final predictor"
    ADVERSARY = "adversary"  # the seed of the predictor behind what is not selected
    READERS = "readers"  # the highlights of an epoch of the weights that judges start from
    WEIGHTS = "weights"  # a network's initial ones
    COMPANIONS = "companions"  # those of networks that are trained beside the model
    ORDER = "order of the rows"  # in an epoch
    ROWS = "rows of a search"  # where there are many: those of training (0) and of validation (1)
    NOISE = "noise"  # of the masks in an epoch
    SKEW = "skew"  # the seed of all that is drawn for a start that is locked in
    SAMPLE = "sampled highlight"  # of a text, at evaluation
    RANDOM_HIGHLIGHTS = "random highlights"  # so many in every text
    RANDOM_TOKENS = "random tokens"  # a share of all
    BOOTSTRAP = "bootstrap"
    AUDIT_JUDGES = "judges of an audit"  # the seed of a predictor that an audit trains: its number
    AUDIT_HIGHLIGHTS = "random highlights of an audit"  # the seed of those that its reader is trained on: part
    RECIPE_JUDGES = "judges of a recipe"  # the seed of those that highlights found by another are judged by: number
    AUDIT_TEXTS = "texts of an audit"  # that are made from test texts: number of the question, class


def _key(seed: int, purpose: Purpose, numbers: tuple[int, ...]) -> int:
    content = json.dumps([int(seed), purpose.value, *map(int, numbers)])
    return int.from_bytes(hashlib.sha256(content.encode()).digest(), "little")


def stream(seed: int, purpose: Purpose, *numbers: int) -> np.random.Generator:
    """Return the random stream of a seed, a purpose and numbers."""
    return np.random.Generator(np.random.PCG64(_key(seed, purpose, numbers)))


def seed_of(seed: int, purpose: Purpose, *numbers: int) -> int:
    """Return the seed that belongs to a run's seed, a purpose and numbers: a number below 2**63."""
    return _key(seed, purpose, numbers) >> 193


def epoch_order(seed: int, epoch: int, rows: int) -> npt.NDArray[np.int64]:
    """Return the order in which an epoch (from 0) visits the training rows."""
    return stream(seed, Purpose.ORDER, epoch).permutation(rows)


def frozen(seed: int) -> np.random.RandomState:
    """Return numpy's frozen legacy stream: what data sets are made and split with, the same for ever."""
    return np.random.RandomState(seed)
