"""The workspace: all that is at hand while one document is sampled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from deplda.kernels.lanes import LANES
from deplda.kernels.layouts import Float32, Float64, Int32, Int64

WIDTH = 64  # slots that are kept at hand even when few labels have tokens
NEXT_SLOT, HEAVY, LIVE, PREFIX_END, CACHE_ROW = 0, 1, 2, 3, 4
CACHE_ROOM = 1 << 22  # 16 MiB, for the prefix sums and the cache
PREFIX_DRAWS = 32  # prefix sums take about as long to write as so many draws without them


class Workspace(NamedTuple):
    """All that is at hand for one document. A slot holds a label: its column φ_·c and its mass.

    A label without mass keeps its slot until another needs it. The cache and the prefix sums keep
    what has been worked out of φ and φ′ for this document: they save time, and change no draw.
    """

    columns: Float32
    """Types × slots: φ_wc."""
    mass: Float32
    """N_c of each slot's label (and its own prior, in proper inference), 0 if it has none now."""
    labels: Int64
    """The label of each slot, −1 if none."""
    slot_of: Int32
    """Label → slot, −1 if it has none."""
    place: Int32
    """Word → its row in `columns`, −1 if it is not in the document."""
    tokens: Int32
    """The row in `columns` of each word token."""
    z: Int32
    """The slot of each word token's label, −1 before the first sweep."""
    z_topic: Int32
    """The topic of each label token, −1 before the first sweep."""
    n_dt: Int64
    live: Int64
    """The topics that have tokens."""
    live_at: Int64
    """Topic → its place in `live`."""
    by_topic: Float64
    """Total of the topic bucket for each type, this sweep."""
    by_flat: Float64
    """Total of the flat bucket for each type, this sweep."""
    lane_sums: Float32
    """0, then running sums over the lanes of a dot product."""
    prefix_sums: Float32
    """For topics often drawn from: running sums of A_wc P_ct, types × the topic's labels."""
    prefix_of: Int64
    """Topic → where its prefix sums begin, −1 if it has none."""
    prefix_draws: Int64
    """How often each topic has been drawn from without prefix sums."""
    cache: Float32
    """Labels that had a slot × types: A_·c, each in one piece."""
    cache_of: Int32
    """Label → its row in the cache, −1 if it has none."""
    cache_labels: Int64
    """The label of each row of the cache, −1 if none."""
    counters: Int64
    """The next slot to give up, slots with mass, topics with tokens, the end of the prefix sums,
    the next row of the cache to give up."""
    clock: npt.NDArray[np.uint64]
    """How many random numbers have been drawn."""


@njit(nogil=True, cache=True)
def new_workspace(types, times, n_label_tokens, n_topics, slot_of, place, prefix_sums):  # type: ignore[no-untyped-def]
    """Return an empty workspace; `slot_of`, `place` (all −1) and `prefix_sums` serve all documents.

    Half of `prefix_sums` is for the cache: memory of its own would have to be cleared by the system
    for each document.
    """
    n_tokens = times.sum()
    tokens = np.empty(n_tokens, np.int32)
    i = 0
    for u in range(types.size):
        place[types[u]] = u
        for _ in range(times[u]):
            tokens[i] = u
            i += 1
    room = prefix_sums.size // 2
    n_cached = min(slot_of.size, room // max(types.size, 1))
    if n_cached > 0:
        cache = prefix_sums[room : room + n_cached * types.size].reshape(n_cached, types.size)
    else:
        n_cached = 1
        cache = np.empty((1, types.size), np.float32)
    return Workspace(
        np.zeros((types.size, WIDTH), np.float32),
        np.zeros(WIDTH, np.float32),
        np.full(WIDTH, -1, np.int64),
        slot_of,
        place,
        tokens,
        np.full(n_tokens, -1, np.int32),
        np.full(n_label_tokens, -1, np.int32),
        np.zeros(n_topics, np.int64),
        np.empty(n_topics, np.int64),
        np.empty(n_topics, np.int64),
        np.zeros(types.size, np.float64),
        np.zeros(types.size, np.float64),
        np.zeros(LANES + 1, np.float32),
        prefix_sums[:room],
        np.full(n_topics, -1, np.int64),
        np.zeros(n_topics, np.int64),
        cache,
        np.full(slot_of.size, -1, np.int32),
        np.full(n_cached, -1, np.int64),
        np.zeros(5, np.int64),
        np.zeros(1, np.uint64),
    )


@njit(nogil=True, cache=True)
def clear(ws):  # type: ignore[no-untyped-def]
    """Mutate ws: take all tokens and labels off, so that a chain knows nothing of the last."""
    for c in ws.labels:
        if c >= 0:
            ws.slot_of[c] = -1
    ws.labels[:] = -1
    ws.mass[:] = 0.0
    ws.z[:] = -1
    ws.z_topic[:] = -1
    ws.n_dt[:] = 0
    ws.counters[:PREFIX_END] = 0
    ws.clock[0] = 0


@njit(nogil=True, cache=True)
def leave(ws, types):  # type: ignore[no-untyped-def]
    """Mutate ws: set the shared `slot_of` and `place` back to −1 for the next document."""
    for c in ws.labels:
        if c >= 0:
            ws.slot_of[c] = -1
    for w in types:
        ws.place[w] = -1


@njit(nogil=True, cache=True)
def fitting(n_heavy):  # type: ignore[no-untyped-def]
    """Return how many slots are worth their while for so many labels that have mass."""
    return max(WIDTH, (n_heavy + n_heavy // 2) // LANES * LANES + LANES)


@njit(nogil=True, cache=True)
def resized(ws, width):  # type: ignore[no-untyped-def]
    """Return the workspace with `width` slots, the first of them for the labels of most mass.

    A draw goes down one lane from its first slot: so it mostly ends there.
    """
    old_mass, old_labels, old_columns, z = ws.mass, ws.labels, ws.columns, ws.z
    columns = np.zeros((old_columns.shape[0], width), np.float32)
    mass = np.zeros(width, np.float32)
    labels = np.full(width, -1, np.int64)
    moved = np.full(old_mass.size, -1, np.int32)
    n = 0
    for k in np.argsort(-old_mass, kind="mergesort"):
        c = old_labels[k]
        if old_mass[k] > 0.0:
            mass[n], labels[n], moved[k] = old_mass[k], c, n
            ws.slot_of[c] = n
            n += 1
        elif c >= 0:
            ws.slot_of[c] = -1
    for u in range(columns.shape[0]):
        for k in range(moved.size):
            if moved[k] >= 0:
                columns[u, moved[k]] = old_columns[u, k]
    for i in range(z.size):
        if z[i] >= 0:
            z[i] = moved[z[i]]
    ws.counters[NEXT_SLOT] = n
    return Workspace(
        columns, mass, labels, ws.slot_of, ws.place, ws.tokens, z, ws.z_topic, ws.n_dt,
        ws.live, ws.live_at, ws.by_topic, ws.by_flat, ws.lane_sums,
        ws.prefix_sums, ws.prefix_of, ws.prefix_draws, ws.cache, ws.cache_of,
        ws.cache_labels, ws.counters, ws.clock,
    )  # fmt: skip


@njit(nogil=True, cache=True)
def put_in_cache(  # type: ignore[no-untyped-def]
    cache, cache_of, cache_labels, place, counters, starts, names, values, c
):  # fmt: skip
    """Mutate the cache: return the row that now has A_·c; the one there longest goes.

    Column c of A is starts[c]:starts[c + 1] of `names`, its words, and `values`.
    """
    row = counters[CACHE_ROW]
    counters[CACHE_ROW] = row + 1 if row + 1 < cache_labels.size else 0
    if cache_labels[row] >= 0:
        cache_of[cache_labels[row]] = -1
    cache_labels[row] = c
    cache_of[c] = row
    for u in range(cache.shape[1]):
        cache[row, u] = 0.0
    for e in range(starts[c], starts[c + 1]):
        u = place[names[e]]
        if u >= 0:
            cache[row, u] = values[e]
    return row


@njit(nogil=True, cache=True)
def new_slot(  # type: ignore[no-untyped-def]
    columns, mass, labels, slot_of, cache, cache_of, cache_labels, place, counters,
    starts, names, values, base, c,
):  # fmt: skip
    """Mutate the slots: return one without mass, now for label c; there must be one."""
    width = mass.size
    k = counters[NEXT_SLOT]
    while mass[k] > 0.0:
        k = k + 1 if k + 1 < width else 0
    counters[NEXT_SLOT] = k + 1 if k + 1 < width else 0
    if labels[k] >= 0:
        slot_of[labels[k]] = -1
    labels[k] = c
    slot_of[c] = k
    row = np.int64(cache_of[c])
    if row < 0:
        row = put_in_cache(cache, cache_of, cache_labels, place, counters, starts, names, values, c)
    smooth = np.float32(base[c])
    for u in range(columns.shape[0]):
        columns[u, k] = smooth + cache[row, u]
    return k


@njit(nogil=True, cache=True)
def new_prefix_sums(words, topics, ws, t):  # type: ignore[no-untyped-def]
    """Mutate ws: return where the sums of A_wc P_ct over topic t's labels begin, a row a type.

    −1 where there is no room left: then draws from this topic stay slow.
    """
    prefix_sums, cache, cache_of = ws.prefix_sums, ws.cache, ws.cache_of
    labels, shares = topics.topic_labels, topics.topic_values
    begin = topics.topic_starts[t]
    n = topics.topic_starts[t + 1] - begin
    n_types = cache.shape[1]
    at = ws.counters[PREFIX_END]
    if at + n_types * n > prefix_sums.size:
        return np.int64(-1)
    ws.counters[PREFIX_END] += n_types * n
    ws.prefix_of[t] = at
    for j in range(n):
        c = np.int64(labels[begin + j])
        row = np.int64(cache_of[c])
        if row < 0:
            row = put_in_cache(
                cache, cache_of, ws.cache_labels, ws.place, ws.counters, words.column_starts,
                words.column_words, words.column_values, c,
            )  # fmt: skip
        share = np.float32(shares[begin + j])
        for u in range(n_types):
            before = prefix_sums[at + u * n + j - 1] if j else np.float32(0.0)
            prefix_sums[at + u * n + j] = before + cache[row, u] * share
    return at
