"""Shortlists: labels near a document, SVMs that learn from such lists alone, and their margins.

Documents are rows of a sparse matrix (starts, words, values), values in single precision. The SVM
of a label is

    ½ ‖w − w₀‖² + Σ_i C_i ξ_i²,   ξ_i = max(0, 1 − y_i (w·x_i − 1))

over its own documents and those in whose shortlist it stands; w₀ is 0, or what was learned before,
and C_i is C times the document's weight.
The bias is −1 and not learned: a document with none of a label's words is a "no" without any
documents that would have to say so. Solved in the dual, one coordinate at a time, in an order that
depends on the label's number alone (Hsieh et al. 2008).
"""

from __future__ import annotations

import numpy as np
from numba import njit

BIAS = -1.0
_ROOM = 1024
_NEARLY = 4.0


@njit(nogil=True, cache=True)
def _mixed(x):  # type: ignore[no-untyped-def]
    """Return the next 64 bits of a xorshift generator."""
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    return x ^ (x << np.uint64(17))


@njit(nogil=True, cache=True)
def _product(w, words, values, begin, end):  # type: ignore[no-untyped-def]
    """Return w·x; an unsigned index needs no look whether it counts from the end.

    Four sums side by side: one alone would wait for each addition to end before the next.
    """
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    begin, end = np.uint64(begin), np.uint64(end)
    whole = begin + ((end - begin) & ~np.uint64(3))
    for e in range(begin, whole, np.uint64(4)):
        a += w[np.uint32(words[e])] * values[e]
        b += w[np.uint32(words[e + np.uint64(1)])] * values[e + np.uint64(1)]
        c += w[np.uint32(words[e + np.uint64(2)])] * values[e + np.uint64(2)]
        d += w[np.uint32(words[e + np.uint64(3)])] * values[e + np.uint64(3)]
    for e in range(whole, end):
        a += w[np.uint32(words[e])] * values[e]
    return (a + b) + (c + d)


@njit(nogil=True, cache=True)
def _add(w, words, values, begin, end, factor):  # type: ignore[no-untyped-def]
    """Add factor · x to w."""
    for e in range(np.uint64(begin), np.uint64(end)):
        w[np.uint32(words[e])] += factor * values[e]


@njit(nogil=True, cache=True, error_model="numpy")
def solve(  # type: ignore[no-untyped-def]
    starts, words, values, squares, rows, signs, costs, tolerance, most, seed, alpha, w,
):  # fmt: skip
    """Mutate alpha and w = w₀ + Σ α_i y_i x_i to the solution; return the sweeps that it took.

    The label's own documents come first: for w = 0 the others have nothing to say. A document that
    is at α = 0 and would go lower is left out of the next sweeps, until those that are left are
    nearly solved; then all are looked at again. Solved when, in a sweep over all documents, no
    slope of the dual is more than `tolerance` from another.
    """
    n = rows.size
    order, active = np.arange(n), 0
    for k in range(n):
        if signs[k] > 0 or alpha[k] > 0.0:
            order[k], order[active] = order[active], order[k]
            active += 1
    state = (np.uint64(seed) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for sweep in range(most):
        high, low, is_whole = 0.0, 0.0, active == n
        for k in range(active - 1, 0, -1):
            state = _mixed(state)
            j = np.int64(state % np.uint64(k + 1))
            order[k], order[j] = order[j], order[k]
        s = 0
        while s < active:
            k = order[s]
            i, y = rows[k], np.float64(signs[k])
            diagonal = 0.5 / costs[i]
            score = BIAS + _product(w, words, values, starts[i], starts[i + 1])
            slope = y * score - 1.0 + diagonal * alpha[k]
            if alpha[k] == 0.0 and slope >= 0.0:
                active -= 1
                order[s], order[active] = order[active], order[s]
                continue
            high, low = max(high, slope), min(low, slope)
            new = max(alpha[k] - slope / (squares[i] + diagonal), 0.0)
            step = (new - alpha[k]) * y
            alpha[k] = new
            _add(w, words, values, starts[i], starts[i + 1], step)
            s += 1
        if is_whole and high - low <= tolerance:
            return sweep + 1
        if not is_whole and high - low <= _NEARLY * tolerance:
            active = n
    return most


@njit(nogil=True, cache=True)
def solve_labels(  # type: ignore[no-untyped-def]
    starts, words, values, squares, list_starts, rows, signs, numbers, before_starts, before_words,
    before_values, n_words, costs, tolerance, most, least, alpha,
):  # fmt: skip
    """Return the weights of labels one after the other: their starts, words and values.

    The documents of label k and their signs are those from list_starts[k] on; `alpha`, of the same
    length, is where to start, and is left at the solution. `before_…` are the weights w₀.
    Weights whose size is below `least` of the label's largest are left out.
    """
    n_labels = numbers.size
    w = np.zeros(n_words)
    ends = np.zeros(n_labels + 1, np.int64)
    out_words, out_values = np.empty(_ROOM, np.int32), np.empty(_ROOM, np.float32)
    at, unsolved = 0, 0
    for c in range(n_labels):
        own = rows[list_starts[c] : list_starts[c + 1]]
        mine = signs[list_starts[c] : list_starts[c + 1]]
        a = alpha[list_starts[c] : list_starts[c + 1]]
        for e in range(before_starts[c], before_starts[c + 1]):
            w[before_words[e]] = before_values[e]
        for k in range(own.size):
            if a[k] > 0.0:
                _add(w, words, values, starts[own[k]], starts[own[k] + 1], a[k] * mine[k])
        unsolved += (
            solve(
                starts, words, values, squares, own, mine, costs, tolerance, most, numbers[c], a, w
            )
            == most
        )
        # What has a weight: words of before, and of the documents; each is taken once.
        n_room = before_starts[c + 1] - before_starts[c]
        for i in own:
            n_room += starts[i + 1] - starts[i]
        if at + n_room > out_words.size:
            size = 2 * (at + n_room)
            more_words, more_values = np.empty(size, np.int32), np.empty(size, np.float32)
            more_words[:at], more_values[:at] = out_words[:at], out_values[:at]
            out_words, out_values = more_words, more_values
        first = at
        for e in range(before_starts[c], before_starts[c + 1]):
            at = _take(w, before_words[e], out_words, out_values, at)
        for i in own:
            for e in range(starts[i], starts[i + 1]):
                at = _take(w, words[e], out_words, out_values, at)
        largest = 0.0
        for e in range(first, at):
            largest = max(largest, abs(out_values[e]))
        end, at = at, first
        for e in range(first, end):
            if abs(out_values[e]) > least * largest:
                out_words[at], out_values[at] = out_words[e], out_values[e]
                at += 1
        ends[c + 1] = at
    return ends, out_words[:at].copy(), out_values[:at].copy(), unsolved


@njit(nogil=True, cache=True)
def _take(w, word, out_words, out_values, at):  # type: ignore[no-untyped-def]
    """Move the weight of a word, if it has any, to the end of a list; return the new end."""
    if w[word] == 0.0:
        return at
    out_words[at], out_values[at] = word, w[word]
    w[word] = 0.0
    return at + 1


@njit(nogil=True, cache=True)
def pair_up(label_starts, labels, lists, n_labels):  # type: ignore[no-untyped-def]
    """Return for each label the documents that have it or list it: starts, rows and signs.

    A document's labels are `labels` from label_starts[d] on; it lists those of lists[d] that are
    not −1. Rows rise; signs are 1 where the document has the label, −1 where not.
    """
    seen = np.full(n_labels, -1, np.int64)
    starts = np.zeros(n_labels + 1, np.int64)
    for d in range(lists.shape[0]):
        for e in range(label_starts[d], label_starts[d + 1]):
            seen[labels[e]] = d
            starts[labels[e] + 1] += 1
        for c in lists[d]:
            if c >= 0 and seen[c] != d:
                seen[c] = d
                starts[c + 1] += 1
    for c in range(n_labels):
        starts[c + 1] += starts[c]
    at, seen[:] = starts[:-1].copy(), -1
    rows, signs = np.empty(starts[-1], np.int64), np.empty(starts[-1], np.int8)
    for d in range(lists.shape[0]):
        for e in range(label_starts[d], label_starts[d + 1]):
            c = labels[e]
            seen[c] = d
            rows[at[c]], signs[at[c]] = d, 1
            at[c] += 1
        for c in lists[d]:
            if c >= 0 and seen[c] != d:
                seen[c] = d
                rows[at[c]], signs[at[c]] = d, -1
                at[c] += 1
    return starts, rows, signs


@njit(nogil=True, cache=True)
def carry_over(starts, rows, part_starts, part_rows, documents, part_alpha, alpha):  # type: ignore[no-untyped-def]
    """Set alpha of each label's rows to that of the same documents in a part, where they are there.

    Row r of the part is documents[r], which rise.
    """
    for c in range(starts.size - 1):
        at, end = starts[c], starts[c + 1]
        for e in range(part_starts[c], part_starts[c + 1]):
            d = documents[part_rows[e]]
            while at < end and rows[at] < d:
                at += 1
            if at < end and rows[at] == d:
                alpha[at] = part_alpha[e]


@njit(nogil=True, cache=True)
def margins(starts, words, values, candidates, w_starts, w_words, w_values, n_words, out):  # type: ignore[no-untyped-def]
    """Set the margins w·x − 1 of each document's candidates; of −1, no candidate, to the bias."""
    x = np.zeros(n_words, np.float32)
    for d in range(candidates.shape[0]):
        for e in range(starts[d], starts[d + 1]):
            x[words[e]] = values[e]
        for k in range(candidates.shape[1]):
            c = candidates[d, k]
            out[d, k] = BIAS
            if c >= 0:
                out[d, k] += _product(x, w_words, w_values, w_starts[c], w_starts[c + 1])
        for e in range(starts[d], starts[d + 1]):
            x[words[e]] = 0.0


@njit(nogil=True, cache=True)
def _is_before(score, label, other_score, other_label):  # type: ignore[no-untyped-def]
    """Return whether a label ranks before another: a higher score, or of equals a lower number."""
    return score > other_score or (score == other_score and label < other_label)


@njit(nogil=True, cache=True)
def _sink(labels, scores, at, n):  # type: ignore[no-untyped-def]
    """Move an entry of a heap down to its place; the last in rank is on top."""
    label, score = labels[at], scores[at]
    while 2 * at + 1 < n:
        child = 2 * at + 1
        if child + 1 < n and _is_before(
            scores[child], labels[child], scores[child + 1], labels[child + 1]
        ):
            child += 1
        if not _is_before(score, label, scores[child], labels[child]):
            break
        labels[at], scores[at] = labels[child], scores[child]
        at = child
    labels[at], scores[at] = label, score


@njit(nogil=True, cache=True)
def _keep_best(score, labels, scores):  # type: ignore[no-untyped-def]
    """Set labels and scores to the best of all that are above 0, best first; −1 and 0 for no label.

    One look at each score in the order of memory costs less than a list of those above 0.
    """
    n = min(labels.size, score.size)
    labels[n:], scores[n:] = -1, 0.0
    for c in range(n):
        labels[c], scores[c] = c, score[c]
    for at in range(n // 2 - 1, -1, -1):
        _sink(labels, scores, at, n)
    for c in range(n, score.size):
        if score[c] > scores[0]:
            labels[0], scores[0] = c, score[c]
            _sink(labels, scores, 0, n)
    for last in range(n - 1, 0, -1):
        labels[0], labels[last] = labels[last], labels[0]
        scores[0], scores[last] = scores[last], scores[0]
        _sink(labels, scores, 0, last)
    for j in range(n):
        if scores[j] == 0.0:
            labels[j] = -1


@njit(nogil=True, cache=True)
def nearest(  # type: ignore[no-untyped-def]
    starts, words, values, word_starts, labels, weights, n_labels, budget, out, out_scores
):  # fmt: skip
    """Set the labels that each document's words speak for, best first; −1 where none is left.

    A document's words come with the heaviest first, and are looked up until `budget` entries have
    been read: what is left are light words that most labels share. Scores are positive. Equals are
    in the order of their numbers.
    """
    score = np.zeros(n_labels, np.float32)
    for d in range(out.shape[0]):
        left = budget
        for e in range(starts[d], starts[d + 1]):
            begin, end = np.uint64(word_starts[words[e]]), np.uint64(word_starts[words[e] + 1])
            value = values[e]
            for p in range(begin, end):
                score[np.uint32(labels[p])] += value * weights[p]
            left -= np.int64(end - begin)
            if left <= 0:
                break
        _keep_best(score, out[d], out_scores[d])
        score[:] = 0.0


@njit(nogil=True, cache=True)
def unite(first, second, n_labels, out):  # type: ignore[no-untyped-def]
    """Set each list to the first half of `first`, then `second`, then the rest of `first`.

    −1 where both end.
    """
    k = out.shape[1]
    half = k // 2
    seen = np.full(n_labels, -1, np.int64)
    for d in range(out.shape[0]):
        n = 0
        for part in range(3):
            lists = second if part == 1 else first
            begin = half if part == 2 else 0
            end = min(half, lists.shape[1]) if part == 0 else lists.shape[1]
            for j in range(begin, end):
                c = lists[d, j]
                if n < k and c >= 0 and seen[c] != d:
                    out[d, n] = c
                    seen[c] = d
                    n += 1
        out[d, n:] = -1


@njit(nogil=True, cache=True)
def fill(lists, usual, n_labels):  # type: ignore[no-untyped-def]
    """Replace each −1 by the first of the `usual` labels that its list lacks."""
    seen = np.full(n_labels, -1, np.int64)
    for d in range(lists.shape[0]):
        if lists[d, -1] >= 0:
            continue
        for c in lists[d]:
            if c >= 0:
                seen[c] = d
        at = 0
        for j in range(lists.shape[1]):
            if lists[d, j] < 0:
                while seen[usual[at]] == d:
                    at += 1
                lists[d, j] = usual[at]
                seen[usual[at]] = d


@njit(nogil=True, cache=True)
def add_to_cells(  # type: ignore[no-untyped-def]
    entry_starts, label_starts, grid_starts, cells, values, is_left_out, n_others, sums
):
    """Add to `sums` the value of each entry, in the cell of each label of its document.

    Documents lie as `train_words.Layout` has them. The last `n_others` of a document's labels have
    no sums, and documents that are left out add nothing.
    """
    for d in range(label_starts.size - 1):
        n_labels = label_starts[d + 1] - label_starts[d]
        if is_left_out[d]:
            continue
        row = grid_starts[d]
        for e in range(entry_starts[d], entry_starts[d + 1]):
            for j in range(n_labels - n_others):
                sums[cells[row + j]] += values[e]
            row += n_labels


@njit(nogil=True, cache=True)
def take_rows(begins, ends, words, values, out_words, out_values):  # type: ignore[no-untyped-def]
    """Copy some rows of a sparse matrix, from begins to ends, one after the other."""
    at = 0
    for i in range(begins.size):
        n = ends[i] - begins[i]
        out_words[at : at + n] = words[begins[i] : ends[i]]
        out_values[at : at + n] = values[begins[i] : ends[i]]
        at += n


@njit(nogil=True, cache=True)
def count_each(words, counts):  # type: ignore[no-untyped-def]
    """Add to counts how often each word is there."""
    for w in words:
        counts[w] += 1


@njit(nogil=True, cache=True)
def renumber(words, number_of):  # type: ignore[no-untyped-def]
    """Mutate words to their new numbers."""
    for e in range(words.size):
        words[e] = number_of[words[e]]
