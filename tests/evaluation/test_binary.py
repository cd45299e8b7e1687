import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import precision_recall_fscore_support

from deplda import InputError
from deplda.evaluation import binary_metrics
from tests.evaluation.cases import random_case

NAMES = ("precision", "recall", "f1")


def test_scikit_learn_agrees_on_predictions() -> None:
    rng = np.random.default_rng(1)
    _, truth, _ = random_case(300, 8)
    truth = truth[truth.any(axis=1)]
    predicted = truth ^ (rng.random(truth.shape) < 0.2)
    for pivot, averages in (("document", ("samples", "micro")), ("label", ("macro", "micro"))):
        found = binary_metrics(predicted, csr_array(truth), pivot=pivot)
        for average, ours in zip(averages, ("macro", "micro"), strict=True):
            theirs = precision_recall_fscore_support(
                truth, predicted, average=average, zero_division=0
            )
            for name, value in zip(NAMES, theirs[:3], strict=True):
                assert found[f"{ours}_{name}"] == pytest.approx(value)


def test_nothing_predicted_is_zero_and_an_item_without_positives_counts_in_micro_only() -> None:
    found = binary_metrics([[0, 0], [1, 0]], [[1, 0], [0, 0]])
    assert set(found.values()) == {0.0}
    found = binary_metrics([[1, 0], [1, 0]], [[1, 0], [0, 0]])
    assert found["macro_f1"] == found["macro_precision"] == 1
    assert found["micro_precision"] == 0.5
    assert found["micro_f1"] == pytest.approx(2 / 3)


def test_predictions_of_another_shape_are_refused() -> None:
    with pytest.raises(InputError, match="predicted are 1 × 3 but the truth is 1 × 2"):
        binary_metrics([[1, 0, 0]], [[1, 0]])
    with pytest.raises(InputError, match="predicted holds the value 2"):
        binary_metrics([[2, 0]], [[1, 0]])
