"""What training gives on real data: the deterministic φ predicts as well as averaged chains."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from paper.data import load

from deplda import Corpus, LabelWords, Schedule, expect_label_words, train_label_words

pytestmark = pytest.mark.data


def flat_scores(label_words: LabelWords, corpus: Corpus, alpha: float) -> np.ndarray[Any, Any]:
    """Return documents × labels by 30 steps of θ_c ← α + Σ_w x_w φ_wc θ_c / Σ_c φ_wc θ_c."""
    weights, scores = label_words.weights.tocsr(), []
    for d in range(len(corpus)):
        document = corpus.counts[[d]]
        phi = weights[document.indices].toarray() + label_words.base
        share = np.full(phi.shape[1], 1.0)
        for _ in range(30):
            share = alpha + share * ((document.data / (phi @ share)) @ phi)
        scores.append(share)
    return np.array(scores)


def average_precision(scores: np.ndarray[Any, Any], truth: np.ndarray[Any, Any]) -> float:
    values = []
    for row, relevant in zip(scores, truth, strict=True):
        ranks = np.flatnonzero(relevant[np.argsort(-row, kind="stable")]) + 1
        if len(ranks):
            values.append((np.arange(1, len(ranks) + 1) / ranks).mean())
    return float(np.mean(values))


@pytest.mark.parametrize(
    ("name", "n_test", "alpha"), [("yahoo-health", 2_000, 7.0), ("eurlex20k", 200, 0.05)]
)
def test_the_deterministic_phi_predicts_as_well_as_averaged_chains(
    name: str, n_test: int, alpha: float, data_dir: Path
) -> None:
    data = load(name, data_dir)
    train, test = (data.corpus[rows] for rows in data.splits[0])
    test = test[:n_test]
    truth = test.labels.toarray()
    sampled = train_label_words(train, n_chains=6, schedule=Schedule(50)).label_words
    expected = expect_label_words(train).label_words
    by_chains = average_precision(flat_scores(sampled, test, alpha), truth)
    by_expectation = average_precision(flat_scores(expected, test, alpha), truth)
    assert by_expectation > by_chains - 0.005, (by_expectation, by_chains)
