"""What inference gives of some documents, and the scores and rankings made of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deplda.inference.settings import Combine

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]


class Inferred(NamedTuple):
    """What was inferred of some documents; documents × labels but for the topics."""

    counts: Floats
    """N: the expected tokens of each label."""
    alpha: Floats
    """α′: the document's prior over labels."""
    topics: Floats
    """θ′: the document's topics, documents × the topics of all sets side by side."""
    words: Floats = np.zeros((0, 0))
    """Of each entry of the documents' counts, the tokens it gives to chosen labels, where asked."""

    def only(self, n_labels: int) -> Inferred:
        """Return it without what follows the first labels, a background."""
        return self._replace(counts=self.counts[:, :n_labels], alpha=self.alpha[:, :n_labels])


class Ranking(NamedTuple):
    """The best labels of some documents, documents × k, the best first."""

    labels: Labels
    scores: Floats


def scores(inferred: Inferred, combine: Combine, n_ranked: int | None = None) -> Floats:
    """Return documents × labels: how strongly each of the labels to be ranked is suggested.

    "posterior" is θ̂ of eq. 4.
    """
    counts, alpha = inferred.counts[:, :n_ranked], inferred.alpha[:, :n_ranked]
    if combine == "counts":
        return _normalised(counts)
    if combine == "posterior":
        return _normalised(counts + alpha)
    return _normalised(alpha) + _normalised(counts)


def best(values: Floats, k: int) -> Ranking:
    """Return the k best of each row (all if there are fewer), equals in the order of columns."""
    k = min(k, values.shape[1])
    labels = np.empty((len(values), k), dtype=np.int64)
    for d, row in enumerate(values):
        least = np.partition(row, len(row) - k)[len(row) - k]
        among = np.flatnonzero(row >= least)
        labels[d] = among[np.argsort(-row[among], kind="stable")[:k]]
    return Ranking(labels, np.take_along_axis(values, labels, axis=1))


def _normalised(values: Floats) -> Floats:
    totals = values.sum(axis=1, keepdims=True)
    return values / np.where(totals > 0, totals, 1.0)
