"""Training φ: the z update, each word token restricted to the labels of its own document.

Labels are observed, so the (label, word) pairs that can ever have a count are known beforehand: the
cells. They are stored label by label, words ascending: a document touches the cells of its own few
labels only, in ascending order, so that its counts come out of the processor's cache.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from deplda.kernels.random import uniform

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float32 = npt.NDArray[np.float32]


class Layout(NamedTuple):
    """Where everything stands; shared by all chains and never written to.

    Document d has the word entries entry_starts[d]:entry_starts[d+1] (a type and its `times`), the
    labels label_starts[d]:label_starts[d+1] and the tokens token_starts[d]:token_starts[d+1].
    Row by row, one row for each of its entries and one column for each of its labels,
    cells[grid_starts[d]:grid_starts[d+1]] says which cell a (type, label) pair counts in.
    """

    entry_starts: Int64
    times: Int32 | Float32
    label_starts: Int64
    labels: Int32
    token_starts: Int64
    grid_starts: Int64
    cells: Int32
    cell_starts: Int64
    """Label c owns the cells cell_starts[c]:cell_starts[c+1]."""
    cell_words: Int32
    """The word of each cell, ascending within a label."""


@njit(nogil=True, cache=True)
def count_cells(entry_starts, words, member_starts, members, n_words):  # type: ignore[no-untyped-def]
    """Return how many distinct words each label meets; label c is on its `members`, documents."""
    sizes = np.zeros(member_starts.size - 1, np.int64)
    seen = np.full(n_words, -1, np.int32)
    for c in range(sizes.size):
        for m in range(member_starts[c], member_starts[c + 1]):
            d = members[m]
            for e in range(entry_starts[d], entry_starts[d + 1]):
                if seen[words[e]] != c:
                    seen[words[e]] = c
                    sizes[c] += 1
    return sizes


@njit(nogil=True, cache=True)
def place_cells(  # type: ignore[no-untyped-def]
    entry_starts, words, label_starts, member_starts, members, columns, grid_starts,
    cell_starts, cell_words, cells, n_words,
):  # fmt: skip
    """Set cell_words and cells; `columns` is each member's place of the label among its labels."""
    seen = np.full(n_words, -1, np.int32)
    place = np.empty(n_words, np.int32)
    for c in range(member_starts.size - 1):
        end = cell_starts[c]
        for m in range(member_starts[c], member_starts[c + 1]):
            d = members[m]
            for e in range(entry_starts[d], entry_starts[d + 1]):
                if seen[words[e]] != c:
                    seen[words[e]] = c
                    cell_words[end] = words[e]
                    end += 1
        own = cell_words[cell_starts[c] : end]
        own.sort()
        for k in range(own.size):
            place[own[k]] = cell_starts[c] + k
        for m in range(member_starts[c], member_starts[c + 1]):
            d = members[m]
            n_labels = label_starts[d + 1] - label_starts[d]
            at = grid_starts[d] + columns[m]
            for e in range(entry_starts[d], entry_starts[d + 1]):
                cells[at] = place[words[e]]
                at += n_labels


@njit(nogil=True, cache=True)
def start(layout, z, key, gamma):  # type: ignore[no-untyped-def]
    """Set each z to one of its document's labels, drawn alike; its number is that of sweep 0."""
    for d in range(layout.label_starts.size - 1):
        n_labels = layout.label_starts[d + 1] - layout.label_starts[d]
        for i in range(layout.token_starts[d], layout.token_starts[d + 1]):
            z[i] = int(uniform(key, gamma, i) * n_labels)


@njit(nogil=True, cache=True)
def tally(layout, z, cell_counts, label_counts):  # type: ignore[no-untyped-def]
    """Set N_wc (cell_counts) and N_c (label_counts) to what z says."""
    cell_counts[:] = 0
    label_counts[:] = 0
    for d in range(layout.label_starts.size - 1):
        first = layout.label_starts[d]
        n_labels = layout.label_starts[d + 1] - first
        if n_labels == 0:
            continue
        i = layout.token_starts[d]
        row = layout.grid_starts[d]
        for e in range(layout.entry_starts[d], layout.entry_starts[d + 1]):
            for _ in range(layout.times[e]):
                cell_counts[layout.cells[row + z[i]]] += 1
                label_counts[layout.labels[first + z[i]]] += 1
                i += 1
            row += n_labels


@njit(nogil=True, cache=True, error_model="numpy")
def sweep(  # type: ignore[no-untyped-def]
    layout, documents, z, cell_counts, label_counts, eta, beta, n_words, key, gamma, counter
):  # fmt: skip
    """Mutate z, N_wc and N_c: one Gibbs update of every token of `documents`, eq. 2.

    P(z_i = c) ∝ (N_wc + β)/(N_c + Wβ) · (N_cd + η/|c_d|), counts without token i. Token i of sweep
    s uses number `counter` + i of the stream, counter = s · tokens.
    """
    widest = 0
    for d in documents:
        widest = max(widest, layout.label_starts[d + 1] - layout.label_starts[d])
    n_cd = np.empty(widest, np.int64)
    n_c = np.empty(widest, np.int64)
    share = np.empty(widest, np.float64)  # (N_cd + η/|c_d|)/(N_c + Wβ) of each label
    upto = np.empty(widest, np.float64)
    w_beta = n_words * beta
    for d in documents:
        first = layout.label_starts[d]
        n_labels = layout.label_starts[d + 1] - first
        alpha = eta / n_labels
        n_cd[:n_labels] = 0
        for i in range(layout.token_starts[d], layout.token_starts[d + 1]):
            n_cd[z[i]] += 1
        for j in range(n_labels):
            n_c[j] = label_counts[layout.labels[first + j]]
            share[j] = (n_cd[j] + alpha) / (n_c[j] + w_beta)
        i = layout.token_starts[d]
        row = layout.grid_starts[d]
        for e in range(layout.entry_starts[d], layout.entry_starts[d + 1]):
            for _ in range(layout.times[e]):
                old = np.int64(z[i])
                old_share = share[old]
                share[old] = (n_cd[old] - 1 + alpha) / (n_c[old] - 1 + w_beta)
                cell_counts[layout.cells[row + old]] -= 1
                total = 0.0
                for j in range(n_labels):
                    total += (cell_counts[layout.cells[row + j]] + beta) * share[j]
                    upto[j] = total
                at = uniform(key, gamma, counter + i) * total
                new = 0
                for j in range(n_labels - 1):
                    new += upto[j] < at
                cell_counts[layout.cells[row + new]] += 1
                if new == old:
                    share[old] = old_share
                else:
                    z[i] = new
                    n_cd[old] -= 1
                    n_c[old] -= 1
                    n_cd[new] += 1
                    n_c[new] += 1
                    share[new] = (n_cd[new] + alpha) / (n_c[new] + w_beta)
                i += 1
            row += n_labels
        for j in range(n_labels):
            label_counts[layout.labels[first + j]] = n_c[j]


@njit(nogil=True, cache=True)
def log_likelihood(layout, z, cell_counts, label_counts, eta, beta, n_words):  # type: ignore[no-untyped-def]
    """Return log P(w, z) with φ and θ integrated out, over documents that have labels."""
    table = np.empty(256, np.float64)  # most cells count a few tokens
    for n in range(table.size):
        table[n] = math.lgamma(n + beta) - math.lgamma(beta)
    total = 0.0
    for n in cell_counts:
        total += table[n] if n < table.size else math.lgamma(n + beta) - math.lgamma(beta)
    for n in label_counts:
        total += math.lgamma(n_words * beta) - math.lgamma(n + n_words * beta)
    widest = 0
    for d in range(layout.label_starts.size - 1):
        widest = max(widest, layout.label_starts[d + 1] - layout.label_starts[d])
    n_cd = np.empty(widest, np.int64)
    for d in range(layout.label_starts.size - 1):
        n_labels = layout.label_starts[d + 1] - layout.label_starts[d]
        if n_labels == 0:
            continue
        alpha = eta / n_labels
        n_cd[:n_labels] = 0
        for i in range(layout.token_starts[d], layout.token_starts[d + 1]):
            n_cd[z[i]] += 1
        n_d = layout.token_starts[d + 1] - layout.token_starts[d]
        total += math.lgamma(eta) - math.lgamma(n_d + eta)
        for j in range(n_labels):
            if n_cd[j]:
                total += math.lgamma(n_cd[j] + alpha) - math.lgamma(alpha)
    return total


@njit(nogil=True, cache=True)
def expected_start(layout, weights, shares, cell_counts, label_counts):  # type: ignore[no-untyped-def]
    """Set each entry's shares to 1/|c_d|, and N_wc and N_c to what they give, by weight."""
    cell_counts[:] = 0.0
    label_counts[:] = 0.0
    for d in range(layout.label_starts.size - 1):
        first = layout.label_starts[d]
        n_labels = layout.label_starts[d + 1] - first
        at = layout.grid_starts[d]
        for e in range(layout.entry_starts[d], layout.entry_starts[d + 1]):
            for j in range(n_labels):
                share = np.float32(1.0) / np.float32(n_labels)
                shares[at] = share
                cell_counts[layout.cells[at]] += weights[d] * (layout.times[e] * share)
                label_counts[layout.labels[first + j]] += weights[d] * (layout.times[e] * share)
                at += 1


@njit(nogil=True, cache=True, error_model="numpy")
def expect(  # type: ignore[no-untyped-def]
    layout, documents, weights, shares, cell_counts, label_counts, eta, beta, n_words, background
):  # fmt: skip
    """Mutate shares, N_wc and N_c: one pass with expectations for the draws of eq. 2 (CVB0).

    The x tokens of one type in one document share their expectations r_c, which become
    (N_wc − xr + β)/(N_c − xr + Wβ) · (N_cd − xr + η/|c_d|), normalised: counts without these x.
    (A word repeated in a document would otherwise be its own evidence.) If `background` is above 0,
    a document's last label is the one that all documents share: it has this share of η. Of a
    document of weight m, N_wc and N_c have m x tokens for its x. Returns Σ m · times · |change of
    shares| over the entries.
    """
    widest = 0
    for d in documents:
        widest = max(widest, layout.label_starts[d + 1] - layout.label_starts[d])
    n_cd = np.empty(widest, np.float64)
    n_c = np.empty(widest, np.float64)
    weight = np.empty(widest, np.float64)
    alpha = np.empty(widest, np.float64)
    w_beta = n_words * beta
    change = 0.0
    for d in documents:
        first = layout.label_starts[d]
        n_labels = layout.label_starts[d + 1] - first
        m = weights[d]
        alpha[:n_labels] = eta / n_labels
        if background > 0.0 and n_labels > 1:
            alpha[: n_labels - 1] = eta * (1.0 - background) / (n_labels - 1)
            alpha[n_labels - 1] = eta * background
        n_cd[:n_labels] = 0.0
        at = layout.grid_starts[d]
        for e in range(layout.entry_starts[d], layout.entry_starts[d + 1]):
            for j in range(n_labels):
                n_cd[j] += layout.times[e] * np.float64(shares[at])
                at += 1
        for j in range(n_labels):
            n_c[j] = label_counts[layout.labels[first + j]]
        row = layout.grid_starts[d]
        for e in range(layout.entry_starts[d], layout.entry_starts[d + 1]):
            times = layout.times[e]
            total = 0.0
            for j in range(n_labels):
                own = times * np.float64(shares[row + j])
                # Rounding may leave a count a hair below what is taken out of it.
                weight[j] = (
                    (max(cell_counts[layout.cells[row + j]] - m * own, 0.0) + beta)
                    * (max(n_cd[j] - own, 0.0) + alpha[j])
                    / (max(n_c[j] - m * own, 0.0) + w_beta)
                )
                total += weight[j]
            for j in range(n_labels):
                before = np.float64(shares[row + j])
                shares[row + j] = weight[j] / total
                step = times * (np.float64(shares[row + j]) - before)
                cell_counts[layout.cells[row + j]] += m * step
                n_cd[j] += step
                n_c[j] += m * step
                change += m * abs(step)
            row += n_labels
        for j in range(n_labels):
            label_counts[layout.labels[first + j]] = n_c[j]
    return change


@njit(nogil=True, cache=True)
def add_changes(counts, before, has_changed, where, values):  # type: ignore[no-untyped-def]
    """Mutate counts, which were `before`, to what they are after one more shard's changes.

    The shard has left values[i] of counts[where[i]]. The first change of a count is taken as it is,
    others by their difference: a sum of differences alone would be off in the last bit where there
    is only one.
    """
    for i in range(where.size):
        w = where[i]
        if values[i] != before[w]:
            if has_changed[w]:
                counts[w] += values[i] - before[w]
            else:
                counts[w], has_changed[w] = values[i], True


def lay_out(
    entry_starts: Int64, words: Int32, times: Int32 | Float32, label_starts: Int64, labels: Int32,
    n_words: int, n_labels: int,
) -> Layout:  # fmt: skip
    """Return the layout of documents given as csr counts and csr labels; sums fit 64 bits.

    Expectations take counts that are not whole too; there are no tokens to draw then.
    """
    documents = np.repeat(np.arange(len(label_starts) - 1), np.diff(label_starts))
    order = np.argsort(labels, kind="stable")
    members = documents[order]
    columns = (np.arange(len(labels)) - label_starts[documents])[order]
    member_starts = _starts(np.bincount(labels, minlength=n_labels))
    sizes = count_cells(entry_starts, words, member_starts, members, n_words)
    cell_starts = _starts(sizes)
    lengths = document_lengths(entry_starts, times)
    grid_starts = _starts(np.diff(entry_starts) * np.diff(label_starts))
    cell_words = np.empty(cell_starts[-1], dtype=np.int32)
    cells = np.empty(grid_starts[-1], dtype=np.int32)
    place_cells(
        entry_starts, words, label_starts, member_starts, members, columns, grid_starts,
        cell_starts, cell_words, cells, n_words,
    )  # fmt: skip
    return Layout(
        entry_starts, times, label_starts, labels, _starts(lengths), grid_starts, cells,
        cell_starts, cell_words,
    )  # fmt: skip


def document_lengths(entry_starts: Int64, times: Int32 | Float32) -> Int64:
    """Return how many tokens documents have; fractions are rounded up."""
    sums = np.add.reduceat(np.append(times, 0), entry_starts[:-1], dtype=np.float64)
    lengths = np.ceil(sums).astype(np.int64)
    lengths[np.diff(entry_starts) == 0] = 0
    return lengths


def _starts(sizes: Int64) -> Int64:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
