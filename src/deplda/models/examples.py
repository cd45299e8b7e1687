"""Training documents that are shown as examples: a title of each, and its weightiest words.

The texts themselves are not kept: a title or some first words, and of its words the numbers and the
tf-idf weights of the weightiest, in one byte each. Two documents are compared by these words alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from deplda.models.reasons import Example

LONGEST_TITLE = 160
"""Characters of a title, or of first words, that are kept."""
_N_WORDS = 32
_STEPS = 255

Counts = csr_array[Any, tuple[int, int]]
Numbers = npt.NDArray[np.integer[Any]]


class Examples(NamedTuple):
    """What is kept of the documents learned from, in their order."""

    titles: tuple[str, ...]
    idf: npt.NDArray[np.float64]
    vectors: Counts
    """Documents × words: tf-idf weights of the weightiest words, in steps of 1/255."""

    @classmethod
    def of(cls, counts: Counts, titles: Iterable[str]) -> Self:
        """Return the examples that documents of these counts and titles make."""
        idf = TfidfTransformer().fit(counts).idf_
        return cls(tuple(map(shortened, titles)), idf, _compact(_weighed(counts, idf)))

    @property
    def n_bytes(self) -> int:
        """How much is kept, a word's number in four bytes and a document's place in eight."""
        of_titles = sum(len(title.encode()) + 1 for title in self.titles)
        of_vectors = self.vectors.data.nbytes + 4 * self.vectors.nnz + 8 * len(self.vectors.indptr)
        return int(of_titles + of_vectors + self.idf.nbytes)

    def similar(self, document: Counts, among: Numbers, n: int) -> tuple[Example, ...]:
        """Return the documents of some numbers that are most similar to one, a row of counts."""
        if not len(self.idf):
            return ()
        own = document[:, : len(self.idf)]  # what was learned later is behind
        return self._nearest(_directions(_compact(_weighed(own, self.idf))), among, n)

    def typical(self, among: Numbers, n: int) -> tuple[Example, ...]:
        """Return the documents of some numbers that are nearest to the mean of all of them."""
        rows = _directions(self.vectors[self._known(among)])
        mean = csr_array(rows.sum(axis=0)[None, :])
        return self._nearest(_directions(mean), among, n)

    def _nearest(self, direction: Counts, among: Numbers, n: int) -> tuple[Example, ...]:
        known = self._known(among)
        cosines = np.minimum((_directions(self.vectors[known]) @ direction.T).toarray().ravel(), 1)
        return tuple(
            Example(self.titles[known[i]], float(cosines[i]))
            for i in np.argsort(-cosines, kind="stable")[:n]
            if cosines[i] > 0
        )

    def _known(self, among: Numbers) -> Numbers:
        """Return the numbers of documents that are kept; of those learned later nothing is."""
        return among[among < len(self.titles)]


def shortened(text: str) -> str:
    """Return the first words of a text, on one line."""
    title = " ".join(text[: 20 * LONGEST_TITLE].split())
    if len(title) <= LONGEST_TITLE:
        return title
    whole, _, _ = title[: LONGEST_TITLE - 1].rpartition(" ")
    return f"{whole or title[: LONGEST_TITLE - 1]}…"


def _weighed(counts: Counts, idf: npt.NDArray[np.float64]) -> Counts:
    """Return (1 + ln count) · idf, documents of length one."""
    how = TfidfTransformer(sublinear_tf=True)
    how.idf_ = idf
    return csr_array(how.transform(counts))


def _compact(matrix: Counts) -> Counts:
    """Return the weightiest entries of each row, in steps."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((matrix.indices, -matrix.data, rows))
    rank = np.arange(len(order)) - matrix.indptr[rows[order]]
    kept = np.sort(order[rank < _N_WORDS])
    steps = np.rint(matrix.data[kept] * _STEPS).astype(np.uint8)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=matrix.shape[0]))])
    found = csr_array((steps, matrix.indices[kept], starts), shape=matrix.shape)
    found.eliminate_zeros()
    return found


def _directions(steps: Counts) -> Counts:
    """Return rows of length one."""
    if not all(steps.shape):
        return steps.astype(np.float64)
    return csr_array(normalize(steps.astype(np.float64), norm="l2"))
