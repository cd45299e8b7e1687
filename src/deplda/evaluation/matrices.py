"""What comes in: scores, dense or the top k, and truth, checked once and left as they are."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse

from deplda.data.corpus import Corpus
from deplda.errors import InputError

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Sparse = csr_array[Any, tuple[int, int]]
Scores = npt.NDArray[Any] | Sparse
"""Documents × labels. In a sparse one, what is not stored ties below all that is stored."""


def read_truth(truth: Any, what: str = "truth") -> Sparse:
    """Return a matrix of zeros and ones, or the labels of a corpus, as sparse booleans."""
    if isinstance(truth, Corpus):
        truth = truth.labels
    if not issparse(truth):
        truth = _as_matrix(truth, what)
    if truth.dtype.kind not in "biuf":
        raise InputError(f"{what} is of type {truth.dtype}; it must hold 0 and 1, or booleans")
    matrix = csr_array(truth, copy=True)
    good = (matrix.data == 0) | (matrix.data == 1)
    if not good.all():
        value = matrix.data[np.flatnonzero(~good)[0]]
        raise InputError(
            f"{what} holds the value {value!s}; only 0 and 1 are allowed. "
            "Scores go first: evaluate(scores, truth, ...)"
        )
    matrix = matrix.astype(bool, copy=False)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    if 0 in matrix.shape:
        raise InputError(
            f"{what} has {matrix.shape[0]:,} documents and {matrix.shape[1]:,} labels; "
            "there must be at least one of each"
        )
    return matrix


def read_scores(scores: Any, shape: tuple[int, int]) -> Scores:
    """Return scores of this shape, dense or sparse, without a copy wherever that is possible."""
    if isinstance(scores, tuple):
        scores = _from_pair(scores, shape)
    elif not issparse(scores):
        scores = _as_matrix(scores, "scores")
    same_shape(scores.shape, shape, "scores")
    if scores.dtype.kind not in "biuf":
        raise InputError(f"scores are of type {scores.dtype}; they must be real numbers")
    if not issparse(scores):
        if scores.dtype.kind == "f" and np.isnan(scores.min()):
            row = next(row for row in range(shape[0]) if np.isnan(scores[row].min()))
            _refuse_nan(row, int(np.isnan(scores[row]).argmax()))
        return np.asarray(scores)
    matrix: Sparse = csr_array(cast(Any, scores))
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if matrix.dtype.kind == "f" and np.isnan(matrix.data).any():
        at = int(np.isnan(matrix.data).argmax())
        row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
        _refuse_nan(row, int(matrix.indices[at]))
    return matrix


def same_shape(shape: tuple[int, ...], truth: tuple[int, int], what: str) -> None:
    """Refuse a matrix that is not of the shape of the truth."""
    if tuple(shape) != tuple(truth):
        raise InputError(
            f"{what} are {shape[0]:,} × {shape[1]:,} but the truth is {truth[0]:,} × {truth[1]:,}; "
            "both need one row for each document and one column for each label"
        )


def _as_matrix(values: Any, what: str) -> npt.NDArray[Any]:
    try:
        matrix = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{what}: rows are not of one length; give documents × labels") from error
    if matrix.ndim != 2:
        raise InputError(f"{what}: {matrix.ndim} dimensions; 2 are needed, documents × labels")
    return matrix


def _from_pair(pair: tuple[Any, ...], shape: tuple[int, int]) -> Sparse:
    """Return the sparse matrix of (labels, scores), each documents × k; label −1 is no label."""
    if len(pair) != 2:
        raise InputError(
            f"scores are {len(pair)} arrays; top-k scores are two, (labels, scores), "
            "each documents × k"
        )
    labels, values = (_as_matrix(part, f"top-k {n}") for part, n in zip(pair, _PAIR, strict=True))
    if labels.shape != values.shape or len(labels) != shape[0]:
        raise InputError(
            f"top-k labels are {labels.shape} and scores {values.shape} for {shape[0]:,} "
            "documents; both must be documents × k"
        )
    outside = (labels < -1) | (labels >= shape[1])
    if labels.dtype.kind not in "iu" or outside.any():
        value = labels[outside][0] if outside.any() else labels.dtype
        raise InputError(
            f"top-k labels hold {value!s}; they are whole numbers from 0 to {shape[1] - 1:,}, "
            "or −1 for none"
        )
    given = labels >= 0
    ends = np.concatenate([[0], np.cumsum(given.sum(axis=1))])
    matrix = csr_array((values[given], labels[given].astype(np.int64), ends), shape=shape)
    matrix.sort_indices()
    rows = np.repeat(np.arange(shape[0]), np.diff(ends))
    twice = (np.diff(matrix.indices) == 0) & (np.diff(rows) == 0)
    if twice.any():
        at = int(twice.argmax())
        raise InputError(
            f"the top k of document {rows[at]} has label {matrix.indices[at]} twice; "
            "give each label once, and −1 where there are fewer than k"
        )
    return matrix


_PAIR = ("labels", "scores")


def _refuse_nan(row: int, column: int) -> None:
    raise InputError(
        f"the score of label {column} for document {row} is NaN, which has no rank; "
        "replace it, for instance by −inf to rank it last"
    )
