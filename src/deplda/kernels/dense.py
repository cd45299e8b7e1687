"""Fast inference as the paper writes it down: every draw over all labels or all topics.

The reference: what `fast` does in buckets, in the plainest way. It costs C + T steps a token.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from deplda.kernels.layouts import add_shares
from deplda.kernels.random import document_key, own_stream, uniform


@njit(nogil=True, cache=True, inline="always")
def _draw(sums, u):  # type: ignore[no-untyped-def]
    """Return the first place whose running sum exceeds u of the last."""
    r = u * sums[sums.size - 1]
    k = 0  # few labels: step by step is faster than a search
    while k < sums.size - 1 and sums[k] <= r:
        k += 1
    return k


@njit(nogil=True, cache=True)
def sweep_words(phi, tokens, z, n_dc, alpha, sums, key, gamma, n):  # type: ignore[no-untyped-def]
    """Mutate z and n_dc, eq. 8: P(z_i = c) ∝ φ_wc (N_dc + α′_c), without token i."""
    for i in range(tokens.size):
        if z[i] >= 0:
            n_dc[z[i]] -= 1
        total = 0.0
        for c in range(n_dc.size):
            total += phi[tokens[i], c] * (n_dc[c] + alpha[c])
            sums[c] = total
        z[i] = _draw(sums, uniform(key, gamma, n + i))
        n_dc[z[i]] += 1


@njit(nogil=True, cache=True)
def sweep_topics(phi_prime, z, z_topic, n_dt, prior_gamma, sums, key, gamma, n):  # type: ignore[no-untyped-def]
    """Mutate z_topic and n_dt, eq. 10: P(z′_i = t) ∝ φ′_ct (N_dt + Σγ/T), without i; c is z_i."""
    for i in range(z.size):
        if z_topic[i] >= 0:
            n_dt[z_topic[i]] -= 1
        total = 0.0
        for t in range(n_dt.size):
            total += phi_prime[z[i], t] * (n_dt[t] + prior_gamma)
            sums[t] = total
        z_topic[i] = _draw(sums, uniform(key, gamma, n + i))
        n_dt[z_topic[i]] += 1


@njit(nogil=True, cache=True)
def set_alpha(phi_prime, n_dt, prior, n_tokens, alpha):  # type: ignore[no-untyped-def]
    """Set alpha to α′ = η θ′·φ′ + Σα/C, eq. 12, with θ′_t = (N_dt + Σγ/T)/(N_d + Σγ)."""
    n_topics = n_dt.size
    for c in range(alpha.size):
        alpha[c] = prior.alpha
        for t in range(n_topics):
            share = (n_dt[t] + prior.gamma) / (n_tokens + prior.gamma * n_topics)
            alpha[c] += prior.eta * share * phi_prime[c, t]


@njit(nogil=True, cache=True)
def add_sample(phi, tokens, z, n_dc, alpha, conditionals, column_of, out_counts, out_words):  # type: ignore[no-untyped-def]
    """Add each token to its label, or to all labels by its conditional, in counts and by word.

    `column_of` says in which column of out_words a label stands, −1 if in none.
    """
    for i in range(tokens.size):
        if not conditionals:
            out_counts[z[i]] += 1.0
            if column_of[z[i]] >= 0:
                out_words[tokens[i], column_of[z[i]]] += 1.0
            continue
        n_dc[z[i]] -= 1
        weights = phi[tokens[i]] * (n_dc + alpha)
        n_dc[z[i]] += 1
        total = weights.sum()
        for c in range(n_dc.size):
            out_counts[c] += weights[c] / total
            if column_of[c] >= 0:
                out_words[tokens[i], column_of[c]] += weights[c] / total


@njit(nogil=True, cache=True)
def sample(  # type: ignore[no-untyped-def]
    phi, phi_prime, prior, starts, types, times, key, gamma, chains,
    burn_in, n_samples, lag, conditionals, chosen, out_counts, out_topics, out_words,
):  # fmt: skip
    """As `fast.sample`, from a dense φ and φ′."""
    n_labels, n_topics = phi_prime.shape
    alpha, sums, topic_sums = np.empty(n_labels), np.empty(n_labels), np.empty(n_topics)
    column_of = np.full(n_labels, -1, np.int32)
    for d in range(starts.size - 1):
        own, weight = types[starts[d] : starts[d + 1]], times[starts[d] : starts[d + 1]]
        rows, tokens = phi[own], np.repeat(np.arange(own.size), weight)
        column_of[chosen[d]] = np.arange(chosen.shape[1])
        by_word = out_words[starts[d] : starts[d + 1]]
        content = document_key(own, weight)
        for chain in chains:
            stream, n = own_stream(key, content, chain), np.uint64(0)
            z, z_topic = np.full(tokens.size, -1), np.full(tokens.size, -1)
            n_dc, n_dt = np.zeros(n_labels), np.zeros(n_topics)
            alpha[:] = prior.alpha + prior.eta / n_labels
            # Two sweeps of z under that flat prior and two of z′, then the cycles.
            for cycle in range(-1, burn_in + (n_samples - 1) * lag + 1):
                sweep_words(rows, tokens, z, n_dc, alpha, sums, stream, gamma, n)
                n += np.uint64(tokens.size)
                for _ in range(0 if cycle < 0 or n_topics == 0 else 2 if cycle == 0 else 1):
                    sweep_topics(
                        phi_prime, z, z_topic, n_dt, prior.gamma, topic_sums, stream, gamma, n
                    )
                    n += np.uint64(tokens.size)
                if cycle >= 0:
                    set_alpha(phi_prime, n_dt, prior, tokens.size, alpha)
                if cycle < burn_in or (cycle - burn_in) % lag:
                    continue
                add_sample(
                    rows, tokens, z, n_dc, alpha, conditionals, column_of, out_counts[d],
                    by_word,
                )  # fmt: skip
                add_shares(n_dt, prior.gamma, tokens.size, out_topics[d])
        column_of[chosen[d]] = -1
