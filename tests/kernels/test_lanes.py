"""Dot products by lanes against the same additions, one by one, in NumPy's float32."""

from typing import Any

import numpy as np
import pytest
from numba import njit

from deplda.kernels.lanes import LANES, ROWS, lane_of, lane_sums, row_products

Array = np.ndarray[Any, Any]


@njit
def sums_and_lane(matrix, row, vector, r):  # type: ignore[no-untyped-def]
    sums = np.zeros(LANES + 1, np.float32)
    lane_sums(matrix, row, vector, vector.size, sums)
    return sums, lane_of(sums, r)


@njit
def products(matrix, row, vector):  # type: ignore[no-untyped-def]
    sums = np.empty(ROWS, np.float32)
    row_products(matrix, row, vector, vector.size, sums)
    return sums


def lanes(row: Array, vector: Array) -> Array:
    """Return the sum of each lane: products at l, l + 16, l + 32, … added in turn."""
    total = np.zeros(LANES, np.float32)
    for part in (row * vector).reshape(-1, LANES):
        total += part
    return total


@pytest.fixture(name="given")
def a_matrix_and_a_vector() -> tuple[Array, Array]:
    rng = np.random.default_rng(1)
    matrix = rng.random((8, 5 * LANES), np.float32)
    return matrix, rng.random(5 * LANES, np.float32)


def test_running_sums_over_the_lanes_double_their_reach(given: tuple[Array, Array]) -> None:
    matrix, vector = given
    expected = lanes(matrix[3], vector)
    for reach in (1, 2, 4, 8):
        before = np.concatenate([np.zeros(reach, np.float32), expected[:-reach]])
        expected = expected + before
    found, _ = sums_and_lane(matrix, 3, vector, 0.0)
    assert found.tolist() == [0.0, *expected.tolist()]


def test_a_number_falls_into_the_lane_whose_sum_first_exceeds_it(
    given: tuple[Array, Array],
) -> None:
    sums, _ = sums_and_lane(*given[:1], 3, given[1], 0.0)
    for r in np.linspace(0, float(sums[-1]), 50):
        _, lane = sums_and_lane(given[0], 3, given[1], r)
        assert lane == min((sums[1:] <= np.float32(r)).sum(), LANES - 1)
    assert sums_and_lane(given[0], 3, given[1], 2.0 * sums[-1])[1] == LANES - 1


def test_the_products_of_four_rows_are_added_by_halves(given: tuple[Array, Array]) -> None:
    matrix, vector = given
    found = products(matrix, 2, vector)
    for k in range(ROWS):
        total = lanes(matrix[2 + k], vector)
        while total.size > 1:
            total = total[: total.size // 2] + total[total.size // 2 :]
        assert found[k] == total[0]
