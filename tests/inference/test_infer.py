from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from deplda import (
    Corpus,
    InputError,
    Schedule,
    TopicLabels,
    datasets,
    expect_label_words,
    prior_topic_labels,
    train_topic_labels,
)
from deplda.inference.batches import attribute, infer, rank, score_matrix
from deplda.inference.layout import Tables
from deplda.inference.scores import Inferred, best, scores
from deplda.inference.settings import Inference
from tests.training.test_real_data import average_precision

Array = np.ndarray[Any, Any]

MODELS: dict[str, dict[str, Any]] = {
    "dependency": {"eta": 100.0, "alpha": 10.0, "gamma": 1.0},
    "prior": {"eta": 70.0, "alpha": 30.0, "gamma": 1.0},
    "flat": {"eta": 0.0, "alpha": 100.0, "gamma": 1.0},
}


def tables_of(train: Corpus, n_topics: int, beta: float, prior_beta: float) -> dict[str, Tables]:
    label_words = expect_label_words(train).label_words
    topics = train_topic_labels(
        train, n_topics, beta=beta, n_chains=3, schedule=Schedule(200)
    ).topic_labels
    return {
        "dependency": Tables(label_words, topics),
        "prior": Tables(label_words, [prior_topic_labels(train, beta=prior_beta)]),
        "flat": Tables(label_words, []),
    }


@pytest.fixture(scope="module")
def news() -> tuple[dict[str, Tables], Corpus]:
    data = datasets.load("newsroom")
    train, test = (data.corpus[rows] for rows in data.splits[0])
    return tables_of(train, 16, 0.1, 1.0), test[:150]


@pytest.mark.parametrize("model", MODELS)
def test_expectations_rank_as_samples_do(
    news: tuple[dict[str, Tables], Corpus], model: str
) -> None:
    tables, test = news
    truth = test.labels.toarray()
    precision = {}
    for method in ("sampled", "deterministic"):
        inference = Inference(**MODELS[model], method=method, n_chains=2)
        precision[method] = average_precision(score_matrix(test, tables[model], inference), truth)
    assert precision["sampled"] > 0.8
    assert precision["deterministic"] == pytest.approx(precision["sampled"], abs=0.02)


def test_fewer_labels_than_all_are_cycled_over_but_all_are_scored(
    news: tuple[dict[str, Tables], Corpus],
) -> None:
    tables, test = news
    for model, options in MODELS.items():
        inference = Inference(**options, method="deterministic")
        for batch in infer(test, tables[model], inference):
            assert (batch.counts > 0).all()
            assert batch.counts.sum(axis=1) == pytest.approx(test.document_lengths, rel=1e-4)


@pytest.mark.parametrize("method", ["sampled", "deterministic"])
def test_a_document_without_known_words_has_the_priors_ranking(
    news: tuple[dict[str, Tables], Corpus], method: Any
) -> None:
    tables, test = news
    empty = Corpus(np.zeros((1, test.n_words), dtype=int), np.zeros((1, test.n_labels)))
    inference = Inference(70.0, 30.0, 1.0, method=method)
    found = score_matrix(empty, tables["prior"], inference)[0]
    assert found.sum() == pytest.approx(1)
    phi = tables["prior"].topics[0]
    expected = np.full(test.n_labels, phi.base[0])
    expected[phi.topic_labels] += phi.topic_values
    assert found == pytest.approx((70 * expected + 30 / test.n_labels) / 100)


def test_the_three_scores_are_what_they_say() -> None:
    inferred = Inferred(np.array([[3.0, 1.0, 0.0]]), np.array([[1.0, 1.0, 2.0]]), np.zeros((1, 0)))
    assert scores(inferred, "counts").tolist() == [[0.75, 0.25, 0.0]]
    assert scores(inferred, "posterior").tolist() == [[0.5, 0.25, 0.25]]
    assert scores(inferred, "blend").tolist() == [[1.0, 0.5, 0.5]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eta": -1.0}, "eta is -1.0"),
        ({"gamma": float("nan")}, "gamma is nan"),
        ({"eta": 0.0, "alpha": 0.0}, "both 0"),
        ({"method": "guess"}, "it must be one of 'sampled', 'proper', 'deterministic'"),
        ({"gamma": 0.0}, "gamma is 0; it must be a number above 0"),
        ({"tolerance": -1.0}, "tolerance is -1.0"),
        ({"n_chains": 0}, "n_chains is 0; it must be a whole number from 1"),
        ({"n_label_tokens": 2.5}, "n_label_tokens is 2.5"),
        ({"max_cycles": -1}, "max_cycles is -1"),
        ({"method": "proper", "alpha": 0.0}, "proper inference needs it above 0"),
        ({"estimate": "all"}, "estimate is 'all'"),
        ({"combine": "sum"}, "combine is 'sum'"),
    ],
)
def test_bad_settings_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Inference(**{"eta": 1.0, "alpha": 1.0, "gamma": 1.0, **options})


def test_words_and_labels_must_be_those_of_the_model(
    news: tuple[dict[str, Tables], Corpus],
) -> None:
    tables, _ = news
    other = Corpus([[1, 2]], [[1]])
    with pytest.raises(InputError, match=r"2 words but the model 2,685; align it"):
        infer(other, tables["flat"], Inference(1.0, 1.0, 1.0))
    label_words = expect_label_words(other).label_words
    with pytest.raises(InputError, match="φ knows 1 labels but φ′ 3"):
        Tables(label_words, [TopicLabels(np.zeros((3, 1)), np.full(1, 1 / 3))])  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["sampled", "proper", "deterministic"])
@pytest.mark.parametrize("model", MODELS)
def test_the_words_tokens_sum_to_the_labels_counts(
    news: tuple[dict[str, Tables], Corpus], model: str, method: Any
) -> None:
    tables, test = news[0][model], news[1][:30]
    inference = Inference(
        **MODELS[model], method=method, n_label_tokens=50, schedule=Schedule(5, 3, 2)
    )
    labels = np.vstack([batch.labels for batch in rank(test, tables, inference, 4)])
    counts = np.vstack([batch.counts for batch in infer(test, tables, inference)])
    words = list(attribute(test, tables, inference, labels))
    assert len(words) == len(test)
    for d, shares in enumerate(words):
        assert shares.shape == (test.counts[[d]].nnz, 4)
        assert shares.sum(axis=0) == pytest.approx(counts[d, labels[d]], rel=1e-6)
        assert (shares.sum(axis=1) <= test.counts[[d]].data + 1e-6).all()


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([[0, 1]], r"labels have the shape \(1, 2\); 2 documents need a row each"),
        ([[0, 1], [2, 9999]], "labels go from 0 to 9999; the model's are 0 to"),
        ([[0, 1], [2, 2]], "must differ from each other"),
    ],
)
def test_words_are_given_to_labels_that_exist(
    news: tuple[dict[str, Tables], Corpus], labels: Any, message: str
) -> None:
    tables, test = news
    with pytest.raises(InputError, match=message):
        list(attribute(test[:2], tables["flat"], Inference(0.0, 9.0, 1.0), labels))


def test_a_ranking_is_the_head_of_the_sorted_scores(
    news: tuple[dict[str, Tables], Corpus], monkeypatch: pytest.MonkeyPatch
) -> None:
    tables, test = news
    inference = Inference(**MODELS["dependency"], method="deterministic")
    matrix = score_matrix(test, tables["dependency"], inference)
    monkeypatch.setattr("deplda.inference.cpu._BATCH_DOCUMENTS", 7)
    batches = list(rank(test, tables["dependency"], inference, 5, n_jobs=2))
    assert {len(batch.labels) for batch in batches} == {7, len(test) % 7}
    labels, values = (np.vstack(parts) for parts in zip(*batches, strict=True))
    assert (labels == np.argsort(-matrix, axis=1, kind="stable")[:, :5]).all()
    assert (values == np.take_along_axis(matrix, labels, axis=1)).all()


def test_equal_scores_are_ranked_in_the_order_of_the_labels() -> None:
    values = np.array([[1.0, 3.0, 1.0, 3.0, 1.0]])
    assert best(values, 4).labels.tolist() == [[1, 3, 0, 2]]
    assert best(values, 9).labels.tolist() == [[1, 3, 0, 2, 4]]
    assert best(values, 9).scores.tolist() == [[3.0, 3.0, 1.0, 1.0, 1.0]]


def test_no_documents_give_no_scores(news: tuple[dict[str, Tables], Corpus]) -> None:
    tables, test = news
    inference = Inference(0.0, 9.0, 1.0)
    assert score_matrix(test[:0], tables["flat"], inference).shape == (0, test.n_labels)
    assert list(rank(test[:0], tables["flat"], inference, 3)) == []


def test_a_matrix_too_large_is_refused(
    news: tuple[dict[str, Tables], Corpus], monkeypatch: pytest.MonkeyPatch
) -> None:
    tables, test = news
    monkeypatch.setattr("deplda.inference.batches.MATRIX_CELLS", 1_000)
    with pytest.raises(InputError, match=r"150 documents × .* labels would take .* best labels"):
        score_matrix(test, tables["flat"], Inference(0.0, 9.0, 1.0))
    with pytest.raises(InputError, match="k is 0"):
        rank(test, tables["flat"], Inference(0.0, 9.0, 1.0), 0)


def test_progress_is_told(
    news: tuple[dict[str, Tables], Corpus], capsys: pytest.CaptureFixture[str]
) -> None:
    tables, test = news
    list(rank(test, tables["flat"], Inference(0.0, 9.0, 1.0), 3, progress=True))
    assert "150/150 documents" in capsys.readouterr().err


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("yahoo-health", {"dependency": 0.795, "prior": 0.735, "flat": 0.742}),
        ("yahoo-arts", {"dependency": 0.620, "prior": 0.604, "flat": 0.574}),
    ],
)
def test_the_papers_average_precision_comes_out(
    name: str, expected: dict[str, float], data_dir: Path
) -> None:
    data = datasets.load(name, data_dir)
    train, test = (data.corpus[rows] for rows in data.splits[0])
    tables = tables_of(train, 20, 1.0, 10.0)
    settings = {**MODELS, "dependency": {"eta": 100.0, "alpha": 1.0, "gamma": 1.0}}
    truth = test.labels.toarray()
    for model, least in expected.items():
        expectations = Inference(**settings[model], method="deterministic")
        found = average_precision(score_matrix(test, tables[model], expectations), truth)
        assert found >= least, (model, found)
        draws = Inference(**settings[model], n_chains=2 if model == "dependency" else 6)
        sampled, expected_too = (
            average_precision(score_matrix(test[:1_200], tables[model], one), truth[:1_200])
            for one in (draws, expectations)
        )
        assert expected_too == pytest.approx(sampled, abs=0.01), model


EURLEX: dict[str, dict[str, Any]] = {
    "dependency": {"eta": 150.0, "alpha": 30.0, "gamma": 10.0},
    "prior": {"eta": 150.0, "alpha": 30.0, "gamma": 1.0},
    "flat": {"eta": 0.0, "alpha": 180.0, "gamma": 1.0},
}


@pytest.fixture(scope="module")
def eurlex(data_dir: Path) -> tuple[dict[str, Tables], Corpus]:
    data = datasets.load("eurlex20k", data_dir)
    train, test = (data.corpus[rows] for rows in data.splits[0])
    return tables_of(train, 200, 0.01, 1.0), test


@pytest.mark.data
def test_on_eurlex20k_dependency_lda_is_the_best_of_the_three(
    eurlex: tuple[dict[str, Tables], Corpus],
) -> None:
    tables, test = eurlex
    found = {}
    for model, options in EURLEX.items():
        inference = Inference(**options, method="deterministic")
        matrix = score_matrix(test, tables[model], inference)
        found[model] = average_precision(matrix, test.labels.toarray())
    assert found["dependency"] >= 0.53
    assert found["dependency"] > found["prior"] + 0.03
    assert found["dependency"] > found["flat"] + 0.03


@pytest.mark.data
def test_on_real_documents_expectations_agree_with_long_chains(
    eurlex: tuple[dict[str, Tables], Corpus],
) -> None:
    tables, test = eurlex[0]["dependency"], eurlex[1][:60]
    long = Inference(**EURLEX["dependency"], n_chains=8, estimate="conditionals")
    short = Inference(**EURLEX["dependency"], method="deterministic")
    sampled, expected = (next(infer(test, tables, one, n_jobs=1)) for one in (long, short))
    for d in range(len(test)):
        assert np.corrcoef(sampled.counts[d], expected.counts[d])[0, 1] > 0.85
    ranks = [
        spearmanr(left, right).statistic
        for left, right in zip(scores(sampled, "blend"), scores(expected, "blend"), strict=True)
    ]
    assert np.mean(ranks) > 0.95
    truth = test.labels.toarray()
    precision = [average_precision(scores(one, "blend"), truth) for one in (sampled, expected)]
    assert precision[1] == pytest.approx(precision[0], abs=0.015)
