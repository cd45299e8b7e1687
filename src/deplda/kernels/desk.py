"""The desk: all that is at hand while one document is sampled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from deplda.kernels.lanes import LANES

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]

WIDTH = 256  # slots that are kept at hand even when few labels have tokens
HAND, HEAVY, LIVE, SHEETS = 0, 1, 2, 3
SHEET_ROOM = 1 << 21
SHEET_TOKENS = 5


class Desk(NamedTuple):
    """All that is at hand for one document. A slot holds a label: its column φ_·c and its mass.

    A label without mass keeps its slot until another needs it.
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
    lanes: Float32
    sheets: Float32
    """For topics that have had tokens: running sums of A_wc P_ct, types × the topic's labels."""
    sheet_of: Int64
    """Topic → where its sheet begins, −1 if it has none."""
    book: Int64
    """The next slot to give up, slots with mass, topics with tokens, the end of the sheets."""
    clock: npt.NDArray[np.uint64]
    """How many random numbers have been drawn."""


@njit(nogil=True, cache=True)
def new_desk(types, times, n_label_tokens, n_topics, slot_of, place, sheets):  # type: ignore[no-untyped-def]
    """Return an empty desk; `slot_of`, `place` (both all −1) and `sheets` serve all documents."""
    n_tokens = times.sum()
    tokens = np.empty(n_tokens, np.int32)
    i = 0
    for u in range(types.size):
        place[types[u]] = u
        for _ in range(times[u]):
            tokens[i] = u
            i += 1
    return Desk(
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
        np.zeros(LANES, np.float32),
        sheets,
        np.full(n_topics, -1, np.int64),
        np.zeros(4, np.int64),
        np.zeros(1, np.uint64),
    )


@njit(nogil=True, cache=True)
def clear(desk):  # type: ignore[no-untyped-def]
    """Take all tokens off the desk; labels keep their slots."""
    desk.mass[:] = 0.0
    desk.z[:] = -1
    desk.z_topic[:] = -1
    desk.n_dt[:] = 0
    desk.book[:SHEETS] = 0
    desk.clock[0] = 0


@njit(nogil=True, cache=True)
def leave(desk, types):  # type: ignore[no-untyped-def]
    """Set the shared `slot_of` and `place` back to −1 for the next document."""
    for c in desk.labels:
        if c >= 0:
            desk.slot_of[c] = -1
    for w in types:
        desk.place[w] = -1


@njit(nogil=True, cache=True)
def resized(desk, width):  # type: ignore[no-untyped-def]
    """Return the desk with `width` slots, the first of them for the labels that have mass."""
    old_mass, old_labels, old_columns, z = desk.mass, desk.labels, desk.columns, desk.z
    columns = np.zeros((old_columns.shape[0], width), np.float32)
    mass = np.zeros(width, np.float32)
    labels = np.full(width, -1, np.int64)
    moved = np.full(old_mass.size, -1, np.int32)
    n = 0
    for k in range(old_mass.size):
        c = old_labels[k]
        if old_mass[k] > 0.0:
            mass[n], labels[n], moved[k] = old_mass[k], c, n
            desk.slot_of[c] = n
            n += 1
        elif c >= 0:
            desk.slot_of[c] = -1
    for u in range(columns.shape[0]):
        for k in range(moved.size):
            if moved[k] >= 0:
                columns[u, moved[k]] = old_columns[u, k]
    for i in range(z.size):
        if z[i] >= 0:
            z[i] = moved[z[i]]
    desk.book[HAND] = n
    return Desk(
        columns, mass, labels, desk.slot_of, desk.place, desk.tokens, z, desk.z_topic, desk.n_dt,
        desk.live, desk.live_at, desk.by_topic, desk.by_flat, desk.lanes, desk.sheets,
        desk.sheet_of, desk.book, desk.clock,
    )  # fmt: skip


@njit(nogil=True, cache=True)
def new_slot(  # type: ignore[no-untyped-def]
    columns, mass, labels, slot_of, place, book, column_starts, column_words, column_values, base, c
):  # fmt: skip
    """Return a slot without mass, now holding label c; there must be one."""
    width = mass.size
    k = book[HAND]
    while mass[k] > 0.0:
        k = k + 1 if k + 1 < width else 0
    book[HAND] = k + 1 if k + 1 < width else 0
    if labels[k] >= 0:
        slot_of[labels[k]] = -1
    labels[k] = c
    slot_of[c] = k
    smooth = np.float32(base[c])
    for u in range(columns.shape[0]):
        columns[u, k] = smooth
    for e in range(column_starts[c], column_starts[c + 1]):
        u = place[column_words[e]]
        if u >= 0:
            columns[u, k] = smooth + column_values[e]
    return k


@njit(nogil=True, cache=True)
def new_sheet(words, topics, desk, t):  # type: ignore[no-untyped-def]
    """Return where the running sums of A_wc P_ct over topic t's labels begin, a row for each type.

    −1 where there is no room left: then such a draw is done the slow way, for this whole document.
    """
    sheets, place = desk.sheets, desk.place
    names, values, starts = words.column_words, words.column_values, words.column_starts
    labels, shares = topics.topic_labels, topics.topic_values
    begin = topics.topic_starts[t]
    n = topics.topic_starts[t + 1] - begin
    n_types = desk.by_flat.size
    at = desk.book[SHEETS]
    if at + n_types * n > sheets.size:
        return np.int64(-1)
    desk.book[SHEETS] += n_types * n
    desk.sheet_of[t] = at
    sheets[at : at + n_types * n] = 0.0
    for j in range(n):
        c = labels[begin + j]
        share = np.float32(shares[begin + j])
        for e in range(starts[c], starts[c + 1]):
            u = place[names[e]]
            if u >= 0:
                sheets[at + u * n + j] = values[e] * share
    for u in range(n_types):
        for k in range(at + u * n + 1, at + (u + 1) * n):
            sheets[k] += sheets[k - 1]
    return at
