"""The test-time cycle with expectations instead of draws, on word types instead of tokens.

r_wc ∝ φ_wc (N_c + α′_c) and N_c = Σ_w x_w r_wc, so that a cycle is two products with φ:
Z_w = Σ_c φ_wc m_c, then N_c = m_c Σ_w (x_w/Z_w) φ_wc, with m = N + α′. The topics go the same way.
A few cycles over all labels find those that matter; the others are then left out, and one last
cycle over all labels gives every label its expected tokens.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from deplda.kernels.documents import dense_alpha
from deplda.kernels.lanes import LANES, lane_products

_FULL_CYCLES = 3


@njit(nogil=True, cache=True, error_model="numpy")
def _full_cycle(words, types, times, mass, counts, over):  # type: ignore[no-untyped-def]
    """Set counts to N_c = m_c Σ_w (x_w/Z_w) φ_wc, all labels, and over[u] to x_w/Z_w."""
    starts, labels, values, base = words.row_starts, words.row_labels, words.row_values, words.base
    smooth = 0.0
    for c in range(mass.size):
        smooth += base[c] * mass[c]
    counts[:] = 0.0
    total_over = 0.0
    for u in range(types.size):
        begin, end = starts[types[u]], starts[types[u] + 1]
        total = smooth
        for e in range(begin, end):
            total += np.float64(values[e]) * mass[labels[e]]
        over[u] = times[u] / total
        total_over += over[u]
        for e in range(begin, end):
            counts[labels[e]] += over[u] * np.float64(values[e])
    for c in range(mass.size):
        counts[c] = mass[c] * (counts[c] + total_over * base[c])


@njit(nogil=True, cache=True, error_model="numpy")
def _topic_cycle(topics, names, counts, prior_gamma, n_dt, alpha, scale, flat):  # type: ignore[no-untyped-def]
    """Mutate n_dt by the labels `names` with `counts` tokens, and set alpha to their α′."""
    starts, own_topics, own_values = topics.label_starts, topics.label_topics, topics.label_values
    base = topics.base
    n_topics = base.size
    if n_topics > 1:
        weight = n_dt + prior_gamma
        drawn = np.zeros(n_topics, np.float64)
        shared = (base * weight).sum()
        total_over = 0.0
        for s in range(names.size):
            total = shared
            for e in range(starts[names[s]], starts[names[s] + 1]):
                total += own_values[e] * weight[own_topics[e]]
            over = counts[s] / total
            total_over += over
            for e in range(starts[names[s]], starts[names[s] + 1]):
                drawn[own_topics[e]] += over * own_values[e]
        for t in range(n_topics):
            n_dt[t] = weight[t] * (drawn[t] + total_over * base[t])
    shared = 0.0
    for t in range(n_topics):
        shared += base[t] * (n_dt[t] + prior_gamma)
    for s in range(names.size):
        total = shared
        for e in range(starts[names[s]], starts[names[s] + 1]):
            total += own_values[e] * (n_dt[own_topics[e]] + prior_gamma)
        alpha[s] = flat + scale * total


@njit(nogil=True, cache=True, error_model="numpy")
def expect(  # type: ignore[no-untyped-def]
    words, topics, prior, starts, types, times, first, last, tolerance, max_cycles, negligible,
    out_counts, out_topics,
):  # fmt: skip
    """Add to out_counts and out_topics the expected N_c and θ′ of the documents first:last.

    It stops when a cycle moves less than `tolerance` of the tokens, or after `max_cycles`. Labels
    with fewer than `negligible` expected tokens are left out of the cycles, not of the result.
    """
    n_labels, n_topics = words.base.size, topics.base.size
    row_starts, row_labels, row_values = words.row_starts, words.row_labels, words.row_values
    gamma_sum = prior.gamma * n_topics
    mass = np.empty(n_labels, np.float64)
    every_count = np.empty(n_labels, np.float64)
    place = np.full(n_labels, -1, np.int32)
    lanes = np.zeros(LANES, np.float32)
    for d in range(first, last):
        own, weight = types[starts[d] : starts[d + 1]], times[starts[d] : starts[d + 1]]
        n = np.float64(weight.sum())
        if n == 0.0:
            out_topics[d - first, :] += 1.0 / max(n_topics, 1)
            continue
        scale = prior.eta / (n + gamma_sum) if n_topics else 0.0
        n_dt = np.full(n_topics, n / max(n_topics, 1))
        over = np.empty(own.size, np.float64)
        mass[:] = prior.alpha + prior.eta / n_labels
        for _ in range(_FULL_CYCLES):
            _full_cycle(words, own, weight, mass, every_count, over)
            mass[:] = every_count + (prior.alpha + prior.eta / n_labels)
        # Those that matter, and their columns.
        names = np.flatnonzero(every_count > negligible)
        width = names.size + -names.size % LANES
        counts = every_count[names]
        alpha = np.empty(names.size, np.float64)
        columns = np.zeros((own.size, width), np.float32)
        for s in range(names.size):
            place[names[s]] = s
            for u in range(own.size):
                columns[u, s] = words.base[names[s]]
        for u in range(own.size):
            for e in range(row_starts[own[u]], row_starts[own[u] + 1]):
                s = place[row_labels[e]]
                if s >= 0:
                    columns[u, s] += row_values[e]
        for s in range(names.size):
            place[names[s]] = -1
        few = np.zeros(width, np.float32)
        sums = np.zeros(width, np.float32)
        for _ in range(max_cycles):
            _topic_cycle(topics, names, counts, prior.gamma, n_dt, alpha, scale, prior.alpha)
            for s in range(names.size):
                few[s] = counts[s] + alpha[s]
            sums[:] = 0.0
            for u in range(own.size):
                lane_products(columns, u, few, width, lanes)
                ratio = np.float32(weight[u] / np.float64(lanes.sum()))
                for s in range(width):
                    sums[s] += ratio * columns[u, s]
            moved = 0.0
            for s in range(names.size):
                count = np.float64(few[s]) * np.float64(sums[s])
                moved += abs(count - counts[s])
                counts[s] = count
            if moved <= tolerance * n:
                break
        _topic_cycle(topics, names, counts, prior.gamma, n_dt, alpha, scale, prior.alpha)
        dense_alpha(topics, prior.alpha, prior.gamma, scale, n_dt, mass)
        for s in range(names.size):
            mass[names[s]] += counts[s]
        _full_cycle(words, own, weight, mass, every_count, over)
        for c in range(n_labels):
            out_counts[d - first, c] += every_count[c]
        for t in range(n_topics):
            out_topics[d - first, t] += (n_dt[t] + prior.gamma) / (n + gamma_sum)
