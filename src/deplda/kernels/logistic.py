"""Logistic regression: slope and curvature of its loss, in one order on any machine."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def slope_and_curvature(features, truth, weights, found, slope, curvature):  # type: ignore[no-untyped-def]
    """Add to slope and curvature those of Σ_i weight_i loss(y_i, x_i·found); rows are pairs.

    Of the curvature, the lower triangle.
    """
    n_terms = found.size
    for i in range(features.shape[0]):
        x = features[i]
        odds = 0.0
        for t in range(n_terms):
            odds += x[t] * found[t]
        chance = 1.0 / (1.0 + np.exp(-odds))
        off = weights[i] * (chance - truth[i])
        bend = weights[i] * chance * (1.0 - chance)
        for t in range(n_terms):
            slope[t] += off * x[t]
            row, factor = curvature[t], bend * x[t]
            for u in range(t + 1):
                row[u] += factor * x[u]
