"""Searches and draws from φ and φ′ against what they say, by many evenly spaced numbers."""

from typing import Any

import numpy as np
import pytest

from deplda.kernels import layouts as kernels
from tests.kernels.benches import Bench

Array = np.ndarray[Any, Any]
layouts: Any = kernels

# Numbers at which a draw is tried: evenly spaced, so that shares are exact to one of them.
EVENLY = (np.arange(4_000) + 0.5) / 4_000


@pytest.fixture(name="bench", scope="module")
def a_bench() -> Bench:
    return Bench(1, 8, 12, 3, [1, 0, 2, 1, 0, 1, 1, 1])


def shares(drawn: list[int], n: int) -> Array:
    return np.bincount(drawn, minlength=n) / len(drawn)


def test_a_search_finds_the_first_sum_that_exceeds_a_number() -> None:
    sums = np.array([9.0, 0.5, 0.5, 2.0, 3.5, 1.0])
    found = [layouts.search(sums, 1, 5, r) for r in (0.0, 0.4, 0.5, 1.9, 2.0, 3.4, 3.5, 8.0)]
    assert found == [1, 1, 3, 3, 4, 4, 4, 4]


def test_places_are_drawn_by_the_steps_of_sums() -> None:
    weights = np.array([1.0, 0.0, 3.0, 4.0])
    drawn = [layouts.from_sums(np.cumsum(weights), u) for u in EVENLY]
    assert shares(drawn, 4) == pytest.approx(weights / 8, abs=1e-3)


def test_labels_of_a_word_and_a_topic_are_drawn_by_their_product(bench: Bench) -> None:
    words, topics = bench.words, bench.topics
    a, p = bench.label_words.weights.toarray(), bench.topic_labels[0].weights.toarray()
    for w, t in ((0, 0), (3, 2)):
        weights = a[w] * p[:, t]
        first, last = topics.topic_starts[t : t + 2]
        row = words.row_labels, words.row_values, *words.row_starts[w : w + 2]
        own = topics.topic_labels, topics.topic_values, first, last
        drawn = [layouts.from_topic(*row, *own, u * weights.sum()) for u in EVENLY]
        assert shares(drawn, 12) == pytest.approx(weights / weights.sum(), abs=1e-3)
        assert layouts.from_topic(*row, *own, 1.01 * weights.sum()) == -1


def test_labels_of_the_base_and_a_topic_are_drawn_by_their_product(bench: Bench) -> None:
    words, topics = bench.words, bench.topics
    second = np.random.default_rng(2).random(len(EVENLY))
    for t in range(3):
        weights = words.base * bench.phi_prime[:, t]
        assert topics.label_base[t] == pytest.approx(weights.sum())
        drawn = [
            layouts.from_base_and_topic(
                topics.topic_base_sums, topics.topic_labels, *topics.topic_starts[t : t + 2],
                topics.label_base[t], words.base_sums, u1, u2,
            )
            for u1, u2 in zip(EVENLY, second, strict=True)
        ]  # fmt: skip
        assert shares(drawn, 12) == pytest.approx(weights / weights.sum(), abs=0.02)


def test_shares_of_topics_are_counts_smoothed_and_normalised() -> None:
    found = np.ones(3)
    layouts.add_shares(np.array([4, 0, 1]), 0.5, 5, found)
    assert found.tolist() == (1 + np.array([4.5, 0.5, 1.5]) / 6.5).tolist()
