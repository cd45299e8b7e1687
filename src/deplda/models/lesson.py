"""What a model learns from: counts, labels and weights of documents, as users hand them in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from deplda.data.corpus import Corpus
from deplda.data.evidence import Documents, ids_of
from deplda.data.targets import Indicator, Targets
from deplda.errors import InputError

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

MOST_WEIGHT = 1e3


class Lesson(NamedTuple):
    """Documents to learn from."""

    counts: csr_array[Any, tuple[int, int]]
    labels: Indicator
    weights: Floats | None
    """How many documents each counts as; None where each is one."""
    rows: Numbers | None = None
    """Which of the documents handed in these are, where some are left out: those of weight 0."""

    def only(self, rows: Numbers) -> Lesson:
        """Return some of the documents."""
        weights = None if self.weights is None else self.weights[rows]
        return Lesson(self.counts[rows], self.labels[rows], weights)


def weighted(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Floats | None, Numbers | None]:
    """Return X, y and weights without the documents of weight 0, and the rows that are left.

    Weights that are all 1 say nothing, and are None, as rows are where all are left.
    """
    if sample_weight is None:
        return X, y, None, None
    weights = _checked(sample_weight, _num_samples(Documents.of(X).X))
    if y is not None and not is_read(y) and (n := _num_samples(y)) != len(weights):
        raise InputError(
            f"X has {len(weights):,} documents but y has {n:,}; both need one row for each document"
        )
    if weights.all():
        return X, y, None if (weights == 1).all() else weights, None
    rows = np.flatnonzero(weights)
    if not len(rows):
        raise InputError(
            f"sample_weight is zero for all of {len(weights):,} documents; "
            "there is nothing to learn from"
        )
    kept = weights[rows]
    return taken(X, rows), taken(y, rows), None if (kept == 1).all() else kept, rows


def taken(values: Any, rows: Numbers | None) -> Any:
    """Return some rows of whatever has one for each document; all if none are named."""
    if values is None or rows is None:
        return values
    if isinstance(values, Corpus):
        return values[rows]
    if isinstance(values, Documents):
        ids = ids_of(values, _num_samples(values.X))
        return replace(
            values, X=taken(values.X, rows), ids=[ids[row] for row in rows],
            embeddings=taken(values.embeddings, rows),
        )  # fmt: skip
    if is_read(values):
        return values[0][rows], values[1]
    if (n := _num_samples(values)) <= rows[-1]:
        raise InputError(
            f"there are {n:,} values, none of document {rows[-1]}; give one for each document"
        )
    is_sparse = issparse(values)
    return _safe_indexing(values.tocsr() if is_sparse else values, rows)


def is_read(y: Any) -> bool:
    """Return whether labels have been read already."""
    return isinstance(y, tuple) and len(y) == 2 and isinstance(y[1], Targets)


def _checked(sample_weight: Any, n: int) -> Floats:
    """Return the weights of n documents as numbers."""
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"sample_weight holds what is no number: {error}") from error
    if weights.shape != (n,):
        raise InputError(
            f"sample_weight has the shape {weights.shape}; it needs one number for each of "
            f"{n:,} documents"
        )
    wrong = np.flatnonzero(~((weights >= 0) & (weights <= MOST_WEIGHT)))  # as NaN is
    if len(wrong):
        raise InputError(
            f"sample_weight of document {wrong[0]} is {weights[wrong[0]]:g}; a weight says how "
            f"many documents one counts as, from 0 (left out) to {MOST_WEIGHT:,.0f}"
        )
    return weights
