"""Chains over the label tokens: one chain of z′, and the φ′ of its samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array

from deplda.chains import Arrays
from deplda.corpus import Corpus
from deplda.engine import Stop
from deplda.estimates import TopicLabels


class TopicChain:
    """One chain of z′: the topic of each label token."""

    def __init__(
        self, corpus: Corpus, n_topics: int, gamma: float, beta: float, seed: int, number: int
    ) -> None:
        from deplda.kernels import labels, random

        self._kernel = labels
        self._starts = np.array(corpus.labels.indptr, dtype=np.int64)
        self._labels = corpus.labels.indices
        self._prior, self._beta = gamma, beta
        self._key, self._gamma = random.stream(seed, random.TOPIC_CHAIN, number)
        self._z = np.empty(len(self._labels), dtype=np.uint16)
        self._topics = labels.no_topics(corpus.label_counts, n_topics)
        self._samples = np.empty((0, len(self._z)), dtype=np.uint16)
        labels.start(self._z, n_topics, self._key, self._gamma)
        labels.tally(self._labels, self._z, self._topics)

    def sweep(self, number: int, stop: Stop) -> None:
        """Update every label token once; the sweeps are short, so `stop` is seen between them."""
        self._kernel.sweep(
            self._starts, self._labels, self._z, self._topics, self._prior, self._beta,
            self._key, self._gamma, number * len(self._z),
        )  # fmt: skip

    def trace(self) -> list[float]:
        """Return the log-likelihood."""
        level: float = self._kernel.log_likelihood(
            self._starts, self._labels, self._z, self._topics, self._prior, self._beta
        )
        return [level]

    def collect(self) -> None:
        """Keep z′ as a sample."""
        self._samples = np.vstack([self._samples, self._z])

    def samples(self) -> Arrays:
        """Return z′ of every sample."""
        return {"samples": self._samples}

    def state(self) -> Arrays:
        """Return z′, its counts and the samples."""
        # The order of a label's slots decides what a draw means, so it is kept as it is.
        return {"z": self._z, **self.samples(), **self._topics._asdict()}

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on from such a state."""
        self._z, self._samples = state["z"], state["samples"]
        self._topics = self._topics._replace(**{k: state[k] for k in self._topics._fields})


def topic_sets(
    samples: npt.NDArray[np.uint16], corpus: Corpus, n_topics: int, beta: float
) -> Iterator[TopicLabels]:
    """Yield φ′ of each sample: (N_ct + β)/(N_t + Cβ)."""
    shape = (corpus.n_labels, n_topics)
    for z in samples:
        totals = np.bincount(z, minlength=n_topics).astype(np.float64)
        scale = 1.0 / (totals + corpus.n_labels * beta)
        counts = coo_array((np.ones(len(z)), (corpus.labels.indices, z)), shape=shape).tocsr()
        counts.data *= scale[counts.indices]
        yield TopicLabels(counts, beta * scale)


def compile_kernels() -> None:
    """Compile, or load from the cache, all that a chain calls."""
    chain = TopicChain(Corpus([[1]], [[1, 1]]), 2, 1.0, 1.0, 0, 0)
    chain.sweep(1, Event())
    chain.trace()
