"""What training gives: φ and φ′ as a sparse matrix and one number a column, never dense."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class _SparseAndBase:
    """A matrix whose columns are distributions: weights[i, j] + base[j]."""

    weights: csr_array[Any, tuple[int, int]]
    base: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, columns."""
        return self.weights.shape

    def dense(self) -> Floats:
        """Return it as an ordinary array; for small problems."""
        return np.asarray(self.weights.toarray() + self.base, dtype=np.float64)


class LabelWords(_SparseAndBase):
    """φ, words × labels: φ_wc = weights[w, c] + base[c]; each column sums to 1.

    `weights` (A) has an entry only where word and label meet in a training document; `base` (b) is
    what smoothing gives every other word. Averaging over chains is exact in this form.

    Examples
    --------
    >>> import deplda
    >>> corpus = deplda.datasets.newsroom(60).corpus
    >>> phi = deplda.expect_label_words(corpus).label_words
    >>> phi.dense().shape == phi.shape
    True
    """


class TopicLabels(_SparseAndBase):
    """φ′ of one chain, labels × topics: φ′_ct = weights[c, t] + base[t]; each column sums to 1.

    Topics of different chains mean different things, so these are kept side by side, not averaged.

    Examples
    --------
    >>> import deplda
    >>> prior = deplda.prior_topic_labels(deplda.datasets.newsroom(60).corpus, beta=0.1)
    >>> round(float(prior.dense().sum()), 6)
    1.0
    """
