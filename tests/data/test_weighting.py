"""How often a word counts that occurs n times."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda.data.weighting import (
    are_scaled_down,
    label_frequencies,
    logged,
    weighed,
    whole,
    whole_copies,
)


def test_raw_counts_stay_and_others_grow_by_their_logarithm() -> None:
    counts = np.array([1, 2, 10], dtype=np.int32)
    assert weighed(counts, "raw") is counts
    np.testing.assert_allclose(weighed(counts, "log"), 1 + np.log([1, 2, 10]), rtol=1e-6)
    assert weighed(counts, "log").dtype == np.float32


def test_below_one_a_weight_is_the_count_itself() -> None:
    assert logged(np.array([0.0, 0.25, 1.0])).tolist() == [0, 0.25, 1]
    assert logged(np.array([1.001]))[0] > 1


def test_tokens_are_the_nearest_whole_numbers() -> None:
    assert whole(np.array([0.4, 0.6, 2.0])).tolist() == [0, 1, 2]


def test_labels_have_as_many_documents_as_these_count() -> None:
    labels = csr_array(np.array([[1, 0, 1], [0, 0, 1]], dtype=bool))
    assert label_frequencies(labels, None).tolist() == [1, 0, 2]
    assert label_frequencies(labels, np.array([0.5, 2.0])).tolist() == [0.5, 0, 2.5]


def test_whole_weights_are_as_many_copies_and_fractions_one_more_or_none() -> None:
    weights = np.array([3.0, 0.25, 1.0, 2.5, 0.0, 0.25])
    drawn = np.array([whole_copies(weights, seed) for seed in range(2000)])
    assert (drawn[:, [0, 2, 4]] == [3, 1, 0]).all()
    assert set(drawn[:, 3]) == {2, 3}
    assert (drawn.sum(axis=1) == 7).all()  # the weights sum to a whole number
    np.testing.assert_allclose(drawn.mean(axis=0), weights, atol=0.04)
    assert whole_copies(weights, 7).tolist() == whole_copies(weights, 7).tolist()


@pytest.mark.parametrize(
    ("rows", "is_scaled"),
    [
        ([[0.6, 0.8], [0.8, 0.6]], True),  # length 1
        ([[0.3, 0.7], [0.5, 0.5]], True),  # shares
        ([[0.6, 0.8], [1.0, 0.0]], True),  # a document of one word
        ([[0.2, 0.1], [0.3, 0.4]], True),  # of which columns were left out
        ([[1.0, 2.0], [3.0, 0.0]], False),
        ([[1.0, 1.69], [1.0, 2.1]], False),  # 1 + ln n
        ([[0.5, 1.0], [2.0, 0.5]], False),  # by where words stand
        ([[0.5, 0.5], [2.0, 1.0], [3.0, 1.0], [1.0, 1.0]], False),  # a short document
        ([[0.0, 0.0]], False),
    ],
)
def test_tf_idf_is_told_from_counts_and_other_weights(
    rows: list[list[float]], is_scaled: bool
) -> None:
    assert are_scaled_down(csr_array(np.array(rows))) == is_scaled
    assert are_scaled_down(csr_array(np.array(rows, dtype=np.float32))) == is_scaled
    assert not are_scaled_down(csr_array(np.array(rows, dtype=np.int64)))
