"""Compile the kernels of all models into Numba's cache, by fitting small models."""

from __future__ import annotations

import warnings
from typing import Any

from deplda.data.corpus import Corpus
from deplda.data.datasets import newsroom
from deplda.evaluation import evaluate
from deplda.models.dependency import DependencyLDA
from deplda.models.flat import FlatLDA
from deplda.models.hybrid import HybridLDA
from deplda.models.linear import TunedSVM
from deplda.models.prior import PriorLDA

_FEW: Any = {"n_topic_chains": 1, "n_topic_sweeps": 2}


def precompile() -> None:
    """Compile the kernels of every model, of training and of prediction on the CPU."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of models too small to be useful
        precompile_expected()
        precompile_sampled()


def precompile_sampled() -> None:
    """Compile what draws: chains of φ and φ′, fast and proper inference, draws over few labels."""
    samples: Any = {"n_test_chains": 1, "burn_in": 1, "n_samples": 1, "lag": 1, "n_label_tokens": 5}
    chains: Any = {"fit_method": "sampled", "n_chains": 1, "n_sweeps": 2}
    corpus = newsroom(80).corpus
    few_labels = Corpus(corpus.counts, corpus.labels[:, :20], corpus.vocabulary)
    for documents in (corpus, few_labels):
        model = DependencyLDA(**_FEW, **chains).fit(documents).set_params(**samples)
        for inference in ("sampled", "proper"):
            model.set_params(inference=inference).rank(documents[:2], 3)


def precompile_expected() -> None:
    """Compile expectations, of counts and of fractions, and the SVMs."""
    corpus = newsroom(80).corpus
    fractions = Corpus(corpus.counts.astype(float) * 0.7, corpus.labels)
    FlatLDA().fit(fractions).rank(fractions[:2], 3)
    PriorLDA(background=0.1, word_counts="raw").fit(corpus).rank(corpus[:2], 3)
    for documents in (corpus, fractions):
        HybridLDA(**_FEW, C=1.0).fit(documents).explain(documents[[0]])
    HybridLDA(**_FEW, C=1.0, candidates=20).fit(corpus).suggest(corpus[:2])
    TunedSVM().fit(corpus)
    model = FlatLDA(word_counts="raw").fit(corpus).partial_fit(corpus[:5])
    evaluate(model.decision_function(corpus[:9]), corpus[:9], corpus)
