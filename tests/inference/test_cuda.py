"""Inference on a GPU: what it cannot do. (What it does: tests/kernels/cuda.)"""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda import Corpus, InputError, LabelWords, Schedule
from deplda.inference.batches import infer, score_matrix
from deplda.inference.layout import Tables
from deplda.inference.settings import Inference
from deplda.kernels.cuda import device


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "problem", lambda: "CuPy is not installed")


CORPUS = Corpus([[2, 0, 1], [0, 3, 1]], np.eye(2, 5))


def tables() -> Tables:
    return Tables(LabelWords(csr_array((3, 5)), np.full(5, 1 / 3)), [])


def test_what_a_gpu_cannot_do_is_said() -> None:
    proper = Inference(0.0, 1.0, 1.0, method="proper")
    with pytest.raises(InputError, match="proper inference is done on the CPU alone"):
        infer(CORPUS, tables(), proper, device="cuda")
    fast = Inference(0.0, 1.0, 1.0)
    with pytest.raises(InputError, match="engine is 'processes'; a GPU works for this process"):
        infer(CORPUS, tables(), fast, engine="processes", device="cuda")


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("method", ["sampled", "proper", "deterministic"])
def test_without_a_gpu_cuda_is_an_error_and_auto_the_cpu(method: Any) -> None:
    inference = Inference(0.0, 1.0, 1.0, method=method, schedule=Schedule(2))
    with pytest.raises(InputError, match=r"device is 'cuda', but .*; use device='cpu' or 'auto'"):
        score_matrix(CORPUS, tables(), inference, device="cuda")
    found = score_matrix(CORPUS, tables(), inference, device="auto")
    assert (found == score_matrix(CORPUS, tables(), inference)).all()
