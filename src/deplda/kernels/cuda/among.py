"""Deterministic inference among given candidates on a GPU: expected.cu, with among.cuh."""

from __future__ import annotations

from typing import Any

import numpy as np

from deplda.kernels.cuda.device import Gpu, Struct
from deplda.kernels.cuda.expected import WIDTH
from deplda.kernels.layouts import Int32, Int64

MOST = WIDTH - 1
"""Candidates of a document, at most."""
_THREADS, _OWN_THREADS = 256, 128


def bytes_of(n_types: Int64, n_labels: int, n_kept: int, n_topics: int, n_sets: int) -> Int64:
    """Return the memory that each document takes while it is worked on."""
    own = 4 * n_types * (WIDTH + n_sets + 3) + 8 * n_kept * (2 * n_sets + 5)
    return own + 24 * n_topics + 4 * n_labels


def expect_among(
    gpu: Gpu, words: Struct, sets: Struct, n_sets: int, n_labels: int, n_topics: int,
    eta: float, flat: float, gamma: float, starts: Int64, types: Int32, times: Any,
    tolerance: float, max_cycles: int, candidates: Int32,
) -> tuple[Any, Any]:  # fmt: skip
    """Return the expected N_c and α′_c of each document's candidates, on the GPU.

    `candidates` are labels that differ, documents × MOST at most. All others are pooled.
    """
    xp, (n, n_kept) = gpu.xp, candidates.shape
    names = gpu.put(candidates)
    own = (gpu.put(starts), gpu.put(types), gpu.put(np.asarray(times, np.float32)))
    place = xp.full((n, n_labels), -1, np.int32)
    place[xp.arange(n)[:, None], names] = xp.arange(n_kept, dtype=np.int32)
    columns = xp.empty((len(types), WIDTH), np.float32)
    gpu.launch(
        "expected", "gather", n, _THREADS, words, n_labels, *own[:2], names, place, n_kept, columns
    )
    ratios, counts = xp.empty(len(types), np.float32), xp.empty((n, n_kept))
    gpu.launch(
        "expected", "begin_among", n, _OWN_THREADS, n_labels, n_kept, *own, columns,
        flat + eta / n_labels, ratios, counts,
    )  # fmt: skip
    own_counts = xp.repeat(counts[:, None], n_sets, axis=1)
    own_ratios = xp.empty((n_sets, len(types)), np.float32)
    shares, pool = xp.empty((n, n_topics)), xp.empty((n, n_topics))
    gpu.launch(
        "expected", "own_cycles", n * n_sets, _OWN_THREADS, sets, n_sets, n_labels, n_kept, *own,
        names, columns, eta, flat, gamma, tolerance, max_cycles, own_counts, shares, pool,
        xp.zeros((n, n_topics), np.uint64), own_ratios,
    )  # fmt: skip
    alpha = xp.empty((n, n_kept))
    gpu.launch(
        "expected", "finish_among", n, _OWN_THREADS, sets, n_sets, n_labels, n_kept, *own, names,
        columns, own_counts, shares, eta, flat, ratios, counts, alpha,
    )  # fmt: skip
    return counts, alpha
