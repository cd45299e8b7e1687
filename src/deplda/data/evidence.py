"""Documents with what else is known of them: vectors, and suggestions of other programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from deplda.data.corpus import Corpus
from deplda.errors import InputError


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents with further information on each: ids, embeddings, experts; X for `HybridLDA`.

    scikit-learn can split them: cross-validation and searches accept them as X.

    Parameters
    ----------
    X : texts, counts or a Corpus
    ids : sequence of str, optional
        The documents' names, by which suggestions in files are found; by default those of the
        Corpus, or else the rows' numbers.
    embeddings : (documents, dimensions) array, optional
        A vector for each document, of any encoder.
    experts : mapping of str to an expert, optional
        Suggestions of the programs that the model was fitted with, by the same names: files,
        `Suggestions`, or objects with ``rank`` (see `HybridLDA`).

    Examples
    --------
    >>> import deplda
    >>> given = deplda.Documents(["The judge heard the coach."], ids=["d1"])
    >>> given.ids  # by which an expert's suggestions are found
    ['d1']
    """

    X: Any
    _: KW_ONLY
    ids: Sequence[str] | None = None
    embeddings: Any = None
    experts: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, X: Any, embeddings: Any = None) -> Documents:
        """Return X as documents, with these embeddings if there are any."""
        documents = X if isinstance(X, cls) else cls(X)
        return documents if embeddings is None else replace(documents, embeddings=embeddings)

    def __len__(self) -> int:
        return int(_num_samples(self.X))

    @property
    def shape(self) -> tuple[int]:
        """The number of documents, by which scikit-learn splits them."""
        return (len(self),)

    def __getitem__(self, rows: Any) -> Documents:
        """Return the documents of a slice, a mask or row numbers, with the ids that they have here.

        Experts stay whole: they look documents up by their ids, or rank any.
        """
        if isinstance(rows, tuple):
            rows = rows[0]  # scikit-learn takes X[rows, ...]
        numbers = np.arange(len(self))[rows]
        if numbers.ndim != 1:
            raise InputError(f"documents[{rows}] is a single document; use documents[[{rows}]]")
        ids = ids_of(self, len(self))
        return replace(
            self, X=select_rows(self.X, numbers), ids=[ids[row] for row in numbers],
            embeddings=select_rows(self.embeddings, numbers),
        )  # fmt: skip


def select_rows(values: Any, rows: npt.NDArray[np.int64] | None) -> Any:
    """Return some rows of values with one row for each document; all if `rows` is None."""
    if values is None or rows is None:
        return values
    if isinstance(values, Corpus | Documents):
        return values[rows]
    if (n := _num_samples(values)) <= rows.max(initial=-1):
        raise InputError(
            f"there are {n:,} values, none of document {rows.max()}; give one for each document"
        )
    return _safe_indexing(values.tocsr() if hasattr(values, "tocsr") else values, rows)


def ids_of(documents: Documents, n: int) -> Sequence[str]:
    """Return the names of documents: as given, of their corpus, or the rows' numbers."""
    found = documents.ids
    if found is None:
        found = documents.X.ids if isinstance(documents.X, Corpus) else [str(i) for i in range(n)]
    if len(found) != n:
        raise InputError(f"there are {len(found):,} ids for {n:,} documents; give one for each")
    return found
