import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.metrics import precision_recall_fscore_support

from deplda import InputError
from deplda.evaluation import binary_metrics
from deplda.evaluation.binary import binary_figures
from deplda.evaluation.cutoffs import (
    break_even,
    proportional_for_documents,
    proportional_for_labels,
)
from deplda.evaluation.matrices import read_truth
from deplda.evaluation.ranking import hits_in_top
from deplda.evaluation.ties import tie_groups
from tests.evaluation import naive_evaluation as naive
from tests.evaluation.cases import Matrix, random_case, tied_cases

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


@given(tied_cases())
@settings(deadline=None, max_examples=60)
def test_the_break_even_cut_is_the_smallest_with_the_best_expected_f1(
    case: tuple[Matrix, Matrix],
) -> None:
    scores, truth = case
    groups = tie_groups(scores, read_truth(truth))
    cut = break_even(groups)
    f1 = binary_figures(hits_in_top(groups, cut), cut, groups.positives)["macro_f1"].items
    for item, (row, positive) in enumerate(zip(scores.tolist(), truth.tolist(), strict=True)):
        if any(positive):
            assert cut[item] == naive.best_cut(row, positive)
            n = int(cut[item])
            best = naive.expected(lambda ranking, n=n: naive.f1(ranking, n), row, positive)  # type: ignore[misc]
            assert f1[item] == pytest.approx(best)
        else:
            assert cut[item] == 0


def test_of_two_cuts_with_the_same_best_f1_the_smaller_is_taken() -> None:
    truth = read_truth([[1, 0, 0, 1]])  # F1 is 2·1/(1 + 2) at 1, and 2·2/(4 + 2) at 4
    assert break_even(tie_groups(np.array([[4, 3, 2, 1]]), truth)).tolist() == [1]


@given(tied_cases(), st.integers(0, 7))
@settings(deadline=None, max_examples=60)
def test_no_cut_beats_break_even_for_any_item(case: tuple[Matrix, Matrix], n: int) -> None:
    scores, truth = case
    groups = tie_groups(scores, read_truth(truth))

    def f1(cut: Matrix) -> Matrix:
        figures = binary_figures(hits_in_top(groups, cut), cut, groups.positives)
        return figures["macro_f1"].items

    best = f1(break_even(groups))
    for cut in (groups.positives, np.full(len(truth), min(n, scores.shape[1]))):
        assert (np.nan_to_num(best) >= np.nan_to_num(f1(cut)) - 1e-12).all()


@given(st.lists(st.integers(0, 6), min_size=1).filter(any), st.integers(1, 400))
def test_proportional_cuts_follow_the_training_documents(sizes: list[int], n_test: int) -> None:
    train = np.arange(6) < np.array(sizes)[:, None]
    assert proportional_for_documents(read_truth(train)) == naive.proportional_for_document(sizes)
    counts = train.sum(axis=0)
    cuts = proportional_for_labels(counts, len(sizes), n_test)
    assert cuts.tolist() == [
        naive.proportional_for_label(n, len(sizes), n_test) for n in counts.tolist()
    ]


def test_predictions_of_another_shape_are_refused() -> None:
    with pytest.raises(InputError, match="predicted are 1 × 3 but the truth is 1 × 2"):
        binary_metrics([[1, 0, 0]], [[1, 0]])
    with pytest.raises(InputError, match="predicted holds the value 2"):
        binary_metrics([[2, 0]], [[1, 0]])
