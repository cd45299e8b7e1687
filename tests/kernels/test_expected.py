"""Deterministic inference against the plain cycle over all labels."""

from typing import Any

import numpy as np
import pytest

from deplda import Corpus
from deplda.inference.batches import infer
from deplda.inference.layout import Tables
from deplda.inference.scores import Inferred
from deplda.inference.settings import Inference
from deplda.training.estimates import TopicLabels
from tests import naive
from tests.kernels.benches import some_label_words, some_topic_labels

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
