"""Document vectors of any encoder: which labels are near by them, and which labelled documents.

Vectors are of length one and in steps of 1/32767. Their products are whole numbers that a double
holds exactly, so that a cosine has the same bits in whichever order, and in batches of whichever
size, BLAS adds it up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from deplda.data.corpus import sparse_rows
from deplda.data.targets import Indicator
from deplda.errors import InputError
from deplda.inference.scores import best
from deplda.models.candidates import Sparse

Directions = npt.NDArray[np.int16]
"""Vectors as they are compared, documents × dimensions."""
Floats = npt.NDArray[np.float64]

NEAR_LABELS, NEIGHBOURS = "vectors", "neighbours"
"""What vectors say: which labels have documents like this one, and which the documents have that
are most like it."""
OF_VECTORS = (NEAR_LABELS, NEIGHBOURS)
MOST_DIMENSIONS = 16_384

_STEPS = 32_767
_MOST_LABELS, _MOST_NEIGHBOURS = 100, 30
_SHARPNESS = 8
"""The power of a cosine that a neighbour's vote is: the nearest count for more."""
_BATCH, _BLOCK = 256, 8192


def directions(given: Any, n_documents: int) -> Directions:
    """Return vectors as they are compared; raise if there is not one for each document."""
    vectors = np.asarray(given)
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu":
        raise InputError(
            f"embeddings are {vectors.dtype} in {vectors.ndim} dimensions; they must be numbers, "
            "documents × dimensions"
        )
    if len(vectors) != n_documents:
        raise InputError(
            f"there are {len(vectors):,} embeddings for {n_documents:,} documents; give one for "
            "each, in the same order"
        )
    if not 1 <= vectors.shape[1] <= MOST_DIMENSIONS:
        raise InputError(
            f"embeddings have {vectors.shape[1]:,} dimensions; they must have 1 to "
            f"{MOST_DIMENSIONS:,}"
        )
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise InputError(f"embedding {bad[0]} holds what is no finite number; encode it again")
    return _rounded(vectors.astype(np.float64))


class Vectors(NamedTuple):
    """Vectors of labelled documents, by which labels of other documents are found."""

    directions: Directions
    labels: Indicator
    centroids: Directions
    """Of each label, the direction of the mean of its documents' vectors."""

    @classmethod
    def of(cls, own: Directions, labels: Indicator) -> Vectors:
        """Return the vectors of documents that have these labels."""
        by_label = csr_array(labels.T.astype(np.float64))
        centroids = np.empty((labels.shape[1], own.shape[1]), np.int16)
        for first in range(0, len(centroids), _BLOCK):
            some = by_label[first : first + _BLOCK]
            documents = np.unique(some.indices)
            sums = some[:, documents] @ own[documents].astype(np.float64)
            centroids[first : first + _BLOCK] = _rounded(sums)
        return cls(own, labels, centroids)

    def with_more(self, own: Directions, labels: Indicator) -> Vectors:
        """Return them with those of more documents; `labels` are of all."""
        return Vectors.of(np.concatenate([self.directions, own]), labels)

    @property
    def n_dimensions(self) -> int:
        """How many numbers a vector is of."""
        return int(self.directions.shape[1])

    def said_of_many(self, queries: Directions) -> tuple[Sparse, Sparse]:
        """Return what is `said` of many documents, some after the other."""
        parts = [self.said(queries[at : at + _BATCH]) for at in range(0, len(queries), _BATCH)]
        labels, votes = (csr_array(vstack(part)) for part in zip(*parts, strict=True))
        return labels, votes

    def said(self, queries: Directions) -> tuple[Sparse, Sparse]:
        """Return the cosines of near labels, and the votes of near documents: rows × labels."""
        return self._near_labels(queries), self._votes(queries)

    def _near_labels(self, queries: Directions) -> Sparse:
        labels, cosines = best(_cosines(queries, self.centroids), _MOST_LABELS)
        return _as_rows(labels, cosines, len(self.centroids))

    def _votes(self, queries: Directions) -> Sparse:
        """Return each label's share of what the nearest documents say."""
        documents, cosines = best(_cosines(queries, self.directions), _MOST_NEIGHBOURS)
        weights = np.maximum(cosines, 0.0) ** _SHARPNESS
        totals = weights.sum(axis=1, keepdims=True)
        near = _as_rows(
            documents, weights / np.where(totals > 0, totals, 1.0), self.labels.shape[0]
        )
        found = csr_array(near @ self.labels.astype(np.float64))
        found.sort_indices()
        return found


def _cosines(queries: Directions, others: Directions) -> Floats:
    rows = queries.astype(np.float64)
    found = np.empty((len(queries), len(others)))
    for first in range(0, len(others), _BLOCK):
        block = others[first : first + _BLOCK].astype(np.float64)
        found[:, first : first + _BLOCK] = rows @ block.T
    return found / _STEPS**2


def _as_rows(columns: Any, values: Floats, n_columns: int) -> Sparse:
    """Return what is above 0 as a sparse matrix."""
    found: Sparse = sparse_rows(columns, values, values > 0, n_columns)
    return found


def _rounded(vectors: Floats) -> Directions:
    """Return vectors of length one, in whole steps; those of no length stay so."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    scaled = vectors / np.where(largest > 0, largest, 1.0)  # squares of the huge would overflow
    lengths = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    return np.rint(_STEPS * scaled / np.where(lengths > 0, lengths, 1.0)).astype(np.int16)
