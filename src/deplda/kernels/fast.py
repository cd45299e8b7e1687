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

import numpy as np
from numba import njit

from deplda.kernels.lanes import LANES, lane_of, lane_sums
from deplda.kernels.layouts import (
    add_shares,
    from_base_and_topic,
    from_sums,
    from_topic,
    search,
)
from deplda.kernels.random import document_key, own_stream, uniform
from deplda.kernels.workspace import (
    CACHE_ROOM,
    HEAVY,
    LIVE,
    PREFIX_DRAWS,
    clear,
    fitting,
    leave,
    new_prefix_sums,
    new_slot,
    new_workspace,
    resized,
)


@njit(nogil=True, cache=True)
def bucket_totals(words, topics, ws, types, scale, flat, prior_gamma):  # type: ignore[no-untyped-def]
    """Mutate ws: set by_topic and by_flat for a sweep; return the totals of the b buckets."""
    n_dt, live, n_live = ws.n_dt, ws.live, ws.counters[LIVE]
    by_topic, by_flat, row_totals = ws.by_topic, ws.by_flat, words.row_totals
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


@njit(nogil=True, cache=True)
def _smooth_topic(weights, at, n_topics, r):  # type: ignore[no-untyped-def]
    """Return a topic drawn by weights[at:], r uniform on their total."""
    t = np.int64(0)
    for a in range(n_topics):
        if weights[at + a] > 0.0:
            t = np.int64(a)
            r -= np.float64(weights[at + a])
            if r < 0.0:
                break
    return t


@njit(nogil=True, cache=True)
def _base_topic(label_base, n_dt, live, n_live, prior_gamma, r):  # type: ignore[no-untyped-def]
    """Return a topic drawn from (N_dt + Σγ/T) Σ_c b_c φ′_ct, r uniform on its total."""
    for a in range(n_live):
        r -= n_dt[live[a]] * label_base[live[a]]
        if r < 0.0:
            return live[a]
    return _smooth_topic(label_base, 0, n_dt.size, r / prior_gamma)


@njit(nogil=True, cache=True, error_model="numpy")
def _update_words(  # type: ignore[no-untyped-def]
    words, topics, ws, types, scale, prior_gamma, base_topics, base_flat, key, gamma, i
):  # fmt: skip
    """Mutate ws: redraw z from token i on; return the token before which slots ran out."""
    columns, mass, sums, z, counters = ws.columns, ws.mass, ws.lane_sums, ws.z, ws.counters
    tokens, by_topic, by_flat, slot_of = ws.tokens, ws.by_topic, ws.by_flat, ws.slot_of
    labels, place, n_dt, live = ws.labels, ws.place, ws.n_dt, ws.live
    prefix_sums, prefix_of, prefix_draws = ws.prefix_sums, ws.prefix_of, ws.prefix_draws
    cache, cache_of, cache_labels = ws.cache, ws.cache_of, ws.cache_labels
    word_topics, n_topics = topics.word_topics.reshape(-1), n_dt.size
    topic_base, label_base = topics.base, topics.label_base
    topic_starts, topic_labels = topics.topic_starts, topics.topic_labels
    topic_values, topic_base_sums = topics.topic_values, topics.topic_base_sums
    row_starts, row_labels, row_values = words.row_starts, words.row_labels, words.row_values
    row_sums, row_totals = words.row_sums, words.row_totals
    base, base_sums = words.base, words.base_sums
    column_starts, column_words, column_values = (
        words.column_starts, words.column_words, words.column_values
    )  # fmt: skip
    width, n_live = mass.size, counters[LIVE]
    n, n_heavy = ws.clock[0], counters[HEAVY]
    while i < z.size and n_heavy < width:
        u = np.int64(tokens[i])
        k = np.int64(z[i])
        if k >= 0:
            mass[k] -= np.float32(1.0)
            n_heavy -= mass[k] == 0.0
        lane_sums(columns, u, mass, width, sums)
        heavy = np.float64(sums[LANES])
        rest = by_topic[u] + by_flat[u] + base_topics + base_flat
        r = uniform(key, gamma, n) * (heavy + rest)
        n += np.uint64(1)
        if r < heavy:
            k = lane_of(sums, r)
            r -= sums[k]
            r -= columns[u, k] * mass[k]
            while r >= 0.0 and k + LANES < width:
                k += LANES
                r -= columns[u, k] * mass[k]
            while mass[k] <= 0.0:  # rounding may lead past the last slot with mass
                k = k - 1 if k > 0 else width - 1
        else:
            u1 = uniform(key, gamma, n)
            u2 = uniform(key, gamma, n + np.uint64(1))
            n += np.uint64(2)
            r -= heavy
            w = np.int64(types[u])
            c, by_row = np.int64(-1), True
            if r < by_topic[u]:
                r /= scale
                t = np.int64(-1)
                a = 0
                while t < 0 and a < n_live:
                    r -= n_dt[live[a]] * np.float64(word_topics[w * n_topics + live[a]])
                    if r < 0.0:
                        t = live[a]
                    a += 1
                if t < 0:
                    t = _smooth_topic(word_topics, w * n_topics, n_topics, r / prior_gamma)
                r = u1 * word_topics[w * n_topics + t] - topic_base[t] * row_totals[w]
                if r >= 0.0:
                    first, last = topic_starts[t], topic_starts[t + 1]
                    at = prefix_of[t]
                    if at < 0:
                        prefix_draws[t] += 1
                        if prefix_draws[t] == PREFIX_DRAWS:
                            at = new_prefix_sums(words, topics, ws, t)
                    if at < 0:
                        c = from_topic(
                            row_labels, row_values, row_starts[w], row_starts[w + 1],
                            topic_labels, topic_values, first, last, r,
                        )  # fmt: skip
                    elif first < last:
                        row = at + u * (last - first)
                        end = row + last - first
                        if r < prefix_sums[end - 1]:
                            at = first + search(prefix_sums, row, end, r) - row
                            c = np.int64(topic_labels[at])
                    if c >= 0:
                        by_row = False
            elif r >= by_topic[u] + by_flat[u]:
                by_row = False
                r -= by_topic[u] + by_flat[u]
                if r < base_topics:
                    t = _base_topic(label_base, n_dt, live, n_live, prior_gamma, r / scale)
                    c = from_base_and_topic(
                        topic_base_sums, topic_labels, topic_starts[t], topic_starts[t + 1],
                        label_base[t], base_sums, u1, u2,
                    )  # fmt: skip
                else:
                    c = from_sums(base_sums, u1)
            if by_row:
                r = u2 * row_totals[w]
                c = np.int64(row_labels[search(row_sums, row_starts[w], row_starts[w + 1], r)])
            k = np.int64(slot_of[c])
            if k < 0:
                k = np.int64(
                    new_slot(
                        columns, mass, labels, slot_of, cache, cache_of, cache_labels, place,
                        counters,
                        column_starts, column_words, column_values, base, c,
                    )
                )  # fmt: skip
        n_heavy += mass[k] == 0.0
        mass[k] += np.float32(1.0)
        z[i] = k
        i += 1
    ws.clock[0] = n
    counters[HEAVY] = n_heavy
    return i


@njit(nogil=True, cache=True)
def sweep_words(words, topics, ws, types, scale, flat, prior_gamma, key, gamma):  # type: ignore[no-untyped-def]
    """Mutate ws: one update of every z, eq. 8; return it, resized if need be.

    P(z_i = c) ∝ φ_wc (mass_c + η Σ_t θ′_t φ′_ct + Σα/C): `scale` is η/(N + Σγ), 0 where the topics
    have no say, and `flat` is Σα/C.
    """
    if ws.mass.size > fitting(ws.counters[HEAVY]):
        ws = resized(ws, fitting(ws.counters[HEAVY]))
    base_topics, base_flat = bucket_totals(words, topics, ws, types, scale, flat, prior_gamma)
    i = np.int64(0)  # as a literal it would have the kernel compiled twice
    while True:
        i = _update_words(
            words, topics, ws, types, scale, prior_gamma, base_topics, base_flat, key, gamma, i
        )
        if i == ws.z.size:
            return ws
        ws = resized(ws, fitting(ws.mass.size))


@njit(nogil=True, cache=True, error_model="numpy")
def sweep_topics(topics, ws, labels, prior_gamma, key, gamma):  # type: ignore[no-untyped-def]
    """Mutate ws: one update of every z′, eq. 10.

    P(z′_i = t) ∝ φ′_ct (N_dt + Σγ/T) with c = labels[i], the label of label token i.
    """
    n_dt, live, live_at, z_topic = ws.n_dt, ws.live, ws.live_at, ws.z_topic
    if n_dt.size == 1:  # nothing to draw
        n_dt[0] = labels.size
        live[0] = 0
        ws.counters[LIVE] = 1
    if n_dt.size <= 1:
        return
    starts, own_topics, own_values = topics.label_starts, topics.label_topics, topics.label_values
    base, base_sums = topics.base, topics.base_sums
    n_live = ws.counters[LIVE]
    shared = 0.0  # Σ_t b′_t N_dt
    for a in range(n_live):
        shared += base[live[a]] * n_dt[live[a]]
    smooth = prior_gamma * base_sums[base_sums.size - 1]
    weights = n_dt + prior_gamma
    n = ws.clock[0]
    for i in range(labels.size):
        old = z_topic[i]
        if old >= 0:
            n_dt[old] -= 1
            weights[old] -= 1.0
            shared -= base[old]
            if n_dt[old] == 0:
                n_live -= 1
                live[live_at[old]] = live[n_live]
                live_at[live[n_live]] = live_at[old]
        begin, end = starts[labels[i]], starts[labels[i] + 1]
        own = 0.0
        for e in range(begin, end):
            own += own_values[e] * weights[own_topics[e]]
        r = uniform(key, gamma, n) * (own + shared + smooth)
        n += np.uint64(1)
        new = np.int64(-1)
        if r < own:
            for e in range(begin, end):
                new = np.int64(own_topics[e])
                r -= own_values[e] * weights[new]
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
        weights[new] += 1.0
        shared += base[new]
        z_topic[i] = new
    ws.counters[LIVE] = n_live
    ws.clock[0] = n


@njit(nogil=True, cache=True, error_model="numpy")
def sample(  # type: ignore[no-untyped-def]
    words, topics, prior, starts, types, times, key, gamma, chains,
    burn_in, n_samples, lag, conditionals, chosen, out_counts, out_topics, out_words,
):  # fmt: skip
    """Add to out_counts and out_topics the samples of N_c (or of its conditionals) and of θ′.

    Adds to out_words, entry by entry, the tokens given to the document's `chosen` labels. `chains`
    are the chains' numbers. A document's draws depend on (key, gamma), the chain's number and the
    document's content alone.
    """
    n_labels, n_topics = words.base.size, topics.base.size
    place = np.full(words.row_totals.size, -1, np.int32)
    slot_of = np.full(n_labels, -1, np.int32)
    prefix_sums = np.empty(CACHE_ROOM, np.float32)
    column_of = np.full(n_labels, -1, np.int32)
    for d in range(starts.size - 1):
        own, weight = types[starts[d] : starts[d + 1]], times[starts[d] : starts[d + 1]]
        n = weight.sum()
        if n == 0:
            out_topics[d, :] += chains.size * n_samples / max(n_topics, 1)
            continue
        scale = prior.eta / (n + prior.gamma * n_topics) if n_topics else 0.0
        flat = prior.alpha + prior.eta / n_labels
        column_of[chosen[d]] = np.arange(chosen.shape[1])
        by_word = out_words[starts[d] : starts[d + 1]]
        content = document_key(own, weight)
        ws = new_workspace(own, weight, n, n_topics, slot_of, place, prefix_sums)
        for chain in chains:
            stream = own_stream(key, content, chain)
            clear(ws)
            # Two sweeps of z under a flat prior of the same weight, two of z′, then the cycles.
            for _ in range(2):
                ws = sweep_words(words, topics, ws, own, 0.0, flat, prior.gamma, stream, gamma)
            for _ in range(2):
                sweep_topics(topics, ws, ws.labels[ws.z], prior.gamma, stream, gamma)
            for cycle in range(1, burn_in + (n_samples - 1) * lag + 1):
                ws = sweep_words(
                    words, topics, ws, own, scale, prior.alpha, prior.gamma, stream, gamma
                )
                sweep_topics(topics, ws, ws.labels[ws.z], prior.gamma, stream, gamma)
                if cycle < burn_in or (cycle - burn_in) % lag:
                    continue
                add_shares(ws.n_dt, prior.gamma, n, out_topics[d])
                add_sample(
                    words, topics, ws, own, weight, scale, prior, conditionals, chosen[d],
                    column_of, out_counts[d], by_word,
                )  # fmt: skip
        leave(ws, own)
        column_of[chosen[d]] = -1


@njit(nogil=True, cache=True)
def add_sample(  # type: ignore[no-untyped-def]
    words, topics, ws, types, times, scale, prior, conditionals, chosen, column_of,
    out_counts, out_words,
):  # fmt: skip
    """Add each token to its label, or to all labels by its conditional, in counts and by word.

    `chosen` are the labels of out_words' columns; `column_of` gives a label's column, or −1.
    """
    if conditionals:
        add_conditionals(
            words, topics, ws, types, times, scale, prior, chosen, column_of, out_counts,
            out_words,
        )  # fmt: skip
        return
    tokens, z, labels = ws.tokens, ws.z, ws.labels
    for i in range(z.size):
        c = labels[z[i]]
        out_counts[c] += 1.0
        if column_of[c] >= 0:
            out_words[tokens[i], column_of[c]] += 1.0


@njit(nogil=True, cache=True, error_model="numpy")
def add_conditionals(  # type: ignore[no-untyped-def]
    words, topics, ws, types, times, scale, prior, chosen, column_of, out_counts, out_words
):  # fmt: skip
    """Add each token's whole conditional at this state, Σ_i p_i(c), in counts and by word.

    p_i(c) = φ_wc (N_c − [z_i = c] + α′_c)/Z_i, so that Σ_i p_i(c) needs, of each type, the sum of
    1/Z_i over its tokens, and a correction for the label that each token itself has.
    """
    columns, mass, labels, z = ws.columns, ws.mass, ws.labels, ws.z
    row_starts, row_labels, row_values = words.row_starts, words.row_labels, words.row_values
    base = words.base
    alpha = np.empty(base.size, np.float64)
    set_alpha(topics, prior.alpha, prior.gamma, scale, ws.n_dt, alpha)
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
            own, c = np.float64(columns[u, z[i]]), labels[z[i]]
            weight += 1.0 / (total - own)
            out_counts[c] -= own / (total - own)
            if column_of[c] >= 0:
                out_words[u, column_of[c]] -= own / (total - own)
            i += 1
        all_weight += weight
        for e in range(begin, end):
            c = np.int64(row_labels[e])
            share = weight * np.float64(row_values[e]) * alpha[c]
            out_counts[c] += share
            if column_of[c] >= 0:
                out_words[u, column_of[c]] += share
        for k in range(mass.size):
            if mass[k] > 0.0:
                share = weight * np.float64(columns[u, k]) * np.float64(mass[k])
                out_counts[labels[k]] += share
                if column_of[labels[k]] >= 0:
                    out_words[u, column_of[labels[k]]] += share
        for j in range(chosen.size):
            out_words[u, j] += weight * base[chosen[j]] * alpha[chosen[j]]
    for c in range(alpha.size):
        out_counts[c] += all_weight * base[c] * alpha[c]


@njit(nogil=True, cache=True)
def set_alpha(topics, flat, prior_gamma, scale, n_dt, alpha):  # type: ignore[no-untyped-def]
    """Set alpha to α′ = η θ′·φ′ + Σα/C, eq. 12; `scale` is η/(N + Σγ), `flat` is Σα/C."""
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
