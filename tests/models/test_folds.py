"""What is held out: a fifth at most, no document twice, a group together."""

import numpy as np
import pytest

from deplda.models.folds import folds_of


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
