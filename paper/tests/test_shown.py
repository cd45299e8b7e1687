"""What is shown of a model: labels worth showing, and topics that hang together or not."""

import numpy as np
import pytest

from deplda import Corpus
from paper.shown import coherence, telling_labels


def test_labels_that_tell_are_frequent_of_middling_frequency_and_of_one_document() -> None:
    labels = np.arange(6)[:, None] < [6, 5, 4, 3, 2, 1, 0]
    names = ["most", "many", "more", "some", "few", "one", "none"]
    train = Corpus(np.ones((6, 1)), labels, None, names)
    assert telling_labels(train) == ["most", "many", "some", "few", "one"]


def world() -> Corpus:
    """Return documents of which a and b are always together, c and d never, e by chance with a."""
    labels = [[1, 1, 1, 0, 1], [1, 1, 0, 1, 0], [0, 0, 1, 0, 1], [0, 0, 0, 1, 0]]
    return Corpus(np.ones((4, 1)), labels, None, ["a", "b", "c", "d", "e"])


def test_labels_that_always_meet_are_coherent_and_those_that_never_do_are_not() -> None:
    assert coherence([["a", 0.6], ["b", 0.4]], world()) == pytest.approx(1)
    assert coherence([["c", 0.6], ["d", 0.4]], world()) == -1
    assert coherence([["a", 0.5], ["e", 0.5]], world()) == pytest.approx(0)
    assert coherence([["a", 1.0]], world()) is None


def test_the_labels_of_a_topic_count_by_their_shares() -> None:
    mostly = coherence([["a", 0.5], ["b", 0.4], ["c", 0.1]], world())
    assert mostly == pytest.approx((0.2 * 1 + 0.05 * 0 + 0.04 * 0) / 0.29)
