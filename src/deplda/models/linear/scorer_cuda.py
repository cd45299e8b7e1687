"""Scores of SVMs on a CUDA GPU, for this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from deplda.engine.execution import Execution
from deplda.kernels.cuda.device import Gpu, refuse_large, within_memory
from deplda.kernels.cuda.linear import score_labels
from deplda.models.base import Counts, Floats
from deplda.models.devices import on_gpu

# A batch is never more than this many documents × labels, so that our own memory stays bounded.
_BATCH_CELLS = 20_000_000


class _OnGpu(NamedTuple):
    """The weights of all labels on a GPU, and those of ours that they are a copy of."""

    of: Counts
    weights: tuple[Any, ...]
    intercepts: Any


class GpuScorer(NamedTuple):
    """The weights of all labels on a GPU, and how counts become features."""

    gpu: Gpu
    there: _OnGpu
    features: Callable[[Counts], Counts]

    @property
    def batch_size(self) -> int:
        """How many documents are scored at a time."""
        return max(1, min(_BATCH_CELLS, self.gpu.free() // 8) // len(self.there.intercepts))

    def scores(self, counts: Counts) -> Floats:
        """Return the scores of the documents, documents × labels."""
        gpu, n_labels = self.gpu, len(self.there.intercepts)
        if not counts.shape[0]:
            return np.zeros((0, n_labels))
        rows = self.features(counts)
        with within_memory():
            starts, words = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
            values = np.asarray(rows.data, np.float64)
            own = (gpu.put(starts), gpu.put(words), gpu.put(values))
            found: Floats = gpu.get(
                score_labels(gpu, *own, self.there.weights, self.there.intercepts)
            )
        return found


def gpu_scorer(
    model: Any, weights: Counts, intercepts: Floats, features: Callable[[Counts], Counts],
    execution: Execution,
) -> GpuScorer | None:  # fmt: skip
    """Return the GPU to score on, with the model's weights put on it once, or None for the CPU."""
    return on_gpu(
        execution,
        lambda gpu: GpuScorer(gpu, _on_gpu(gpu, model, weights, intercepts), features),
    )


def _on_gpu(gpu: Gpu, model: Any, weights: Counts, intercepts: Floats) -> _OnGpu:
    kept = gpu.kept.setdefault(model, {})
    if "linear" in kept and kept["linear"].of is weights:
        found: _OnGpu = kept["linear"]
        return found
    kept.clear()  # of what it learned before
    needed = 8 * (weights.nnz + weights.shape[0] + 2 * len(intercepts))
    if needed > gpu.free():
        refuse_large(needed, gpu.free())
    if not weights.has_sorted_indices:
        weights.sort_indices()
    arrays = (
        weights.indptr.astype(np.int64),
        weights.indices.astype(np.int32),
        weights.data.astype(np.float32),
    )
    there = tuple(gpu.put(array) for array in arrays)
    kept["linear"] = _OnGpu(weights, there, gpu.put(intercepts))
    return kept["linear"]
