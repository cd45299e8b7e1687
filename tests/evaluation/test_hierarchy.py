from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

from deplda import InputError
from deplda.evaluation import hierarchical_metrics
from tests.evaluation.cases import Matrix, shown


def slowly(predicted: Matrix, truth: Matrix, broader: Matrix) -> tuple[float, float, float]:
    """Return hP, hR and hF, by sets of labels."""

    def extended(row: Matrix) -> set[int]:
        found: set[int] = set()
        waiting = np.flatnonzero(row).tolist()
        while waiting:
            label = waiting.pop()
            if label not in found:
                found.add(label)
                waiting += np.flatnonzero(broader[label]).tolist()
        return found

    pairs = [(extended(p), extended(t)) for p, t in zip(predicted, truth, strict=True)]
    hits = sum(len(p & t) for p, t in pairs)
    precision = hits / sum(len(p) for p, _ in pairs)
    recall = hits / sum(len(t) for _, t in pairs)
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return precision, recall, f1


@given(st.data(), st.integers(1, 4), st.integers(1, 6))
def test_it_is_what_sets_with_all_ancestors_give(data: Any, n: int, n_labels: int) -> None:
    bools = [
        data.draw(hnp.arrays(np.bool_, shape))
        for shape in ((n, n_labels), (n, n_labels), (n_labels, n_labels))
    ]
    predicted, truth, broader = bools
    predicted[0, 0] = truth[0, -1] = True  # there is something to divide by
    found = hierarchical_metrics(predicted, csr_array(truth), broader).with_broader
    assert (found.precision, found.recall, found.f1) == pytest.approx(
        slowly(predicted, truth, broader)
    )


def test_it_is_the_published_example() -> None:
    # Kiritchenko et al. 2005, §3.3: F is given, G is true; C is above both, B and E above G too.
    letters = "BCEFG"
    broader = np.zeros((5, 5), dtype=bool)
    for low, high in ("EB", "EC", "FC", "GE"):
        broader[letters.index(low), letters.index(high)] = True
    predicted, truth = (np.array([[letter == own for letter in letters]]) for own in "FG")
    found = hierarchical_metrics(predicted, truth, broader)
    assert (found.with_broader.precision, found.with_broader.recall) == (1 / 2, 1 / 4)
    assert (found.with_broader.predicted, found.with_broader.true) == (2, 4)
    assert found.plain.f1 == 0


def test_without_broader_labels_nothing_is_added() -> None:
    found = hierarchical_metrics([[1, 0], [1, 1]], [[1, 0], [0, 1]], np.zeros((2, 2)))
    assert found.plain == found.with_broader
    assert found.plain.precision == pytest.approx(2 / 3)


def test_a_top_label_that_all_share_is_credited() -> None:
    found = hierarchical_metrics([[1, 0, 0]], [[0, 1, 0]], [[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    assert (found.plain.f1, found.with_broader.f1) == (0, 1 / 2)


def test_a_circle_of_broader_labels_ends() -> None:
    circle = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert hierarchical_metrics([[1, 0, 0]], [[0, 0, 1]], circle).with_broader.f1 == 1
    assert hierarchical_metrics([[1, 0, 0]], [[1, 0, 0]], np.eye(3)).with_broader.predicted == 1


def test_half_a_million_labels_are_no_more_work_than_what_is_stored() -> None:
    n = 500_000  # a dense matrix of them would not fit
    above = np.maximum((np.arange(n) - 1) // 3, 0)  # a tree of threes; the root is above itself
    broader = csr_array((np.ones(n, bool), (np.arange(n), above)), shape=(n, n))
    columns = np.random.default_rng(0).integers(n, size=250)
    truth = csr_array((np.ones(250), (np.arange(250) // 5, columns)), shape=(50, n))
    found = hierarchical_metrics(truth, truth, broader)
    assert found.with_broader.f1 == 1
    assert 5 < found.plain.true + 1 < found.with_broader.true < 5 * 13


def test_the_table_has_both_and_their_units() -> None:
    text = shown(hierarchical_metrics([[1, 0]], [[0, 1]], [[0, 1], [0, 0]]))
    assert "(1 document)" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["precision,", "0", "to", "1", "│", "0.000", "│", "0.500"] in lines
    assert ["given,", "labels", "per", "document", "│", "1.0", "│", "2.0"] in lines


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="predicted are 1 × 3 but the truth is 1 × 2"):
        hierarchical_metrics([[1, 0, 0]], [[1, 0]], np.zeros((2, 2)))
