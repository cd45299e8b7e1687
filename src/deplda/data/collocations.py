"""Which words are kept: those of enough tokens, and of pairs those that belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from deplda.data import checks
from deplda.data.names import MARK

_LEAST_RATIO = 10.83
"""Of the log-likelihood ratio: pairs beyond it would be one in a thousand by chance (χ², 1 d.f.)"""

Numbers = npt.NDArray[np.int64]


def auto_min_count(n_tokens: int, most: int = 3) -> int:
    """Return the default threshold: one for every 50,000 tokens, at least 1 and at most `most`."""
    # Rare words belong to rare labels. With 20, as in the paper, average precision on labels with
    # at most five documents is .40 on Debian's package descriptions; with 3 it is .61.
    return max(1, min(most, n_tokens // 50_000))


def resolve_min_count(min_count: int | Literal["auto"], n_tokens: int) -> int:
    """Return the threshold that `min_count` means for training texts of `n_tokens`."""
    if min_count == "auto":
        return auto_min_count(n_tokens)
    return checks.whole("min_count", min_count, or_else="'auto' or ")


def chosen_words(
    words: Sequence[str],
    totals: Numbers,
    min_count: int | Literal["auto"],
    n_tokens: int | None = None,
) -> tuple[Numbers, int]:
    """Return the places of the words to keep, and the tokens that a word must have.

    A sequence of words is kept if it is met more often than its last word follows what stands
    before it by chance: Dunning's log-likelihood ratio G² is beyond the 0.1 % of χ². Of such
    sequences those of the highest G² are kept, at most as many as words. What is counted for the
    sake of names is no word. `n_tokens` is how many words the texts have, where `totals` are not of
    all of them.
    """
    pairs = _sequences(words)
    is_single = np.array([not word.endswith(MARK) for word in words], dtype=bool)
    is_single[pairs[:, 0]] = False
    n_tokens = int(totals[is_single].sum()) if n_tokens is None else n_tokens
    least = resolve_min_count(min_count, n_tokens)
    single = np.flatnonzero(is_single & (totals >= least))
    pairs = pairs[totals[pairs[:, 0]] >= least]
    n_both, n_before, n_last = totals[pairs].T
    ratio = log_likelihood_ratio(n_both, n_before, n_last, n_tokens)
    together = np.flatnonzero(ratio > _LEAST_RATIO)
    best = together[np.argsort(-ratio[together], kind="stable")][: len(single)]
    return np.sort(np.concatenate([single, pairs[best, 0]])), least


def chosen_of(
    totals: Mapping[str, int], min_count: int | Literal["auto"], n_tokens: int | None = None
) -> tuple[tuple[str, ...], int]:
    """Return the words to keep of those counted, sorted, and the tokens that a word must have."""
    words = sorted(totals)
    counts = np.array([totals[word] for word in words], dtype=np.int64)
    kept, least = chosen_words(words, counts, min_count, n_tokens)
    return tuple([words[place] for place in kept]), least


def _sequences(words: Sequence[str]) -> Numbers:
    """Return the place of each sequence of words, of all but its last word, and of its last."""
    places = {word: place for place, word in enumerate(words)}
    found = [
        (place, places[before], places[last])
        for word, place in places.items()
        for before, blank, last in (word.rpartition(" "),)
        if blank and before in places and last in places and not word.endswith(MARK)
    ]
    return np.array(found, dtype=np.int64).reshape(-1, 3)


def log_likelihood_ratio(
    n_both: Numbers, n_first: Numbers, n_second: Numbers, n: int
) -> npt.NDArray[np.float64]:
    """Return G² of pairs met `n_both` times; 0 where that is no more often than by chance.

    Of n places, `n_first` and `n_second` have the first and the second word: the table of those
    that have both, one or none of them against the one expected of independent words.
    """
    first, second = np.minimum(n_first, n), np.minimum(n_second, n)
    rows = [n_both, first - n_both, second - n_both, n - first - second + n_both]
    sums = [(first, second), (first, n - second), (n - first, second), (n - first, n - second)]
    terms = [
        xlogy(seen, np.maximum(seen, 1) * float(n) / np.maximum(a.astype(float) * b, 1))
        for seen, (a, b) in zip((np.maximum(row, 0) for row in rows), sums, strict=True)
    ]
    is_more = n_both * float(n) > first.astype(float) * second
    return np.where(is_more, 2 * np.sum(terms, axis=0), 0.0)
