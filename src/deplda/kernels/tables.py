"""φ and φ′ as the test-time kernels read them, and how a label is drawn from them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

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


class TopicSets(NamedTuple):
    """φ′ of all sets side by side, by label; the topics of all sets are numbered through."""

    set_starts: Int64
    """The first topic of each set, and the number of all."""
    label_starts: Int64
    """Where the topics of label c in set s begin, at c · sets + s."""
    label_topics: Int32
    label_values: Float64
    base: Float64


class Prior(NamedTuple):
    """The weights of a document's prior: η, Σα/C, Σγ/T."""

    eta: float
    alpha: float
    gamma: float


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


# Drawing a label from the prior's buckets. Every function takes what it needs of a tuple into names
# of its own first: inside a loop, each use of a tuple's array would count references.


@njit(nogil=True, cache=True)
def from_row(words, w, u):  # type: ignore[no-untyped-def]
    """Return a label drawn from A_w."""
    sums = words.row_sums
    begin, end = words.row_starts[w], words.row_starts[w + 1]
    return np.int64(words.row_labels[search(sums, begin, end, u * words.row_totals[w])])


@njit(nogil=True, cache=True)
def from_base(words, u):  # type: ignore[no-untyped-def]
    """Return a label drawn from b."""
    sums = words.base_sums
    return np.int64(search(sums, 0, sums.size, u * sums[sums.size - 1]))


@njit(nogil=True, cache=True)
def from_topic(words, topics, w, t, u1, u2):  # type: ignore[no-untyped-def]
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
    return found if found >= 0 else from_row(words, w, u2)


@njit(nogil=True, cache=True)
def from_base_and_topic(words, topics, t, u1, u2):  # type: ignore[no-untyped-def]
    """Return a label drawn from b_c φ′_ct of one topic."""
    sums = topics.topic_base_sums
    begin, end = topics.topic_starts[t], topics.topic_starts[t + 1]
    own = sums[end - 1] if end > begin else 0.0
    r = u1 * topics.label_base[t]
    if r < own:
        return np.int64(topics.topic_labels[search(sums, begin, end, r)])
    return from_base(words, u2)


@njit(nogil=True, cache=True)
def from_smooth_topic(words, topics, w, prior_gamma, r, u1, u2):  # type: ignore[no-untyped-def]
    """Return a label drawn from A_wc φ′_ct Σγ/T over all topics; r is uniform on its total."""
    row = topics.word_topics[w]
    last = np.int64(0)
    for t in range(row.size):
        if row[t] > 0.0:
            last = np.int64(t)
            r -= prior_gamma * np.float64(row[t])
            if r < 0.0:
                break
    return from_topic(words, topics, w, last, u1, u2)
