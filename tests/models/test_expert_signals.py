"""What experts suggest becomes candidates and signals, as a slow look-up finds them."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import logit

from deplda.models.expert_signals import Told, counts_in, expert_of, labels_beside, scores_at


def rows(*own: dict[int, float], n: int = 9) -> Any:
    columns = [c for each in own for c in sorted(each)]
    values = [each[c] for each in own for c in sorted(each)]
    ends = np.cumsum([0, *map(len, own)])
    return csr_array((np.array(values, float), columns, ends), shape=(len(own), n))


def test_scores_of_candidates_are_looked_up_and_zero_is_a_score() -> None:
    suggested = rows({1: 0.5, 4: 0.0}, {}, {8: -2.0})
    labels = np.array([[4, 1, 0], [4, -1, 8], [8, -1, -1]], np.int32)
    nan = np.nan
    wanted = [[0.0, 0.5, nan], [nan, nan, nan], [-2.0, nan, nan]]
    np.testing.assert_array_equal(scores_at(suggested, labels), wanted)


def test_labels_beside_are_those_that_any_expert_has_first() -> None:
    one, two = rows({1: 0.9, 2: 0.8, 3: 0.7}, {5: 0.1}), rows({3: 9.0, 4: 8.0}, {5: 1.0, 6: 2.0})
    labels = np.array([[2, 7], [6, -1]], np.int32)
    np.testing.assert_array_equal(labels_beside([one, two], labels, 3), [[1, 3, 4], [5, -1, -1]])
    np.testing.assert_array_equal(labels_beside([one, two], labels, 1), [[1], [5]])


@pytest.mark.parametrize("seed", range(5))
def test_labels_beside_are_found_as_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    experts = [
        rows(*({int(c): float(rng.random()) for c in rng.permutation(9)[: rng.integers(6)]}
               for _ in range(6)))
        for _ in range(2)
    ]  # fmt: skip
    labels = np.array([rng.permutation(9)[:3] for _ in range(6)], np.int32)
    labels[rng.random(labels.shape) < 0.3] = -1
    found = labels_beside(experts, labels, 4)
    for d in range(6):
        best: dict[int, int] = {}
        for expert in experts:
            own = expert[[d]]
            for rank, place in enumerate(np.lexsort((own.indices, -own.data))):
                c = int(own.indices[place])
                best[c] = min(rank, best.get(c, 99))
        new = [c for c in sorted(best, key=lambda c: (best[c], c)) if c not in labels[d]]
        assert found[d].tolist() == (new + [-1] * 4)[:4]


def test_probabilities_are_read_as_log_odds_and_other_scores_as_they_are() -> None:
    chances, margins = np.array([[0.5, 0.9, np.nan]]), np.array([[-3.0, 5.0, np.nan]])
    expert = expert_of("a", chances)
    assert expert.is_chance
    values = expert.values(np.array([[1.0, 0.0, 0.9, np.nan]]))
    np.testing.assert_array_equal(values["a given"], [[1, 1, 1, 0]])
    mean = (logit(0.5) + logit(0.9)) / 2
    wanted = [logit(1 - 1e-4) - mean, logit(1e-4) - mean, logit(0.9) - mean, 0]
    np.testing.assert_allclose(values["a"], [wanted])
    other = expert_of("b", margins)
    assert not other.is_chance
    np.testing.assert_allclose(other.values(margins)["b"], [[-4, 4, 0]])


def test_parts_of_what_is_told_are_taken_as_of_counts() -> None:
    counts = csr_array(np.eye(3))
    told = Told(counts, (rows({1: 1.0}, {}, {2: 2.0}),), np.arange(6, dtype=np.int16).reshape(3, 2))
    part = told[1:]
    assert told.shape == (3, 3)
    assert part.shape[0] == part.suggested[0].shape[0] == 2
    assert part.directions is not None
    assert part.directions.tolist() == [[2, 3], [4, 5]]
    assert counts_in(part) is part.counts
    assert counts_in(counts) is counts
