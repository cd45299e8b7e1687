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
    """P_ct of a label's topics, the largest first."""
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


@njit(nogil=True, cache=True, error_model="numpy")
def add_shares(n_dt, prior_gamma, n_tokens, out_topics):  # type: ignore[no-untyped-def]
    """Add θ′_t = (N_dt + Σγ/T)/(N_d + Σγ) of a sample to out_topics, eq. 7."""
    total = n_tokens + prior_gamma * n_dt.size
    for t in range(n_dt.size):
        out_topics[t] += (n_dt[t] + prior_gamma) / total


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


# Drawing from the prior's buckets. These functions take arrays, never a tuple of them: a call would
# count a reference to each array of the tuple, and that takes longer than the draw.


@njit(nogil=True, cache=True)
def from_topic(row_labels, row_values, begin, end, own_labels, own_values, first, last, r):  # type: ignore[no-untyped-def]
    """Return the label of a topic at which the running sum of A_wc P_ct exceeds r, or −1.

    Its labels are first:last, the word's row is begin:end. Sums are in float32, as prefix sums are.
    """
    total = np.float32(0.0)
    for e in range(first, last):
        c = own_labels[e]
        low, high = begin, end
        while low < high:
            middle = (low + high) // 2
            if row_labels[middle] < c:
                low = middle + 1
            else:
                high = middle
        if low < end and row_labels[low] == c:
            total += row_values[low] * np.float32(own_values[e])
            if total > r:
                return np.int64(c)
    return np.int64(-1)


@njit(nogil=True, cache=True)
def from_base_and_topic(  # type: ignore[no-untyped-def]
    topic_base_sums, topic_labels, first, last, label_base, base_sums, u1, u2
):  # fmt: skip
    """Return a label drawn from b_c φ′_ct of one topic, whose labels are first:last."""
    own = topic_base_sums[last - 1] if last > first else 0.0
    r = u1 * label_base
    if r < own:
        return np.int64(topic_labels[search(topic_base_sums, first, last, r)])
    return from_sums(base_sums, u2)


@njit(nogil=True, cache=True)
def from_sums(sums, u):  # type: ignore[no-untyped-def]
    """Return a place drawn by the steps of these running sums."""
    return np.int64(search(sums, 0, sums.size, u * sums[sums.size - 1]))
