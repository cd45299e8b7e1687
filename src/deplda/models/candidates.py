"""Which labels a document may have: a shortlist, found without a look at all labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, diags_array
from sklearn.preprocessing import normalize

from deplda.data.corpus import grown
from deplda.data.targets import Indicator
from deplda.engine.execution import Execution
from deplda.engine.pool import Stop
from deplda.kernels import shortlists

Sparse = csr_array[Any, tuple[int, int]]
Labels = npt.NDArray[np.int32]
Likeness = npt.NDArray[np.float32]

_ENTRIES = 100_000
"""Entries of an index that are read for a document: its light words, which most labels share, are
left out, so that the time does not grow with the number of labels (and recall does not fall)."""
_LEAST = 0.02
"""Words of a centroid that weigh less than this share of its heaviest are left out."""
_BATCH = 512


@dataclass(frozen=True, eq=False)
class Index:
    """What each word (or label) says for which labels: a sparse matrix, words × labels."""

    matrix: Sparse

    def nearest(self, rows: Sparse, k: int) -> tuple[Labels, Likeness]:
        """Return the k labels most like each row, best first, and how like; −1 where none is."""
        n, n_labels = rows.shape[0], self.matrix.shape[1]
        labels, likeness = np.empty((n, k), np.int32), np.empty((n, k), np.float32)
        starts, words, values = kernel_arrays(rows)
        owner = np.repeat(np.arange(n), np.diff(starts))
        order = np.lexsort((words, -values, owner))  # the heaviest words first
        look_up: Any = shortlists.nearest
        look_up(
            starts, words[order], values[order], *kernel_arrays(self.matrix), n_labels, _ENTRIES,
            labels, likeness,
        )  # fmt: skip
        return labels, likeness

    def products(self, rows: Sparse) -> npt.NDArray[np.float64]:
        """Return how like each row is to every label."""
        return np.asarray((rows @ self.matrix).toarray(), np.float64)

    def nearest_of_all(self, rows: Sparse, k: int, execution: Execution) -> Labels:
        """Return `nearest` of many rows, some after the other."""
        work = partial(_nearest, self, k)
        parts = execution.map_rows(work, rows, _BATCH, "ranking candidates of")
        return np.concatenate([np.zeros((0, k), np.int32), *parts])


class Centroids(NamedTuple):
    """The labels' mean documents, each of length one, and the lengths of the sums behind them."""

    nearby: Index
    lengths: npt.NDArray[np.float64]

    def with_more(self, features: Sparse, labels: Indicator) -> Centroids:
        """Return them with more documents added, which may have more words and labels."""
        before = csr_array(diags_array(self.lengths) @ self.nearby.matrix.T)
        older = grown(before, (labels.shape[1], features.shape[1]))
        return _centroids_of(csr_array(older + labels.T.astype(np.float32) @ features))


def centroids(
    features: Sparse, labels: Indicator, weights: npt.NDArray[np.float64] | None = None
) -> Centroids:
    """Return the labels' mean documents, each document counted as often as its weight says."""
    return _centroids_of(csr_array(_by_weight(labels, weights).T @ features))


def _centroids_of(sums: Sparse) -> Centroids:
    rows, lengths = mean_documents(sums)
    return Centroids(Index(_by_row(rows.T)), lengths)


def mean_documents(sums: Sparse) -> tuple[Sparse, npt.NDArray[np.float64]]:
    """Return labels' mean documents, labels × words, by the sums of their documents' features.

    And the lengths of the sums.
    """
    lengths = np.sqrt(np.asarray(sums.multiply(sums).sum(axis=1), np.float64).ravel())
    rows = normalize(sums, norm="l2", copy=False)
    largest = np.maximum.reduceat(np.append(rows.data, 0.0), rows.indptr[:-1])
    rows.data[rows.data < _LEAST * np.repeat(largest, np.diff(rows.indptr))] = 0.0
    rows.eliminate_zeros()
    rows.data[:] = rows.data.astype(np.float16)  # as they are saved
    return rows, lengths


def companions(labels: Indicator, weights: npt.NDArray[np.float64] | None = None) -> Index:
    """Return the index of P(c | c′): how often a document with one label has another."""
    together = csr_array(_by_weight(labels, weights).T @ labels.astype(np.float32))
    n_documents = together.diagonal()
    n_documents[n_documents == 0] = 1.0
    together.setdiag(0.0)
    together.eliminate_zeros()
    return Index(_by_row(diags_array(1.0 / n_documents) @ together))


def _by_weight(labels: Indicator, weights: npt.NDArray[np.float64] | None) -> Sparse:
    """Return the labels of documents, each as often as the document counts."""
    own = labels.astype(np.float32)
    if weights is not None:
        own.data = np.repeat(weights, np.diff(labels.indptr)).astype(np.float32)
    return own


def training_lists(
    features: Sparse, labels: Indicator, near: Index, beside: Index, k: int, execution: Execution
) -> Labels:
    """Return k labels of each training document, from which SVMs learn what is a "no".

    Half of them are companions of its own labels (`beside`): they stand for what a topic model
    brings up. The others are near by their words.
    """
    n_labels = labels.shape[1]
    if k >= n_labels:
        return np.tile(np.arange(n_labels, dtype=np.int32), (labels.shape[0], 1))
    with_own = beside.nearest_of_all(labels.astype(np.float32), max(1, k // 2), execution)
    alike = near.nearest_of_all(features, k, execution)
    return united(with_own, alike, n_labels, k)


def united(first: Labels, second: Labels, n_labels: int, k: int) -> Labels:
    """Return lists of k labels: half from the first, the others from both; −1 where both end."""
    lists = np.empty((len(first), k), np.int32)
    shortlists.unite(first, second, n_labels, lists)
    return lists


def kernel_arrays(
    matrix: Sparse,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Return starts, columns and values as kernels read them."""
    return (
        matrix.indptr.astype(np.int64, copy=False),
        matrix.indices.astype(np.int32, copy=False),
        matrix.data.astype(np.float32, copy=False),
    )


def _nearest(index: Index, k: int, rows: Sparse, stop: Stop) -> Labels:
    return index.nearest(rows, k)[0]


def _by_row(matrix: Any) -> Sparse:
    rows = csr_array(matrix).astype(np.float32)
    rows.sort_indices()
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int64)
    return rows
