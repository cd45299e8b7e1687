"""What is chosen on held-out documents: the paper's rule, and C."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import label_ranking_average_precision_score

from deplda import InputError, load
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


def machine(x: Any, y: Any, weight: float, which: str) -> Any:
    """Return scikit-learn's SVM whose C a weight multiplies, of positive documents or of all."""
    return reference(x, y, weight) if which == "positive" else reference(x, y, cost=weight)


@pytest.mark.parametrize("which", ["positive", "both"])
def test_tuned_chooses_by_the_hold_out_and_learns_again_from_all_documents(which: Any) -> None:
    train, test = world(), world(seed=1)
    model = TunedSVM(tol=1e-5, random_state=3, weights=which).fit(train)
    x, order = shares(train), shuffled(len(train), 3)
    found = model.decision_function(test)
    for label, y in enumerate(train.labels.toarray().T):
        signs = np.where(y, 1, -1).astype(np.int8)
        left, held = held_out(signs, order)
        accuracies = {
            weight: (machine(x[left != 0], left[left != 0], weight, which).predict(x[held])
                     == signs[held]).mean()
            for weight in candidates(signs)
        }  # fmt: skip
        best = max(accuracies.values())
        chosen = min((w for w in accuracies if accuracies[w] == best), key=lambda w: abs(w - 1))
        assert model.positive_weights_[label] == chosen
        expected = machine(x, y, chosen, which).decision_function(shares(test))
        np.testing.assert_allclose(found[:, label], expected, atol=2e-4)
    assert len(set(model.positive_weights_)) > 1


def test_a_weight_is_of_positive_documents_unless_it_is_said_to_be_of_both() -> None:
    corpus = world()
    usual, said, both = (
        TunedSVM(**given).fit(corpus).decision_function(corpus)  # type: ignore[arg-type]
        for given in ({}, {"weights": "positive"}, {"weights": "both"})
    )
    assert np.array_equal(usual, said)
    assert not np.array_equal(usual, both)


def test_which_documents_a_weight_is_of_is_checked_and_kept(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"weights is 'all'; it must be one of 'positive', 'both'"):
        TunedSVM(weights="all").fit(world())  # type: ignore[arg-type]
    model = TunedSVM(weights="both").fit(world())
    model.save(tmp_path / "model")
    loaded: Any = load(tmp_path / "model")
    assert loaded.weights == "both"
    assert np.array_equal(loaded.positive_weights_, model.positive_weights_)


def test_of_equally_good_costs_the_closest_to_one_is_taken() -> None:
    assert best_cost((0.3, 1.0, 3.0), lambda k: (0.5, 0.7, 0.7)[k]) == 1.0
    assert best_cost((0.3, 1.0, 3.0), lambda k: (0.9, 0.7, 0.8)[k]) == 0.3


def test_average_precision_is_scikit_learns_ties_and_all() -> None:
    rng = np.random.default_rng(0)
    truth, scores = rng.random((40, 12)) < 0.2, rng.integers(0, 9, (40, 12)).astype(np.float32)
    truth[0], truth[1] = False, True
    expected = label_ranking_average_precision_score(truth, scores)
    assert average_precision(csr_array(truth), scores) == pytest.approx(expected, rel=1e-12)
