"""Slope and curvature of the logistic loss, against the formulas in NumPy."""

from typing import Any

import numpy as np
from scipy.special import expit

from deplda.kernels.logistic import slope_and_curvature

Array = np.ndarray[Any, Any]


def some_pairs(seed: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    features = np.column_stack([np.ones(50), rng.normal(size=(50, 3))])
    return features, (rng.random(50) < 0.4).astype(float), rng.random(50) * 3


def test_slope_and_curvature_are_added_to_what_is_there() -> None:
    features, truth, weights = some_pairs(0)
    found = np.array([0.3, -1.0, 0.5, 2.0])
    slope, curvature = np.ones(4), np.diag(np.full(4, 2.0))
    slope_and_curvature(features, truth, weights, found, slope, curvature)
    chance = expit(features @ found)
    np.testing.assert_allclose(slope, 1 + features.T @ (weights * (chance - truth)))
    expected = (features.T * (weights * chance * (1 - chance))) @ features + 2 * np.eye(4)
    np.testing.assert_allclose(curvature, np.tril(expected))


def test_odds_beyond_all_numbers_are_certain() -> None:
    slope, curvature = np.zeros(1), np.zeros((1, 1))
    sure = np.array([[-2000.0], [2000.0]])
    slope_and_curvature(sure, np.array([0.0, 1.0]), np.ones(2), np.ones(1), slope, curvature)
    assert slope.tolist() == [0.0]
    assert curvature.tolist() == [[0.0]]
