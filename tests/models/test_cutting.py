"""Cut-offs: what may be one, and which labels each gives."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda import InputError
from deplda.models.cutting import check_cutoff, given, most_labels, needs_probabilities, read_cutoff


class Cuts(NamedTuple):
    threshold: float
    label_thresholds: Any


CUTS = Cuts(0.5, np.array([0.1, 0.5, 0.35, 0.9]))
NUMBERS = np.array([[1, 2, 0, 3], [3, 2, 1, 0]])
CHANCES = np.array([[0.7, 0.3, 0.2, 0.1], [0.4, 0.3, 0.2, 0.05]])


@pytest.mark.parametrize(
    ("cutoff", "expected"),
    [
        ("validated", [[1, 0, 0, 0], [0, 0, 0, 0]]),
        ("at-least-one", [[1, 0, 0, 0], [1, 0, 0, 0]]),
        ("macro-f1", [[1, 0, 1, 0], [0, 0, 0, 0]]),
        (0.25, [[1, 1, 0, 0], [1, 1, 0, 0]]),
        (0.6, [[1, 0, 0, 0], [0, 0, 0, 0]]),
        (4, [[1, 1, 1, 1], [1, 1, 1, 1]]),
    ],
)
def test_each_cut_off_gives_its_labels(cutoff: Any, expected: list[list[int]]) -> None:
    assert given(cutoff, NUMBERS, CHANCES, CUTS).astype(int).tolist() == expected


def test_the_number_of_labels_with_the_best_expected_f1_is_given() -> None:
    rng = np.random.default_rng(0)
    chances = -np.sort(-rng.random((5, 6)), axis=1)
    chances[4] /= 20  # most likely it has no label at all
    found = given("expected-f1", np.tile(np.arange(6), (5, 1)), chances, CUTS)
    drawn = rng.random((40_000, 1, 6)) < chances
    f1 = [(~drawn.any(axis=2)).mean(axis=0)]
    f1 += [
        (2 * drawn[..., :k].sum(axis=2) / (k + drawn.sum(axis=2))).mean(axis=0) for k in range(1, 7)
    ]
    best = np.max(f1, axis=0)
    got = np.array(f1)[found.sum(axis=1), np.arange(5)]
    assert (got > best - 0.02).all()
    assert not found[4].any()


def test_as_many_as_the_median_training_document_has() -> None:
    sets = csr_array(np.array([[1, 0, 0], [1, 1, 1], [1, 1, 0], [0, 0, 0]], dtype=bool))
    assert most_labels("proportional", sets) == 2
    assert most_labels(2, sets) == 2
    assert most_labels(9, sets) == 3
    assert most_labels("validated", sets) == most_labels(0.5, sets) == 3


def test_what_is_said_in_words_is_read() -> None:
    assert read_cutoff("validated") == "validated"
    assert (read_cutoff("3"), type(read_cutoff("3"))) == (3, int)
    assert read_cutoff(".5") == 0.5
    for text in ("best", "0", "-1", "1.0", "nan", "", "2.5"):
        with pytest.raises(InputError, match="cutoff is"):
            read_cutoff(text)


def test_names_and_probabilities_need_probabilities() -> None:
    assert [needs_probabilities(c) for c in ("validated", 0.5, "proportional", 3)] == [
        True, True, False, False,
    ]  # fmt: skip
    for wrong in (True, None, [1], 1.0, float("nan")):
        with pytest.raises(InputError, match="cutoff is"):
            check_cutoff(wrong)
