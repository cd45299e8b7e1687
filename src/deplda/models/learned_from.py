"""Which documents a model has learned from, known by their content: 64 bits of each.

What is kept tells whether a document was among them, to whoever has the document; it does not give
the document back. The bits are in the order of their size, so that they do not say whose labels are
whose.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from deplda.errors import LearnedFromWarning, warn

_Bits = npt.NDArray[np.int64]
_FEW = 100
_NONE = np.zeros(0, np.int64)


class LearnedFrom(NamedTuple):
    """The documents that were learned from, lesson by lesson: each knew so many words."""

    bits: _Bits = _NONE
    """The content of documents, those of a lesson ascending."""
    n_words: _Bits = _NONE
    """How many words the model knew in each lesson; a content is that of these words alone."""
    starts: _Bits = np.zeros(1, np.int64)
    """Where each lesson begins in `bits`, and where the last ends."""

    def with_more(self, counts: Any, labels: Any) -> Self:
        """Return it with the documents of one more lesson that have words and labels."""
        teaches = np.diff(labels.indptr) > 0
        bits = np.unique(_bits_of(counts[teaches], counts.shape[1])[0])
        if not len(bits):
            return self
        return self._replace(
            bits=np.concatenate([self.bits, bits]),
            n_words=np.append(self.n_words, counts.shape[1]),
            starts=np.append(self.starts, self.starts[-1] + len(bits)),
        )

    def among(self, counts: Any) -> npt.NDArray[np.bool_]:
        """Return which documents were learned from; of one without known words that is not told."""
        found = np.zeros(counts.shape[0], bool)
        for n, first, last in zip(self.n_words, self.starts, self.starts[1:], strict=False):
            bits, rows = _bits_of(counts, int(n))
            found[rows] |= np.isin(bits, self.bits[first:last])
        return found


def warn_of(n_learned: int, n_documents: int) -> None:
    """Warn if of the documents that a model is judged by one in a hundred was learned from.

    Fewer are what any large corpus has: documents that were there twice.
    """
    if n_learned and n_learned >= n_documents / _FEW:
        warn(
            f"{n_learned:,} of {n_documents:,} documents have the same words as documents that the "
            "model has learned from: these, or copies of them. On these, memory is measured, not "
            "how good the model is on new documents; judge it by others (deplda train --holdout "
            "keeps some aside)",
            LearnedFromWarning,
        )


def _bits_of(counts: Any, n_words: int) -> tuple[_Bits, _Bits]:
    """Return the content of documents by the first words, and their rows: of those that have any.

    Counts of one value are the same content, whatever type they are of.
    """
    counts = csr_array(counts)
    kept = (counts.indices < n_words) & (counts.data != 0)
    starts = np.concatenate([[0], np.cumsum(kept)])[counts.indptr]
    pairs = np.empty(int(kept.sum()), dtype=[("word", "<i8"), ("times", "<f8")])
    pairs["word"], pairs["times"] = counts.indices[kept], counts.data[kept]
    content, width = memoryview(pairs.tobytes()), pairs.itemsize
    rows = np.flatnonzero(np.diff(starts) > 0)
    digests = [
        blake2b(content[width * first : width * last], digest_size=8).digest()
        for first, last in zip(starts[rows].tolist(), starts[rows + 1].tolist(), strict=True)
    ]
    return np.frombuffer(b"".join(digests), "<i8").astype(np.int64), rows
