"""What is chosen on held-out documents: the paper's rule, and C."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import label_ranking_average_precision_score

from deplda.models.linear import TunedSVM
from deplda.models.linear.tuning import average_precision, best_cost, candidates, held_out, shuffled
from tests.models.linear.worlds import reference, shares, world


def test_the_weights_to_try_are_the_papers_from_one_outwards() -> None:
    signs = np.array([1, -1, -1, -1], np.int8)
    assert candidates(signs) == [1, 2, 3, 5, 10, 25, 50, 100, 250, 500, 1000]
    assert candidates(-signs)[:3] == [1, 1 / 3, 2]


def test_the_hold_out_is_a_tenth_of_either_side() -> None:
    signs = np.where(np.arange(100) < 20, 1, -1).astype(np.int8)
    left, held = held_out(signs, shuffled(100, 0))
    assert (signs[held] > 0).sum() == 2
    assert (signs[held] < 0).sum() == 8
    assert (left[held] == 0).all()
    assert (left != 0).sum() == 90


def test_the_only_document_of_a_label_is_trained_on_and_held_out() -> None:
    signs = np.full(30, -1, np.int8)
    signs[7] = 1
    left, held = held_out(signs, shuffled(30, 0))
    assert left[7] == 1
    assert 7 in held
    assert (left[held[held != 7]] == 0).all()


def test_tuned_chooses_as_the_papers_rule_does_and_learns_again_from_all_documents() -> None:
    train, test = world(), world(seed=1)
    model = TunedSVM(tol=1e-5, random_state=3).fit(train)
    x, order = shares(train), shuffled(len(train), 3)
    found = model.decision_function(test)
    for label, y in enumerate(train.labels.toarray().T):
        signs = np.where(y, 1, -1).astype(np.int8)
        left, held = held_out(signs, order)
        accuracies = {
            weight: (reference(x[left != 0], left[left != 0], weight).predict(x[held])
                     == signs[held]).mean()
            for weight in candidates(signs)
        }  # fmt: skip
        best = max(accuracies.values())
        chosen = min((w for w in accuracies if accuracies[w] == best), key=lambda w: abs(w - 1))
        assert model.positive_weights_[label] == chosen
        expected = reference(x, y, chosen).decision_function(shares(test))
        np.testing.assert_allclose(found[:, label], expected, atol=2e-4)
    assert len(set(model.positive_weights_)) > 1


def test_of_equally_good_costs_the_closest_to_one_is_taken() -> None:
    assert best_cost((0.3, 1.0, 3.0), lambda k: (0.5, 0.7, 0.7)[k]) == 1.0
    assert best_cost((0.3, 1.0, 3.0), lambda k: (0.9, 0.7, 0.8)[k]) == 0.3


def test_average_precision_is_scikit_learns_ties_and_all() -> None:
    rng = np.random.default_rng(0)
    truth, scores = rng.random((40, 12)) < 0.2, rng.integers(0, 9, (40, 12)).astype(np.float32)
    truth[0], truth[1] = False, True
    expected = label_ranking_average_precision_score(truth, scores)
    assert average_precision(csr_array(truth), scores) == pytest.approx(expected, rel=1e-12)
