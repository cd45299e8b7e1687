"""Fast inference on a GPU: workspaces laid out in its memory, chains run in batches that fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from deplda.kernels.cuda.device import Gpu, Struct, too_large
from deplda.kernels.layouts import Int32, Int64, Prior

_UNIT = 2.0**28
_LANES, _FEWEST = 32, 64
_WARPS = 4  # of a block


def workspace_sizes(
    n_types: Int64, n_tokens: Int64, n_labels: int, n_topics: int, conditionals: bool
) -> Int64:
    """Return the words of memory that a chain needs for each document, as `lay_out` deals them."""
    slots = np.maximum(-(-np.minimum(n_tokens, n_labels) // _LANES) * _LANES, _FEWEST)
    sizes = n_types * slots + 2 * slots + 2 * n_tokens + 2 * n_topics + n_types
    return sizes + 2 * n_labels * conditionals + 7 & ~7  # begin on a sector


def sample(
    gpu: Gpu, words: Struct, sets: Struct, set_starts: Int64, n_labels: int, prior: Prior,
    starts: Int64, types: Int32, times: Int32, key: Any, gamma: Any, n_chains: int,
    burn_in: int, n_samples: int, lag: int, conditionals: bool,
) -> tuple[Any, Any]:  # fmt: skip
    """Return the sums over all samples of N_c (or of its conditionals) and of N_dt, on the GPU.

    `prior.gamma` is Σγ. Chains are numbered through all sets, `n_chains` on each.
    """
    n, n_sets = len(starts) - 1, len(set_starts) - 1
    counts = gpu.xp.zeros((n, n_labels), np.uint64)
    topics = gpu.xp.zeros((n, int(set_starts[-1])), np.uint64)
    lengths = lengths_of(starts, times)
    sizes = workspace_sizes(
        np.diff(starts), lengths, n_labels, int(np.diff(set_starts).max()), conditionals
    )
    order = np.argsort(-lengths, kind="stable")  # the longest first: none is waited for at the end
    inputs = [gpu.put(array) for array in (starts, types, times, order.astype(np.int32))]
    each = np.repeat(sizes[order], n_sets * n_chains)
    for first, last in batches(each, gpu.free() // 4):
        ends = np.cumsum(each[first:last])
        memory = gpu.xp.empty(int(ends[-1]), np.float32)
        gpu.launch(
            "fast", "sample", -(-(last - first) // _WARPS), _WARPS * _LANES, words, sets,
            gpu.put(set_starts), n_labels, *inputs, gpu.put(ends - each[first:last]), memory,
            first, last - first, n_sets, n_chains, prior.eta, prior.alpha, prior.gamma, key, gamma,
            burn_in, n_samples, lag, conditionals, counts, topics,
        )  # fmt: skip
    return counts.view(np.int64) / _UNIT, topics


def lengths_of(starts: Int64, times: Int32) -> Int64:
    """Return the tokens of each document."""
    return np.diff(np.concatenate([[0], np.cumsum(times, dtype=np.int64)])[starts])


def batches(sizes: Int64, room: int) -> Iterator[tuple[int, int]]:
    """Yield (first, last) of as many items at a time as fit into the room together."""
    if len(sizes) and sizes.max() > room:
        raise too_large(4 * int(sizes.max()), 4 * room)
    first, ends = 0, np.cumsum(sizes)
    while first < len(sizes):
        before = ends[first - 1] if first else 0
        last = int(np.searchsorted(ends, before + room, side="right"))
        yield first, last
        first = last
