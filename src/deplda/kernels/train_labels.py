"""Training φ′: the z′ update, LDA with a document's labels as its words.

The weight of a topic splits into three buckets, so that a draw costs what the label and the
document use, not T:  N_ct (N_dt + γ)/(N_t + Cβ)  +  β N_dt/(N_t + Cβ)  +  βγ/(N_t + Cβ).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from deplda.kernels.random import uniform


class Topics(NamedTuple):
    """Counts of a chain; label c lists its topics in used[c] slots from slot_starts[c] on."""

    slot_starts: npt.NDArray[np.int64]
    slots: npt.NDArray[np.int32]
    """Two numbers a slot: a topic t, and N_ct, at least 1."""
    used: npt.NDArray[np.int32]
    topic_counts: npt.NDArray[np.int64]
    """N_t."""


def no_topics(label_counts: npt.NDArray[np.int64], n_topics: int) -> Topics:
    """Return room for the topics of labels with these counts, all empty."""
    starts = np.concatenate([[0], np.cumsum(np.minimum(label_counts, n_topics))])
    return Topics(
        starts,
        np.zeros(2 * starts[-1], dtype=np.int32),
        np.zeros(len(label_counts), dtype=np.int32),
        np.zeros(n_topics, dtype=np.int64),
    )


@njit(nogil=True, cache=True)
def start(z, n_topics, key, gamma):  # type: ignore[no-untyped-def]
    """Set each z′ to one of all topics, drawn alike; a token's number is that of sweep 0."""
    for i in range(z.size):
        z[i] = int(uniform(key, gamma, i) * n_topics)


@njit(nogil=True, cache=True, inline="always")
def _add(slot_starts, slots, used, c, t):  # type: ignore[no-untyped-def]
    begin = 2 * slot_starts[c]
    end = begin + 2 * used[c]
    k = begin
    while k < end and slots[k] != t:
        k += 2
    if k == end:
        slots[k] = t
        slots[k + 1] = 0
        used[c] += 1
    slots[k + 1] += 1


@njit(nogil=True, cache=True, inline="always")
def _remove(slot_starts, slots, used, c, k):  # type: ignore[no-untyped-def]
    slots[k + 1] -= 1
    if slots[k + 1] == 0:  # the last slot fills the gap
        used[c] -= 1
        last = 2 * (slot_starts[c] + used[c])
        slots[k] = slots[last]
        slots[k + 1] = slots[last + 1]


@njit(nogil=True, cache=True)
def tally(labels, z, topics):  # type: ignore[no-untyped-def]
    """Set N_ct and N_t to what z says; slots stand in the order in which topics first appear."""
    slot_starts, slots, used, topic_counts = topics
    used[:] = 0
    topic_counts[:] = 0
    for i in range(labels.size):
        _add(slot_starts, slots, used, labels[i], z[i])
        topic_counts[z[i]] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def sweep(label_starts, labels, z, topics, prior, beta, key, gamma, counter):  # type: ignore[no-untyped-def]
    """Mutate z and topics: one Gibbs update of every label token, eq. 5.

    P(z′_i = t) ∝ (N_ct + β)/(N_t + Cβ) · (N_dt + γ), counts without token i; `prior` is γ. Token i
    of sweep s uses number `counter` + i of the stream, counter = s · tokens.
    """
    # Taken out of the tuple once: inside the loops each use of it would count references.
    slot_starts, slots, used, topic_counts = topics
    n_topics = topic_counts.size
    c_beta = used.size * beta
    scale = np.empty(n_topics, np.float64)  # 1/(N_t + Cβ)
    share = np.empty(n_topics, np.float64)  # (N_dt + γ)/(N_t + Cβ)
    smooth = 0.0  # Σ_t 1/(N_t + Cβ), summed anew each sweep so that rounding cannot pile up
    for t in range(n_topics):
        scale[t] = 1.0 / (topic_counts[t] + c_beta)
        share[t] = prior * scale[t]
        smooth += scale[t]
    n_dt = np.zeros(n_topics, np.int64)
    upto = np.empty(n_topics, np.float64)
    for d in range(label_starts.size - 1):
        begin, end = label_starts[d], label_starts[d + 1]
        beside = 0.0  # Σ_t N_dt/(N_t + Cβ)
        for i in range(begin, end):
            t = z[i]
            n_dt[t] += 1
            share[t] = (n_dt[t] + prior) * scale[t]
            beside += scale[t]
        for i in range(begin, end):
            c, old = labels[i], np.int64(z[i])
            n_old, old_scale, old_share = n_dt[old], scale[old], share[old]
            scale[old] = 1.0 / (topic_counts[old] - 1 + c_beta)
            share[old] = (n_old - 1 + prior) * scale[old]
            others = smooth - old_scale + scale[old]
            others_beside = beside - n_old * old_scale + (n_old - 1) * scale[old]
            first, n_slots, at = 2 * slot_starts[c], np.int64(used[c]), 0
            own = 0.0
            for k in range(n_slots):
                t = slots[first + 2 * k]
                if t == old:
                    at = k
                own += slots[first + 2 * k + 1] * share[t]
                upto[k] = own
            own -= share[old]  # the token itself was counted in slot `at`
            total = own + beta * others_beside + beta * prior * others
            r = uniform(key, gamma, counter + i) * total
            if r < own:
                k = 0
                while k < at and upto[k] <= r:
                    k += 1
                if k == at:  # from here on the running sums are too high by that one token
                    r += share[old]
                    while k < n_slots - 1 and upto[k] <= r:
                        k += 1
                new = np.int64(slots[first + 2 * k])
            elif r < own + beta * others_beside:
                r = (r - own) / beta
                new = old
                for m in range(begin, end):
                    if m != i:
                        new = np.int64(z[m])
                        r -= scale[new]
                        if r <= 0.0:
                            break
            else:
                r = (r - own - beta * others_beside) / (beta * prior)
                new = np.int64(0)
                while new < n_topics - 1:
                    r -= scale[new]
                    if r <= 0.0:
                        break
                    new += 1
            if new == old:
                scale[old], share[old] = old_scale, old_share
                continue
            z[i] = new
            _remove(slot_starts, slots, used, c, first + 2 * at)
            _add(slot_starts, slots, used, c, new)
            topic_counts[old] -= 1
            topic_counts[new] += 1
            n_new, new_scale = n_dt[new], scale[new]
            n_dt[old] = n_old - 1
            n_dt[new] = n_new + 1
            scale[new] = 1.0 / (topic_counts[new] + c_beta)
            share[new] = (n_new + 1 + prior) * scale[new]
            smooth = others - new_scale + scale[new]
            beside = others_beside - n_new * new_scale + (n_new + 1) * scale[new]
        for i in range(begin, end):
            t = z[i]
            n_dt[t] = 0
            share[t] = prior * scale[t]


@njit(nogil=True, cache=True)
def log_likelihood(label_starts, labels, z, topics, prior, beta):  # type: ignore[no-untyped-def]
    """Return log P(c, z′) with φ′ and θ′ integrated out."""
    n_topics, n_labels = topics.topic_counts.size, topics.used.size
    total = 0.0
    for c in range(n_labels):
        for k in range(topics.slot_starts[c], topics.slot_starts[c] + topics.used[c]):
            total += math.lgamma(topics.slots[2 * k + 1] + beta) - math.lgamma(beta)
    for n in topics.topic_counts:
        total += math.lgamma(n_labels * beta) - math.lgamma(n + n_labels * beta)
    n_dt = np.zeros(n_topics, np.int64)
    for d in range(label_starts.size - 1):
        for i in range(label_starts[d], label_starts[d + 1]):
            # Γ(n + 1 + γ)/Γ(n + γ) = n + γ, one factor for each further token of the topic.
            total += math.log(n_dt[z[i]] + prior)
            n_dt[z[i]] += 1
        for i in range(label_starts[d], label_starts[d + 1]):
            n_dt[z[i]] = 0
        n_d = label_starts[d + 1] - label_starts[d]
        total += math.lgamma(n_topics * prior) - math.lgamma(n_d + n_topics * prior)
    return total
