"""The processor's control word: set for this thread, and given back."""

import threading

import numpy as np
import pytest
import torch

from genspp.kernels.denormals import flush_denormals

TINY = np.full(1, 1e-38, np.float32)
pytestmark = pytest.mark.skipif(
    not torch.set_flush_denormal(False), reason="this machine cannot flush denormal numbers"
)


def made_zero() -> tuple[bool, bool]:
    """Whether results that are denormal become zero, and whether operands that are count as zero."""
    denormal = np.frombuffer(np.uint32(1 << 20).tobytes(), np.float32)
    return bool((TINY * np.float32(1e-3))[0] == 0), bool((denormal * np.float32(1e20))[0] == 0)


def test_it_sets_what_torch_sets_and_says_what_was():
    try:
        for flush in (True, False):
            torch.set_flush_denormal(not flush)
            assert flush_denormals(flush) is not flush
            assert made_zero() == (flush, flush)
            assert flush_denormals(flush) is flush
    finally:
        torch.set_flush_denormal(False)


def test_another_thread_has_a_word_of_its_own():
    found = []
    before = flush_denormals(True)
    try:
        thread = threading.Thread(target=lambda: (flush_denormals(False), found.append(made_zero())))
        thread.start()
        thread.join()
        assert found == [(False, False)] and made_zero() == (True, True)
    finally:
        flush_denormals(before)
    assert made_zero() == (False, False)
