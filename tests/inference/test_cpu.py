"""Inference on the CPU: draws and expectations agree, and every token is given to labels."""

from typing import Any

import numpy as np
import pytest

from deplda import Corpus, Schedule
from deplda.inference.batches import infer
from deplda.inference.cpu import Cpu
from deplda.inference.layout import Tables
from deplda.inference.scores import scores
from deplda.inference.settings import Inference
from tests.inference.inferred import attribute, score_matrix
from tests.inference.worlds import MODELS, News
from tests.kernels.benches import some_label_words, some_topic_labels
from tests.training.test_real_data import average_precision


@pytest.mark.parametrize("model", MODELS)
def test_expectations_rank_as_samples_do(news: News, model: str) -> None:
    tables, test = news
    truth = test.labels.toarray()
    precision = {}
    for method in ("sampled", "deterministic"):
        inference = Inference(**MODELS[model], method=method, n_chains=2)
        precision[method] = average_precision(score_matrix(test, tables[model], inference), truth)
    assert precision["sampled"] > 0.8
    assert precision["deterministic"] == pytest.approx(precision["sampled"], abs=0.02)


def test_fewer_labels_than_all_are_cycled_over_but_all_are_scored(
    news: News,
) -> None:
    tables, test = news
    for model, options in MODELS.items():
        inference = Inference(**options, method="deterministic")
        for batch in infer(test, tables[model], inference):
            assert (batch.counts > 0).all()
            assert batch.counts.sum(axis=1) == pytest.approx(test.document_lengths, rel=1e-4)


@pytest.mark.parametrize("method", ["sampled", "deterministic"])
def test_a_document_without_known_words_has_the_priors_ranking(news: News, method: Any) -> None:
    tables, test = news
    empty = Corpus(np.zeros((1, test.n_words), dtype=int), np.zeros((1, test.n_labels)))
    inference = Inference(70.0, 30.0, 1.0, method=method)
    found = score_matrix(empty, tables["prior"], inference)[0]
    assert found.sum() == pytest.approx(1)
    phi = tables["prior"].topics[0]
    expected = np.full(test.n_labels, phi.base[0])
    expected[phi.topic_labels] += phi.topic_values
    assert found == pytest.approx((70 * expected + 30 / test.n_labels) / 100)


@pytest.mark.parametrize("method", ["sampled", "proper", "deterministic"])
@pytest.mark.parametrize("model", MODELS)
def test_the_words_tokens_sum_to_the_labels_counts(news: News, model: str, method: Any) -> None:
    tables, test = news[0][model], news[1][:30]
    inference = Inference(
        **MODELS[model], method=method, n_label_tokens=50, schedule=Schedule(5, 3, 2)
    )
    labels = np.argsort(-score_matrix(test, tables, inference), axis=1)[:, :4]
    counts = np.vstack([batch.counts for batch in infer(test, tables, inference)])
    words = list(attribute(test, tables, inference, labels))
    assert len(words) == len(test)
    for d, shares in enumerate(words):
        assert shares.shape == (test.counts[[d]].nnz, 4)
        assert shares.sum(axis=0) == pytest.approx(counts[d, labels[d]], rel=1e-6)
        assert (shares.sum(axis=1) <= test.counts[[d]].data + 1e-6).all()


# Among candidates ---------------------------------------------------------------------------------


def blended(backend: Cpu, counts: Any) -> Any:
    return scores(backend.infer(counts), "blend", backend.tables.n_ranked) / 2


@pytest.mark.parametrize("model", MODELS)
def test_shares_among_all_labels_are_those_of_the_blend(news: News, model: str) -> None:
    tables, test = news[0][model], news[1][:20]
    backend = Cpu(tables, Inference(**MODELS[model], method="deterministic"), 0)
    every = np.tile(np.arange(test.n_labels), (20, 1))
    found = backend.shares_among(test.counts, every)
    assert found.sum(axis=1) == pytest.approx(1, rel=1e-4)
    assert found == pytest.approx(blended(backend, test.counts), abs=1e-3)


def with_background() -> tuple[Cpu, Any]:
    """Return 30 labels and a background, which has a fifth of the prior, and some documents."""
    rng = np.random.default_rng(0)
    tables = Tables(some_label_words(rng, 40, 31), [some_topic_labels(rng, 30, 4)], background=0.2)
    inference = Inference(20.0, 10.0, 1.0, method="deterministic", word_counts="log")
    documents = Corpus(rng.poisson(2, (6, 40)) * (np.arange(6) > 0)[:, None], np.zeros((6, 30)))
    return Cpu(tables, inference, 0), documents.counts


def test_a_background_has_no_share_and_takes_none_from_others() -> None:
    backend, counts = with_background()
    every = np.array([np.random.default_rng(d).permutation(30) for d in range(6)])
    expected = np.take_along_axis(blended(backend, counts), every, axis=1)
    assert backend.shares_among(counts, every) == pytest.approx(expected, rel=1e-4)


def test_a_candidates_share_is_the_same_beside_places_that_are_empty() -> None:
    backend, counts = with_background()
    few = np.array([np.random.default_rng(d).permutation(30)[:7] for d in range(6)])
    wider = np.pad(few, ((0, 0), (0, 3)), constant_values=-1)
    found = backend.shares_among(counts, wider)
    np.testing.assert_array_equal(found[:, :7], backend.shares_among(counts, few))
    assert (found[:, 7:] == 0).all()
