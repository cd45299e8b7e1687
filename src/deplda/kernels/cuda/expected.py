"""Deterministic inference on a GPU: the kernels of expected.cu, one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from deplda.kernels.cuda.device import Gpu, Struct
from deplda.kernels.cuda.fast import Documents
from deplda.kernels.cuda.largest import largest
from deplda.kernels.layouts import Int64

KEPT, WIDTH = 256, 288
_THREADS = 256


def bytes_of(n_types: Int64, n_labels: int, n_topics: int, n_sets: int, n_chosen: int = 0) -> Int64:
    """Return the memory that each document takes while it is worked on."""
    own = 8 * KEPT * (n_sets + 3) + 4 * n_types * n_sets + 8 * n_chosen * n_types
    return 4 * n_types * (WIDTH + 4) + own + 24 * n_topics + 32 * n_labels


def expect(
    gpu: Gpu, words: Struct, sets: Struct, n_sets: int, n_labels: int, n_topics: int,
    eta: float, flat: float, gamma: float, documents: Documents, tolerance: float, max_cycles: int,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """Return the expected N_c, α′_c and θ′ of each document, on the GPU.

    And, entry by entry, the tokens given to the documents' chosen labels. `flat` is Σα/C, `gamma`
    Σγ, `n_topics` that of all sets together. The cycles of a set stop when one moves less than
    `tolerance` of the tokens, or after `max_cycles`.
    """
    xp, types, chosen = gpu.xp, documents.types, documents.chosen
    n, n_kept, k = len(documents.starts) - 1, min(KEPT, n_labels), chosen.shape[1]
    times = np.asarray(documents.times, np.float32)
    own = (gpu.put(documents.starts), gpu.put(types), gpu.put(times))
    mass, sums = xp.empty((n, n_labels), np.float32), xp.zeros((n, n_labels), np.uint64)
    ratios, counts = xp.empty(len(types), np.float32), xp.empty((n, n_labels))
    gpu.launch(
        "expected", "begin", n, _THREADS, words, n_labels, *own, flat + eta / n_labels, mass, sums,
        ratios, counts,
    )  # fmt: skip
    names, place = largest(gpu, counts, n_kept)
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
    given = xp.zeros((len(types), k))
    gpu.launch(
        "expected", "give_words", n if k else 0, _THREADS, words, n_labels, *own[:2], mass, ratios,
        gpu.put(chosen), k, given,
    )  # fmt: skip
    return counts, alpha, shares, given


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
