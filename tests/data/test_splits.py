import numpy as np
import pytest

from deplda import Corpus, InputError
from deplda.data.splits import (
    Split,
    by_values,
    k_fold,
    random_split,
    split_by_ids,
)


def corpus(n: int = 23) -> Corpus:
    labels = np.zeros((n, 6), dtype=bool)
    for row in range(n):
        labels[row, : row % 5] = True
    return Corpus(np.ones((n, 2), dtype=int), labels)


def test_k_fold_tests_every_document_once() -> None:
    splits = list(k_fold(corpus(), 5, seed=3))
    assert len(splits) == 5
    assert sorted(np.concatenate([s.test for s in splits]).tolist()) == list(range(23))
    assert {len(s.test) for s in splits} == {4, 5}
    for split in splits:
        assert sorted([*split.train.tolist(), *split.test.tolist()]) == list(range(23))


def test_a_split_depends_on_the_seed_alone() -> None:
    one, same, other = (random_split(corpus(), seed=s) for s in (1, 1, 2))
    assert one.test.tolist() == same.test.tolist() != other.test.tolist()
    assert len(one.test) == 5


def test_split_by_ids_keeps_the_given_ones_for_testing() -> None:
    split = split_by_ids(corpus(), ["3", "7", "3"])
    assert split.test.tolist() == [3, 7]
    assert len(split.train) == 21
    with pytest.raises(InputError, match=r"1 of 2 ids are not in the corpus, the first is 'x'"):
        split_by_ids(corpus(), ["3", "x"])


@pytest.mark.parametrize("k", [0, 1, 24])
def test_k_must_leave_documents_on_both_sides(k: int) -> None:
    with pytest.raises(InputError, match=f"k is {k}; it must be a whole number from 2 to 23"):
        next(k_fold(corpus(), k))


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5, float("nan")])
def test_a_share_lies_between_0_and_1(share: float) -> None:
    with pytest.raises(InputError, match="test_share is"):
        random_split(corpus(), share)


GROUPS = [*"aaaaaa", *"bbb", *"ccc", "", "", *"dd"]


@pytest.mark.parametrize("seed", range(6))
def test_groups_are_kept_together_and_documents_without_one_stand_alone(seed: int) -> None:
    corpus = Corpus(np.ones((len(GROUPS), 1)), np.ones((len(GROUPS), 1)))
    folds = list(k_fold(corpus, 4, seed=seed, groups=GROUPS))
    held = random_split_of(corpus, seed)
    for split in (*folds, held):
        assert sorted([*split.train, *split.test]) == list(range(len(GROUPS)))
        parts = [{GROUPS[row] for row in rows} - {""} for rows in split]
        assert not parts[0] & parts[1]
    assert sorted(row for split in folds for row in split.test) == list(range(len(GROUPS)))
    assert sorted(len(split.test) for split in folds) == [3, 3, 4, 6]  # six are never parted
    assert 3 <= len(held.test) <= 9


def random_split_of(corpus: Corpus, seed: int) -> Split:
    first, again = (random_split(corpus, 0.3, seed=seed, groups=GROUPS) for _ in range(2))
    assert first.test.tolist() == again.test.tolist()
    return first


def test_groups_that_cannot_be_parted_are_an_error() -> None:
    corpus = Corpus(np.ones((4, 1)), np.ones((4, 1)))
    with pytest.raises(InputError, match="all documents are of one group"):
        random_split(corpus, 0.5, groups=["a"] * 4)
    with pytest.raises(InputError, match="k is 3; it must be a whole number from 1 to 2"):
        list(k_fold(corpus, 3, groups=["a", "a", "b", "b"]))
    with pytest.raises(InputError, match="there are 2 groups for 4 documents"):
        random_split(corpus, 0.5, groups=["a", "b"])


def test_a_field_says_which_documents_test_or_which_fold_they_are_of() -> None:
    (one,) = by_values(["train", "Test", "dev", "test"])
    assert [rows.tolist() for rows in one] == [[0, 2], [1, 3]]
    folds = by_values(["2", "1", "2"])
    assert [split.test.tolist() for split in folds] == [[1], [0, 2]]
    with pytest.raises(InputError, match="all 2 documents say 'train'"):
        by_values(["train", "train"])
    with pytest.raises(InputError, match="there are 101 values such as"):
        by_values([str(n) for n in range(101)])
