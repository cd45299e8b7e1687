"""The test-time cycle of proper inference: z, c, z′, c (paper §3.5, appendix C).

A document has M label tokens c, and its prior over labels is α′_j = η n_j/M + Σα/C with n_j of them
on label j. Given the words' labels, a label token whose topic is t goes to c with weight

    φ′_ct f_c,    f_c = Γ(a + η/M + N_c) Γ(a) / (Γ(a + η/M) Γ(a + N_c)),    a = η n_c/M + Σα/C,

n counted without that token. f_c is 1 for a label without words and more than 1 for the others. So
the weights split into φ′_ct, whose total is 1, and an excess φ′_ct (f_c − 1) on the labels that
have words.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from deplda.kernels.fast import add_sample, sweep_topics, sweep_words
from deplda.kernels.lanes import LANES, lane_sums
from deplda.kernels.layouts import add_shares, search
from deplda.kernels.random import document_key, own_stream, uniform
from deplda.kernels.workspace import (
    CACHE_ROOM,
    HEAVY,
    clear,
    fitting,
    leave,
    new_slot,
    new_workspace,
    resized,
)

TABLE_WORDS = 256


@njit(nogil=True, cache=True)
def new_table(n_label_tokens):  # type: ignore[no-untyped-def]
    """Return an empty table of f − 1 by words and label tokens, to be filled as values are needed.

    It is the same for all documents that have as many label tokens.
    """
    return np.full((TABLE_WORDS, n_label_tokens + 1), -1.0, np.float32)


@njit(nogil=True, cache=True)
def _excess(table, n_words, n_tokens, step, flat):  # type: ignore[no-untyped-def]
    """Return f_c − 1 of a label with so many words and label tokens; `step` is η/M."""
    if n_words < TABLE_WORDS and table[n_words, n_tokens] >= 0.0:
        return table[n_words, n_tokens]
    a = step * n_tokens + flat
    log_f = (
        math.lgamma(a + step + n_words) - math.lgamma(a + n_words)
        + math.lgamma(a) - math.lgamma(a + step)
    )  # fmt: skip
    value = np.float32(math.expm1(max(log_f, 0.0)))
    if n_words < TABLE_WORDS:
        table[n_words, n_tokens] = value
    return value


@njit(nogil=True, cache=True)
def _from_topic(sums, labels, begin, end, base, n_labels, u):  # type: ignore[no-untyped-def]
    """Return a label drawn from φ′_t: its own are begin:end of `labels`, with running sums."""
    own = sums[end - 1] if end > begin else 0.0
    r = u * (own + base * n_labels)
    if r < own:
        return np.int64(labels[search(sums, begin, end, r)])
    return np.int64(min((r - own) / base, n_labels - 1.0))


@njit(nogil=True, cache=True)
def _topic_rows(topics, labels):  # type: ignore[no-untyped-def]
    """Return φ′ of these labels, topics × labels, as wide as lanes need."""
    starts, own_topics, own_values = topics.label_starts, topics.label_topics, topics.label_values
    rows = np.zeros((topics.base.size, labels.size + -labels.size % LANES), np.float32)
    for h in range(labels.size):
        rows[:, h] = topics.base
        for e in range(starts[labels[h]], starts[labels[h] + 1]):
            rows[own_topics[e], h] += own_values[e]
    return rows


@njit(nogil=True, cache=True, error_model="numpy")
def sweep_labels(  # type: ignore[no-untyped-def]
    topics, ws, labels, n_words, rows, table, tokens, n_tokens, step, flat, key, gamma
):  # fmt: skip
    """Mutate tokens, n_tokens and the clock of ws: one update of every label token, eq. 9.

    `labels` have words, `n_words` of them; `rows` is φ′ of these labels. `tokens` is the label of
    each label token, and `n_tokens` how many each of all labels has.
    """
    z_topic, sums, clock = ws.z_topic, ws.lane_sums, ws.clock
    starts, own_labels, own_sums = topics.topic_starts, topics.topic_labels, topics.topic_sums
    base, n_labels = topics.base, n_tokens.size
    width = rows.shape[1]
    more = np.zeros(width, np.float32)
    at = np.full(n_tokens.size, -1, np.int32)
    for h in range(labels.size):
        at[labels[h]] = h
        more[h] = _excess(table, n_words[h], n_tokens[labels[h]], step, flat)
    n = clock[0]
    for m in range(tokens.size):
        c = np.int64(tokens[m])
        n_tokens[c] -= 1
        if at[c] >= 0:
            more[at[c]] = _excess(table, n_words[at[c]], n_tokens[c], step, flat)
        t = np.int64(max(z_topic[m], 0))  # one topic is not drawn
        lane_sums(rows, t, more, width, sums)
        total = np.float64(sums[LANES])
        r = uniform(key, gamma, n) * (1.0 + total)
        if r < total:
            h = 0
            r -= np.float64(rows[t, 0]) * np.float64(more[0])
            while r >= 0.0 and h + 1 < labels.size:
                h += 1
                r -= np.float64(rows[t, h]) * np.float64(more[h])
            c = np.int64(labels[h])
        else:
            u = uniform(key, gamma, n + np.uint64(1))
            c = _from_topic(own_sums, own_labels, starts[t], starts[t + 1], base[t], n_labels, u)
        n += np.uint64(2)
        tokens[m] = c
        n_tokens[c] += 1
        if at[c] >= 0:
            more[at[c]] = _excess(table, n_words[at[c]], n_tokens[c], step, flat)
    clock[0] = n


@njit(nogil=True, cache=True)
def set_prior_mass(words, ws, on, tokens, n_tokens, step):  # type: ignore[no-untyped-def]
    """Mutate ws: set mass to N_c + η n_c/M, α′ of eq. 1 but for Σα/C; return it, resized or not."""
    mass, labels, slot_of = ws.mass, ws.labels, ws.slot_of
    n_heavy = 0
    for k in range(mass.size):
        mass[k] = on[k] + step * n_tokens[labels[k]] if labels[k] >= 0 else 0.0
        n_heavy += mass[k] > 0.0
    missing = np.unique(tokens)
    missing = missing[slot_of[missing] < 0]
    ws.counters[HEAVY] = n_heavy + missing.size
    if ws.counters[HEAVY] >= ws.mass.size:
        ws = resized(ws, fitting(ws.counters[HEAVY]))
    for c in missing:
        k = new_slot(
            ws.columns, ws.mass, ws.labels, ws.slot_of, ws.cache, ws.cache_of,
            ws.cache_labels, ws.place, ws.counters, words.column_starts, words.column_words,
            words.column_values, words.base, c,
        )  # fmt: skip
        ws.mass[k] = step * n_tokens[c]
    return ws


@njit(nogil=True, cache=True)
def cycle(words, topics, ws, types, table, tokens, n_tokens, step, prior, key, gamma):  # type: ignore[no-untyped-def]
    """Mutate ws, tokens and n_tokens: z, c, z′, c; return ws, resized if need be."""
    ws = sweep_words(words, topics, ws, types, 0.0, prior.alpha, prior.gamma, key, gamma)
    on = np.bincount(ws.z, minlength=ws.mass.size)
    heavy = np.flatnonzero(on)
    labels, n_words = ws.labels[heavy], on[heavy]
    rows = _topic_rows(topics, labels)
    for sweep in range(2):
        sweep_labels(
            topics, ws, labels, n_words, rows, table, tokens, n_tokens, step, prior.alpha, key,
            gamma,
        )  # fmt: skip
        if sweep == 0:
            sweep_topics(topics, ws, tokens, prior.gamma, key, gamma)
    return set_prior_mass(words, ws, on, tokens, n_tokens, step)


@njit(nogil=True, cache=True)
def start(words, topics, ws, types, tokens, n_tokens, prior, key, gamma):  # type: ignore[no-untyped-def]
    """Mutate ws, tokens and n_tokens: two flat sweeps of z, label tokens after them, two of z′.

    Returns ws, resized if need be.
    """
    n_labels = words.base.size
    flat = prior.alpha + prior.eta / n_labels
    clear(ws)
    for _ in range(2):
        ws = sweep_words(words, topics, ws, types, 0.0, flat, prior.gamma, key, gamma)
    n_tokens[:] = 0
    for m in range(tokens.size):
        tokens[m] = ws.labels[ws.z[m * ws.z.size // tokens.size]]
        n_tokens[tokens[m]] += 1
    for _ in range(2):
        sweep_topics(topics, ws, tokens, prior.gamma, key, gamma)
    step = prior.eta / tokens.size
    on = np.bincount(ws.z, minlength=ws.mass.size)
    return set_prior_mass(words, ws, on, tokens, n_tokens, step)


@njit(nogil=True, cache=True, error_model="numpy")
def sample(  # type: ignore[no-untyped-def]
    words, topics, prior, starts, types, times, key, gamma, chains, burn_in, n_samples, lag,
    conditionals, n_label_tokens, chosen, out_counts, out_topics, out_words, out_labels,
):  # fmt: skip
    """As `fast.sample`, and add to out_labels the samples of n_c/M.

    A document without words has the expectation of its label tokens.
    """
    n_labels, n_topics = words.base.size, topics.base.size
    place = np.full(words.row_totals.size, -1, np.int32)
    slot_of = np.full(n_labels, -1, np.int32)
    prefix_sums = np.empty(CACHE_ROOM, np.float32)
    tokens = np.empty(n_label_tokens, np.int64)
    n_tokens = np.empty(n_labels, np.int64)
    step = prior.eta / n_label_tokens
    table = new_table(n_label_tokens)
    column_of = np.full(n_labels, -1, np.int32)
    for d in range(starts.size - 1):
        own, weight = types[starts[d] : starts[d + 1]], times[starts[d] : starts[d + 1]]
        if weight.sum() == 0:
            share = chains.size * n_samples / n_topics
            out_topics[d, :] += share
            for t in range(n_topics):
                out_labels[d, :] += share * topics.base[t]
                for e in range(topics.topic_starts[t], topics.topic_starts[t + 1]):
                    out_labels[d, topics.topic_labels[e]] += share * topics.topic_values[e]
            continue
        column_of[chosen[d]] = np.arange(chosen.shape[1])
        by_word = out_words[starts[d] : starts[d + 1]]
        content = document_key(own, weight)
        ws = new_workspace(own, weight, n_label_tokens, n_topics, slot_of, place, prefix_sums)
        for chain in chains:
            stream = own_stream(key, content, chain)
            ws = start(words, topics, ws, own, tokens, n_tokens, prior, stream, gamma)
            for number in range(1, burn_in + (n_samples - 1) * lag + 1):
                ws = cycle(
                    words, topics, ws, own, table, tokens, n_tokens, step, prior, stream, gamma
                )
                if number < burn_in or (number - burn_in) % lag:
                    continue
                add_shares(ws.n_dt, prior.gamma, n_label_tokens, out_topics[d])
                for c in tokens:
                    out_labels[d, c] += 1.0 / n_label_tokens
                add_sample(
                    words, topics, ws, own, weight, 0.0, prior, conditionals, chosen[d],
                    column_of, out_counts[d], by_word,
                )  # fmt: skip
        leave(ws, own)
        column_of[chosen[d]] = -1
