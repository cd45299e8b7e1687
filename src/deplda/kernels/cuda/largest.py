"""The largest of each row on a GPU, whatever the length of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from deplda.kernels.cuda.device import Gpu

_THREADS = 256


def largest(gpu: Gpu, values: Any, n_kept: int) -> tuple[Any, Any]:
    """Return where the largest values of each row are, and each value's place among them or −1.

    They are rows × kept and rows × values, on the GPU. Values are float64; of equal ones the first
    are kept, and those kept are in the order of the row.
    """
    n_rows, n = values.shape
    names = gpu.xp.empty((n_rows, n_kept), np.int32)
    place = gpu.xp.empty((n_rows, n), np.int32)
    gpu.launch("largest", "largest", n_rows, _THREADS, values, n, n_kept, names, place)
    return names, place
