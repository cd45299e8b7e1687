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
def _full_cycle(words, types, times, mass, counts):  # type: ignore[no-untyped-def]
    """Set counts to N_c = m_c Σ_w (x_w/Z_w) φ_wc, all labels."""
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
        over = times[u] / total
        total_over += over
        for e in range(begin, end):
            counts[labels[e]] += over * np.float64(values[e])
    for c in range(mass.size):
        counts[c] = mass[c] * (counts[c] + total_over * base[c])


@njit(nogil=True, cache=True, error_model="numpy")
def _add_words(words, types, times, mass, chosen, column_of, out_words):  # type: ignore[no-untyped-def]
    """Add to out_words the tokens x_w φ_wc m_c/Z_w that each type gives to the chosen labels."""
    starts, labels, values, base = words.row_starts, words.row_labels, words.row_values, words.base
    smooth = (base * mass).sum()
    for u in range(types.size):
        begin, end = starts[types[u]], starts[types[u] + 1]
        total = smooth
        for e in range(begin, end):
            total += np.float64(values[e]) * mass[labels[e]]
        over = times[u] / total
        for e in range(begin, end):
            if column_of[labels[e]] >= 0:
                out_words[u, column_of[labels[e]]] += over * np.float64(values[e]) * mass[labels[e]]
        for j in range(chosen.size):
            out_words[u, j] += over * base[chosen[j]] * mass[chosen[j]]


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


@njit(nogil=True, cache=True)
def _columns(words, types, names, place):  # type: ignore[no-untyped-def]
    """Return φ of the document's types × these labels, as wide as lanes need; `place` is all −1."""
    starts, labels, values, base = words.row_starts, words.row_labels, words.row_values, words.base
    smooth = base[names].astype(np.float32)
    columns = np.zeros((types.size, names.size + -names.size % LANES), np.float32)
    for s in range(names.size):
        place[names[s]] = s
    for u in range(types.size):
        columns[u, : names.size] = smooth
        for e in range(starts[types[u]], starts[types[u] + 1]):
            s = place[labels[e]]
            if s >= 0:
                columns[u, s] += values[e]
    for c in names:
        place[c] = -1
    return columns


@njit(nogil=True, cache=True)
def _fewer(columns, matter):  # type: ignore[no-untyped-def]
    """Return the columns of the labels that still matter."""
    fewer = np.zeros((columns.shape[0], matter.size + -matter.size % LANES), np.float32)
    for u in range(columns.shape[0]):
        for s in range(matter.size):
            fewer[u, s] = columns[u, matter[s]]
    return fewer


@njit(nogil=True, cache=True, error_model="numpy")
def _few_cycle(columns, times, counts, alpha, lanes):  # type: ignore[no-untyped-def]
    """Mutate counts: N_c = m_c Σ_w (x_w/Z_w) φ_wc over some labels; return Σ_c |change|."""
    width = columns.shape[1]
    mass = np.zeros(width, np.float32)
    for s in range(counts.size):
        mass[s] = counts[s] + alpha[s]
    sums = np.zeros(width, np.float32)
    for u in range(times.size):
        lane_products(columns, u, mass, width, lanes)
        ratio = np.float32(times[u] / np.float64(lanes.sum()))
        for s in range(width):
            sums[s] += ratio * columns[u, s]
    moved = 0.0
    for s in range(counts.size):
        count = np.float64(mass[s]) * np.float64(sums[s])
        moved += abs(count - counts[s])
        counts[s] = count
    return moved


@njit(nogil=True, cache=True, error_model="numpy")
def expect(  # type: ignore[no-untyped-def]
    words, topics, prior, starts, types, times, tolerance, max_cycles, negligible,
    chosen, out_counts, out_topics, out_words,
):  # fmt: skip
    """Add to out_counts and out_topics the expected N_c and θ′ of the documents first:last.

    It stops when a cycle moves less than `tolerance` of the tokens, or after `max_cycles`. Labels
    with fewer than `negligible` expected tokens are left out of further cycles, not of the result.
    """
    n_labels, n_topics = words.base.size, topics.base.size
    gamma_sum = prior.gamma * n_topics
    mass = np.empty(n_labels, np.float64)
    every_count = np.empty(n_labels, np.float64)
    place = np.full(n_labels, -1, np.int32)
    lanes = np.zeros(LANES, np.float32)
    for d in range(starts.size - 1):
        own, weight = types[starts[d] : starts[d + 1]], times[starts[d] : starts[d + 1]]
        n = np.float64(weight.sum())
        if n == 0.0:
            out_topics[d, :] += 1.0 / max(n_topics, 1)
            continue
        scale = prior.eta / (n + gamma_sum) if n_topics else 0.0
        n_dt = np.full(n_topics, n / max(n_topics, 1))
        mass[:] = prior.alpha + prior.eta / n_labels
        for _ in range(_FULL_CYCLES):
            _full_cycle(words, own, weight, mass, every_count)
            mass[:] = every_count + (prior.alpha + prior.eta / n_labels)
        names = np.flatnonzero(every_count > negligible)
        counts = every_count[names]
        columns = _columns(words, own, names, place)
        for _ in range(max_cycles):
            alpha = np.empty(names.size, np.float64)
            _topic_cycle(topics, names, counts, prior.gamma, n_dt, alpha, scale, prior.alpha)
            moved = _few_cycle(columns, weight, counts, alpha, lanes)
            if moved <= tolerance * n:
                break
            matter = np.flatnonzero(counts > negligible)
            if 4 * matter.size <= 3 * names.size:  # worth the move
                columns = _fewer(columns, matter)
                names, counts = names[matter], counts[matter]
        alpha = np.empty(names.size, np.float64)
        _topic_cycle(topics, names, counts, prior.gamma, n_dt, alpha, scale, prior.alpha)
        dense_alpha(topics, prior.alpha, prior.gamma, scale, n_dt, mass)
        for s in range(names.size):
            mass[names[s]] += counts[s]
        _full_cycle(words, own, weight, mass, every_count)
        if chosen.shape[1] > 0:
            place[chosen[d]] = np.arange(chosen.shape[1])
            by_word = out_words[starts[d] : starts[d + 1]]
            _add_words(words, own, weight, mass, chosen[d], place, by_word)
            place[chosen[d]] = -1
        for c in range(n_labels):
            out_counts[d, c] += every_count[c]
        for t in range(n_topics):
            out_topics[d, t] += (n_dt[t] + prior.gamma) / (n + gamma_sum)
