"""Scores of labels on a GPU."""

from __future__ import annotations

from typing import Any

from deplda.kernels.cuda.device import Gpu

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
