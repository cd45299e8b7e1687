"""Work that a GPU may do: it does it, it must do it, or the CPU does it."""

import pytest

from deplda import InputError
from deplda.engine.execution import Execution
from deplda.kernels.cuda import device
from deplda.kernels.cuda.device import Gpu, refuse_large
from deplda.models.devices import on_gpu


class Small(Gpu):
    """A GPU that holds nothing."""


def does(gpu: Gpu) -> str:
    return type(gpu).__name__


def is_full(gpu: Gpu) -> str:
    refuse_large(2, 1)


def test_the_cpu_is_not_asked_for_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "choose", is_full)
    assert on_gpu(Execution(), does) is None


def test_a_gpu_works_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "problem", lambda: None)
    monkeypatch.setattr(device, "_gpu", Small)
    assert on_gpu(Execution(device="cuda"), does) == "Small"
    assert on_gpu(Execution(device="auto"), does) == "Small"
    assert on_gpu(Execution("processes", device="auto"), does) is None
    with pytest.raises(InputError, match="a GPU works for this process"):
        on_gpu(Execution("processes", device="cuda"), does)


def test_too_little_memory_is_an_error_or_the_cpus_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "problem", lambda: None)
    monkeypatch.setattr(device, "_gpu", Small)
    assert on_gpu(Execution(device="auto"), is_full) is None
    with pytest.raises(InputError, match="GB are free for it"):
        on_gpu(Execution(device="cuda"), is_full)


def test_without_a_gpu_it_is_an_error_or_the_cpus_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "problem", lambda: "CuPy is not installed")
    assert on_gpu(Execution(device="auto"), does) is None
    with pytest.raises(InputError, match="CuPy is not installed"):
        on_gpu(Execution(device="cuda"), does)
