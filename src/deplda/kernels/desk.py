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

WIDTH = 64  # slots that are kept at hand even when few labels have tokens
HAND, HEAVY, LIVE, SHEETS, SHELF = 0, 1, 2, 3, 4
SHEET_ROOM = 1 << 22  # 16 MiB, for the sheets and the shelf
SHEET_DRAWS = 32  # a sheet takes about as long to write as so many draws without one


class Desk(NamedTuple):
    """All that is at hand for one document. A slot holds a label: its column φ_·c and its mass.

    A label without mass keeps its slot until another needs it. The shelf and the sheets keep what
    has been worked out of φ and φ′ for this document: they save time, and change no draw.
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
    sheets: Float32
    """For topics often drawn from: running sums of A_wc P_ct, types × the topic's labels."""
    sheet_of: Int64
    """Topic → where its sheet begins, −1 if it has none."""
    sheet_draws: Int64
    """How often each topic has been drawn from without a sheet."""
    shelf: Float32
    """Labels that had a slot × types: A_·c, each in one piece."""
    shelf_of: Int32
    """Label → its row on the shelf, −1 if it has none."""
    shelf_labels: Int64
    """The label of each row of the shelf, −1 if none."""
    book: Int64
    """The next slot to give up, slots with mass, topics with tokens, the end of the sheets, the
    next row of the shelf to give up."""
    clock: npt.NDArray[np.uint64]
    """How many random numbers have been drawn."""


@njit(nogil=True, cache=True)
def new_desk(types, times, n_label_tokens, n_topics, slot_of, place, sheets):  # type: ignore[no-untyped-def]
    """Return an empty desk; `slot_of`, `place` (both all −1) and `sheets` serve all documents.

    Half of `sheets` is for the shelf: memory of its own would have to be cleared by the system for
    each document.
    """
    n_tokens = times.sum()
    tokens = np.empty(n_tokens, np.int32)
    i = 0
    for u in range(types.size):
        place[types[u]] = u
        for _ in range(times[u]):
            tokens[i] = u
            i += 1
    room = sheets.size // 2
    n_shelved = min(slot_of.size, room // max(types.size, 1))
    if n_shelved > 0:
        shelf = sheets[room : room + n_shelved * types.size].reshape(n_shelved, types.size)
    else:
        n_shelved = 1
        shelf = np.empty((1, types.size), np.float32)
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
        np.zeros(LANES + 1, np.float32),
        sheets[:room],
        np.full(n_topics, -1, np.int64),
        np.zeros(n_topics, np.int64),
        shelf,
        np.full(slot_of.size, -1, np.int32),
        np.full(n_shelved, -1, np.int64),
        np.zeros(5, np.int64),
        np.zeros(1, np.uint64),
    )


@njit(nogil=True, cache=True)
def clear(desk):  # type: ignore[no-untyped-def]
    """Take all tokens and labels off the desk, so that a chain knows nothing of those before it."""
    for c in desk.labels:
        if c >= 0:
            desk.slot_of[c] = -1
    desk.labels[:] = -1
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
def fitting(n_heavy):  # type: ignore[no-untyped-def]
    """Return how many slots are worth their while for so many labels that have mass."""
    return max(WIDTH, (n_heavy + n_heavy // 2) // LANES * LANES + LANES)


@njit(nogil=True, cache=True)
def resized(desk, width):  # type: ignore[no-untyped-def]
    """Return the desk with `width` slots, the first of them for the labels of most mass.

    A draw goes down one lane from its first slot: so it mostly ends there.
    """
    old_mass, old_labels, old_columns, z = desk.mass, desk.labels, desk.columns, desk.z
    columns = np.zeros((old_columns.shape[0], width), np.float32)
    mass = np.zeros(width, np.float32)
    labels = np.full(width, -1, np.int64)
    moved = np.full(old_mass.size, -1, np.int32)
    n = 0
    for k in np.argsort(-old_mass, kind="mergesort"):
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
        desk.live, desk.live_at, desk.by_topic, desk.by_flat, desk.lane_sums,
        desk.sheets, desk.sheet_of, desk.sheet_draws, desk.shelf, desk.shelf_of,
        desk.shelf_labels, desk.book, desk.clock,
    )  # fmt: skip


@njit(nogil=True, cache=True)
def put_on_shelf(  # type: ignore[no-untyped-def]
    shelf, shelf_of, shelf_labels, place, book, starts, names, values, c
):  # fmt: skip
    """Return the row of the shelf that now has A_·c; the one that was there longest goes.

    Column c of A is starts[c]:starts[c + 1] of `names`, its words, and `values`.
    """
    row = book[SHELF]
    book[SHELF] = row + 1 if row + 1 < shelf_labels.size else 0
    if shelf_labels[row] >= 0:
        shelf_of[shelf_labels[row]] = -1
    shelf_labels[row] = c
    shelf_of[c] = row
    for u in range(shelf.shape[1]):
        shelf[row, u] = 0.0
    for e in range(starts[c], starts[c + 1]):
        u = place[names[e]]
        if u >= 0:
            shelf[row, u] = values[e]
    return row


@njit(nogil=True, cache=True)
def new_slot(  # type: ignore[no-untyped-def]
    columns, mass, labels, slot_of, shelf, shelf_of, shelf_labels, place, book,
    starts, names, values, base, c,
):  # fmt: skip
    """Return a slot without mass, now holding label c and its column; there must be one."""
    width = mass.size
    k = book[HAND]
    while mass[k] > 0.0:
        k = k + 1 if k + 1 < width else 0
    book[HAND] = k + 1 if k + 1 < width else 0
    if labels[k] >= 0:
        slot_of[labels[k]] = -1
    labels[k] = c
    slot_of[c] = k
    row = np.int64(shelf_of[c])
    if row < 0:
        row = put_on_shelf(shelf, shelf_of, shelf_labels, place, book, starts, names, values, c)
    smooth = np.float32(base[c])
    for u in range(columns.shape[0]):
        columns[u, k] = smooth + shelf[row, u]
    return k


@njit(nogil=True, cache=True)
def new_sheet(words, topics, desk, t):  # type: ignore[no-untyped-def]
    """Return where the running sums of A_wc P_ct over topic t's labels begin, a row for each type.

    −1 where there is no room left: then draws from this topic stay slow.
    """
    sheets, shelf, shelf_of = desk.sheets, desk.shelf, desk.shelf_of
    labels, shares = topics.topic_labels, topics.topic_values
    begin = topics.topic_starts[t]
    n = topics.topic_starts[t + 1] - begin
    n_types = shelf.shape[1]
    at = desk.book[SHEETS]
    if at + n_types * n > sheets.size:
        return np.int64(-1)
    desk.book[SHEETS] += n_types * n
    desk.sheet_of[t] = at
    for j in range(n):
        c = labels[begin + j]
        row = np.int64(shelf_of[c])
        if row < 0:
            row = put_on_shelf(
                shelf, shelf_of, desk.shelf_labels, desk.place, desk.book, words.column_starts,
                words.column_words, words.column_values, c,
            )  # fmt: skip
        share = np.float32(shares[begin + j])
        for u in range(n_types):
            before = sheets[at + u * n + j - 1] if j else np.float32(0.0)
            sheets[at + u * n + j] = before + shelf[row, u] * share
    return at
