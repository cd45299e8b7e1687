"""The test-time cycle with expectations instead of draws, on word types instead of tokens.

r_wc ∝ φ_wc m_c with m = N + α′, and N_c = Σ_w x_w r_wc, so that a cycle is two products with φ:
Z_w = Σ_c φ_wc m_c, then N_c = m_c Σ_w (x_w/Z_w) φ_wc. The topics go the same way.

Few labels matter to a document. The others are pooled: they go on as one label, whose φ is the sum
of theirs and whose m is their average. A few cycles with a flat prior, the same for every set of
topics, find the labels to keep; each set then has its own cycles on those, and pools more of them
as they cease to matter. One last cycle over all labels, from the average over the sets, gives every
label its expected tokens.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from deplda.kernels.lanes import LANES, ROWS, row_products

_FLAT_CYCLES = 5
# Labels on their own in the flat cycles, and in the first cycle of each set.
_FIRST_LABELS = 1024
_LABELS = 256
# A label with less than this share of the tokens is pooled.
_NEGLIGIBLE = 4e-4
_TINY = np.float32(1e-37)

# An unsigned index needs no look whether it counts from the end: labels are read as such where
# whole rows are.


@njit(nogil=True, cache=True)
def _row_totals(words, types, mass, totals):  # type: ignore[no-untyped-def]
    """Set totals to Z_w = Σ_c φ_wc m_c."""
    starts, labels, values, base = words.row_starts, words.row_labels, words.row_values, words.base
    smooth = 0.0
    for c in range(base.size):
        smooth += base[c] * mass[c]
    for u in range(types.size):
        begin, end = starts[types[u]], starts[types[u] + 1]
        even, odd = smooth, 0.0  # two sums, since additions to one wait for each other
        for e in range(begin, end - 1, 2):
            even += np.float64(values[e]) * mass[np.uint32(labels[e])]
            odd += np.float64(values[e + 1]) * mass[np.uint32(labels[e + 1])]
        if (end - begin) % 2:
            even += np.float64(values[end - 1]) * mass[np.uint32(labels[end - 1])]
        totals[u] = even + odd


@njit(nogil=True, cache=True)
def _label_sums(words, types, ratios, sums):  # type: ignore[no-untyped-def]
    """Set sums to Σ_w ratio_w φ_wc, as exact as ratios and sums are."""
    starts, labels, values, base = words.row_starts, words.row_labels, words.row_values, words.base
    sums[:] = 0.0
    total = 0.0
    for u in range(types.size):
        ratio = ratios[u]
        total += ratio
        for e in range(starts[types[u]], starts[types[u] + 1]):
            sums[np.uint32(labels[e])] += ratio * values[e]
    for c in range(base.size):
        sums[c] += total * base[c]


@njit(nogil=True, cache=True)
def _largest(values, n):  # type: ignore[no-untyped-def]
    """Return where the n largest values are (more, if several are equal to the last)."""
    if n >= values.size:
        return np.arange(values.size)
    return np.flatnonzero(values >= np.partition(values, values.size - n)[values.size - n])


@njit(nogil=True, cache=True)
def _blank(n_types, n_labels):  # type: ignore[no-untyped-def]
    """Return types × labels and the pool, zeros, as long and wide as `row_products` needs."""
    width = n_labels + 1
    return np.zeros((n_types + -n_types % ROWS, width + -width % LANES), np.float32)


@njit(nogil=True, cache=True)
def _columns(words, types, names, place):  # type: ignore[no-untyped-def]
    """Return φ of the document's types × these labels and the pool of all others."""
    starts, labels, values = words.row_starts, words.row_labels, words.row_values
    n = names.size
    columns = _blank(types.size, n)
    place[:] = n
    for s in range(n):
        place[names[s]] = s
    for u in range(types.size):
        row = columns[u]
        # Written without a branch: what is not of these labels goes where the pool will be.
        for e in range(starts[types[u]], starts[types[u] + 1]):
            row[np.uint32(place[np.uint32(labels[e])])] = values[e]
        row[n] = 0.0
    _add_base(words, types, names, columns)
    return columns


@njit(nogil=True, cache=True)
def _columns_by_label(words, types, names, place):  # type: ignore[no-untyped-def]
    """Return what `_columns` does, by the words of each label; `place` is −1 for all words."""
    starts, own_words, values = words.column_starts, words.column_words, words.column_values
    columns = _blank(types.size, names.size)
    for u in range(types.size):
        place[types[u]] = u
    for s in range(names.size):
        for e in range(starts[names[s]], starts[names[s] + 1]):
            u = place[np.uint32(own_words[e])]
            if u >= 0:
                columns[u, s] = values[e]
    for u in range(types.size):
        place[types[u]] = -1
    _add_base(words, types, names, columns)
    return columns


@njit(nogil=True, cache=True)
def _add_base(words, types, names, columns):  # type: ignore[no-untyped-def]
    """Add b to the columns of the labels, and set that of the pool."""
    base, totals = words.base, words.row_totals
    n, width, base_total = names.size, columns.shape[1], words.base_sums[words.base.size - 1]
    smooth, single = np.zeros(width, np.float32), np.zeros(width, np.float32)
    for s in range(n):
        smooth[s] = base[names[s]]
        single[s] = 1.0
    for u in range(types.size):
        row = columns[u]
        for s in range(width):
            row[s] += smooth[s]
    if n < base.size:
        sums = np.empty(ROWS, np.float32)
        for first in range(0, types.size, ROWS):
            row_products(columns, first, single, width, sums)
            for u in range(first, min(first + ROWS, types.size)):
                rest = totals[types[u]] + base_total - np.float64(sums[u - first])
                columns[u, n] = max(rest, 0.0)


@njit(nogil=True, cache=True)
def _fewer(columns, n, kept):  # type: ignore[no-untyped-def]
    """Return the columns of the labels kept, the others of the n added to the pool."""
    fewer = _blank(columns.shape[0], kept.size)
    pooled = np.zeros(columns.shape[1], np.float32)
    pooled[: n + 1] = 1.0
    pooled[kept] = 0.0
    sums = np.empty(ROWS, np.float32)
    for first in range(0, columns.shape[0], ROWS):
        row_products(columns, first, pooled, columns.shape[1], sums)
        for k in range(ROWS):
            old, new = columns[first + k], fewer[first + k]
            for s in range(kept.size):
                new[s] = old[kept[s]]
            new[kept.size] = sums[k]
    return fewer


@njit(nogil=True, cache=True, error_model="numpy")
def cycle(columns, times, mass, ratios, sums):  # type: ignore[no-untyped-def]
    """Set ratios to x_w/Z_w and sums to Σ_w (x_w/Z_w) φ_wc: expectations of z, eq. 8."""
    width = columns.shape[1]
    totals = np.empty(ROWS, np.float32)
    sums[:] = 0.0
    for first in range(0, times.size, ROWS):
        row_products(columns, first, mass, width, totals)
        for k in range(ROWS):
            ratios[first + k] = times[first + k] / max(totals[k], _TINY)
        r0, r1, r2, r3 = ratios[first], ratios[first + 1], ratios[first + 2], ratios[first + 3]
        row0, row1 = columns[first], columns[first + 1]
        row2, row3 = columns[first + 2], columns[first + 3]
        for s in range(width):
            sums[s] += (r0 * row0[s] + r1 * row1[s]) + (r2 * row2[s] + r3 * row3[s])


@njit(nogil=True, cache=True, error_model="numpy")
def _flat_cycles(columns, times, n_labels, flat, counts, n):  # type: ignore[no-untyped-def]
    """Mutate counts by the cycles that know no topics; `flat` is each label's prior."""
    size = counts.size
    mass = np.zeros(columns.shape[1], np.float32)
    sums, ratios = np.empty(mass.size, np.float32), np.empty(times.size, np.float32)
    rest = n - counts.sum()
    for _ in range(_FLAT_CYCLES):
        for s in range(size):
            mass[s] = counts[s] + flat
        mass[size] = rest / max(n_labels - size, 1) + flat
        cycle(columns, times, mass, ratios, sums)
        for s in range(size):
            counts[s] = np.float64(mass[s]) * np.float64(sums[s])
        rest = np.float64(mass[size]) * np.float64(sums[size])


@njit(nogil=True, cache=True)
def _topics_of(sets, number, names):  # type: ignore[no-untyped-def]
    """Return (place in names, topic, P_ct) of these labels in one set, and φ′ of the pool.

    They come one after the other: a label has two or three topics, so that a loop over each label's
    own would be more ends than steps.
    """
    starts, topics, values = sets.label_starts, sets.label_topics, sets.label_values
    n_sets, begin = sets.set_starts.size - 1, sets.set_starts[number]
    pool = np.empty(sets.set_starts[number + 1] - begin, np.float64)
    for t in range(pool.size):
        pool[t] = 1.0 - names.size * sets.base[begin + t]
    n = 0
    for c in names:
        n += starts[c * n_sets + number + 1] - starts[c * n_sets + number]
    places, own_topics = np.empty(n, np.uint32), np.empty(n, np.uint32)
    own_values = np.empty(n, np.float64)
    n = 0
    for s in range(names.size):
        at = names[s] * n_sets + number
        for e in range(starts[at], starts[at + 1]):
            places[n], own_topics[n], own_values[n] = s, topics[e] - begin, values[e]
            pool[own_topics[n]] -= values[e]
            n += 1
    return places, own_topics, own_values, np.maximum(pool, 0.0)


@njit(nogil=True, cache=True)
def likelihoods(own, base, weight, likely):  # type: ignore[no-untyped-def]
    """Set likely to Σ_t weight_t φ′_ct of each label, eq. 11; `own` is from `_topics_of`."""
    places, topics, values, _ = own
    shared = 0.0
    for t in range(base.size):
        shared += base[t] * weight[t]
    likely[:] = shared
    for e in range(places.size):
        likely[places[e]] += values[e] * weight[topics[e]]


@njit(nogil=True, cache=True, error_model="numpy")
def topic_cycle(own, base, gamma, counts, rest, weight, likely):  # type: ignore[no-untyped-def]
    """Mutate weight, n_t + γ, by the tokens of labels and pool, and likely: z′ expected, eq. 10."""
    places, topics, values, pool = own
    if base.size > 1:
        total = 0.0
        for s in range(counts.size):
            likely[s] = counts[s] / max(likely[s], 1e-300)
            total += likely[s]
        drawn = np.zeros(base.size, np.float64)
        for e in range(places.size):
            drawn[topics[e]] += likely[places[e]] * values[e]
        rest /= max((pool * weight).sum(), 1e-300)
        for t in range(base.size):
            weight[t] = weight[t] * (drawn[t] + total * base[t] + rest * pool[t]) + gamma
        likelihoods(own, base, weight, likely)


@njit(nogil=True, cache=True, error_model="numpy")
def own_cycles(  # type: ignore[no-untyped-def]
    sets, number, columns, times, names, counts, n, n_labels, eta, flat, gamma, tolerance,
    max_cycles, share, ratios,
):  # fmt: skip
    """Set share to θ′ of one set's topics, eq. 7, and ratios to x_w/Z_w, with α′ by eq. 12.

    Returns the labels that the set keeps, and their tokens.
    """
    base = sets.base[sets.set_starts[number] : sets.set_starts[number + 1]]
    n_topics = base.size
    each_gamma = gamma / max(n_topics, 1)
    weight = np.full(n_topics, n / max(n_topics, 1) + each_gamma)
    size = names.size
    rest = n - counts.sum()
    own = _topics_of(sets, number, names)
    likely = np.empty(size, np.float64)
    likelihoods(own, base, weight, likely)
    mass, sums = np.zeros(columns.shape[1], np.float32), np.empty(columns.shape[1], np.float32)
    for _ in range(max_cycles):
        topic_cycle(own, base, each_gamma, counts, rest, weight, likely)
        rest_alpha = eta + flat * n_labels
        for s in range(size):
            alpha = flat + eta / (n + gamma) * likely[s]
            rest_alpha -= alpha
            mass[s] = counts[s] + alpha
        mass[size] = (rest + max(rest_alpha, 0.0)) / max(n_labels - size, 1)
        cycle(columns, times, mass, ratios, sums)
        moved = 0.0
        n_kept = 0
        for s in range(size):
            count = np.float64(mass[s]) * np.float64(sums[s])
            moved += abs(count - counts[s])
            counts[s] = count
            n_kept += count >= _NEGLIGIBLE * n
        rest = np.float64(mass[size]) * np.float64(sums[size])
        if moved <= tolerance * n:
            break
        if 2 * n_kept < size:  # worth the move
            kept = np.flatnonzero(counts >= _NEGLIGIBLE * n)
            columns = _fewer(columns, size, kept)
            rest += counts.sum()
            names, counts, likely = names[kept], counts[kept], likely[kept]
            rest -= counts.sum()
            size = kept.size
            own = _topics_of(sets, number, names)
            mass = np.zeros(columns.shape[1], np.float32)
            sums = np.empty(columns.shape[1], np.float32)
    topic_cycle(own, base, each_gamma, counts, rest, weight, likely)
    for t in range(n_topics):
        share[t] = weight[t] / (n + gamma)
    return names, counts


@njit(nogil=True, cache=True)
def mean_alpha(sets, shares, eta, flat, names, alpha):  # type: ignore[no-untyped-def]
    """Set alpha to α′ = η θ′·φ′ + Σα/C of these labels, eq. 12, on average over the sets."""
    starts, own_topics, own_values = sets.label_starts, sets.label_topics, sets.label_values
    n_sets = sets.set_starts.size - 1
    shared = 0.0
    for t in range(shares.size):
        shared += sets.base[t] * shares[t]
    for k in range(names.size):
        begin, end = starts[names[k] * n_sets], starts[(names[k] + 1) * n_sets]
        even, odd = shared, 0.0
        for e in range(begin, end - 1, 2):
            even += own_values[e] * shares[np.uint32(own_topics[e])]
            odd += own_values[e + 1] * shares[np.uint32(own_topics[e + 1])]
        if (end - begin) % 2:
            even += own_values[end - 1] * shares[np.uint32(own_topics[end - 1])]
        alpha[k] = flat + eta / n_sets * (even + odd)


@njit(nogil=True, cache=True)
def _set_even(sets, shares):  # type: ignore[no-untyped-def]
    """Set shares to θ′ of a document without words: the topics of each set alike."""
    for number in range(sets.set_starts.size - 1):
        begin, end = sets.set_starts[number], sets.set_starts[number + 1]
        shares[begin:end] = 1.0 / max(end - begin, 1)


@njit(nogil=True, cache=True)
def _set_words(words, types, ratios, mass, chosen, out_words):  # type: ignore[no-untyped-def]
    """Set out_words to the tokens (x_w/Z_w) φ_wc m_c that each type gives to the chosen labels."""
    starts, labels, values, base = words.row_starts, words.row_labels, words.row_values, words.base
    for u in range(types.size):
        row = labels[starts[types[u]] : starts[types[u] + 1]]
        for j in range(chosen.size):
            c = chosen[j]
            phi = base[c]
            e = np.searchsorted(row, c)
            if e < row.size and row[e] == c:
                phi += np.float64(values[starts[types[u]] + e])
            out_words[u, j] = ratios[u] * phi * mass[c]


@njit(nogil=True, cache=True, error_model="numpy")
def expect(  # type: ignore[no-untyped-def]
    words, sets, eta, flat, gamma, starts, types, times, tolerance, max_cycles, chosen,
    out_counts, out_alpha, out_topics, out_words,
):  # fmt: skip
    """Set out_counts, out_alpha and out_topics to the expected N_c, α′_c and θ′ of each document.

    Sets out_words, entry by entry, to the tokens given to the document's `chosen` labels. `flat` is
    Σα/C, `gamma` Σγ. The cycles of a set stop when one moves less than `tolerance` of the tokens,
    or after `max_cycles`.
    """
    n_labels, n_sets = words.base.size, sets.set_starts.size - 1
    eta = eta if sets.base.size else 0.0
    base_total = words.base_sums[n_labels - 1]
    sums, mass = np.empty(n_labels, np.float64), np.empty(n_labels, np.float64)
    rough_sums = np.empty(n_labels, np.float32)
    place, every = np.empty(n_labels, np.int32), np.arange(n_labels)
    for d in range(starts.size - 1):
        own, weight = types[starts[d] : starts[d + 1]], times[starts[d] : starts[d + 1]]
        n = np.float64(weight.sum())
        counts, alpha, shares = out_counts[d], out_alpha[d], out_topics[d]
        if n == 0.0:
            _set_even(sets, shares)
            mean_alpha(sets, shares, eta, flat, every, alpha)
            counts[:] = 0.0
            continue
        # With equal masses Z_w is known without a look at the row.
        ratios = weight / (words.row_totals[own] + base_total)
        _label_sums(words, own, ratios.astype(np.float32), rough_sums)
        names = _largest(rough_sums, _FIRST_LABELS)
        columns = _columns(words, own, names, place)
        padded = np.zeros(columns.shape[0], np.float32)
        padded[: own.size] = weight
        begun = rough_sums[names].astype(np.float64)
        _flat_cycles(columns, padded, n_labels, flat + eta / n_labels, begun, n)
        kept = _largest(begun, _LABELS)
        if kept.size < names.size:
            columns = _fewer(columns, names.size, kept)
            names, begun = names[kept], begun[kept]
        mass[:] = 0.0
        mean_ratios = np.zeros(own.size, np.float32)
        own_ratios = np.empty(padded.size, np.float32)
        for number in range(n_sets):
            share = shares[sets.set_starts[number] : sets.set_starts[number + 1]]
            own_names, own_counts = own_cycles(
                sets, number, columns, padded, names, begun.copy(), n, n_labels, eta, flat, gamma,
                tolerance, max_cycles, share, own_ratios,
            )  # fmt: skip
            for s in range(own_names.size):
                mass[own_names[s]] += own_counts[s] / n_sets
            for u in range(own.size):
                mean_ratios[u] += own_ratios[u] / np.float32(n_sets)
        mean_alpha(sets, shares, eta, flat, every, alpha)
        # A label in every pool has no tokens yet: those at which N = (N + α′) Σ_w (x_w/Z_w) φ_wc.
        _label_sums(words, own, mean_ratios, rough_sums)
        for c in range(n_labels):
            if mass[c] > 0.0:
                mass[c] += alpha[c]
            else:
                mass[c] = alpha[c] / (1.0 - min(rough_sums[c], 0.9))
        _row_totals(words, own, mass, ratios)
        for u in range(own.size):
            ratios[u] = weight[u] / ratios[u]
        _label_sums(words, own, ratios, sums)
        for c in range(n_labels):
            counts[c] = mass[c] * sums[c]
        if chosen.shape[1]:
            _set_words(words, own, ratios, mass, chosen[d], out_words[starts[d] : starts[d + 1]])


@njit(nogil=True, cache=True, error_model="numpy")
def expect_among(  # type: ignore[no-untyped-def]
    words, sets, eta, flat, gamma, starts, types, times, tolerance, max_cycles, candidates,
    out_counts, out_alpha,
):  # fmt: skip
    """Set out_counts and out_alpha to the expected N_c and α′_c of each document's candidates.

    `candidates` are labels that differ, −1 where there are fewer, which have 0 of both. All other
    labels are pooled from the first cycle to the last, so that the cost does not grow with their
    number.
    """
    n_labels, n_sets = words.base.size, sets.set_starts.size - 1
    eta = eta if sets.base.size else 0.0
    base_total = words.base_sums[n_labels - 1]
    label_place = np.empty(n_labels, np.int32)
    word_place = np.full(words.row_totals.size, -1, np.int32)
    shares = np.empty(sets.base.size, np.float64)
    for d in range(starts.size - 1):
        own, weight = types[starts[d] : starts[d + 1]], times[starts[d] : starts[d + 1]]
        n = np.float64(weight.sum())
        places = np.flatnonzero(candidates[d] >= 0)
        names, size = candidates[d][places], places.size
        alpha = np.empty(size, np.float64)
        out_counts[d], out_alpha[d] = 0.0, 0.0
        if n == 0.0:
            _set_even(sets, shares)
            mean_alpha(sets, shares, eta, flat, names, alpha)
            out_alpha[d][places] = alpha
            continue
        by_word = (words.row_starts[own + 1] - words.row_starts[own]).sum()
        by_label = (words.column_starts[names + 1] - words.column_starts[names]).sum()
        if by_word < by_label:
            columns = _columns(words, own, names, label_place)
        else:
            columns = _columns_by_label(words, own, names, word_place)
        padded = np.zeros(columns.shape[0], np.float32)
        padded[: own.size] = weight
        begun = np.zeros(size, np.float64)
        for u in range(own.size):  # with equal masses Z_w is known
            ratio = weight[u] / (words.row_totals[own[u]] + base_total)
            for s in range(size):
                begun[s] += ratio * columns[u, s]
        _flat_cycles(columns, padded, n_labels, flat + eta / n_labels, begun, n)
        mean_counts = np.zeros(size, np.float64)
        for s in range(size):
            label_place[names[s]] = s
        own_ratios = np.empty(padded.size, np.float32)
        mean_ratios = np.zeros(padded.size, np.float32)
        for number in range(n_sets):
            share = shares[sets.set_starts[number] : sets.set_starts[number + 1]]
            own_names, own_counts = own_cycles(
                sets, number, columns, padded, names, begun.copy(), n, n_labels, eta, flat, gamma,
                tolerance, max_cycles, share, own_ratios,
            )  # fmt: skip
            for s in range(own_names.size):
                mean_counts[label_place[own_names[s]]] += own_counts[s] / n_sets
            for u in range(own.size):
                mean_ratios[u] += own_ratios[u] / np.float32(n_sets)
        mean_alpha(sets, shares, eta, flat, names, alpha)
        # As in `expect`: one more cycle, in which those that every set pooled have tokens too.
        mass, sums = np.zeros(columns.shape[1], np.float32), np.zeros(columns.shape[1], np.float32)
        for u in range(own.size):
            for s in range(size):
                sums[s] += mean_ratios[u] * columns[u, s]
        rest, rest_alpha = n, eta + flat * n_labels
        for s in range(size):
            if mean_counts[s] > 0.0:
                mass[s] = mean_counts[s] + alpha[s]
            else:
                mass[s] = alpha[s] / (1.0 - min(sums[s], 0.9))
            rest -= mean_counts[s]
            rest_alpha -= alpha[s]
        mass[size] = (max(rest, 0.0) + max(rest_alpha, 0.0)) / max(n_labels - size, 1)
        cycle(columns, padded, mass, own_ratios, sums)
        for s in range(size):
            out_counts[d, places[s]] = mass[s] * sums[s]
            out_alpha[d, places[s]] = alpha[s]
