"""Chains of φ′ on a GPU: what it cannot do. (What it does: tests/kernels/cuda.)"""

from pathlib import Path

import numpy as np
import pytest

from deplda import Corpus, InputError, Schedule, train_topic_labels
from deplda.kernels.cuda import device
from deplda.kernels.cuda.device import GpuFullError
from tests.kernels.cuda.emulator import emulated, use
from tests.training.worlds import small


def test_what_a_gpu_cannot_do_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="engine is 'processes'; a GPU works for this process"):
        train_topic_labels(small(), 2, engine="processes", device="cuda")
    with pytest.raises(InputError, match=r"a GPU keeps no chains in .*run; leave the checkpoint"):
        train_topic_labels(small(), 2, checkpoint=tmp_path / "run", device="cuda")
    assert not (tmp_path / "run").exists()


def test_without_a_gpu_cuda_is_an_error_and_auto_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "problem", lambda: "CuPy is not installed")
    with pytest.raises(InputError, match="device is 'cuda', but CuPy is not installed; use"):
        train_topic_labels(small(), 2, device="cuda")
    found = train_topic_labels(small(), 2, schedule=Schedule(5), device="auto").topic_labels[0]
    usual = train_topic_labels(small(), 2, schedule=Schedule(5)).topic_labels[0]
    assert (found.dense() == usual.dense()).all()


def test_too_little_memory_is_an_error_or_the_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(emulated(tmp_path, room=1 << 16), monkeypatch)
    corpus = Corpus(np.ones((3, 1)), np.eye(3, 80))
    schedule = Schedule(2)
    assert train_topic_labels(corpus, 5, schedule=schedule, device="cuda").topic_labels
    with pytest.raises(GpuFullError, match="GB are free for it; use device='cpu'"):
        train_topic_labels(corpus, 60_000, schedule=schedule, device="cuda")
    found = train_topic_labels(corpus, 3_000, schedule=schedule, device="auto").topic_labels[0]
    usual = train_topic_labels(corpus, 3_000, schedule=schedule).topic_labels[0]
    assert (found.dense() == usual.dense()).all()
