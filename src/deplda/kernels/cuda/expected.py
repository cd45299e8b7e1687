"""Deterministic inference on a GPU: the kernels of expected.cu, one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from deplda.kernels.cuda.device import Gpu, Struct
from deplda.kernels.layouts import Int64

KEPT, WIDTH = 256, 288
_THREADS = 256


def bytes_of(n_types: Int64, n_labels: int, n_topics: int, n_sets: int) -> Int64:
    """Return the memory that each document takes while it is worked on."""
    own = n_sets * (8 * KEPT + 4 * n_types)
    return 4 * n_types * (WIDTH + 2) + own + 24 * n_topics + 48 * n_labels


def expect(
    gpu: Gpu, words: Struct, sets: Struct, n_sets: int, n_labels: int, n_topics: int,
    eta: float, flat: float, gamma: float, starts: Int64, types: Any, times: Any,
    tolerance: float, max_cycles: int,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Return the expected N_c, α′_c and θ′ of each document, on the GPU.

    `flat` is Σα/C, `gamma` Σγ, `n_topics` that of all sets together. The cycles of a set stop when
    one moves less than `tolerance` of the tokens, or after `max_cycles`.
    """
    xp, n, n_kept = gpu.xp, len(starts) - 1, min(KEPT, n_labels)
    own = (gpu.put(starts), gpu.put(types), gpu.put(np.asarray(times, np.float32)))
    mass, sums = xp.empty((n, n_labels), np.float32), xp.zeros((n, n_labels), np.uint64)
    ratios, counts = xp.empty(len(types), np.float32), xp.empty((n, n_labels))
    gpu.launch(
        "expected", "begin", n, _THREADS, words, n_labels, *own, flat + eta / n_labels, mass, sums,
        ratios, counts,
    )  # fmt: skip
    names, place = _largest(xp, counts, n_kept)
    columns = xp.empty((len(types), WIDTH), np.float32)
    gpu.launch(
        "expected", "gather", n, _THREADS, words, n_labels, *own[:2], names, place, n_kept, columns
    )
    begun = xp.take_along_axis(counts, names.astype(np.int64), axis=1)
    own_counts = xp.repeat(begun[:, None], n_sets, axis=1)
    shares, pool = xp.empty((n, n_topics)), xp.empty((n, n_topics))
    own_ratios = xp.empty((n_sets, len(types)), np.float32)
    gpu.launch(
        "expected", "own_cycles", n * n_sets, 128, sets, n_sets, n_labels, n_kept, *own, names,
        columns, eta, flat, gamma, tolerance, max_cycles, own_counts, shares, pool,
        xp.zeros((n, n_topics), np.uint64), own_ratios,
    )  # fmt: skip
    alpha = mean_alpha(gpu, sets, n_sets, n_labels, shares, eta, flat)
    gpu.launch(
        "expected", "finish", n, _THREADS, words, n_sets, n_labels, n_kept, *own, place, own_counts,
        own_ratios, alpha, mass, sums, ratios, counts,
    )  # fmt: skip
    return counts, alpha, shares


def mean_alpha(
    gpu: Gpu, sets: Struct, n_sets: int, n_labels: int, shares: Any, eta: float, flat: float
) -> Any:
    """Return α′ = η θ′·φ′ + Σα/C, eq. 12 averaged over the sets; documents × labels, on the GPU."""
    alpha = gpu.xp.empty((len(shares), n_labels))
    gpu.launch(
        "expected", "mean_alpha", len(shares), _THREADS, sets, n_sets, n_labels, shares, eta, flat,
        alpha,
    )  # fmt: skip
    return alpha


def _largest(xp: Any, counts: Any, n_kept: int) -> tuple[Any, Any]:
    """Return the labels of the largest counts, documents × kept, and each label's place or −1."""
    n, n_labels = counts.shape
    names = xp.sort(xp.argsort(-counts, axis=1)[:, :n_kept], axis=1)
    place = xp.full((n, n_labels), -1, np.int32)
    place[xp.arange(n)[:, None], names] = xp.arange(n_kept, dtype=np.int32)
    return names.astype(np.int32), place
