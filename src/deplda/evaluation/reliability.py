"""Whether probabilities are as often right as they say."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deplda.data import checks
from deplda.errors import InputError
from deplda.evaluation.matrices import as_matrix, read_truth, same_shape


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
    if not ((found >= 0) & (found <= 1)).all():
        raise InputError("probabilities must be from 0 to 1")
    order = np.argsort(found, axis=None, kind="stable")
    values, hits = found.ravel()[order].astype(np.float64), known.toarray().ravel()[order]
    upto = np.cumsum(values)
    cuts = np.searchsorted(upto, upto[-1] * np.arange(1, bins) / bins) if len(upto) else []
    return [
        ReliabilityBin(float(some.mean()), float(own.mean()), len(some))
        for some, own in zip(np.split(values, cuts), np.split(hits, cuts), strict=True)
        if len(some)
    ]
