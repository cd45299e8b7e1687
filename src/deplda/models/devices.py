"""Work that a GPU may do instead of the CPU: one decision, wherever it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from deplda.engine.execution import Execution

if TYPE_CHECKING:
    from deplda.kernels.cuda.device import Gpu

Result = TypeVar("Result")


def on_gpu(execution: Execution, work: Callable[[Gpu], Result]) -> Result | None:
    """Return what work gives on the GPU, or None where the CPU is to do it.

    Nothing of CUDA is imported where that is asked for; see `attempt` for the rest.
    """
    if execution.device == "cpu":
        return None
    from deplda.kernels.cuda.device import attempt

    return attempt(execution.device, execution.not_for_a_gpu, work)
