"""Documents with arrays that come with them: embeddings, and scores of other programs."""

from __future__ import annotations

from collections.abc import Mapping
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
    """Documents with external arrays: embeddings, and scores of other programs; X of `HybridLDA`.

    scikit-learn can split them: cross-validation and searches accept them as X.

    Parameters
    ----------
    X : texts, counts or a Corpus
    embeddings : (documents, dimensions) array, optional
        A vector for each document, of any encoder.
    scores : mapping of str to (documents, labels) matrix, optional
        For each of some other programs, by name, its scores of labels: sparse or dense, columns in
        the order of `classes_`. 0 means that the program does not suggest the label.

    Examples
    --------
    >>> import deplda
    >>> documents = deplda.Documents(["The judge heard the coach."], embeddings=[[0.1, 0.7]])
    >>> len(documents)
    1
    """

    X: Any
    _: KW_ONLY
    embeddings: Any = None
    scores: Mapping[str, Any] | None = None

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
        """Return the documents of a slice, a mask or row numbers, with their arrays."""
        if isinstance(rows, tuple):
            rows = rows[0]  # scikit-learn takes X[rows, ...]
        numbers = np.arange(len(self))[rows]
        if numbers.ndim != 1:
            raise InputError(f"documents[{rows}] is a single document; use documents[[{rows}]]")
        scores = self.scores and {
            name: select_rows(matrix, numbers) for name, matrix in self.scores.items()
        }
        embeddings = select_rows(self.embeddings, numbers)
        return replace(self, X=select_rows(self.X, numbers), embeddings=embeddings, scores=scores)


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
