"""What a model learns from: counts, labels and weights of documents, as users hand them in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import _num_samples

from deplda.data.external import Documents, select_rows
from deplda.data.targets import Indicator, Targets
from deplda.data.text import WordCounter, label_sets
from deplda.data.weighting import are_scaled_down
from deplda.errors import InputError, NotCountsWarning, warn

Counts = csr_array[Any, tuple[int, int]]
Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

MOST_WEIGHT = 1e3


class Lesson(NamedTuple):
    """Documents to learn from."""

    counts: Counts
    labels: Indicator
    weights: Floats | None
    """How many documents each counts as; None where each is one."""
    rows: Numbers | None = None
    """Which of the documents handed in these are, where some are left out: those of weight 0."""

    def only(self, rows: Numbers) -> Lesson:
        """Return some of the documents."""
        weights = None if self.weights is None else self.weights[rows]
        return Lesson(self.counts[rows], self.labels[rows], weights)


def weighted(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Floats | None, Numbers | None]:
    """Return X, y and weights without the documents of weight 0, and the rows that are left.

    Weights that are all 1 say nothing, and are None, as rows are where all are left.
    """
    if sample_weight is None:
        return X, y, None, None
    weights = _checked(sample_weight, _num_samples(X))
    if y is not None and not is_read(y):
        check_lengths(len(weights), _num_samples(y))
    if weights.all():
        return X, y, None if (weights == 1).all() else weights, None
    rows = np.flatnonzero(weights)
    if not len(rows):
        raise InputError(
            f"sample_weight is zero for all of {len(weights):,} documents; "
            "there is nothing to learn from"
        )
    kept = weights[rows]
    return taken(X, rows), taken(y, rows), None if (kept == 1).all() else kept, rows


def taken(values: Any, rows: Numbers | None) -> Any:
    """Return some rows of labels that have been read, or of `select_rows` of anything else."""
    if rows is None:
        return values
    return (values[0][rows], values[1]) if is_read(values) else select_rows(values, rows)


def is_read(y: Any) -> bool:
    """Return whether labels have been read already."""
    return isinstance(y, tuple) and len(y) == 2 and isinstance(y[1], Targets)


def _checked(sample_weight: Any, n: int) -> Floats:
    """Return the weights of n documents as numbers."""
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"sample_weight holds what is no number: {error}") from error
    if weights.shape != (n,):
        raise InputError(
            f"sample_weight has the shape {weights.shape}; it needs one number for each of "
            f"{n:,} documents"
        )
    wrong = np.flatnonzero(~((weights >= 0) & (weights <= MOST_WEIGHT)))  # as NaN is
    if len(wrong):
        raise InputError(
            f"sample_weight of document {wrong[0]} is {weights[wrong[0]]:g}; a weight says how "
            f"many documents one counts as, from 0 (left out) to {MOST_WEIGHT:,.0f}"
        )
    return weights


# What X and y are --------------------------------------------------------------------------------


def are_texts(X: Any, *, if_empty: bool = False) -> bool:
    """Return whether X is a list of texts, or an array or a column of them."""
    if isinstance(X, Documents) or issparse(X):
        return False
    if not _is_one_dimensional(X):
        return False
    are_strings = [isinstance(x, str) for x in X]
    if any(are_strings) and not all(are_strings):
        number = are_strings.index(False)
        raise InputError(
            f"the text of document {number} is {[*X][number]!r}; give '' where there is none"
        )
    return any(are_strings) if are_strings else if_empty


def _is_one_dimensional(X: Any) -> bool:
    return isinstance(X, list | tuple) or len(getattr(X, "shape", ())) == 1


_OF_TEXTS = ("object", "str", "string")  # what pandas and polars call their types


def check_no_texts(X: Any) -> None:
    """Raise if X is neither counts nor a list, an array or a column of texts."""
    if X is None or isinstance(X, bytes):
        raise InputError(
            "X must be a list of str, or counts; got "
            + ("None" if X is None else "bytes; pass [X.decode()]")
        )
    is_arrow = hasattr(X, "to_pylist") and not hasattr(X, "shape")
    are_bytes = _is_one_dimensional(X) and any(isinstance(x, bytes) for x in X)
    if is_arrow or are_bytes or isinstance(X, Iterator):
        instead = (
            "X.to_pylist()" if is_arrow
            else "[text.decode() for text in X]" if are_bytes
            else "list(X)"
        )  # fmt: skip
        raise InputError(
            f"X must be a list of str, or counts; got a {type(X).__name__}"
            f"{' of bytes' if are_bytes else ''}; pass {instead}"
        )
    if _is_one_dimensional(X) and any(x is None for x in X):
        number = [x is None for x in X].index(True)
        raise InputError(f"the text of document {number} is None; give '' where there is none")
    if _is_one_dimensional(X) and not len(X):
        raise InputError("X must be a list of str, or counts; it is empty; pass at least one text")
    if issparse(X) or len(getattr(X, "shape", ())) != 2 or not all(X.shape):
        return
    if hasattr(X, "columns"):
        for name, kind in zip(X.columns, X.dtypes, strict=True):
            # Asking every column for a value would take seconds of a frame of counts.
            if str(kind).lower() in _OF_TEXTS and isinstance(next(iter(X[name])), str):
                raise InputError(
                    f"X is a data frame with texts in the column {name!r}; pass that column alone, "
                    f"X[{name!r}]"
                )
    elif getattr(X, "dtype", np.dtype(float)).kind in "OU" and isinstance(X[0, 0], str):
        raise InputError(
            f"X is a table of texts, of the shape {X.shape}; pass one text for each document, "
            "such as X[:, 0]"
        )


def counted_texts(
    texts: Any, labels: Indicator, counter: WordCounter | None
) -> tuple[WordCounter, Counts]:
    """Return a counter of the words of texts, which it learns unless it knows some, and counts."""
    if counter is not None and hasattr(counter, "vocabulary_"):
        return counter, counter.count(texts)
    if counter is None:
        counter = WordCounter()
    own = type(counter)(**counter.get_params())
    return own, own.learn(texts, label_sets(labels))


def check_lengths(n: int, n_labelled: int) -> None:
    """Raise if X and y are not of as many documents."""
    if n != n_labelled:
        raise InputError(
            f"X has {n:,} documents but y has {n_labelled:,}; both need one row for each document"
        )


def warn_of_weights(counts: Counts, model: str) -> None:
    """Warn if X is tf-idf: a document would be taken to have hardly a token."""
    if are_scaled_down(counts):
        warn(
            f"X looks like tf-idf (its rows are fractions of length 1 or less), but {model} learns "
            "from how often words occur; pass counts (CountVectorizer instead of TfidfVectorizer, "
            "or WordCounter), or the texts themselves",
            NotCountsWarning,
        )
