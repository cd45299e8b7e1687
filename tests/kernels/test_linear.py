"""The SVM kernels against a few obvious lines of dense algebra."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from deplda.kernels import linear as kernels

svm: Any = kernels


@pytest.fixture(name="rows")
def random_rows() -> tuple[Any, ...]:
    matrix = csr_array(random_array((40, 25), density=0.2, rng=np.random.default_rng(1)))
    return (
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32),
        matrix.data.astype(np.float32),
    )  # fmt: skip


def dense(rows: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    starts, words, values = rows
    matrix = csr_array((values.astype(np.float64), words, starts), shape=(40, 25)).toarray()
    return np.hstack([matrix, np.ones((40, 1))])


def test_the_newton_direction_solves_the_linear_system(rows: tuple[Any, ...]) -> None:
    rng, x = np.random.default_rng(2), dense(rows)
    documents, gradient = np.array([3, 5, 8, 13, 21, 34]), rng.normal(size=26)
    costs = np.array([1.0, 1.0, 100.0, 1.0, 100.0, 2.0])
    found = svm.newton_direction(*rows, documents, costs, gradient, 1e-12, 1000)
    second = np.eye(26) + 2 * (x[documents].T * costs) @ x[documents]
    np.testing.assert_allclose(found, np.linalg.solve(second, -gradient), atol=1e-9)


def test_the_line_minimum_is_no_worse_than_any_point_of_a_fine_grid() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        scores, changes = rng.normal(size=(2, 30))
        signs = rng.integers(-1, 2, size=30).astype(np.int8)
        w, direction = rng.normal(size=(2, 5))
        costs = (1.0, 50.0)
        weights = rng.choice([0.5, 1.0, 3.0], 30)
        each = weights * np.where(signs > 0, costs[1], costs[0]) * (signs != 0)

        def objective(t: float) -> float:
            slack = np.maximum(0, 1 - signs * (scores + t * changes))  # noqa: B023
            end = w + t * direction  # noqa: B023
            return float(end @ end / 2 + (each * slack**2).sum())  # noqa: B023

        if objective(1e-6) > objective(0):
            changes, direction = -changes, -direction
        t = svm.line_minimum(
            scores, changes, signs, weights, w @ direction, direction @ direction, costs, 50
        )
        grid = min(objective(s) for s in np.linspace(0, 5, 2001))
        assert t >= 0
        assert objective(t) <= grid + 1e-3 * (objective(0) - grid)


def test_scores_are_products_by_either_layout_of_weights(rows: tuple[Any, ...]) -> None:
    weights = np.random.default_rng(4).normal(size=(26, 3))
    expected = dense(rows) @ weights
    by_document = np.empty((3, 40))
    svm.score_documents(*rows, weights, by_document)
    np.testing.assert_allclose(by_document.T, expected)
    sparse = csr_array(weights[:-1])
    by_label = np.tile(weights[-1], (40, 1))
    svm.score_labels(*rows, sparse.indptr, sparse.indices, sparse.data, by_label)
    np.testing.assert_allclose(by_label, expected)


def test_documents_are_added_with_their_factors(rows: tuple[Any, ...]) -> None:
    documents, factors, total = np.array([2, 7]), np.array([1.5, -2.0]), np.ones(26)
    svm.add_documents(*rows, documents, factors, total)
    np.testing.assert_allclose(total, 1 + factors @ dense(rows)[documents])
