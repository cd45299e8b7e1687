"""Chains on a GPU: what it cannot do. (What it does: tests/kernels/cuda.)"""

from pathlib import Path

import pytest

from deplda import InputError, Schedule, train_label_words
from deplda.engine.execution import Where
from deplda.kernels.cuda import device
from tests.training.worlds import same, small


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "problem", lambda: "CuPy is not installed")


def test_what_a_gpu_cannot_do_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="engine is 'processes'; a GPU works for this process"):
        train_label_words(small(), engine="processes", device="cuda")
    with pytest.raises(InputError, match=r"a GPU keeps no chains in .*run; leave the checkpoint"):
        train_label_words(small(), checkpoint=tmp_path / "run", device="cuda")
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu_cuda_is_an_error_and_auto_the_cpu() -> None:
    with pytest.raises(InputError, match="device is 'cuda', but CuPy is not installed; use"):
        train_label_words(small(), device="cuda")
    found, usual = (
        train_label_words(small(), schedule=Schedule(5), **where).label_words
        for where in (Where(device="auto"), Where())
    )
    assert same(found, usual)
