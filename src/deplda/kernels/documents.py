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

from deplda.kernels.desk import (
    HEAVY,
    LIVE,
    SHEET_ROOM,
    SHEET_TOKENS,
    WIDTH,
    clear,
    leave,
    new_desk,
    new_sheet,
    new_slot,
    resized,
)
from deplda.kernels.lanes import LANES, lane_products
from deplda.kernels.random import uniform
from deplda.kernels.tables import (
    from_base,
    from_base_and_topic,
    from_smooth_topic,
    from_topic,
    search,
)


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


@njit(nogil=True, cache=True)
def own_stream(key, content, chain):  # type: ignore[no-untyped-def]
    """Return the key of a chain's stream in a document, by the document's content."""
    return key ^ (content + np.uint64(chain) * np.uint64(0xD1342543DE82EF95))


@njit(nogil=True, cache=True)
def bucket_totals(words, topics, desk, types, scale, flat, prior_gamma):  # type: ignore[no-untyped-def]
    """Set the desk's by_topic and by_flat for a sweep; return the totals of the b buckets."""
    n_dt, live, n_live = desk.n_dt, desk.live, desk.book[LIVE]
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


@njit(nogil=True, cache=True)
def _base_topic(topics, desk, gamma, r):  # type: ignore[no-untyped-def]
    """Return a topic drawn from (N_dt + Σγ/T) Σ_c b_c φ′_ct; r is uniform on its total."""
    n_dt, live, n_live, label_base = desk.n_dt, desk.live, desk.book[LIVE], topics.label_base
    for a in range(n_live):
        r -= n_dt[live[a]] * label_base[live[a]]
        if r < 0.0:
            return live[a]
    for t in range(label_base.size - 1):
        r -= gamma * label_base[t]
        if r < 0.0:
            return np.int64(t)
    return np.int64(label_base.size - 1)


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
    width, n_live = mass.size, book[LIVE]
    n, n_heavy = desk.clock[0], book[HEAVY]
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
            c, by_row = np.int64(-1), False
            if r < by_topic[u]:
                r /= scale
                t = np.int64(-1)
                for a in range(n_live):
                    r -= n_dt[live[a]] * np.float64(word_topics[w, live[a]])
                    if r < 0.0:
                        t = live[a]
                        break
                if t < 0:
                    c = from_smooth_topic(words, topics, w, prior_gamma, r, u1, u2)
                else:
                    # A sheet pays where a topic has weight: the state decides, not history.
                    at = np.int64(-1)
                    if n_dt[t] >= SHEET_TOKENS:
                        at = sheet_of[t]
                        if at < 0:
                            at = new_sheet(words, topics, desk, t)
                    first = topic_starts[t]
                    m = topic_starts[t + 1] - first
                    if at < 0 or m == 0:
                        c = from_topic(words, topics, w, t, u1, u2)
                    else:
                        row = at + u * m
                        own = np.float64(sheets[row + m - 1])
                        r = u1 * (own + topic_base[t] * row_totals[w])
                        if r < own:
                            c = np.int64(
                                topic_labels[first + search(sheets, row, row + m, r) - row]
                            )
                        else:
                            by_row = True
            elif r < by_topic[u] + by_flat[u]:
                by_row = True
            elif r < by_topic[u] + by_flat[u] + base_topics:
                r = (r - by_topic[u] - by_flat[u]) / scale
                t = _base_topic(topics, desk, prior_gamma, r)
                c = from_base_and_topic(words, topics, t, u1, u2)
            else:
                c = from_base(words, u1)
            if by_row:
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
    book[HEAVY] = n_heavy
    return i


@njit(nogil=True, cache=True)
def sweep_words(words, topics, desk, types, scale, flat, prior_gamma, key, gamma):  # type: ignore[no-untyped-def]
    """Return the desk, resized if need be, after one update of every z.

    P(z_i = c) ∝ φ_wc (mass_c + η Σ_t θ′_t φ′_ct + Σα/C): `scale` is η/(N + Σγ), 0 where the topics
    have no say, and `flat` is Σα/C.
    """
    if desk.mass.size > WIDTH and 4 * desk.book[HEAVY] <= desk.mass.size:
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
        desk.book[LIVE] = 1
    if n_dt.size <= 1:
        return
    starts, own_topics, own_values = topics.label_starts, topics.label_topics, topics.label_values
    base, base_sums = topics.base, topics.base_sums
    n_live = desk.book[LIVE]
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
    desk.book[LIVE] = n_live
    desk.clock[0] = n


@njit(nogil=True, cache=True, error_model="numpy")
def sample(  # type: ignore[no-untyped-def]
    words, topics, prior, starts, types, times, key, gamma, chains,
    burn_in, n_samples, lag, conditionals, chosen, out_counts, out_topics, out_words,
):  # fmt: skip
    """Add to out_counts and out_topics the samples of N_c (or of its conditionals) and of θ′.

    And to out_words, entry by entry, the tokens given to the document's `chosen` labels. `chains`
    are the chains' numbers. A document's draws depend on (key, gamma), the chain's number and the
    document's content alone.
    """
    n_labels, n_topics = words.base.size, topics.base.size
    place = np.full(words.row_totals.size, -1, np.int32)
    slot_of = np.full(n_labels, -1, np.int32)
    sheets = np.empty(SHEET_ROOM if n_topics else 0, np.float32)
    gamma_sum = prior.gamma * n_topics
    column_of = np.full(n_labels, -1, np.int32)
    for d in range(starts.size - 1):
        own, weight = types[starts[d] : starts[d + 1]], times[starts[d] : starts[d + 1]]
        n = weight.sum()
        if n == 0:
            out_topics[d, :] += chains.size * n_samples / max(n_topics, 1)
            continue
        scale = prior.eta / (n + gamma_sum) if n_topics else 0.0
        flat = prior.alpha + prior.eta / n_labels
        column_of[chosen[d]] = np.arange(chosen.shape[1])
        by_word = out_words[starts[d] : starts[d + 1]]
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
                    out_topics[d, t] += (desk.n_dt[t] + prior.gamma) / (n + gamma_sum)
                add_sample(
                    words, topics, desk, own, weight, scale, prior, conditionals, chosen[d],
                    column_of, out_counts[d], by_word,
                )  # fmt: skip
        leave(desk, own)
        column_of[chosen[d]] = -1


@njit(nogil=True, cache=True)
def add_sample(  # type: ignore[no-untyped-def]
    words, topics, desk, types, times, scale, prior, conditionals, chosen, column_of,
    out_counts, out_words,
):  # fmt: skip
    """Add each token to its label, or to all labels by its conditional, in counts and by word.

    `chosen` are the labels of out_words' columns; `column_of` gives a label's column, or −1.
    """
    if conditionals:
        add_conditionals(
            words, topics, desk, types, times, scale, prior, chosen, column_of, out_counts,
            out_words,
        )  # fmt: skip
        return
    tokens, z, labels = desk.tokens, desk.z, desk.labels
    for i in range(z.size):
        c = labels[z[i]]
        out_counts[c] += 1.0
        if column_of[c] >= 0:
            out_words[tokens[i], column_of[c]] += 1.0


@njit(nogil=True, cache=True, error_model="numpy")
def add_conditionals(  # type: ignore[no-untyped-def]
    words, topics, desk, types, times, scale, prior, chosen, column_of, out_counts, out_words
):  # fmt: skip
    """Add each token's whole conditional at this state, Σ_i p_i(c), in counts and by word.

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
