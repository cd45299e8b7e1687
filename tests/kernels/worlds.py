"""Small corpora and chains over them, for the tests of the kernels."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from deplda import Corpus
from deplda.kernels import random
from deplda.kernels import train_labels as labels
from deplda.kernels import train_words as words
from tests.naive import Documents


def corpus_of(documents: Documents, n_words: int, n_labels: int) -> Corpus:
    counts = np.zeros((len(documents), n_words), dtype=int)
    indicator = np.zeros((len(documents), n_labels), dtype=bool)
    for d, (tokens, own) in enumerate(documents):
        np.add.at(counts[d], tokens, 1)
        indicator[d, own] = True
    return Corpus(counts, indicator)


def random_documents(
    rng: np.random.Generator, n: int, n_words: int, n_labels: int, length: int = 12
) -> Documents:
    """Return documents of all kinds, some without words, some without labels."""
    return [
        (
            sorted(rng.integers(0, n_words, rng.integers(0, length)).tolist()),
            sorted(rng.choice(n_labels, rng.integers(0, min(n_labels, 5) + 1), False).tolist()),
        )
        for _ in range(n)
    ]


def layout_of(corpus: Corpus) -> words.Layout:
    x, y = corpus.counts, corpus.labels
    return words.lay_out(
        np.array(x.indptr, dtype=np.int64), x.indices, x.data,
        np.array(y.indptr, dtype=np.int64), y.indices, corpus.n_words, corpus.n_labels,
    )  # fmt: skip


class WordWorld:
    """A corpus, its layout and a z, with the kernel's sweep or another in its place."""

    def __init__(
        self,
        corpus: Corpus,
        eta: float,
        beta: float,
        seed: int = 0,
        sweep: Callable[..., Any] = words.sweep,
    ) -> None:
        self.corpus, self.eta, self.beta, self._sweep = corpus, eta, beta, sweep
        self.layout = layout_of(corpus)
        self.key, self.gamma = random.stream(seed, random.WORD_CHAIN, 0)
        self.z = np.empty(corpus.n_tokens, dtype=np.uint16)
        self.cell_counts = np.empty(len(self.layout.cell_words), dtype=np.int32)
        self.label_counts = np.empty(corpus.n_labels, dtype=np.int64)
        sizes, lengths = corpus.labels_per_document, corpus.document_lengths
        self.swept = np.flatnonzero((sizes > 1) & (lengths > 0))
        words.start(self.layout, self.z, self.key, self.gamma)
        self.tally()

    def tally(self) -> None:
        words.tally(self.layout, self.z, self.cell_counts, self.label_counts)

    def sweep(self, number: int) -> None:
        self._sweep(
            self.layout, self.swept, self.z, self.cell_counts, self.label_counts, self.eta,
            self.beta, self.corpus.n_words, self.key, self.gamma, number * len(self.z),
        )  # fmt: skip

    def log_likelihood(self) -> float:
        level: float = words.log_likelihood(
            self.layout, self.z, self.cell_counts, self.label_counts, self.eta, self.beta,
            self.corpus.n_words,
        )  # fmt: skip
        return level

    def places(self) -> list[list[int]]:
        starts = self.layout.token_starts
        return [self.z[a:b].tolist() for a, b in pairwise(starts)]


class TopicWorld:
    """Label tokens and a z′, with the kernel's sweep or another in its place."""

    def __init__(
        self, corpus: Corpus, n_topics: int, gamma: float, beta: float, seed: int = 0,
        sweep: Callable[..., Any] = labels.sweep,
    ) -> None:  # fmt: skip
        self.corpus, self.prior, self.beta, self._sweep = corpus, gamma, beta, sweep
        self.starts = np.array(corpus.labels.indptr, dtype=np.int64)
        self.labels = corpus.labels.indices
        self.key, self.gamma = random.stream(seed, random.TOPIC_CHAIN, 0)
        self.z = np.empty(len(self.labels), dtype=np.uint16)
        self.topics = labels.no_topics(corpus.label_counts, n_topics)
        labels.start(self.z, n_topics, self.key, self.gamma)
        labels.tally(self.labels, self.z, self.topics)

    def sweep(self, number: int) -> None:
        self._sweep(
            self.starts, self.labels, self.z, self.topics, self.prior, self.beta, self.key,
            self.gamma, number * len(self.z),
        )  # fmt: skip

    def places(self) -> list[list[int]]:
        return [self.z[a:b].tolist() for a, b in pairwise(self.starts)]
