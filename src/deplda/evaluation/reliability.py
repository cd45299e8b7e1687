"""Whether probabilities are as often right as they say."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deplda.data import checks
from deplda.evaluation.matrices import Floats, Ints, as_matrix, read_truth, same_shape


class ReliabilityBin(NamedTuple):
    """Some pairs of documents and labels, of about the same probability."""

    told: float
    """Their mean probability."""
    seen: float
    """The share of them that are true."""
    n: int


def reliability(probabilities: Any, truth: Any, *, bins: int = 10) -> list[ReliabilityBin]:
    """Return the reliability curve of probabilities, documents × labels.

    Each bin has about as much probability as any other, so that the many pairs that are next to
    impossible are one bin, and not all of them. Perfect probabilities have told = seen in each.
    """
    checks.at_least_one(bins=bins)
    found, known = as_matrix(probabilities, "probabilities"), read_truth(truth)
    same_shape(found.shape, known.shape, "probabilities")
    values, hits = found.ravel().astype(np.float64), known.toarray().ravel()
    return [
        ReliabilityBin(*each) for each in _bins(values, hits, np.ones(len(values), np.int64), bins)
    ]


def calibration_error(probabilities: Floats, n_true: Ints, n: Ints, *, bins: int = 10) -> float:
    """Return the expected calibration error: the mean of |told − seen| over bins.

    Of each probability, `n` pairs have it and `n_true` of these are true. Bins are those of
    `reliability`, of equal probability: they weigh the same.
    """
    found = _bins(probabilities, n_true, n, bins)
    return float(np.mean([abs(told - seen) for told, seen, _ in found])) if found else 0.0


def _bins(probabilities: Floats, n_true: Any, n: Ints, bins: int) -> list[tuple[float, float, int]]:
    """Return what is told, what is seen and how many pairs there are, in bins of equal mass."""
    order = np.argsort(probabilities, kind="stable")
    size, hits = n[order], n_true[order]
    mass = probabilities[order] * size
    upto = np.cumsum(mass)
    cuts = np.searchsorted(upto, upto[-1] * np.arange(1, bins) / bins) if len(upto) else []
    parts = (np.split(each, cuts) for each in (mass, hits, size))
    return [
        (float(told.sum() / some.sum()), float(own.sum() / some.sum()), int(some.sum()))
        for told, own, some in zip(*parts, strict=True)
        if len(some)
    ]
