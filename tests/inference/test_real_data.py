"""Inference on real data: the paper's figures, and expectations as good as chains."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from paper.data import load
from scipy.stats import spearmanr

from deplda.inference.batches import infer
from deplda.inference.scores import scores
from deplda.inference.settings import Inference
from tests.inference.inferred import score_matrix
from tests.inference.worlds import MODELS, News, tables_of
from tests.training.test_real_data import average_precision

pytestmark = pytest.mark.data


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
    data = load(name, data_dir)
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
def eurlex(data_dir: Path) -> News:
    data = load("eurlex20k", data_dir)
    train, test = (data.corpus[rows] for rows in data.splits[0])
    return tables_of(train, 200, 0.01, 1.0), test


def test_on_eurlex20k_dependency_lda_is_the_best_of_the_three(
    eurlex: News,
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


def test_on_real_documents_expectations_agree_with_long_chains(
    eurlex: News,
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
