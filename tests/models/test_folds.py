"""What is held out: a fifth at most, no document twice, a group together."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda.errors import InputError
from deplda.models.folds import folds_of, of_known_words


@pytest.mark.parametrize("n", [5, 23, 400, 10_000])
def test_no_document_is_in_two_folds_and_a_fold_is_a_fifth_at_most(n: int) -> None:
    folds = folds_of(n, 2000, None, seed=1)
    held = np.concatenate(folds)
    assert len(np.unique(held)) == len(held)
    assert max(map(len, folds)) <= max(n // 5, 1)
    assert len(held) >= min(0.8 * n, 2000)


def test_a_group_is_held_out_together() -> None:
    groups = np.random.default_rng(0).integers(0, 30, 400)
    folds = folds_of(400, 2000, groups, seed=0)
    assert len(folds) == 5
    for number in range(30):
        assert sum(number in groups[fold] for fold in folds) == 1


def test_groups_that_have_no_order_are_named() -> None:
    with pytest.raises(InputError, match="groups cannot be put in order"):
        folds_of(4, 2, [1, "a", None, 2], seed=0)


def test_words_that_no_other_document_has_are_left_out() -> None:
    held = csr_array(np.array([[1, 2, 0, 3], [0, 0, 5, 0]]))
    others = csr_array(([1, 0], ([0, 1], [1, 2])), shape=(2, 4))  # a 0 that is stored is no word
    assert of_known_words(held, others).toarray().tolist() == [[0, 2, 0, 0], [0, 0, 0, 0]]
