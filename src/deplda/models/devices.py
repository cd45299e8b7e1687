"""Work that a GPU may do instead of the CPU: one decision, wherever it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from deplda.engine.execution import Execution

if TYPE_CHECKING:
    from deplda.kernels.cuda.device import Gpu

Result = TypeVar("Result")


def on_gpu(execution: Execution, work: Callable[[Gpu], Result]) -> Result | None:
    """Return what work does on the GPU, or None where the CPU is to do it.

    That is the CPU's work where it was asked for, and with "auto" where there is no GPU that can do
    it, or too little memory on it. Nothing of CUDA is imported for the CPU.
    """
    if execution.device == "cpu":
        return None
    from deplda.kernels.cuda.device import GpuFullError, choose

    gpu = choose(execution.device, execution.not_for_a_gpu)
    if gpu is None:
        return None
    try:
        return work(gpu)
    except GpuFullError:
        if execution.device == "auto":
            return None
        raise
