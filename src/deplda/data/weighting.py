"""How often a word counts that occurs n times in a document."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

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
