"""Scores of labels on a GPU, and the best of them: what is fetched of very many labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from deplda.kernels.cuda.device import Gpu
from deplda.kernels.cuda.largest import largest

_THREADS = 256
_COMBINES = ("blend", "counts", "posterior")  # as the kernel numbers them


def scores(gpu: Gpu, counts: Any, alpha: Any, combine: str, n_ranked: int) -> Any:
    """Return the scores of the first labels from N and α′, documents × labels, on the GPU."""
    n, n_labels = counts.shape
    found = gpu.xp.empty((n, n_ranked))
    gpu.launch(
        "scores", "scores", n, _THREADS, counts, alpha, n_labels, n_ranked,
        _COMBINES.index(combine), found,
    )  # fmt: skip
    return found


def best(gpu: Gpu, values: Any, k: int) -> tuple[Any, Any]:
    """Return the columns of the k best of each row, the best first, and their values; ours.

    Equal ones are in the order of columns.
    """
    names, _ = largest(gpu, values, k)
    labels = gpu.get(names).astype(np.int64)
    found = gpu.get(gpu.xp.take_along_axis(values, names.astype(np.int64), axis=1))
    order = np.argsort(-found, axis=1, kind="stable")
    return np.take_along_axis(labels, order, axis=1), np.take_along_axis(found, order, axis=1)
