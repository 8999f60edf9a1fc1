"""Can a method escape a start that is locked in? Which starts there are.

Before its training a generator learns for K epochs to write the label into the first places of a text (`methods/skew`).
The gradient methods go on from there. Of GenSPP's first population one individual is skewed, or all are noisy copies of
it. A generator that reads from left to right can hardly be skewed: its first token knows of no other. So under preset
`paper` GenSPP starts with one that reads both ways, too, as all others do.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from genspp.experiments import paper
from genspp.experiments.names import OURS, can_be_skewed

# Epochs of skewing, and how many seeds at most. The last is ours: the published ones hardly teach the code.
LEVELS = {5: 2, 10: 5, 15: 2, 20: 2, 200: 3}
MAIN, LOCKED = 10, 200
SIGMAS = (0.05, 0.10)
BOTH_WAYS = "bigru"  # what the variants of a generator that reads both ways are called, where it is not the preset's


class Start(NamedTuple):
    """A start: what its variant is called, the settings that make it, and how many seeds there are at most."""

    variant: str
    settings: dict[str, Any]
    seeds: int


def starts(method: str, preset: str, *, quick: bool = False) -> Iterator[Start]:
    """Return the starts of a method, if it has any. quick: those of the main level only."""
    levels = {MAIN: LEVELS[MAIN]} if quick else LEVELS
    if not can_be_skewed(method):
        return
    if method != OURS:
        for epochs, seeds in levels.items():
            yield Start(f"K={epochs}", {"skew_epochs": epochs}, seeds)
        return
    alike, cell = (BOTH_WAYS, {"cell": BOTH_WAYS}) if preset == "paper" else ("", {})
    if alike:
        yield Start(alike, cell, LEVELS[MAIN])
    for epochs, seeds in levels.items():
        yield _start(epochs, seeds, alike, **cell)
        yield _start(epochs, seeds, alike, skew_sigma=SIGMAS[0], **cell)
    if preset == "paper":
        yield _start(MAIN, LEVELS[MAIN])
        if not quick:
            yield _start(MAIN, LEVELS[MAIN], "G=150", generations=150)
        yield _start(MAIN, LEVELS[MAIN], skew_sigma=SIGMAS[0])
    yield _start(MAIN, LEVELS[MAIN], skew_sigma=SIGMAS[1])


def _start(epochs: int, seeds: int, *words: str, **settings: Any) -> Start:
    noise = [f"sigma={settings['skew_sigma']:.2f}"] if "skew_sigma" in settings else []
    name = " ".join([f"K={epochs}", *filter(None, words), *noise])
    return Start(name, {"skew_epochs": epochs, **settings}, seeds)


def published(data: str, method: str, variant: str) -> paper.Scores | None:
    """Return the paper's row of a start; None where it has none. It does not say which noise its copies had."""
    words = ["copies" if word.startswith("sigma=") else word for word in variant.split()]
    return paper.SKEW.get((data, method, ",".join(words)))


def epochs_of(variant: str) -> int:
    """Return for how many epochs a start was skewed."""
    return int(variant.split(maxsplit=1)[0].removeprefix("K="))
