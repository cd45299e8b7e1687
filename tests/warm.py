"""Compile, into Numba's cache, the kernels that most tests use: once, not in each test process."""

import warnings
from collections.abc import Iterator
from typing import Any

import deplda
from deplda import Corpus, DependencyLDA, FlatLDA, HybridLDA, PriorLDA, TfidfSVM, TunedSVM
from deplda.data.datasets import newsroom


def models() -> Iterator[Any]:
    few: Any = {"n_topic_chains": 1, "n_topic_sweeps": 2}
    samples: Any = {"n_test_chains": 1, "burn_in": 1, "n_samples": 1, "lag": 1}
    for inference in ("deterministic", "sampled", "proper"):
        for estimate in ("counts", "conditionals"):
            yield DependencyLDA(
                **few, **samples, inference=inference, theta_estimate=estimate, n_label_tokens=5,
                fit_method="sampled", n_chains=1, n_sweeps=2,
            )  # fmt: skip
    yield FlatLDA(inference="sampled", **samples)
    yield PriorLDA(background=0.1)
    yield TunedSVM()
    yield TfidfSVM()
    yield HybridLDA(**few)


def main() -> None:
    warnings.simplefilter("ignore")
    corpus = newsroom(80).corpus
    small = Corpus(corpus.counts, corpus.labels[:, :20], corpus.vocabulary)
    fractions = Corpus(corpus.counts.astype(float) * 0.7, corpus.labels)
    for model in models():
        for documents in (corpus, small):  # few labels have kernels of their own
            model.fit(documents)
            model.rank(documents[:2], 3)
    FlatLDA().fit(fractions).rank(fractions[:2], 3)
    dependent = DependencyLDA(n_topic_chains=1, n_topic_sweeps=2).fit(corpus)
    dependent.explain(corpus[[0]])
    dependent.partial_fit(corpus[:5])
    deplda.evaluate(dependent.decision_function(corpus[:9]), corpus[:9], corpus)


if __name__ == "__main__":
    main()
