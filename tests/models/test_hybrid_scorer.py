"""How the hybrid scores: candidates first, others by share and likeness; documents on their own."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack

from deplda.engine.execution import HERE
from deplda.models.hybrid_scorer import BELOW, HybridScorer, best_first
from deplda.models.linear.svm import tfidf
from deplda.models.mixture import Alone
from deplda.models.signals import LEAST_SHARE
from tests.models.hybrids import N_CANDIDATES, fitted
from tests.models.worlds import pairs

TEST = pairs(40, seed=1).counts
CANDIDATES = [N_CANDIDATES, "all"]


def scorer(candidates: Any = N_CANDIDATES) -> HybridScorer:
    return fitted(candidates)._scorer(TEST, HERE)[0]


@pytest.mark.parametrize("candidates", CANDIDATES)
def test_the_best_of_a_ranking_are_the_top_of_all_scores(candidates: Any) -> None:
    model = fitted(candidates)
    whole = model.decision_function(TEST)
    for k in (1, N_CANDIDATES, 7, 12):
        ranking = model.rank(TEST, k)
        best = np.argsort(-whole, axis=1, kind="stable")[:, :k]
        np.testing.assert_array_equal(ranking.labels, model.classes_[best])
        np.testing.assert_array_equal(ranking.scores, np.take_along_axis(whole, best, axis=1))


def test_others_follow_the_candidates_by_share_and_likeness() -> None:
    labels, log_odds = scorer().candidates(TEST)
    scores, shortlister = scorer().scores(TEST), scorer().shortlister
    np.testing.assert_array_equal(np.take_along_axis(scores, labels, axis=1), log_odds)
    likeness = shortlister.all_likeness(tfidf(shortlister.idf, TEST))
    products = (shortlister.all_shares(TEST) + LEAST_SHARE) * (likeness + 0.001)
    for own, row, product in zip(labels, scores, products, strict=True):
        others = np.setdiff1d(np.arange(12), own)
        assert row[others].max() < BELOW < row[own].min()
        np.testing.assert_array_equal(np.argsort(row[others]), np.argsort(product[others]))


def test_log_odds_far_below_stay_above_all_other_labels() -> None:
    low = scorer()._replace(mixture=Alone("margin", 1.0, -1000.0))
    assert (low.candidates(TEST)[1] == -29).all()
    assert ((low.scores(TEST) > BELOW).sum(axis=1) == N_CANDIDATES).all()


@pytest.mark.parametrize("candidates", CANDIDATES)
def test_a_documents_result_does_not_depend_on_its_batch(candidates: Any) -> None:
    own = scorer(candidates)
    whole, labels = own.scores(TEST), own.candidates(TEST)[0]
    for rows in ([7], [3, 39], [*range(39, -1, -1)]):
        np.testing.assert_array_equal(own.scores(TEST[rows]), whole[rows])
        np.testing.assert_array_equal(own.candidates(TEST[rows])[0], labels[rows])


@pytest.mark.parametrize("candidates", CANDIDATES)
def test_documents_without_known_words_have_the_prior_and_no_documents_no_scores(
    candidates: Any,
) -> None:
    own = scorer(candidates)
    empty = csr_array((2, TEST.shape[1]), dtype=TEST.dtype)
    both = csr_array(vstack([empty, TEST[:1]]))
    found, values = own.signals(both)
    assert (found.labels >= 0).all()
    assert (values["margin"][:2] == -1).all()
    assert (values["likeness"][:2] == 0).all()
    scores = own.scores(both)
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[2], own.scores(TEST[:1])[0])
    assert own.scores(TEST[:0]).shape == (0, 12)
    assert own.candidates(TEST[:0])[0].shape[0] == 0


def test_without_words_the_likeliest_labels_of_the_prior_are_candidates() -> None:
    empty = csr_array((1, TEST.shape[1]), dtype=TEST.dtype)
    own = scorer()
    shares = own.shortlister.all_shares(empty)[0]
    found = own.shortlister.find(empty)
    assert shares.argmax() in found.labels[0]
    assert found.shares[0].max() == pytest.approx(shares.max(), rel=1e-4)


def test_signals_of_candidates_are_those_of_all_labels() -> None:
    """But for shares, in which other labels are one."""
    few = scorer()
    every = few._replace(shortlister=few.shortlister._replace(n_candidates=12))
    found, values = few.signals(TEST)
    _, whole = every.signals(TEST)
    for name, tolerance in (("margin", 0.0), ("frequency", 0.0), ("likeness", 1e-6)):
        expected = np.take_along_axis(whole[name], found.labels, axis=1)
        np.testing.assert_allclose(values[name], expected, atol=tolerance, rtol=0)


def test_half_of_the_candidates_have_the_largest_shares_of_those_near() -> None:
    own = scorer().shortlister._replace(n_candidates=4)
    found, shares = own.find(TEST), own.all_shares(TEST)
    best = np.argsort(-shares, axis=1)[:, :2]
    hits = [np.isin(top, labels).all() for top, labels in zip(best, found.labels, strict=True)]
    assert np.mean(hits) > 0.9
    assert all(len(set(labels)) == 4 for labels in found.labels.tolist())


def test_equals_are_ranked_by_their_numbers() -> None:
    labels = np.array([[5, 2, 9, 4]], np.int32)
    keys = np.array([[1.0, 3.0, 1.0, 1.0]])
    numbers, (values,) = best_first(labels, keys, 3, 10 * keys)
    assert numbers.tolist() == [[2, 4, 5]]
    assert values.tolist() == [[30.0, 10.0, 10.0]]
