"""Deterministic inference against the plain cycle over all labels."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda import Corpus
from deplda.inference.batches import infer
from deplda.inference.layout import Tables
from deplda.inference.scores import Inferred
from deplda.inference.settings import Inference
from deplda.kernels import expected as kernels
from deplda.training.estimates import TopicLabels
from tests import naive
from tests.kernels.benches import some_label_words, some_topic_labels

expected: Any = kernels
Array = np.ndarray[Any, Any]


def deterministic(
    x: Array, label_words: Any, sets: list[TopicLabels], inference: Inference
) -> Inferred:
    corpus = Corpus(x, np.zeros((len(x), label_words.shape[1])))
    return next(infer(corpus, Tables(label_words, sets), inference, n_jobs=1))


@pytest.mark.parametrize("topics", [[], [1], [4], [4, 4, 4], [3, 5]])
@pytest.mark.parametrize("gamma", [0.1, 2.0])
def test_it_is_the_plain_cycle_when_all_labels_matter(topics: list[int], gamma: float) -> None:
    rng = np.random.default_rng(0)
    label_words = some_label_words(rng, 21, 12)
    sets = [some_topic_labels(rng, 12, n) for n in topics]
    x = rng.poisson(3, size=(4, 21))
    inference = Inference(8.0, 4.0, gamma, method="deterministic", tolerance=0.0, max_cycles=6)
    found = deterministic(x, label_words, sets, inference)
    for d, own in enumerate(x):
        counts, alpha = naive.expected_document(
            label_words.dense(), [s.dense() for s in sets], own, 8.0, 4.0, gamma, 6
        )
        assert found.counts[d] == pytest.approx(counts, rel=1e-4)
        assert found.alpha[d] == pytest.approx(alpha, rel=1e-5)


def test_pooled_labels_keep_the_sums_and_the_leaders() -> None:
    rng = np.random.default_rng(1)
    label_words = some_label_words(rng, 60, 3_000)
    sets = [some_topic_labels(rng, 3_000, 6) for _ in range(2)]
    x = np.zeros((5, 60), dtype=int)
    x[0, 3] = 1
    x[1, 4] = 1_000_000
    x[2] = rng.multinomial(300, label_words.dense()[:, 17])
    x[3] = rng.multinomial(500_000, label_words.dense()[:, 17])
    dense = [s.dense() for s in sets]
    for gamma in (0.1, 1.0):
        inference = Inference(60.0, 20.0, gamma, method="deterministic", tolerance=1e-3)
        found = deterministic(x, label_words, sets, inference)
        assert (found.counts[:4] > 0).all()
        assert found.counts.sum(axis=1) == pytest.approx(x.sum(axis=1), rel=1e-9)
        assert found.alpha.sum(axis=1) == pytest.approx(80, rel=1e-4)
        counts, _ = naive.expected_document(label_words.dense(), dense, x[2], 60.0, 20.0, gamma, 20)
        assert np.corrcoef(found.counts[2], counts)[0, 1] > 0.97
        assert found.counts[2].argmax() == found.counts[3].argmax() == 17


def test_labels_that_are_all_alike_are_scored_alike() -> None:
    rng = np.random.default_rng(2)
    label_words = some_label_words(rng, 8, 1)
    alike = type(label_words)(
        label_words.weights[:, np.zeros(2_000, int)], np.repeat(label_words.base, 2_000)
    )
    inference = Inference(0.0, 5.0, 1.0, method="deterministic")
    found = deterministic(np.full((1, 8), 2), alike, [], inference)
    assert found.counts[0] == pytest.approx(16 / 2_000, rel=1e-5)


# Among candidates ---------------------------------------------------------------------------------


def among(
    x: Array, tables: Tables, inference: Inference, candidates: Array
) -> tuple[Array, Array]:  # fmt: skip
    """Return N and α′ of each document's candidates."""
    rows, n_labels = csr_array(x), tables.n_labels
    counts, alpha = np.empty(candidates.shape), np.empty(candidates.shape)
    expected.expect_among(
        tables.words, tables.sets, inference.eta, inference.alpha / n_labels, inference.gamma,
        rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data.astype(np.float32),
        inference.tolerance, inference.max_cycles, candidates, counts, alpha,
    )  # fmt: skip
    return counts, alpha


@pytest.mark.parametrize("topics", [[], [1], [4], [3, 5]])
def test_with_all_labels_as_candidates_it_is_what_all_labels_give(topics: list[int]) -> None:
    rng = np.random.default_rng(3)
    label_words = some_label_words(rng, 21, 12)
    sets = [some_topic_labels(rng, 12, n) for n in topics]
    x = rng.poisson(3, size=(4, 21))
    x[2] = 0
    inference = Inference(8.0, 4.0, 1.0, method="deterministic")
    every = np.array([rng.permutation(12) for _ in x])
    counts, alpha = among(x, Tables(label_words, sets), inference, every)
    whole = deterministic(x, label_words, sets, inference)
    assert counts == pytest.approx(np.take_along_axis(whole.counts, every, 1), rel=1e-5)
    assert alpha == pytest.approx(np.take_along_axis(whole.alpha, every, 1), rel=1e-6)
    assert (counts[2] == 0).all()


def test_the_best_of_many_labels_have_about_the_values_that_all_labels_give_them() -> None:
    rng = np.random.default_rng(4)
    label_words = some_label_words(rng, 60, 200)
    sets = [some_topic_labels(rng, 200, 6) for _ in range(2)]
    phi = label_words.dense()
    x = np.stack([rng.multinomial(300, phi[:, c : c + 3].mean(axis=1)) for c in range(0, 60, 10)])
    inference = Inference(60.0, 20.0, 1.0, method="deterministic")
    whole = deterministic(x, label_words, sets, inference)
    best = np.argsort(-whole.counts, axis=1)[:, :60]
    counts, alpha = among(x, Tables(label_words, sets), inference, best)
    # A hundredth of the tokens, and a fifth of the prior: all others are one label to them.
    assert counts == pytest.approx(np.take_along_axis(whole.counts, best, 1), abs=3.0)
    assert alpha == pytest.approx(np.take_along_axis(whole.alpha, best, 1), rel=0.2)
    assert whole.counts.max() > 30


def test_places_without_a_candidate_have_nothing_and_change_nothing() -> None:
    rng = np.random.default_rng(5)
    label_words = some_label_words(rng, 21, 30)
    tables = Tables(label_words, [some_topic_labels(rng, 30, 4)])
    x = rng.poisson(3, size=(4, 21))
    x[3] = 0
    inference = Inference(8.0, 4.0, 1.0, method="deterministic")
    own = np.array([rng.permutation(30)[:5] for _ in x])
    wider = np.full((4, 8), -1)
    places = [1, 2, 3, 5, 7]
    wider[:, places] = own
    for found, values in zip(
        among(x, tables, inference, wider), among(x, tables, inference, own), strict=True
    ):
        np.testing.assert_array_equal(found[:, places], values)
        assert (found[wider < 0] == 0).all()
    none = among(x, tables, inference, np.full((4, 2), -1))
    assert not np.any(none)


def test_columns_have_the_same_bits_by_word_and_by_label() -> None:
    rng = np.random.default_rng(6)
    tables = Tables(some_label_words(rng, 40, 30), []).words
    by_label = np.full(40, -1, np.int32)
    for n_types, n_names in ((1, 1), (7, 12), (40, 29), (9, 30), (0, 3)):
        types = rng.permutation(40)[:n_types].astype(np.int32)
        names = rng.permutation(30)[:n_names]
        found = expected._columns_by_label(tables, types, names, by_label)
        wanted = expected._columns(tables, types, names, np.empty(30, np.int32))
        np.testing.assert_array_equal(found, wanted)
        assert (by_label == -1).all()
