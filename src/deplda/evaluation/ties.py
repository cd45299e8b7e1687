"""Sort once: where the positives of every item stand, in groups of equal score.

An *item* is what is evaluated (a document, or a label), its *candidates* are what is ranked for it
(the labels, or the documents). All metrics follow from the groups of equal score that hold a
positive, so nothing else is kept: memory is that of the positives, not of the scores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from deplda.data import checks
from deplda.evaluation.matrices import Bools, Floats, Ints, Scores, Sparse

TIES = ("expected", "order")
BLOCK = 2**21
"""Scores that are sorted at a time."""
_SOONER = 4
"""How many cells of an array are sorted in the time that one stored score takes, or less."""


@dataclass(frozen=True, slots=True, eq=False)
class TieGroups:
    """Groups of equal score that hold a positive, item by item and from the top down.

    In an order drawn at random among equals, a group takes the ranks ``above + 1`` to
    ``above + size``, and each of these holds a positive with probability ``hits / size``.
    """

    item: Ints
    """Whose group it is."""
    above: Ints
    """Candidates of a higher score."""
    size: Ints
    """Candidates of this score."""
    hits: Ints
    """Positives of this score."""
    hits_above: Ints
    """Positives of a higher score."""
    positives: Ints
    """Positives of each item."""
    n_candidates: int
    candidate: Ints
    """Which candidate each positive is, item by item."""
    group: Ints
    """The group of each positive."""

    @property
    def n_items(self) -> int:
        """Number of items, with and without positives."""
        return len(self.positives)

    @property
    def last(self) -> Bools:
        """Which groups are the lowest of their items."""
        return self.hits_above + self.hits == self.positives[self.item]

    def total(self, values: npt.NDArray[Any]) -> Floats:
        """Return the sum of the groups' values for each item."""
        return sums(self.item, values, self.n_items)

    def defined(self, values: Floats) -> Floats:
        """Return the items' values, NaN for an item without positives."""
        return np.where(self.positives > 0, values, np.nan)


def tie_groups(
    scores: Scores,
    truth: Sparse,
    rows: Ints | None = None,
    columns: Ints | None = None,
    ties: str = "expected",
) -> TieGroups:
    """Return the groups of every row of `truth`: items × candidates.

    The item in row i of `truth` is row ``rows[i]`` of `scores`, its candidate j is column
    ``columns[j]``; None means all, in their order. With ``ties="order"`` equals are ranked in the
    order of their columns, so that every group has one candidate.
    """
    checks.choice("ties", ties, TIES)
    if not isinstance(scores, np.ndarray) and _are_mostly_stored(scores):
        scores = _filled(scores)
    if isinstance(scores, np.ndarray):
        above, size = _dense_places(scores, truth, rows, columns, ties == "order")
    else:
        above, size = _stored_places(scores, truth, rows, columns, ties == "order")
    n_items, n_candidates = truth.shape
    starts_of = truth.indptr.astype(np.int64)
    positives = np.diff(starts_of)
    item = np.repeat(np.arange(n_items), positives)
    key = item * np.int64(n_candidates + 1) + above
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    hits = np.diff(starts, append=len(key))
    group = np.empty(len(key), dtype=np.int64)
    group[order] = np.repeat(np.arange(len(starts)), hits)
    first = order[starts]
    return TieGroups(
        item=item[first],
        above=above[first],
        size=size[first],
        hits=hits,
        hits_above=starts - starts_of[item[first]],
        positives=positives,
        n_candidates=n_candidates,
        candidate=truth.indices.astype(np.int64),
        group=group,
    )


def sums(places: Ints, values: npt.NDArray[Any], n: int) -> Floats:
    """Return the sum of the values at each of n places."""
    return np.bincount(places, weights=values, minlength=n).astype(np.float64, copy=False)


def _dense_places(
    scores: npt.NDArray[Any], truth: Sparse, rows: Ints | None, columns: Ints | None, in_order: bool
) -> tuple[Ints, Ints]:
    """Return, for each positive, the candidates above it and those of its score."""
    n_items, n = truth.shape
    above, size = np.empty((2, truth.nnz), dtype=np.int64)
    step = max(1, BLOCK // n)
    for start in range(0, n_items, step):
        end = min(start + step, n_items)
        block = scores[start:end] if rows is None else scores[rows[start:end]]
        block = np.ascontiguousarray(block if columns is None else block[:, columns])
        mine = slice(truth.indptr[start], truth.indptr[end])
        row = np.repeat(np.arange(end - start), np.diff(truth.indptr[start : end + 1]))
        column = truth.indices[mine]
        if in_order:
            above[mine], size[mine] = _ranks(block)[row, column], 1
        else:
            ordered = np.sort(block, axis=1).ravel()
            begin = row * n
            above[mine], size[mine] = _places(ordered, begin, begin + n, block[row, column])
    return above, size


def _are_mostly_stored(scores: Sparse) -> bool:
    """Return whether rows of an array are sorted sooner than what is stored of them."""
    if scores.dtype.kind != "f" or scores.nnz * _SOONER < math.prod(scores.shape):
        return False
    return scores.nnz > 0 and bool(scores.data.min() > -np.inf)


def _filled(scores: Sparse) -> npt.NDArray[Any]:
    """Return the scores as an array, what is not stored below all others."""
    full = np.full(scores.shape, -np.inf, dtype=scores.dtype)
    row_of = np.repeat(np.arange(scores.shape[0]), np.diff(scores.indptr))
    full[row_of, scores.indices] = scores.data
    return full


def _stored_places(
    scores: Sparse, truth: Sparse, rows: Ints | None, columns: Ints | None, in_order: bool
) -> tuple[Ints, Ints]:
    """Return the same for sparse scores; what is not stored ties at the bottom."""
    scores = scores if rows is None else scores[rows]
    scores = scores if columns is None else scores[:, columns]
    scores.sort_indices()
    n_items, n = truth.shape
    starts = scores.indptr.astype(np.int64)
    row_of = np.repeat(np.arange(n_items), np.diff(starts))
    by_score = np.lexsort((-scores.indices, scores.data)) if in_order else np.argsort(scores.data)
    # Rows as small numbers: those of 16 bits are sorted in a time that grows with their number.
    rows_by_score = row_of.astype(np.min_scalar_type(n_items))[by_score]
    order = by_score[np.argsort(rows_by_score, kind="stable")]
    keys = row_of * np.int64(n) + scores.indices
    row = np.repeat(np.arange(n_items), np.diff(truth.indptr))
    wanted = row * np.int64(n) + truth.indices
    at = np.searchsorted(keys, wanted)
    stored = at < len(keys)
    stored[stored] = keys[at[stored]] == wanted[stored]
    above = np.diff(starts)[row]
    if in_order:
        places = np.empty(len(order), dtype=np.int64)
        places[order] = starts[row_of + 1] - 1 - np.arange(len(order))
        above += truth.indices - (at - starts[row])  # after the columns before it, if not stored
        above[stored] = places[at[stored]]
        return above, np.ones_like(above)
    size = n - above
    begin, end = starts[row[stored]], starts[row[stored] + 1]
    above[stored], size[stored] = _places(scores.data[order], begin, end, scores.data[at[stored]])
    return above, size


def _ranks(block: npt.NDArray[Any]) -> Ints:
    """Return the candidates before each, from the highest score down and equals in their order."""
    n = block.shape[1]
    ascending = np.argsort(block[:, ::-1], axis=1, kind="stable")
    ranks = np.empty_like(ascending)
    np.put_along_axis(ranks, ascending, np.arange(n - 1, -1, -1)[None, :], axis=1)
    return ranks[:, ::-1]


def _places(
    ordered: npt.NDArray[Any], begin: Ints, end: Ints, values: npt.NDArray[Any]
) -> tuple[Ints, Ints]:
    """Return how many of the ascending ``ordered[begin:end]`` exceed each value, and equal it."""
    left = _search(ordered, begin, end, values, np.less)
    right = _search(ordered, left, end, values, np.less_equal)
    return end - right, right - left


def _search(
    ordered: npt.NDArray[Any], begin: Ints, end: Ints, values: npt.NDArray[Any], before: np.ufunc
) -> Ints:
    """Return where each value would go, by one binary search for all of them at once."""
    low, high = begin.astype(np.int64), end.astype(np.int64)
    while (low < high).any():
        middle = (low + high) // 2
        # Where low has met high the probe is idle: `middle` may then be one past the end.
        smaller = before(ordered[np.minimum(middle, len(ordered) - 1)], values) & (low < high)
        high = np.where(smaller, high, middle)
        low = np.where(smaller, middle + 1, low)
    return low
