"""Vectors: near labels and near documents, the same bits however documents are batched."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda import InputError
from deplda.models.vectors import Vectors, directions


def some(n: int, d: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n, d))


def labels_of(n: int, n_labels: int, seed: int = 1) -> Any:
    return csr_array(np.random.default_rng(seed).random((n, n_labels)) < 0.3)


def unit(vectors: Any) -> Any:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_cosines_are_those_of_the_vectors_to_four_places() -> None:
    own, labels, new = some(40, 16), labels_of(40, 6), some(5, 16, seed=2)
    known = Vectors.of(directions(own, 40), labels)
    near, _ = known.said(directions(new, 5))
    centroids = unit(labels.toarray().T @ unit(own))
    np.testing.assert_allclose(near.toarray(), np.maximum(unit(new) @ centroids.T, 0), atol=2e-4)


def test_votes_are_those_of_the_nearest_documents() -> None:
    own, labels, new = some(50, 8), labels_of(50, 6), some(4, 8, seed=2)
    _, votes = Vectors.of(directions(own, 50), labels).said(directions(new, 4))
    for row, cosines in enumerate(unit(new) @ unit(own).T):
        nearest = np.argsort(-cosines)[:30]
        weights = np.maximum(cosines[nearest], 0) ** 8
        wanted = weights @ labels.toarray()[nearest] / weights.sum()
        np.testing.assert_allclose(votes.toarray()[row], wanted, atol=1e-3)


def test_a_document_has_the_same_bits_alone_and_among_others() -> None:
    known = Vectors.of(directions(some(9000, 33), 9000), labels_of(9000, 40))
    new = directions(some(300, 33, seed=2), 300)
    together = known.said_of_many(new)
    for row in (0, 17, 299):
        for one, all in zip(known.said(new[[row]]), together, strict=True):
            np.testing.assert_array_equal(one.toarray(), all[[row]].toarray())


def test_the_length_of_a_vector_does_not_matter_and_none_is_like_nothing() -> None:
    own = some(20, 5)
    huge = own * np.logspace(-200, 200, 20)[:, None]
    np.testing.assert_array_equal(directions(own, 20), directions(huge, 20))
    known = Vectors.of(directions(own, 20), labels_of(20, 3))
    near, votes = known.said(directions(np.zeros((1, 5)), 1))
    assert near.nnz == votes.nnz == 0


def test_more_documents_are_as_if_they_had_been_there_from_the_beginning() -> None:
    own, labels = directions(some(30, 7), 30), labels_of(30, 4)
    grown = Vectors.of(own[:20], labels[:20]).with_more(own[20:], labels)
    np.testing.assert_array_equal(grown.centroids, Vectors.of(own, labels).centroids)
    np.testing.assert_array_equal(grown.directions, own)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (np.zeros(3), "float64 in 1 dimensions; they must be numbers, documents × dimensions"),
        (np.zeros((2, 3)), "2 embeddings for 3 documents"),
        (np.zeros((3, 0)), "0 dimensions; they must have 1 to 16,384"),
        (np.array([["a"], ["b"], ["c"]]), "must be numbers"),
        (np.array([[1.0], [np.nan], [1.0]]), "embedding 1 holds what is no finite number"),
    ],
)
def test_what_is_no_vector_of_each_document_is_refused(given: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        directions(given, 3)
