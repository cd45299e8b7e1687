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
_SPREADERS = 256  # threads of a document whose φ is spread


def workspace_sizes(
    n_types: Int64, n_tokens: Int64, n_labels: int, n_topics: int, conditionals: bool
) -> Int64:
    """Return the words of memory that a chain needs for each document, as `lay_out` deals them."""
    slots = np.maximum(-(-np.minimum(n_tokens, n_labels) // _LANES) * _LANES, _FEWEST)
    sizes = -(-n_types // 8) * 8 * slots + 2 * slots + 2 * n_tokens + 2 * n_topics + n_types
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
    longest_first = np.argsort(-lengths, kind="stable")  # none is waited for at the end
    inputs = [gpu.put(array) for array in (starts, types, times)]
    n_streams = n_sets * n_chains
    for order, phi_starts, phi in _own_phi(gpu, words, n_labels, starts, inputs, longest_first):
        each = np.repeat(sizes[order], n_streams)
        for first, last in batches(each, gpu.free() // 4):
            ends = np.cumsum(each[first:last])
            memory = gpu.xp.empty(int(ends[-1]), np.float32)
            gpu.launch(
                "fast", "sample", -(-(last - first) // _WARPS), _WARPS * _LANES, words, sets,
                gpu.put(set_starts), n_labels, *inputs, gpu.put(order.astype(np.int32)),
                gpu.put(phi_starts), phi, gpu.put(ends - each[first:last]), memory, first,
                last - first, n_sets, n_chains, prior.eta, prior.alpha, prior.gamma, key, gamma,
                burn_in, n_samples, lag, conditionals, counts, topics,
            )  # fmt: skip
    return counts.view(np.int64) / _UNIT, topics


def _own_phi(
    gpu: Gpu, words: Struct, n_labels: int, starts: Int64, inputs: list[Any], order: Int64
) -> Iterator[tuple[Int64, Int64, Any]]:
    """Yield documents, in this order, with φ of their words: where each one's begins, and it.

    All chains of a document read it. It is documents' types × labels, so that documents come in
    groups; the chains of one that alone would take half of the memory look φ up instead.
    """
    n_types, room = np.diff(starts)[order], gpu.free() // 8
    for first, last in batches(np.minimum(n_types * n_labels, room), room):
        ends, group = np.cumsum(n_types[first:last] * n_labels), order[first:last]
        phi_starts, phi = ends - n_types[first:last] * n_labels, np.uint64(0)
        if ends[-1] <= room:
            phi = gpu.xp.zeros(int(ends[-1]), np.float32)
            gpu.launch(
                "fast", "spread", len(group), _SPREADERS, words, *inputs[:2],
                gpu.put(group.astype(np.int32)), gpu.put(phi_starts), phi,
            )  # fmt: skip
        yield group, phi_starts, phi


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
