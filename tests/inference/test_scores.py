"""Scores of what was inferred, and the best of them."""

import numpy as np

from deplda.inference.scores import Inferred, best, scores


def test_the_three_scores_are_what_they_say() -> None:
    inferred = Inferred(np.array([[3.0, 1.0, 0.0]]), np.array([[1.0, 1.0, 2.0]]), np.zeros((1, 0)))
    assert scores(inferred, "counts").tolist() == [[0.75, 0.25, 0.0]]
    assert scores(inferred, "posterior").tolist() == [[0.5, 0.25, 0.25]]
    assert scores(inferred, "blend").tolist() == [[1.0, 0.5, 0.5]]


def test_equal_scores_are_ranked_in_the_order_of_the_labels() -> None:
    values = np.array([[1.0, 3.0, 1.0, 3.0, 1.0]])
    assert best(values, 4).labels.tolist() == [[1, 3, 0, 2]]
    assert best(values, 9).labels.tolist() == [[1, 3, 0, 2, 4]]
    assert best(values, 9).scores.tolist() == [[3.0, 3.0, 1.0, 1.0, 1.0]]


def test_what_is_not_ranked_has_no_part_in_the_scores() -> None:
    inferred = Inferred(np.array([[3.0, 1.0, 9.0]]), np.array([[1.0, 1.0, 7.0]]), np.zeros((1, 0)))
    assert scores(inferred, "blend", 2).tolist() == [[1.25, 0.75]]


def test_a_document_without_tokens_scores_by_its_prior() -> None:
    inferred = Inferred(np.zeros((1, 2)), np.array([[1.0, 3.0]]), np.zeros((1, 0)))
    assert scores(inferred, "blend").tolist() == [[0.25, 0.75]]
    assert scores(inferred, "counts").tolist() == [[0.0, 0.0]]
