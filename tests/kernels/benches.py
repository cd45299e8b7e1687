"""A small φ and φ′, a document under fast inference with them, and the exact chain it is."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda.inference.layout import Tables
from deplda.kernels import fast, workspace
from deplda.kernels.random import stream
from deplda.training.estimates import LabelWords, TopicLabels

Array = np.ndarray[Any, Any]


def some_label_words(rng: np.random.Generator, n_words: int, n_labels: int) -> LabelWords:
    counts = rng.gamma(0.5, size=(n_words, n_labels)) * (rng.random((n_words, n_labels)) < 0.6)
    scale = 1 / (counts.sum(axis=0) + 0.05 * n_words)
    return LabelWords(csr_array((counts * scale).astype(np.float32)), 0.05 * scale)


def some_topic_labels(rng: np.random.Generator, n_labels: int, n_topics: int) -> TopicLabels:
    counts = rng.gamma(0.5, size=(n_labels, n_topics)) * (rng.random((n_labels, n_topics)) < 0.5)
    scale = 1 / (counts.sum(axis=0) + 0.1 * n_labels)
    return TopicLabels(csr_array(counts * scale), 0.1 * scale)


class Bench:
    """A document on the workspace, and what the kernels need beside it."""

    def __init__(
        self, seed: int, n_words: int, n_labels: int, n_topics: int, counts: list[int],
        eta: float = 3.0, alpha: float = 0.8, gamma: float = 0.7,
    ) -> None:  # fmt: skip
        rng = np.random.default_rng(seed)
        self.label_words = some_label_words(rng, n_words, n_labels)
        sets = [some_topic_labels(rng, n_labels, n_topics)] if n_topics else []
        self.topic_labels = sets
        tables = Tables(self.label_words, sets)
        self.words, self.topics = tables.words, tables.topics[0]
        self.phi = self.label_words.dense()
        self.phi_prime = sets[0].dense() if sets else np.zeros((n_labels, 0))
        self.n_labels, self.n_topics = n_labels, n_topics
        self.eta, self.alpha = (eta if n_topics else 0.0), alpha / n_labels
        self.gamma = gamma / max(n_topics, 1)
        self.types = np.flatnonzero(counts).astype(np.int32)
        self.times = np.array(counts, dtype=np.int32)[self.types]
        for array in (self.types, self.times):  # as a corpus has them: one compilation serves all
            array.flags.writeable = False
        self.n = int(self.times.sum())
        self.scale = self.eta / (self.n + self.gamma * n_topics) if n_topics else 0.0
        self.key, self.stride = stream(seed, 9, 0)
        slot_of, place = np.full(n_labels, -1, np.int32), np.full(n_words, -1, np.int32)
        prefix_sums = np.empty(1 << 16, np.float32)
        self.ws = workspace.new_workspace(
            self.types, self.times, self.n, n_topics, slot_of, place, prefix_sums
        )
        self.start()

    def start(self) -> None:
        flat = self.alpha + self.eta / self.n_labels
        for _ in range(2):
            self.sweep_words(0.0, flat)
        for _ in range(2):
            self.sweep_topics()

    def sweep_words(self, scale: float, flat: float) -> None:
        self.ws = fast.sweep_words(
            self.words, self.topics, self.ws, self.types, scale, flat, self.gamma, self.key,
            self.stride,
        )  # fmt: skip

    def sweep_topics(self) -> None:
        fast.sweep_topics(self.topics, self.ws, self.labels(), self.gamma, self.key, self.stride)

    def cycle(self) -> None:
        self.sweep_words(self.scale, self.alpha)
        self.sweep_topics()

    def labels(self) -> Array:
        return self.ws.labels[self.ws.z]

    def label_counts(self) -> Array:
        return np.bincount(self.labels(), minlength=self.n_labels)

    def prior(self) -> Array:
        """Return α′ of this moment, dense."""
        share = self.scale * (self.ws.n_dt + self.gamma)
        return self.alpha + self.phi_prime @ share


def exact_cycle(bench: Bench, words: list[int], p: Array) -> Array:
    """Return the distribution of (z, z′) after one cycle of fast inference, p before it.

    Axes: a label for each token, then a topic for each. Each update of one token is exact.
    """
    n, grid = len(words), np.indices(p.shape)
    topics = np.stack([(grid[n:] == t).sum(axis=0) for t in range(bench.n_topics)])
    share = bench.scale * (topics + bench.gamma)
    for i in range(n):
        others = np.stack(
            [(np.delete(grid[:n], i, axis=0) == c).sum(axis=0) for c in range(bench.n_labels)]
        )
        alpha = bench.alpha + np.tensordot(bench.phi_prime, share, axes=1)
        weight = bench.phi[words[i]].reshape(-1, *[1] * p.ndim) * (others + alpha)
        own = np.take_along_axis(weight, grid[i][None], axis=0)[0]
        p = p.sum(axis=i, keepdims=True) * own / weight.sum(axis=0)
    for i in range(n):
        others = np.stack(
            [(np.delete(grid[n:], i, axis=0) == t).sum(axis=0) for t in range(bench.n_topics)]
        )
        weight = np.moveaxis(bench.phi_prime[grid[i]], -1, 0) * (others + bench.gamma)
        own = np.take_along_axis(weight, grid[n + i][None], axis=0)[0]
        p = p.sum(axis=n + i, keepdims=True) * own / weight.sum(axis=0)
    return p


def stationary(bench: Bench) -> Array:
    """Return the distribution of (z, z′) that a cycle of fast inference leaves as it is."""
    words = np.repeat(bench.types, bench.times).tolist()
    shape = (bench.n_labels,) * bench.n + (bench.n_topics,) * bench.n
    p = np.full(shape, 1 / np.prod(shape))
    for _ in range(200):
        p = exact_cycle(bench, words, p)
    assert p.sum() == pytest.approx(1)
    return p


def exact_tokens(bench: Bench) -> tuple[Array, Array]:
    """Return how many tokens each label, and each topic, has in the long run."""
    if bench.n_topics == 0:
        assert bench.n == 1
        weights = bench.phi[bench.types[0]] * bench.prior()
        return weights / weights.sum(), np.zeros(0)
    p = stationary(bench)
    grid = np.indices(p.shape)
    labels = [((grid[: bench.n] == c).sum(axis=0) * p).sum() for c in range(bench.n_labels)]
    topics = [((grid[bench.n :] == t).sum(axis=0) * p).sum() for t in range(bench.n_topics)]
    return np.array(labels), np.array(topics)
