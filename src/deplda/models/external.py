"""External arrays as signals of the hybrid: scores of other programs, and document embeddings.

Each array gives a sparse matrix of scores, documents × labels: another program's directly,
embeddings by the nearest labels and the nearest labelled documents. Its labels are candidates, and
its scores two signals of a candidate: whether it has one, and its value. A model that uses an array
requires it of every new document.

Embeddings are of length one and in steps of 1/32767. Their products are whole numbers that a double
holds exactly, so that a cosine has the same bits in whichever order, and in batches of whichever
size, BLAS adds it up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse, vstack
from scipy.special import logit

from deplda.data.corpus import sparse_rows
from deplda.data.external import Documents
from deplda.data.targets import Indicator
from deplda.errors import InputError
from deplda.inference.scores import best
from deplda.models.candidates import Labels, Sparse
from deplda.models.mixture import BASE, GIVEN
from deplda.models.signals import NAME_SIGNALS, SIGNALS

Directions = npt.NDArray[np.int16]
"""Embeddings as they are compared, documents × dimensions."""
Floats = npt.NDArray[np.float64]

EMBEDDINGS = "embeddings"
NEAR_LABELS, NEIGHBOURS = "vectors", "neighbours"
"""The signals of embeddings: labels whose documents are near, and labels of near documents."""
OF_EMBEDDINGS = (NEAR_LABELS, NEIGHBOURS)
MOST_DIMENSIONS, MOST_PROGRAMS, MOST_SCORE = 16_384, 16, 1e5
MOST_ADDED = 64
"""Labels of a document that become candidates only by its external scores."""

_LONGEST_NAME = 64
_TAKEN = {
    BASE, "calibration", EMBEDDINGS, *OF_EMBEDDINGS,
    *(signal.name for signal in (*SIGNALS, *NAME_SIGNALS)),
}  # fmt: skip
_MOST_SCORED = 100  # labels of a document that are used of a program's scores
_LEAST_CHANCE = 1e-4
_STEPS = 32_767
_MOST_LABELS, _MOST_NEIGHBOURS = 100, 30
_SHARPNESS = 8  # the power of a cosine that is a neighbour's vote: the nearest count for more
_BATCH, _BLOCK = 256, 8192


# Arrays of documents -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CountsAndArrays:
    """Word counts of documents with their external arrays; sliced by rows as counts are."""

    counts: Any
    scores: tuple[Sparse, ...] = ()
    """Of each program, documents × labels."""
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
    def have_evidence(self) -> npt.NDArray[np.bool_]:
        """Which documents have an embedding, or a label that a program suggests."""
        if self.directions is not None:
            return np.ones(self.shape[0], bool)
        return np.logical_or.reduce([np.diff(each.indptr) > 0 for each in self.scores])

    def __getitem__(self, rows: Any) -> CountsAndArrays:
        """Return some of the documents."""
        directions = None if self.directions is None else self.directions[rows]
        return CountsAndArrays(self.counts[rows], tuple(s[rows] for s in self.scores), directions)

    def all_scores(self, training: LabelledEmbeddings | None) -> tuple[Sparse, ...]:
        """Return the scores of programs, and those that embeddings have by the training ones."""
        if self.directions is None or training is None:
            return self.scores
        return self.scores + training.scores(self.directions)


def counts_in(documents: Any) -> Any:
    """Return the counts of documents, with or without external arrays."""
    return documents.counts if isinstance(documents, CountsAndArrays) else documents


def arrays_of(documents: Documents) -> tuple[str, ...]:
    """Return the names of the arrays of documents: programs, then embeddings."""
    return (*(documents.scores or {}), *([] if documents.embeddings is None else [EMBEDDINGS]))


def signals_of(arrays: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the signals that arrays give."""
    return (*programs_in(arrays), *(OF_EMBEDDINGS if EMBEDDINGS in arrays else ()))


def programs_in(arrays: Sequence[str]) -> tuple[str, ...]:
    """Return the names of arrays without the embeddings."""
    return tuple(name for name in arrays if name != EMBEDDINGS)


def check_arrays(documents: Documents) -> None:
    """Raise if programs have names that cannot be those of signals, or are too many."""
    programs = documents.scores or {}
    if not isinstance(programs, Mapping):
        raise InputError(
            f"scores must be a dict of matrices by program; got {type(programs).__name__}"
        )
    if len(programs) > MOST_PROGRAMS:
        raise InputError(f"there are scores of {len(programs):,} programs; {MOST_PROGRAMS} at most")
    for name in programs:
        check_name(name)


def check_name(name: Any) -> None:
    """Raise if a program cannot have this name."""
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= _LONGEST_NAME:
        raise InputError(
            f"scores are named {str(name)[:80]!r}; a name is 1 to {_LONGEST_NAME} printable letters"
        )
    if name in _TAKEN or name.endswith(GIVEN) or name != name.strip():
        raise InputError(f"scores cannot be named {name!r}, which is a signal; use another name")


def with_arrays(
    documents: Documents, counts: Sparse, arrays: Sequence[str], n_learned: int, n_labels: int
) -> CountsAndArrays:
    """Return the counts of documents with these arrays, checked.

    Scores are of the labels learned, or of all.
    """
    if missing := [name for name in arrays if name not in arrays_of(documents)]:
        raise InputError(requirement(arrays, missing))
    n, all_scores = counts.shape[0], documents.scores or {}
    scores = tuple(
        _checked_scores(name, all_scores[name], n, n_learned, n_labels)
        for name in programs_in(arrays)
    )
    has_embeddings = EMBEDDINGS in arrays
    return CountsAndArrays(
        counts, scores, directions(documents.embeddings, n) if has_embeddings else None
    )


def requirement(arrays: Sequence[str], missing: Sequence[str]) -> str:
    """Return the error of arrays that a model requires and documents lack."""
    programs = programs_in(missing)
    python = ["embeddings=..."] * (EMBEDDINGS in missing)
    python += [f"scores={{{', '.join(f'{name!r}: ...' for name in programs)}}}"] * bool(programs)
    options = ["--embeddings FILE"] * (EMBEDDINGS in missing)
    options += [f"--scores {name}=FILE" for name in programs]
    return (
        f"this model was trained with {in_words(arrays)} and requires them; pass "
        f"Documents(X, {', '.join(python)}); predict, evaluate and tune take {' '.join(options)}"
    )


def in_words(arrays: Sequence[str]) -> str:
    """Return what arrays are of: embeddings, and scores of which programs."""
    programs = ", ".join(map(repr, programs_in(arrays)))
    parts = ["embeddings"] * (EMBEDDINGS in arrays) + [f"scores of {programs}"] * bool(programs)
    return " and ".join(parts)


def _checked_scores(name: str, matrix: Any, n: int, n_learned: int, n_labels: int) -> Sparse:
    """Return the best scores of each document, of the labels learned."""
    scores: Any = matrix if issparse(matrix) else np.asarray(matrix)
    shapes = ((n, n_learned), (n, n_labels))
    if scores.shape not in shapes or scores.dtype.kind not in "fiub":
        raise InputError(
            f"scores of {name!r} are {scores.dtype} of shape {scores.shape}; they must be numbers, "
            f"{n:,} documents × {n_learned:,} labels, in the order of classes_"
        )
    rows = csr_array(scores, dtype=np.float64, copy=True)[:, :n_learned]
    rows.sum_duplicates()
    rows.eliminate_zeros()
    if not (np.abs(rows.data) <= MOST_SCORE).all():  # which NaN is not
        raise InputError(
            f"scores of {name!r} must be from {-MOST_SCORE:g} to {MOST_SCORE:g}, and no NaN; "
            "divide all of them by the same number"
        )
    owners, _, ranks = _ranked(rows)
    kept = ranks < _MOST_SCORED
    ends = np.concatenate([[0], np.cumsum(np.bincount(owners[kept], minlength=n))])
    return csr_array((rows.data[kept], rows.indices[kept], ends), shape=rows.shape)


# Signals -----------------------------------------------------------------------------------------


class ExternalSignal(msgspec.Struct, frozen=True):
    """How the scores of an array are read."""

    name: str
    is_chance: bool
    """Whether they are from 0 to 1, so that they are compared as log-odds."""
    centre: float
    """Their mean."""

    @classmethod
    def of(cls, name: str, scores: Floats) -> ExternalSignal:
        """Return how to read these scores of candidates, NaN where there is none."""
        present = scores[np.isfinite(scores)]
        is_chance = bool(((present >= 0) & (present <= 1)).all())
        mean = float(_scaled(present, is_chance).mean()) if len(present) else 0.0
        return cls(name, is_chance, mean)

    def values(self, scores: Floats) -> dict[str, Floats]:
        """Return both signals of candidates by their scores, NaN where there is none."""
        is_present = np.isfinite(scores)
        value = np.where(is_present, _scaled(scores, self.is_chance) - self.centre, 0.0)
        return {self.name + GIVEN: is_present.astype(np.float64), self.name: value}


def external_values(
    signals: Sequence[ExternalSignal], scores: Sequence[Sparse], labels: Labels
) -> dict[str, Floats]:
    """Return the external signals of candidates, by name."""
    values: dict[str, Floats] = {}
    for signal, matrix in zip(signals, scores, strict=True):
        values |= signal.values(scores_at(matrix, labels))
    return values


def _scaled(scores: Floats, is_chance: bool) -> Floats:
    if not is_chance:
        return scores
    log_odds: Floats = logit(np.clip(scores, _LEAST_CHANCE, 1.0 - _LEAST_CHANCE))
    return log_odds


def scores_at(scores: Sparse, labels: Labels) -> Floats:
    """Return the scores of candidates, documents × candidates; NaN where there is none."""
    if not scores.nnz or not labels.size:
        return np.full(labels.shape, np.nan)
    n = scores.shape[1]
    owners = np.repeat(np.arange(scores.shape[0]), np.diff(scores.indptr))
    keys = owners * n + scores.indices
    wanted = np.arange(len(labels))[:, None] * n + labels
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    is_present = (keys[places] == wanted) & (labels >= 0) & (labels < n)
    return np.where(is_present, scores.data[places], np.nan)


def more_candidates(scores: Sequence[Sparse], labels: Labels, k: int = MOST_ADDED) -> Labels:
    """Return up to k labels of each document that have scores and are not candidates yet.

    −1 for none. The labels with the best rank in any array come first, equals in their order.
    """
    added = np.full((len(labels), k), -1, np.int32)
    ranked = zip(*map(_ranked, scores), strict=True)
    owners, columns, ranks = (np.concatenate(part) for part in ranked)
    n, (rows, places) = scores[0].shape[1], np.nonzero(labels >= 0)
    is_new = ~np.isin(owners * n + columns, rows * n + labels[rows, places])
    owners, columns, ranks = owners[is_new], columns[is_new], ranks[is_new]
    order = np.lexsort((ranks, columns, owners))
    owners, columns, ranks = owners[order], columns[order], ranks[order]
    is_first = np.ones(len(owners), bool)
    is_first[1:] = (np.diff(owners) != 0) | (np.diff(columns) != 0)
    owners, columns, ranks = owners[is_first], columns[is_first], ranks[is_first]
    order = np.lexsort((columns, ranks, owners))
    owners, columns = owners[order], columns[order]
    place = np.arange(len(owners)) - np.searchsorted(owners, owners)
    kept = place < k
    added[owners[kept], place[kept]] = columns[kept]
    return added


def _ranked(scores: Sparse) -> tuple[Any, Any, Any]:
    """Return the document, the label and the rank of each score, as they are stored."""
    owners = np.repeat(np.arange(scores.shape[0]), np.diff(scores.indptr))
    order = np.lexsort((scores.indices, -scores.data, owners))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order)) - scores.indptr[owners[order]]
    return owners, scores.indices.astype(np.int64), ranks


# Embeddings --------------------------------------------------------------------------------------


def directions(embeddings: Any, n_documents: int) -> Directions:
    """Return embeddings as they are compared; raise if there is not one for each document."""
    vectors = np.asarray(embeddings)
    is_matrix = vectors.ndim == 2 and vectors.dtype.kind in "fiu" and len(vectors) == n_documents
    if not is_matrix or not 1 <= vectors.shape[1] <= MOST_DIMENSIONS:
        raise InputError(
            f"embeddings are {vectors.dtype} of shape {vectors.shape}; they must be numbers, "
            f"{n_documents:,} documents × 1 to {MOST_DIMENSIONS:,} dimensions"
        )
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise InputError(f"embedding {bad[0]} has a number that is not finite; encode it again")
    return _rounded(vectors.astype(np.float64))


class LabelledEmbeddings(NamedTuple):
    """Embeddings of training documents, by which other documents are compared to labels."""

    directions: Directions
    labels: Indicator
    centroids: Directions
    """Of each label, the direction of the mean of its documents' embeddings."""

    @classmethod
    def of(cls, directions: Directions, labels: Indicator) -> LabelledEmbeddings:
        """Return the embeddings of documents that have these labels."""
        by_label = csr_array(labels.T.astype(np.float64))
        centroids = np.empty((labels.shape[1], directions.shape[1]), np.int16)
        for first in range(0, len(centroids), _BLOCK):
            some = by_label[first : first + _BLOCK]
            documents = np.unique(some.indices)
            sums = some[:, documents] @ directions[documents].astype(np.float64)
            centroids[first : first + _BLOCK] = _rounded(sums)
        return cls(directions, labels, centroids)

    def with_more(self, directions: Directions, labels: Indicator) -> LabelledEmbeddings:
        """Return them with those of more documents; `labels` are of all."""
        return LabelledEmbeddings.of(np.concatenate([self.directions, directions]), labels)

    def check_dimensions(self, queries: Directions) -> None:
        """Raise if embeddings of other documents have another number of dimensions."""
        n, n_queried = self.directions.shape[1], queries.shape[1]
        if n != n_queried:
            raise InputError(
                f"embeddings have {n_queried:,} dimensions, but the model's have {n:,}; encode "
                "with the same encoder"
            )

    def scores(self, queries: Directions) -> tuple[Sparse, Sparse]:
        """Return the cosines of near labels, and the votes of near documents: rows × labels."""
        starts = range(0, max(len(queries), 1), _BATCH)
        parts = [self._scores(queries[first : first + _BATCH]) for first in starts]
        near, votes = (csr_array(vstack(part)) for part in zip(*parts, strict=True))
        return near, votes

    def _scores(self, queries: Directions) -> tuple[Sparse, Sparse]:
        labels, cosines = best(_cosines(queries, self.centroids), _MOST_LABELS)
        return _as_rows(labels, cosines, len(self.centroids)), self._votes(queries)

    def _votes(self, queries: Directions) -> Sparse:
        """Return each label's share of the votes of the nearest documents."""
        documents, cosines = best(_cosines(queries, self.directions), _MOST_NEIGHBOURS)
        weights = np.maximum(cosines, 0.0) ** _SHARPNESS
        totals = weights.sum(axis=1, keepdims=True)
        near = _as_rows(
            documents, weights / np.where(totals > 0, totals, 1.0), self.labels.shape[0]
        )
        votes = csr_array(near @ self.labels.astype(np.float64))
        votes.sort_indices()
        return votes


def _cosines(queries: Directions, others: Directions) -> Floats:
    rows = queries.astype(np.float64)
    cosines = np.empty((len(queries), len(others)))
    for first in range(0, len(others), _BLOCK):
        block = others[first : first + _BLOCK].astype(np.float64)
        cosines[:, first : first + _BLOCK] = rows @ block.T
    return cosines / _STEPS**2


def _as_rows(columns: Any, values: Floats, n_columns: int) -> Sparse:
    """Return the values above 0 as a sparse matrix."""
    rows: Sparse = sparse_rows(columns, values, values > 0, n_columns)
    return rows


def _rounded(vectors: Floats) -> Directions:
    """Return vectors of length one, in whole steps; those of no length stay so."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    scaled = vectors / np.where(largest > 0, largest, 1.0)  # squares of the huge would overflow
    lengths = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    return np.rint(_STEPS * scaled / np.where(lengths > 0, lengths, 1.0)).astype(np.int16)
