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
