"""Centroids, companions and the lists made of them, against a few lines of dense algebra."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda.engine.execution import Execution
from deplda.models import candidates
from deplda.models.candidates import (
    Centroids,
    Index,
    centroids,
    companions,
    training_lists,
    united,
)
from deplda.models.linear.svm import idf_of, tfidf
from tests.models.worlds import pairs

Array = np.ndarray[Any, Any]
ONE = Execution(n_jobs=1)


def world(n: int = 60, seed: int = 0) -> tuple[Any, Any]:
    """Return features and labels; the last label is no document's."""
    corpus = pairs(n, seed)
    labels = corpus.labels.toarray()
    labels[:, -1] = False
    return tfidf(idf_of(corpus.counts), corpus.counts), csr_array(labels)


def means(features: Any, labels: Any) -> Array:
    """Return the labels' mean documents of length one, labels × words."""
    sums = labels.toarray().T.astype(float) @ features.toarray()
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.asarray(sums / np.where(length, length, 1))


def test_centroids_are_means_of_length_one_without_their_light_words() -> None:
    features, labels = world()
    features = csr_array(features.multiply(np.where(np.arange(150) % 3, 1.0, 0.02)[None]))
    found, expected = centroids(features, labels), means(features, labels)
    is_light = expected < 0.02 * expected.max(axis=1, keepdims=True)
    assert np.count_nonzero(expected[is_light]) > 0
    dense = found.nearby.matrix.toarray().T
    np.testing.assert_allclose(dense, np.where(is_light, 0, expected), rtol=2**-11, atol=1e-6)
    assert not dense[-1].any()
    sums = labels.toarray().T.astype(float) @ features.toarray()
    np.testing.assert_allclose(found.lengths, np.linalg.norm(sums, axis=1), rtol=1e-6)


def test_more_documents_give_the_centroids_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "_LEAST", 0.0)
    features, labels = world(90)
    # The first documents know neither the last words nor the last labels.
    early = centroids(csr_array(features[:50, :140]), csr_array(labels[:50, :9]))
    later = csr_array(features[50:])
    first = features[:50].toarray()
    first[:, 140:] = 0
    first_labels = labels[:50].toarray()
    first_labels[:, 9:] = False
    together = centroids(
        csr_array(np.vstack([first, later.toarray()])),
        csr_array(np.vstack([first_labels, labels[50:].toarray()])),
    )
    found = early.with_more(later, labels[50:])
    np.testing.assert_allclose(
        found.nearby.matrix.toarray(), together.nearby.matrix.toarray(), rtol=2**-9, atol=1e-6
    )
    np.testing.assert_allclose(found.lengths, together.lengths, rtol=1e-3)


def test_companions_are_how_often_a_document_with_one_label_has_another() -> None:
    _, labels = world()
    own = labels.toarray().astype(float)
    expected = (own.T @ own) / np.maximum(own.sum(axis=0), 1)[:, None]
    np.fill_diagonal(expected, 0)
    assert expected.max() > 0.5
    np.testing.assert_allclose(companions(labels).matrix.toarray(), expected, atol=1e-6)


def test_the_nearest_labels_are_those_with_the_largest_products() -> None:
    features, labels = world()
    near = centroids(features, labels).nearby
    found, likeness = near.nearest(features, 5)
    products = (features @ near.matrix).toarray()
    np.testing.assert_allclose(likeness, -np.sort(-products, axis=1)[:, :5], atol=1e-6)
    np.testing.assert_allclose(np.take_along_axis(products, found, axis=1), likeness, atol=1e-6)


def test_the_heaviest_words_are_looked_up_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "_ENTRIES", 1)
    index = Index(csr_array(np.eye(4, dtype=np.float32)))
    rows = csr_array(np.array([[0.1, 0.9, 0.4, 0.0], [0.5, 0.5, 0.0, 0.0]]))
    assert index.nearest(rows, 2)[0].tolist() == [[1, -1], [0, -1]]


def lists_of(near: Centroids, features: Any, labels: Any, k: int, execution: Execution) -> Any:
    return training_lists(features, labels, near.nearby, companions(labels), k, execution)


def test_half_of_a_training_list_are_companions_of_the_documents_own_labels() -> None:
    features, labels = world()
    near = centroids(features, labels)
    lists = lists_of(near, features, labels, 6, ONE)
    beside = companions(labels).nearest(labels.astype(np.float32), 3)[0]
    alike = near.nearby.nearest(features, 6)[0]
    np.testing.assert_array_equal(lists, united(beside, alike, 12, 6))
    for own, companion in zip(lists.tolist(), beside.tolist(), strict=True):
        assert {c for c in companion if c >= 0} <= set(own)
    with_labels = labels.sum(axis=1) > 0
    assert (beside[with_labels, 0] >= 0).mean() > 0.5


def test_lists_are_the_same_for_any_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    features, labels = world()
    near = centroids(features, labels)
    whole = lists_of(near, features, labels, 6, ONE)
    monkeypatch.setattr(candidates, "_BATCH", 7)
    found = lists_of(near, features, labels, 6, Execution(n_jobs=2))
    np.testing.assert_array_equal(found, whole)


@pytest.mark.parametrize("k", [12, 40])
def test_with_as_many_as_there_are_labels_all_are_in_the_list(k: int) -> None:
    features, labels = world()
    lists = lists_of(centroids(features, labels), features, labels, k, ONE)
    np.testing.assert_array_equal(lists, np.tile(np.arange(12), (60, 1)))
