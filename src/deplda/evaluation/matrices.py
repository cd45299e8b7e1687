"""What comes in: scores, dense or the top k, and truth, checked once and left as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse

from deplda.data.corpus import Corpus, canonical, indicator, sparse_rows
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
        truth = as_matrix(truth, what)
    if truth.dtype.kind not in "biuf":
        raise InputError(f"{what} is of type {truth.dtype}; it must hold 0 and 1, or booleans")
    matrix = indicator(
        truth,
        what + " holds the value {}; only 0 and 1 are allowed. "
        "Scores go first: evaluate(scores, truth, ...)",
    )
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
        scores = as_matrix(scores, "scores")
    same_shape(scores.shape, shape, "scores")
    if scores.dtype.kind not in "biuf":
        raise InputError(f"scores are of type {scores.dtype}; they must be real numbers")
    if not issparse(scores):
        if scores.dtype.kind == "f" and np.isnan(scores.min()):
            raise _nan_at(*np.argwhere(np.isnan(scores))[0].tolist())
        return np.asarray(scores)
    matrix: Sparse = canonical(scores)
    if matrix.dtype.kind == "f" and np.isnan(matrix.data).any():
        rows, columns = matrix.tocoo().coords
        at = int(np.isnan(matrix.data).argmax())
        raise _nan_at(int(rows[at]), int(columns[at]))
    return matrix


def same_shape(shape: tuple[int, ...], truth: tuple[int, int], what: str) -> None:
    """Raise if a matrix is not of the shape of the truth."""
    if tuple(shape) != tuple(truth):
        raise InputError(
            f"{what} are {shape[0]:,} × {shape[1]:,} but the truth is {truth[0]:,} × {truth[1]:,}; "
            "both need one row for each document and one column for each label"
        )


def as_matrix(values: Any, what: str) -> npt.NDArray[Any]:
    """Return an array of two dimensions, or raise."""
    try:
        matrix = np.asarray(values)
    except ValueError:  # rows of several lengths
        matrix = np.zeros(0)
    if matrix.ndim != 2:
        raise InputError(f"{what} must have two dimensions, documents × labels")
    return matrix


def _from_pair(pair: tuple[Any, ...], shape: tuple[int, int]) -> Sparse:
    """Return the sparse matrix of (labels, scores), each documents × k; label −1 is none."""
    labels, values = as_matrix(pair[0], "top-k labels"), as_matrix(pair[1], "top-k scores")
    if labels.shape != values.shape or len(labels) != shape[0]:
        raise InputError(
            f"top-k labels are {labels.shape} and scores {values.shape} for {shape[0]:,} "
            "documents; both must be documents × k"
        )
    if labels.dtype.kind not in "iu" or ((labels < -1) | (labels >= shape[1])).any():
        raise InputError(
            f"top-k labels must be whole numbers from 0 to {shape[1] - 1:,}, or −1 for none"
        )
    matrix: Sparse = sparse_rows(labels.astype(np.int64), values, labels >= 0, shape[1])
    rows = np.repeat(np.arange(shape[0]), np.diff(matrix.indptr))
    twice = (np.diff(matrix.indices) == 0) & (np.diff(rows) == 0)
    if twice.any():
        at = int(twice.argmax())
        raise InputError(
            f"the top k of document {rows[at]} has label {matrix.indices[at]} twice; "
            "give each label once, and −1 where there are fewer than k"
        )
    return matrix


def _nan_at(row: int, column: int) -> InputError:
    return InputError(
        f"the score of label {column} for document {row} is NaN, which has no rank; "
        "replace it, for instance by −inf to rank it last"
    )
