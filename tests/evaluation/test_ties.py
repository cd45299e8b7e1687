"""Where the positives stand, among equals, for dense and for sparse scores."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from deplda.evaluation import rank_metrics, ties
from tests.evaluation.cases import random_case, same


def test_blocks_of_any_size_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, truth, _ = random_case(60, 9)
    whole = rank_metrics(scores, truth)
    monkeypatch.setattr(ties, "BLOCK", 20)
    same(whole, rank_metrics(scores, truth))


def test_a_stored_zero_is_known_and_stands_above_what_is_not_stored() -> None:
    scores = csr_array((np.array([0.0]), np.array([2]), np.array([0, 1])), shape=(1, 3))
    assert rank_metrics(scores, [[0, 0, 1]])["one_error"].tolist() == [0]


def test_labels_outside_the_top_k_tie_at_the_bottom() -> None:
    scores, truth, _ = random_case(50, 20)
    scores -= 5  # so that most are negative: what is missing is still below
    top = np.argsort(-scores, axis=1)[:, :6]
    values = np.take_along_axis(scores, top, axis=1)
    filled = np.full(scores.shape, -np.inf)
    np.put_along_axis(filled, top, values, axis=1)
    found = rank_metrics(filled, truth)
    same(found, rank_metrics((top, values), truth))
    rows = np.repeat(np.arange(50), 6)
    stored = csr_matrix((values.ravel(), (rows, top.ravel())), shape=scores.shape)
    same(found, rank_metrics(stored, truth))
    by_label = rank_metrics(filled, truth, pivot="label")
    same(by_label, rank_metrics((top, values), truth, pivot="label"))


def test_large_groups_of_equals_stay_exact() -> None:
    truth = np.zeros((1, 3000), dtype=bool)
    truth[0, ::2] = True
    found = rank_metrics(np.zeros((1, 3000)), truth)
    assert found["is_error"][0] == 100
    assert found["average_precision"][0] == pytest.approx(0.5, abs=2e-3)
    assert found["auc_pr"][0] == pytest.approx(0.5, abs=2e-3)
