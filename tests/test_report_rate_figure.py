import numpy as np
import pytest
from matplotlib.image import imread

from genspp.report.rate_figure import RateLine, rate_figure

LINES = [
    RateLine("ours", [10], {"Precision": [50], "Recall": [40]}),
    RateLine("theirs", [5, 20], {"Precision": [60, 30], "Recall": [20, 50]}),
    RateLine("chance", [1, 50], {"Precision": [10, 10], "Recall": [1, 50]}, reference=True),
]


def colours(path) -> set[tuple[int, int, int]]:
    pixels = np.rint(255 * imread(path)[..., :3]).astype(int).reshape(-1, 3)
    return set(map(tuple, np.unique(pixels, axis=0)))


def test_every_line_and_a_single_point_are_drawn(tmp_path):
    rate_figure(tmp_path / "a.png", "title", LINES, gold=12.0)
    found = colours(tmp_path / "a.png")
    assert (0xD5, 0x5E, 0x00) in found  # the second method's
    assert (0x66, 0x66, 0x66) in found  # chance
    rate_figure(tmp_path / "b.png", "title", LINES[:1])
    assert (0xD5, 0x5E, 0x00) not in colours(tmp_path / "b.png")
    assert imread(tmp_path / "a.png").shape[1] > imread(tmp_path / "a.png").shape[0]


@pytest.mark.parametrize("gold", [None, 12.0])
def test_the_same_input_gives_the_same_bytes(tmp_path, gold):
    for name in ("a.png", "b.png"):
        rate_figure(tmp_path / name, "title", LINES, gold)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
