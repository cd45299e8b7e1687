"""How often a word counts that occurs n times."""

import numpy as np

from deplda.data.weighting import logged, weighed, whole


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
