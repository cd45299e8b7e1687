"""The three cut-offs of the paper against obvious ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deplda.evaluation.binary import binary_ratios
from deplda.evaluation.cutoffs import (
    break_even,
    proportional_for_documents,
    proportional_for_labels,
)
from deplda.evaluation.matrices import read_truth
from deplda.evaluation.ranking import hits_in_top
from deplda.evaluation.ties import tie_groups
from tests.evaluation import naive_evaluation as naive
from tests.evaluation.cases import Matrix, tied_cases


@given(tied_cases())
@settings(deadline=None, max_examples=60)
def test_the_break_even_cut_is_the_smallest_with_the_best_expected_f1(
    case: tuple[Matrix, Matrix],
) -> None:
    scores, truth = case
    groups = tie_groups(scores, read_truth(truth))
    cut = break_even(groups)
    f1 = binary_ratios(hits_in_top(groups, cut), cut, groups.positives)["macro_f1"].items
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
        found = binary_ratios(hits_in_top(groups, cut), cut, groups.positives)
        return found["macro_f1"].items

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
