"""SVMs that learn from shortlists: any workers, some labels, one C after the other."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from deplda.engine.execution import Execution
from deplda.models.candidates import Sparse, centroids, companions, training_lists
from deplda.models.linear import reduced
from deplda.models.linear.reduced import Problem, learn, problem_of, started
from deplda.models.linear.svm import idf_of, tfidf
from tests.models.worlds import pairs

ONE = Execution(n_jobs=1)
EVERY = np.arange(12)


def world() -> tuple[Any, Any, Any]:
    """Return features, labels and lists of 6 of the 12 labels."""
    corpus = pairs(150, seed=0)
    features = tfidf(idf_of(corpus.counts), corpus.counts)
    near = centroids(features, corpus.labels).nearby
    lists = training_lists(features, corpus.labels, near, companions(corpus.labels), 6, ONE)
    return features, corpus.labels, lists


def problem(before: Sparse | None = None) -> Problem:
    return problem_of(*world(), before)


def same(left: Sparse, right: Sparse) -> bool:
    return all(
        np.array_equal(getattr(left, part), getattr(right, part))
        for part in ("indptr", "indices", "data")
    )


def test_a_label_learns_from_its_own_documents_and_those_that_list_it() -> None:
    _, labels, lists = world()
    found = problem()
    truth = labels.toarray()
    for c in range(12):
        own = slice(found.starts[c], found.starts[c + 1])
        expected = np.flatnonzero(truth[:, c] | (lists == c).any(axis=1))
        assert 0 < len(expected) < 150
        np.testing.assert_array_equal(found.rows[own], expected)
        np.testing.assert_array_equal(found.signs[own], np.where(truth[expected, c], 1, -1))


def weights_of(
    costs: Sequence[float], numbers: Any = EVERY, execution: Execution = ONE
) -> list[Any]:
    return [solved.weights for solved in learn(problem(), costs, numbers, execution)]


@pytest.mark.parametrize(
    "execution",
    [
        pytest.param(Execution(n_jobs=2), id="two"),
        pytest.param(Execution("processes", n_jobs=1), id="process", marks=pytest.mark.slow),
    ],
)
def test_same_bits_for_any_workers(execution: Execution, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = weights_of((0.3, 1.0))
    monkeypatch.setattr(reduced, "_BLOCK_PAIRS", 100)
    for found, expected in zip(weights_of((0.3, 1.0), execution=execution), whole, strict=True):
        assert same(found, expected)
        assert found.nnz > 100


def test_labels_that_are_not_asked_for_are_empty_and_others_the_same() -> None:
    (whole,) = weights_of((1.0,))
    (some,) = weights_of((1.0,), np.array([7, 2]))
    assert some.shape == whole.shape
    assert np.flatnonzero(np.diff(some.indptr)).tolist() == [2, 7]
    assert same(some[[2, 7]], whole[[2, 7]])
    (none,) = weights_of((1.0,), EVERY[:0])
    assert none.shape == whole.shape
    assert none.nnz == 0


def test_each_cost_of_a_path_is_solved_as_it_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduced, "_TOLERANCE", 1e-7)
    monkeypatch.setattr(reduced, "_MOST_SWEEPS", 10_000)
    monkeypatch.setattr(reduced, "_LEAST", 0.0)
    costs = (0.1, 1.0, 3.0)
    path = [weights.toarray() for weights in weights_of(costs)]
    for cost, found in zip(costs, path, strict=True):
        alone = weights_of((cost,))[0].toarray()
        np.testing.assert_allclose(found, alone, atol=1e-5)
    assert np.abs(path[2] - path[1]).max() > 0.1


def test_with_little_cost_weights_stay_what_they_were_before() -> None:
    before = csr_array(np.random.default_rng(0).normal(size=(12, 150)).astype(np.float32))
    near, far = (learn(problem(before), (cost,), EVERY, ONE)[0].weights for cost in (1e-6, 10.0))
    is_kept = near.toarray() != 0  # but for the lightest, which are left out
    assert is_kept.mean() > 0.95
    np.testing.assert_allclose(near.toarray()[is_kept], before.toarray()[is_kept], atol=1e-3)
    assert np.abs(far.toarray() - before.toarray()).max() > 0.5


def test_margins_are_products_less_one() -> None:
    features, _, lists = world()
    (weights,) = weights_of((1.0,))
    every = (features @ weights.T).toarray() - 1
    expected = np.where(lists < 0, -1, np.take_along_axis(every, lists % 12, axis=1))
    np.testing.assert_allclose(reduced.margins(weights, features, lists), expected, atol=1e-6)


def test_svms_that_do_not_get_there_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduced, "_MOST_SWEEPS", 1)
    with pytest.warns(ConvergenceWarning, match="12 SVMs .* in 1 sweeps; a smaller C helps"):
        learn(problem(), (1.0,), EVERY, ONE)


def test_a_problem_is_solved_from_the_solution_of_a_part_of_it() -> None:
    whole = problem()
    (solved,) = learn(whole, (1.0,), EVERY, ONE)
    documents = np.arange(len(whole.squares))
    again = started(whole, whole, solved.alpha, documents)
    np.testing.assert_array_equal(again.start, solved.alpha)
    (once_more,) = learn(again, (1.0,), EVERY, ONE)
    np.testing.assert_allclose(
        once_more.weights.toarray(), solved.weights.toarray(), atol=0.05 * abs(solved.weights).max()
    )
