"""Compile, into Numba's cache, the kernels that most tests use: once, not in each test process.

``python -m tests.warm sampled`` and ``… expected`` compile a half each, and can run side by side.
"""

import sys
import warnings
from typing import Any

import deplda
from deplda import Corpus, DependencyLDA, FlatLDA, HybridLDA, PriorLDA, TunedSVM
from deplda.data.datasets import newsroom

FEW: Any = {"n_topic_chains": 1, "n_topic_sweeps": 2}


def sampled(corpora: list[Corpus]) -> None:
    """Compile what draws: chains of φ and φ′, fast and proper inference, draws over few labels."""
    samples: Any = {"n_test_chains": 1, "burn_in": 1, "n_samples": 1, "lag": 1, "n_label_tokens": 5}
    chains: Any = {"fit_method": "sampled", "n_chains": 1, "n_sweeps": 2}
    for corpus in corpora:
        model = DependencyLDA(**FEW, **chains).fit(corpus).set_params(**samples)
        for inference in ("sampled", "proper"):
            model.set_params(inference=inference).rank(corpus[:2], 3)


def expected(corpora: list[Corpus]) -> None:
    """Compile expectations, of counts and of fractions, and the SVMs."""
    corpus = corpora[0]
    fractions = Corpus(corpus.counts.astype(float) * 0.7, corpus.labels)
    FlatLDA().fit(fractions).rank(fractions[:2], 3)
    PriorLDA(background=0.1, word_counts="raw").fit(corpus).rank(corpus[:2], 3)
    for each in (corpus, fractions):
        HybridLDA(**FEW, C=1.0).fit(each).explain(each[[0]])
    HybridLDA(**FEW, C=1.0, candidates=20).fit(corpus).suggest(corpus[:2])
    TunedSVM().fit(corpus)
    model = FlatLDA(word_counts="raw").fit(corpus).partial_fit(corpus[:5])
    deplda.evaluate(model.decision_function(corpus[:9]), corpus[:9], corpus)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    corpus = newsroom(80).corpus
    few_labels = Corpus(corpus.counts, corpus.labels[:, :20], corpus.vocabulary)
    {"sampled": sampled, "expected": expected}[sys.argv[1]]([corpus, few_labels])
