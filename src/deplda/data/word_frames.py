"""Counts of words as data frames, whose columns are called by the words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deplda.errors import InputError

_MOST_DENSE = 100_000_000


def frame_of(counts: Any, words: Sequence[str], library: str) -> Any:
    """Return counts, documents × words, as a frame of pandas (sparse) or polars (dense)."""
    if library == "pandas":
        import pandas as pd

        return pd.DataFrame.sparse.from_spmatrix(counts, columns=list(words))
    n_documents, n_words = counts.shape
    if n_documents * n_words > _MOST_DENSE:
        raise InputError(
            f"{n_documents:,} documents × {n_words:,} words are too many for a frame of "
            f"{library}, which has no sparse columns (at most {_MOST_DENSE:,}); "
            "use set_output(transform='pandas') or 'default'"
        )
    import polars as pl

    return pl.DataFrame(counts.toarray(), schema=list(words))
