"""Small data that every room is tested on, made on the spot."""

import signal
from pathlib import Path

import numpy as np
import pytest

from genspp.data.encode import Encoded
from genspp.model.networks import Cell, Shape
from genspp.population.evaluator import Task, Training

pytest_plugins = ["browser_tools"]
SHARED = Path(__file__).resolve().parents[2] / "shared"

FILLER = [
    "the",
    "a",
    "of",
    "to",
    "and",
    "in",
    "it",
    "is",
    "that",
    "was",
    "for",
    "on",
    "are",
    "with",
    "as",
    "this",
    "but",
    "from",
    "or",
    "had",
    "by",
    "not",
]
DECIDING = {
    "sport": ["goal", "match", "coach"],
    "food": ["soup", "bread", "salt"],
    "tech": ["code", "chip", "robot"],
}


@pytest.fixture
def shared() -> Path:
    if not (SHARED / "data" / "hatexplain" / "dataset.json").exists():
        pytest.skip("../shared is present in development and CI only")
    return SHARED


def interruptible() -> None:
    """Let a child process hear Ctrl-C even where the tests run in a background job, which ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def sentences(rows: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Texts in which single words decide among three classes."""
    stream = np.random.RandomState(seed)
    texts, labels = [], []
    for row in range(rows):
        label = list(DECIDING)[row % 3]
        words = list(stream.choice(FILLER, stream.randint(4, 12)))
        words.insert(stream.randint(len(words) + 1), str(stream.choice(DECIDING[label])))
        texts.append(" ".join(words))
        labels.append(label)
    return texts, labels


def train_nothing(self, settings, lesson, recorder) -> None:
    """Take the place of a method's training, for tests of what comes before and after: one step, the first weights."""
    recorder.restore()
    recorder.record({"generation": 0, "seconds": 0.0}, {"n": 0}, 1)


def random_encoded(stream: np.random.RandomState, texts: int, longest: int, words: int, classes: int) -> Encoded:
    """Texts of random length; the class is whether small word numbers prevail, so there is something to learn."""
    lengths = stream.randint(1, longest + 1, texts)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    ids = stream.randint(2, words, starts[-1]).astype(np.int32)
    means = np.add.reduceat(ids, starts[:-1]) / lengths
    labels = np.minimum((means - 2) / (words - 2) * classes, classes - 1).astype(np.int32)
    return Encoded(ids, starts, labels)


def make_task(
    seed: int = 0,
    *,
    shape: Shape | None = None,
    cell: Cell = "gru",
    rows: int = 90,
    longest: int = 7,
    onehot: bool = False,
    training: Training | None = None,
    class_weights: list[float] | None = None,
) -> Task:
    shape = shape or Shape(inputs=5, hidden=4, classes=3)
    stream = np.random.RandomState(seed)
    words = shape.inputs + 2 if onehot else 20
    vectors = stream.normal(0, 1, (words, shape.inputs)).astype(np.float32)
    if onehot:
        vectors[2:] = np.eye(shape.inputs, dtype=np.float32)
    vectors[0] = 0
    weights = np.array(class_weights or [1.0] * shape.classes, np.float32)
    return Task(
        shape,
        cell,
        vectors,
        random_encoded(stream, rows, longest, words, shape.classes),
        random_encoded(stream, rows // 2, longest, words, shape.classes),
        weights,
        training or Training(epochs=2, batch_size=16),
    )


@pytest.fixture
def task() -> Task:
    return make_task()
