"""φ and φ′ as a sparse matrix and one number a column."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda import LabelWords, Schedule, TopicLabels, train_label_words
from tests.training.worlds import small


@pytest.mark.parametrize("kind", [LabelWords, TopicLabels])
def test_an_entry_is_its_weight_and_the_base_of_its_column(kind: Any) -> None:
    found = kind(csr_array([[0.5, 0.0], [0.0, 0.25], [0.0, 0.0]]), np.array([0.125, 0.25]))
    assert found.shape == (3, 2)
    assert found.dense().tolist() == [[0.625, 0.25], [0.125, 0.5], [0.125, 0.25]]


def test_averaging_over_chains_is_exact_in_the_sparse_form() -> None:
    corpus, schedule = small(), Schedule(4, n_samples=2, lag=3)
    # Chain k of a run is chain k of every run with that seed, so two chains contain the first.
    both = train_label_words(corpus, n_chains=2, schedule=schedule, seed=5).label_words.dense()
    first = train_label_words(corpus, n_chains=1, schedule=schedule, seed=5).label_words.dense()
    second = 2 * both - first
    assert second.sum(axis=0) == pytest.approx(1, abs=1e-6)
    assert (second > 0).all()
    assert not np.allclose(first, second)
