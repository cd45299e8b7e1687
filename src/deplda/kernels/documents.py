"""The test-time cycle of fast inference, sampled: z, then z′, then α′ (paper §3.5).

The weight of label c for a word w, φ_wc (N_c + α′_c), splits into buckets whose totals are known
without touching all C labels, because φ_wc = A_wc + b_c and φ′_ct = P_ct + b′_t are sparse plus one
number a column:

| bucket                    | total                          | how a label is drawn from it      |
|---------------------------|--------------------------------|-----------------------------------|
| φ_wc N_c                  | dot product over active labels | 16 lanes, then down one lane      |
| A_wc η Σ_t θ′_t φ′_ct     | η Σ_t θ′_t M_wt, M = A φ′      | a topic, then a label of the two  |
| A_wc Σα/C                 | the row's sum                  | search in the row's running sums  |
| b_c (η Σ_t θ′_t φ′_ct + Σα/C) | one number a cycle         | a topic, then search; or search   |

No approximation and no Metropolis step: the same distribution as the dense draw.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from deplda.kernels.lanes import LANES, lane_products
from deplda.kernels.random import uniform

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]


class WordTables(NamedTuple):
    """φ as the kernels read it: A by word and by label, and b."""

    row_starts: Int64
    row_labels: Int32
    row_values: Float32
    row_sums: Float64
    """Running sums of row_values, from 0 in each row."""
    row_totals: Float64
    column_starts: Int64
    column_words: Int32
    column_values: Float32
    base: Float64
    base_sums: Float64
    """Running sums of b."""


class TopicTables(NamedTuple):
    """φ′ of one set as the kernels read it: P by topic and by label, b′, and what φ makes of it."""

    topic_starts: Int64
    topic_labels: Int32
    topic_values: Float64
    """P_ct of a topic's own labels, the largest first."""
    topic_sums: Float64
    """Running sums of P_ct, from 0 in each topic."""
    topic_base_sums: Float64
    """Running sums of b_c P_ct, from 0 in each topic."""
    label_starts: Int64
    label_topics: Int32
    label_values: Float64
    base: Float64
    base_sums: Float64
    """Running sums of b′."""
    word_topics: Float32
    """M = A φ′, words × topics."""
    word_totals: Float64
    """Σ_t M_wt."""
    label_base: Float64
    """Σ_c b_c φ′_ct of each topic."""
    label_base_sum: Float64
    """Their sum, as an array of one."""


class Prior(NamedTuple):
    """The weights of a document's prior: η, Σα/C, Σγ/T."""

    eta: float
    alpha: float
    gamma: float


_WIDTH = 256  # slots that are kept at hand even when few labels have tokens


@njit(nogil=True, cache=True, inline="always")
def search(sums, begin, end, r):  # type: ignore[no-untyped-def]
    """Return the first place in begin:end whose running sum exceeds r, or the last place."""
    low, high = begin, end - 1
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > r:
            high = middle
        else:
            low = middle + 1
    return low


@njit(nogil=True, cache=True)
def document_key(words, times):  # type: ignore[no-untyped-def]
    """Return 64 bits that tell one document's content from another's."""
    key = np.uint64(0x243F6A8885A308D3)
    for k in range(words.size):
        x = key ^ (np.uint64(words[k]) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(times[k]))
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        key = x ^ (x >> np.uint64(31))
    return key


# Drawing a label from the prior's buckets. Every function takes what it needs of a tuple into names
# of its own first: inside a loop, each use of a tuple's array would count references.


@njit(nogil=True, cache=True)
def _from_row(words, w, u):  # type: ignore[no-untyped-def]
    """Return a label drawn from A_w."""
    sums = words.row_sums
    begin, end = words.row_starts[w], words.row_starts[w + 1]
    return np.int64(words.row_labels[search(sums, begin, end, u * words.row_totals[w])])


@njit(nogil=True, cache=True)
def _from_base(words, u):  # type: ignore[no-untyped-def]
    """Return a label drawn from b."""
    sums = words.base_sums
    return np.int64(search(sums, 0, sums.size, u * sums[sums.size - 1]))


@njit(nogil=True, cache=True)
def _from_topic(words, topics, w, t, u1, u2):  # type: ignore[no-untyped-def]
    """Return a label drawn from A_wc φ′_ct of one word and topic."""
    row_labels, row_values = words.row_labels, words.row_values
    own_labels, own_values = topics.topic_labels, topics.topic_values
    begin, end = words.row_starts[w], words.row_starts[w + 1]
    smooth = topics.base[t] * words.row_totals[w]
    r = u1 * np.float64(topics.word_topics[w, t]) - smooth
    found = np.int64(-1)
    if r >= 0.0:
        for e in range(topics.topic_starts[t], topics.topic_starts[t + 1]):
            c = own_labels[e]
            low, high = begin, end
            while low < high:
                middle = (low + high) // 2
                if row_labels[middle] < c:
                    low = middle + 1
                else:
                    high = middle
            if low < end and row_labels[low] == c:
                found = np.int64(c)
                r -= np.float64(row_values[low]) * own_values[e]
                if r < 0.0:
                    break
    return found if found >= 0 else _from_row(words, w, u2)


@njit(nogil=True, cache=True)
def _from_base_and_topic(words, topics, t, u1, u2):  # type: ignore[no-untyped-def]
    """Return a label drawn from b_c φ′_ct of one topic."""
    sums = topics.topic_base_sums
    begin, end = topics.topic_starts[t], topics.topic_starts[t + 1]
    own = sums[end - 1] if end > begin else 0.0
    r = u1 * topics.label_base[t]
    if r < own:
        return np.int64(topics.topic_labels[search(sums, begin, end, r)])
    return _from_base(words, u2)


@njit(nogil=True, cache=True)
def _new_sheet(words, topics, desk, t):  # type: ignore[no-untyped-def]
    """Return where the running sums of A_wc P_ct over topic t's labels begin, a row for each type.

    −1 where there is no room left: then such a draw is done the slow way, for this whole document.
    """
    sheets, place = desk.sheets, desk.place
    names, values, starts = words.column_words, words.column_values, words.column_starts
    labels, shares = topics.topic_labels, topics.topic_values
    begin = topics.topic_starts[t]
    n = topics.topic_starts[t + 1] - begin
    n_types = desk.by_flat.size
    at = desk.book[_SHEETS]
    if at + n_types * n > sheets.size:
        return np.int64(-1)
    desk.book[_SHEETS] += n_types * n
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


@njit(nogil=True, cache=True)
def _base_topic(topics, desk, gamma, r):  # type: ignore[no-untyped-def]
    """Return a topic drawn from (N_dt + Σγ/T) Σ_c b_c φ′_ct; r is uniform on its total."""
    n_dt, live, n_live, label_base = desk.n_dt, desk.live, desk.book[_LIVE], topics.label_base
    for a in range(n_live):
        r -= n_dt[live[a]] * label_base[live[a]]
        if r < 0.0:
            return live[a]
    for t in range(label_base.size - 1):
        r -= gamma * label_base[t]
        if r < 0.0:
            return np.int64(t)
    return np.int64(label_base.size - 1)


@njit(nogil=True, cache=True)
def _from_smooth_topic(words, topics, w, prior_gamma, r, u1, u2):  # type: ignore[no-untyped-def]
    """Return a label drawn from A_wc φ′_ct Σγ/T over all topics; r is uniform on its total."""
    row = topics.word_topics[w]
    last = np.int64(0)
    for t in range(row.size):
        if row[t] > 0.0:
            last = np.int64(t)
            r -= prior_gamma * np.float64(row[t])
            if r < 0.0:
                break
    return _from_topic(words, topics, w, last, u1, u2)


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


_HAND, _HEAVY, _LIVE, _SHEETS = 0, 1, 2, 3
_SHEET_ROOM = 1 << 21
_SHEET_TOKENS = 5


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
        np.zeros((types.size, _WIDTH), np.float32),
        np.zeros(_WIDTH, np.float32),
        np.full(_WIDTH, -1, np.int64),
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
    desk.book[:_SHEETS] = 0
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
    desk.book[_HAND] = n
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
    k = book[_HAND]
    while mass[k] > 0.0:
        k = k + 1 if k + 1 < width else 0
    book[_HAND] = k + 1 if k + 1 < width else 0
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
def bucket_totals(words, topics, desk, types, scale, flat, prior_gamma):  # type: ignore[no-untyped-def]
    """Set the desk's by_topic and by_flat for a sweep; return the totals of the b buckets."""
    n_dt, live, n_live = desk.n_dt, desk.live, desk.book[_LIVE]
    by_topic, by_flat, row_totals = desk.by_topic, desk.by_flat, words.row_totals
    word_topics, word_totals, label_base = topics.word_topics, topics.word_totals, topics.label_base
    for u in range(types.size):
        w = types[u]
        by_flat[u] = flat * row_totals[w]
        by_topic[u] = 0.0
        if scale > 0.0:
            total = prior_gamma * word_totals[w]
            for a in range(n_live):
                total += n_dt[live[a]] * np.float64(word_topics[w, live[a]])
            by_topic[u] = scale * total
    base_topics = 0.0
    if scale > 0.0:
        base_topics = prior_gamma * topics.label_base_sum[0]
        for a in range(n_live):
            base_topics += n_dt[live[a]] * label_base[live[a]]
    return scale * base_topics, flat * words.base_sums[words.base_sums.size - 1]


@njit(nogil=True, cache=True, error_model="numpy")
def _update_words(  # type: ignore[no-untyped-def]
    words, topics, desk, types, scale, prior_gamma, base_topics, base_flat, key, gamma, i
):  # fmt: skip
    """Mutate the desk: redraw z from token i on; return the token before which room ran out."""
    columns, mass, lanes, z, book = desk.columns, desk.mass, desk.lanes, desk.z, desk.book
    tokens, by_topic, by_flat, slot_of = desk.tokens, desk.by_topic, desk.by_flat, desk.slot_of
    labels, place, sheets, sheet_of = desk.labels, desk.place, desk.sheets, desk.sheet_of
    n_dt, live, word_topics, topic_base = desk.n_dt, desk.live, topics.word_topics, topics.base
    topic_starts, topic_labels = topics.topic_starts, topics.topic_labels
    row_starts, row_labels, row_sums = words.row_starts, words.row_labels, words.row_sums
    row_totals, base = words.row_totals, words.base
    column_starts, column_words, column_values = (
        words.column_starts, words.column_words, words.column_values
    )  # fmt: skip
    width, n_live = mass.size, book[_LIVE]
    n, n_heavy = desk.clock[0], book[_HEAVY]
    while i < z.size and n_heavy < width:
        u = np.int64(tokens[i])
        k = np.int64(z[i])
        if k >= 0:
            mass[k] -= np.float32(1.0)
            n_heavy -= mass[k] == 0.0
        lane_products(columns, u, mass, width, lanes)
        # Partial sums of four: a chain of sixteen additions would take longer than the products.
        s0 = (np.float64(lanes[0]) + lanes[1]) + (np.float64(lanes[2]) + lanes[3])
        s1 = (np.float64(lanes[4]) + lanes[5]) + (np.float64(lanes[6]) + lanes[7])
        s2 = (np.float64(lanes[8]) + lanes[9]) + (np.float64(lanes[10]) + lanes[11])
        s3 = (np.float64(lanes[12]) + lanes[13]) + (np.float64(lanes[14]) + lanes[15])
        heavy = (s0 + s1) + (s2 + s3)
        rest = by_topic[u] + by_flat[u] + base_topics + base_flat
        r = uniform(key, gamma, n) * (heavy + rest)
        n += np.uint64(1)
        if r < heavy:
            j = 0
            if r >= s0 + s1:
                r -= s0 + s1
                j = 8
                s0 = s2
            if r >= s0:
                r -= s0
                j += 4
            while j < LANES - 1 and r >= lanes[j]:
                r -= lanes[j]
                j += 1
            k = np.int64(-1)
            while k < 0:  # rounding may lead to a lane without mass: go back to one that has some
                for m in range(j, width, LANES):
                    if mass[m] > 0.0:
                        k = np.int64(m)
                        r -= columns[u, m] * mass[m]
                        if r < 0.0:
                            break
                j -= 1
        else:
            u1 = uniform(key, gamma, n)
            u2 = uniform(key, gamma, n + np.uint64(1))
            n += np.uint64(2)
            r -= heavy
            w = types[u]
            c, from_row = np.int64(-1), False
            if r < by_topic[u]:
                r /= scale
                t = np.int64(-1)
                for a in range(n_live):
                    r -= n_dt[live[a]] * np.float64(word_topics[w, live[a]])
                    if r < 0.0:
                        t = live[a]
                        break
                if t < 0:
                    c = _from_smooth_topic(words, topics, w, prior_gamma, r, u1, u2)
                else:
                    # A sheet pays where a topic has weight: the state decides, not history.
                    at = np.int64(-1)
                    if n_dt[t] >= _SHEET_TOKENS:
                        at = sheet_of[t]
                        if at < 0:
                            at = _new_sheet(words, topics, desk, t)
                    first = topic_starts[t]
                    m = topic_starts[t + 1] - first
                    if at < 0 or m == 0:
                        c = _from_topic(words, topics, w, t, u1, u2)
                    else:
                        row = at + u * m
                        own = np.float64(sheets[row + m - 1])
                        r = u1 * (own + topic_base[t] * row_totals[w])
                        if r < own:
                            c = np.int64(
                                topic_labels[first + search(sheets, row, row + m, r) - row]
                            )
                        else:
                            from_row = True
            elif r < by_topic[u] + by_flat[u]:
                from_row = True
            elif r < by_topic[u] + by_flat[u] + base_topics:
                r = (r - by_topic[u] - by_flat[u]) / scale
                t = _base_topic(topics, desk, prior_gamma, r)
                c = _from_base_and_topic(words, topics, t, u1, u2)
            else:
                c = _from_base(words, u1)
            if from_row:
                r = u2 * row_totals[w]
                c = np.int64(row_labels[search(row_sums, row_starts[w], row_starts[w + 1], r)])
            k = np.int64(slot_of[c])
            if k < 0:
                k = np.int64(
                    new_slot(
                        columns, mass, labels, slot_of, place, book, column_starts, column_words,
                        column_values, base, c,
                    )
                )  # fmt: skip
        n_heavy += mass[k] == 0.0
        mass[k] += np.float32(1.0)
        z[i] = k
        i += 1
    desk.clock[0] = n
    book[_HEAVY] = n_heavy
    return i


@njit(nogil=True, cache=True)
def sweep_words(words, topics, desk, types, scale, flat, prior_gamma, key, gamma):  # type: ignore[no-untyped-def]
    """Return the desk, resized if need be, after one update of every z.

    P(z_i = c) ∝ φ_wc (mass_c + η Σ_t θ′_t φ′_ct + Σα/C): `scale` is η/(N + Σγ), 0 where the topics
    have no say, and `flat` is Σα/C.
    """
    if desk.mass.size > _WIDTH and 4 * desk.book[_HEAVY] <= desk.mass.size:
        desk = resized(desk, desk.mass.size // 2)
    base_topics, base_flat = bucket_totals(words, topics, desk, types, scale, flat, prior_gamma)
    i = 0
    while True:
        i = _update_words(
            words, topics, desk, types, scale, prior_gamma, base_topics, base_flat, key, gamma, i
        )
        if i == desk.z.size:
            return desk
        desk = resized(desk, 2 * desk.mass.size)


@njit(nogil=True, cache=True, error_model="numpy")
def sweep_topics(topics, desk, labels, prior_gamma, key, gamma):  # type: ignore[no-untyped-def]
    """Mutate the desk: one update of every z′, P(z′_i = t) ∝ φ′_ct (N_dt + Σγ/T), c = labels[i]."""
    n_dt, live, live_at, z_topic = desk.n_dt, desk.live, desk.live_at, desk.z_topic
    if n_dt.size == 1:  # nothing to draw
        n_dt[0] = labels.size
        live[0] = 0
        desk.book[_LIVE] = 1
    if n_dt.size <= 1:
        return
    starts, own_topics, own_values = topics.label_starts, topics.label_topics, topics.label_values
    base, base_sums = topics.base, topics.base_sums
    n_live = desk.book[_LIVE]
    shared = 0.0  # Σ_t b′_t N_dt
    for a in range(n_live):
        shared += base[live[a]] * n_dt[live[a]]
    smooth = prior_gamma * base_sums[base_sums.size - 1]
    n = desk.clock[0]
    for i in range(labels.size):
        old = z_topic[i]
        if old >= 0:
            n_dt[old] -= 1
            shared -= base[old]
            if n_dt[old] == 0:
                n_live -= 1
                live[live_at[old]] = live[n_live]
                live_at[live[n_live]] = live_at[old]
        begin, end = starts[labels[i]], starts[labels[i] + 1]
        own = 0.0
        for e in range(begin, end):
            own += own_values[e] * (n_dt[own_topics[e]] + prior_gamma)
        r = uniform(key, gamma, n) * (own + shared + smooth)
        n += np.uint64(1)
        new = np.int64(-1)
        if r < own:
            for e in range(begin, end):
                new = np.int64(own_topics[e])
                r -= own_values[e] * (n_dt[new] + prior_gamma)
                if r < 0.0:
                    break
        elif r < own + shared and n_live > 0:
            r -= own
            for a in range(n_live):
                new = live[a]
                r -= base[new] * n_dt[new]
                if r < 0.0:
                    break
        else:
            r = (r - own - shared) / prior_gamma
            new = np.int64(search(base_sums, 0, base_sums.size, r))
        if n_dt[new] == 0:
            live[n_live] = new
            live_at[new] = n_live
            n_live += 1
        n_dt[new] += 1
        shared += base[new]
        z_topic[i] = new
    desk.book[_LIVE] = n_live
    desk.clock[0] = n


@njit(nogil=True, cache=True)
def own_stream(key, content, chain):  # type: ignore[no-untyped-def]
    """Return the key of a chain's stream in a document, by the document's content."""
    return key ^ (content + np.uint64(chain) * np.uint64(0xD1342543DE82EF95))


@njit(nogil=True, cache=True, error_model="numpy")
def sample(  # type: ignore[no-untyped-def]
    words, topics, prior, starts, types, times, first, last, key, gamma, chains,
    burn_in, n_samples, lag, conditionals, out_counts, out_topics,
):  # fmt: skip
    """Add to out_counts and out_topics the samples of N_c (or of its conditionals) and of θ′.

    For the documents first:last, whose outputs are rows 0, 1, …; `chains` are the chains' numbers.
    A document's draws depend on (key, gamma), the chain's number and the document's content alone.
    """
    n_labels, n_topics = words.base.size, topics.base.size
    place = np.full(words.row_totals.size, -1, np.int32)
    slot_of = np.full(n_labels, -1, np.int32)
    sheets = np.empty(_SHEET_ROOM if n_topics else 0, np.float32)
    gamma_sum = prior.gamma * n_topics
    for d in range(first, last):
        own, weight = types[starts[d] : starts[d + 1]], times[starts[d] : starts[d + 1]]
        n = weight.sum()
        if n == 0:
            out_topics[d - first, :] += chains.size * n_samples / max(n_topics, 1)
            continue
        scale = prior.eta / (n + gamma_sum) if n_topics else 0.0
        flat = prior.alpha + prior.eta / n_labels
        content = document_key(own, weight)
        desk = new_desk(own, weight, n, n_topics, slot_of, place, sheets)
        for chain in chains:
            stream = own_stream(key, content, chain)
            clear(desk)
            # Two sweeps of z under a flat prior of the same weight, two of z′, then the cycles.
            desk = sweep_words(words, topics, desk, own, 0.0, flat, prior.gamma, stream, gamma)
            desk = sweep_words(words, topics, desk, own, 0.0, flat, prior.gamma, stream, gamma)
            sweep_topics(topics, desk, desk.labels[desk.z], prior.gamma, stream, gamma)
            sweep_topics(topics, desk, desk.labels[desk.z], prior.gamma, stream, gamma)
            for cycle in range(1, burn_in + (n_samples - 1) * lag + 1):
                desk = sweep_words(
                    words, topics, desk, own, scale, prior.alpha, prior.gamma, stream, gamma
                )
                sweep_topics(topics, desk, desk.labels[desk.z], prior.gamma, stream, gamma)
                if cycle < burn_in or (cycle - burn_in) % lag:
                    continue
                for t in range(n_topics):
                    out_topics[d - first, t] += (desk.n_dt[t] + prior.gamma) / (n + gamma_sum)
                if conditionals:
                    add_conditionals(
                        words, topics, desk, own, weight, scale, prior, out_counts[d - first]
                    )
                else:
                    for k in range(desk.mass.size):
                        if desk.mass[k] > 0.0:
                            out_counts[d - first, desk.labels[k]] += desk.mass[k]
        leave(desk, own)


@njit(nogil=True, cache=True, error_model="numpy")
def add_conditionals(words, topics, desk, types, times, scale, prior, out):  # type: ignore[no-untyped-def]
    """Add to out each token's whole conditional, Σ_i p_i(c), at this state.

    p_i(c) = φ_wc (N_c − [z_i = c] + α′_c)/Z_i, so that Σ_i p_i(c) needs, of each type, the sum of
    1/Z_i over its tokens, and a correction for the label that each token itself has.
    """
    columns, mass, labels, z = desk.columns, desk.mass, desk.labels, desk.z
    row_starts, row_labels, row_values = words.row_starts, words.row_labels, words.row_values
    base = words.base
    alpha = np.empty(base.size, np.float64)
    dense_alpha(topics, prior.alpha, prior.gamma, scale, desk.n_dt, alpha)
    base_alpha = (base * alpha).sum()
    i = 0
    all_weight = 0.0
    for u in range(types.size):
        begin, end = row_starts[types[u]], row_starts[types[u] + 1]
        total = base_alpha
        for e in range(begin, end):
            total += np.float64(row_values[e]) * alpha[row_labels[e]]
        for k in range(mass.size):
            total += np.float64(columns[u, k]) * np.float64(mass[k])
        weight = 0.0
        for _ in range(times[u]):
            own = np.float64(columns[u, z[i]])
            weight += 1.0 / (total - own)
            out[labels[z[i]]] -= own / (total - own)
            i += 1
        all_weight += weight
        for e in range(begin, end):
            out[row_labels[e]] += weight * np.float64(row_values[e]) * alpha[row_labels[e]]
        for k in range(mass.size):
            if mass[k] > 0.0:
                out[labels[k]] += weight * np.float64(columns[u, k]) * np.float64(mass[k])
    for c in range(alpha.size):
        out[c] += all_weight * base[c] * alpha[c]


@njit(nogil=True, cache=True)
def dense_alpha(topics, flat, prior_gamma, scale, n_dt, alpha):  # type: ignore[no-untyped-def]
    """Set alpha to α′ = η θ′·φ′ + Σα/C of all labels; `scale` is η/(N + Σγ), `flat` is Σα/C."""
    starts, labels, values, base = (
        topics.topic_starts, topics.topic_labels, topics.topic_values, topics.base
    )  # fmt: skip
    everywhere = flat
    for t in range(n_dt.size):
        everywhere += scale * (n_dt[t] + prior_gamma) * base[t]
    alpha[:] = everywhere
    for t in range(n_dt.size):
        share = scale * (n_dt[t] + prior_gamma)
        for e in range(starts[t], starts[t + 1]):
            alpha[labels[e]] += share * values[e]
