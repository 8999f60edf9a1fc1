import sys

import numpy as np
import pytest
from matplotlib.image import imread

from genspp.errors import DataError
from genspp.report import figures


def test_loss_landscape(tmp_path):
    path = tmp_path / "new" / "landscape.png"
    values = figures.loss_landscape(path)
    assert values == {"fitness": (1.0, 0.5), "average": (0.5, 0.5)}  # the paper's argument in four numbers
    image = imread(path)
    assert image.shape[1] > 1.5 * image.shape[0] > 700
    assert len(np.unique(image.reshape(-1, image.shape[2]), axis=0)) > 20  # drawn, not blank
    assert list(path.parent.iterdir()) == [path]  # no temporary file left


def test_the_marked_points_are_drawn_in_both_panels(tmp_path):
    figures.loss_landscape(tmp_path / "a.png")
    image = imread(tmp_path / "a.png")[..., :3]
    orange = np.array([0xD5, 0x5E, 0x00]) / 255
    columns = np.flatnonzero((np.abs(image - orange).max(axis=2) < 0.01).any(axis=0))
    assert 1 + (np.diff(columns) > 1).sum() == 4


def test_contiguous_histogram(tmp_path):
    masks = [[0, 0], [1, 1, 1], [1, 0, 1, 0, 1], [0, 1], np.array([1, 0], np.uint8)]
    counts = figures.contiguous_histogram(tmp_path / "h.png", masks)
    assert counts.tolist() == [1, 3, 0, 1]
    assert imread(tmp_path / "h.png").ndim == 3


def test_histogram_of_nothing_selected_and_of_nothing(tmp_path):
    assert figures.contiguous_histogram(tmp_path / "h.png", [[0, 0], [0]]).tolist() == [2]
    with pytest.raises(DataError, match="no masks"):
        figures.contiguous_histogram(tmp_path / "none.png", [])
    assert not (tmp_path / "none.png").exists()


def test_the_same_input_gives_the_same_bytes_without_pyplot(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # importing it now fails
    for name in ("a.png", "b.png"):
        figures.contiguous_histogram(tmp_path / name, [[1, 0, 1], [0]])
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
