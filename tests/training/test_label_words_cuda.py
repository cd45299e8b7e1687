"""Expectations on a GPU: what it cannot do. (What it does: tests/kernels/cuda.)"""

from pathlib import Path

import pytest

from deplda import InputError, expect_label_words, update_label_words
from deplda.kernels.cuda import device
from deplda.kernels.cuda.device import GpuFullError
from tests.kernels.cuda.emulator import emulated, use
from tests.training.worlds import same, small


def test_a_gpu_works_for_this_process_alone() -> None:
    with pytest.raises(InputError, match="engine is 'processes'; a GPU works for this process"):
        expect_label_words(small(), engine="processes", device="cuda")


def test_without_a_gpu_cuda_is_an_error_and_auto_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "problem", lambda: "CuPy is not installed")
    usual = expect_label_words(small()).label_words
    assert same(expect_label_words(small(), device="auto").label_words, usual)
    with pytest.raises(InputError, match="device is 'cuda', but CuPy is not installed; use"):
        expect_label_words(small(), device="cuda")
    with pytest.raises(InputError, match="device is 'cuda', but CuPy is not installed; use"):
        update_label_words(usual, small(), device="cuda")


def test_too_little_memory_is_an_error_or_the_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(emulated(tmp_path, room=1_000), monkeypatch)
    with pytest.raises(GpuFullError, match="GB are free for it; use device='cpu'"):
        expect_label_words(small(), device="cuda")
    found = expect_label_words(small(), device="auto").label_words
    assert same(found, expect_label_words(small()).label_words)
