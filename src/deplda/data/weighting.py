"""How often a word counts that occurs n times in a document."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

_HARDLY_LONGER = 1.001  # weights are rounded

WordCounts = Literal["raw", "log"]
WORD_COUNTS = ("raw", "log")


def weighed(counts: npt.NDArray[Any], word_counts: WordCounts) -> npt.NDArray[Any]:
    """Return n, or 1 + ln n: a word that was used once is soon used again, and proves little."""
    return counts if word_counts == "raw" else logged(counts).astype(np.float32)


def logged(counts: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return 1 + ln n, or n where that is less than 1: they meet smoothly there."""
    return np.minimum(counts, 1 + np.log(np.maximum(counts, 1), dtype=np.float64))


def whole(counts: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Return the nearest whole numbers, as many tokens as are drawn."""
    return np.rint(counts).astype(np.int32)


def label_frequencies(
    labels: Any, weights: npt.NDArray[np.float64] | None
) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
    """Return how many documents have each label, each counted as often as its weight says."""
    n_each = None if weights is None else np.repeat(weights, np.diff(labels.indptr))
    return np.bincount(labels.indices, n_each, minlength=labels.shape[1])


def whole_copies(weights: npt.NDArray[np.float64], seed: int) -> npt.NDArray[np.int64]:
    """Return how often each document stands among those that chains draw from.

    A fraction becomes one copy more or none, such that of any documents that follow each other
    there are as many copies as their weights sum to, one more or one less.
    """
    whole = np.floor(weights)
    upto = np.cumsum(weights - whole) + np.random.default_rng(seed).random()
    return (whole + np.diff(np.floor(upto), prepend=0.0)).astype(np.int64)


def are_scaled_down(counts: Any) -> bool:
    """Return whether rows are weights of length 1 or less, as tf-idf is, rather than counts.

    Nearly all that have fractions must be, and most must have some: a word that counts ½, since it
    stands at the end of a document, or 1 + ln n, is no such weight.
    """
    if counts.dtype.kind != "f":
        return False
    n, row_of = counts.shape[0], np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    has_fractions = np.bincount(row_of, counts.data != np.floor(counts.data), n) > 0
    is_short = np.bincount(row_of, np.square(counts.data, dtype=np.float64), n) < _HARDLY_LONGER**2
    n_fractional, n_filled = np.count_nonzero(has_fractions), len(np.unique(row_of))
    return bool(
        n_fractional
        and 2 * n_fractional >= n_filled
        and np.count_nonzero(has_fractions & is_short) >= 0.95 * n_fractional
    )
