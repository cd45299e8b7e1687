"""What experts say of documents, as sparse scores of labels: candidates, and signals of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.special import logit

from deplda.models.candidates import Labels, Sparse
from deplda.models.mixture import GIVEN
from deplda.models.vectors import Directions

Floats = npt.NDArray[np.float64]

MOST_ADDED = 64
"""Labels of a document that experts bring up beside its other candidates."""
_LEAST_CHANCE = 1e-4


class Expert(msgspec.Struct, frozen=True):
    """How an expert's scores are read."""

    name: str
    is_chance: bool
    """Whether they are from 0 to 1, so that they are compared as log-odds."""
    centre: float
    """Their mean where it suggests a label at all."""

    def values(self, scores: Floats) -> dict[str, Floats]:
        """Return its two signals by scores, NaN where it does not suggest the label."""
        is_given = np.isfinite(scores)
        value = np.where(is_given, _scaled(scores, self.is_chance) - self.centre, 0.0)
        return {self.name + GIVEN: is_given.astype(np.float64), self.name: value}


def expert_of(name: str, scores: Floats) -> Expert:
    """Return how to read an expert that gave these scores, NaN where it gave none."""
    given = scores[np.isfinite(scores)]
    is_chance = bool(((given >= 0) & (given <= 1)).all())
    return Expert(name, is_chance, float(_scaled(given, is_chance).mean()) if len(given) else 0.0)


def _scaled(scores: Floats, is_chance: bool) -> Floats:
    if not is_chance:
        return scores
    found: Floats = logit(np.clip(scores, _LEAST_CHANCE, 1.0 - _LEAST_CHANCE))
    return found


# What documents come with ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Told:
    """Counts of documents with what experts and vectors say; parts of it are taken as of counts."""

    counts: Any
    suggested: tuple[Sparse, ...] = ()
    """Of each expert, documents × labels."""
    directions: Directions | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Documents and columns."""
        return int(self.counts.shape[0]), int(self.counts.shape[1])

    @property
    def indptr(self) -> Any:
        """Where each document's counts begin."""
        return self.counts.indptr

    @property
    def has_evidence(self) -> npt.NDArray[np.bool_]:
        """Which documents have a vector, or a label that an expert suggests."""
        if self.directions is not None:
            return np.ones(self.shape[0], bool)
        return np.logical_or.reduce([np.diff(each.indptr) > 0 for each in self.suggested])

    def __getitem__(self, rows: Any) -> Told:
        """Return some of the documents."""
        own = None if self.directions is None else self.directions[rows]
        return Told(self.counts[rows], tuple(each[rows] for each in self.suggested), own)


def counts_in(documents: Any) -> Any:
    """Return the counts of documents, whatever they come with."""
    return documents.counts if isinstance(documents, Told) else documents


def scores_at(suggested: Sparse, labels: Labels) -> Floats:
    """Return the scores of candidates, documents × candidates; NaN where there is none."""
    if not suggested.nnz or not labels.size:
        return np.full(labels.shape, np.nan)
    n = suggested.shape[1]
    owner = np.repeat(np.arange(suggested.shape[0]), np.diff(suggested.indptr))
    keys = owner * n + suggested.indices
    wanted = np.arange(len(labels))[:, None] * n + labels
    found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    is_there = (keys[found] == wanted) & (labels >= 0) & (labels < n)
    return np.where(is_there, suggested.data[found], np.nan)


def labels_beside(suggested: Sequence[Sparse], labels: Labels, k: int = MOST_ADDED) -> Labels:
    """Return up to k labels a document that experts suggest beside these; −1 for none.

    Those come first that stand first with any of them, equals in the order of labels.
    """
    found = np.full((len(labels), k), -1, np.int32)
    own, what, rank = (np.concatenate(part) for part in zip(*map(ranked, suggested), strict=True))
    n, (rows, places) = suggested[0].shape[1], np.nonzero(labels >= 0)
    is_new = ~np.isin(own * n + what, rows * n + labels[rows, places])
    own, what, rank = own[is_new], what[is_new], rank[is_new]
    order = np.lexsort((rank, what, own))
    own, what, rank = own[order], what[order], rank[order]
    is_first = np.ones(len(own), bool)
    is_first[1:] = (np.diff(own) != 0) | (np.diff(what) != 0)
    own, what, rank = own[is_first], what[is_first], rank[is_first]
    order = np.lexsort((what, rank, own))
    own, what = own[order], what[order]
    place = np.arange(len(own)) - np.searchsorted(own, own)
    kept = place < k
    found[own[kept], place[kept]] = what[kept]
    return found


def ranked(suggested: Sparse) -> tuple[Any, Any, Any]:
    """Return the document, the label and the rank of each suggestion."""
    own = np.repeat(np.arange(suggested.shape[0]), np.diff(suggested.indptr))
    order = np.lexsort((suggested.indices, -suggested.data, own))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - suggested.indptr[own[order]]
    return own, suggested.indices.astype(np.int64), rank
