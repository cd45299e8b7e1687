"""Corpora of the EUR-Lex shape at any scale: thousands of labels, most of them rare."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, vstack

from deplda.data import checks
from deplda.data.corpus import Corpus
from deplda.errors import InputError

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_CHUNK = 4_096
_LABELS_PER_TOPIC = 40
_TOPIC_SHARE = 0.6
_COMMON_SHARE = 0.3
_WORDS_PER_LABEL = 300


def power_law(
    n_documents: int = 15_500,
    n_labels: int = 4_400,
    n_words: int = 20_000,
    *,
    tokens_per_document: float = 400.0,
    labels_per_document: float = 5.3,
    seed: int = 0,
) -> Corpus:
    """Return a corpus whose label and word frequencies follow power laws.

    Labels come in topics that go together; a label prefers some 300 words of its own, the frequent
    words being shared by many. Memory and time follow the number of tokens, not documents × words.
    """
    checks.at_least_one(n_documents=n_documents, n_labels=n_labels, n_words=n_words)
    means = {"tokens_per_document": tokens_per_document, "labels_per_document": labels_per_document}
    for name, value in means.items():
        if not value >= 1:
            raise InputError(f"{name} is {value}; it must be at least 1")
    shape, chunks = _Shape(n_labels, n_words), []
    for start in range(0, n_documents, _CHUNK):
        rng, n = np.random.default_rng((seed, start)), min(_CHUNK, n_documents - start)
        chunks.append(_chunk(rng, shape, n, tokens_per_document, labels_per_document))
    return Corpus(vstack([c for c, _ in chunks]), vstack([y for _, y in chunks]))


class _Shape:
    """Running sums from which labels and words are drawn."""

    def __init__(self, n_labels: int, n_words: int) -> None:
        ranks = np.arange(n_labels, dtype=np.float64)
        weights = (ranks + 8.0) ** -1.2
        n_topics = -(-n_labels // _LABELS_PER_TOPIC)
        # Labels are dealt out to the topics in turn: each topic has frequent and rare ones.
        self.order = np.argsort(np.arange(n_labels) % n_topics, kind="stable")
        self.label_ends = np.concatenate([[0.0], np.cumsum(weights[self.order])])
        sizes = np.bincount(np.arange(n_labels) % n_topics, minlength=n_topics)
        self.topic_ends = self.label_ends[np.concatenate([[0], np.cumsum(sizes)])]
        self.word_ends = np.cumsum((np.arange(n_words) + 20.0) ** -1.05)

    def labels(self, at: Floats) -> Integers:
        places = np.searchsorted(self.label_ends, at, side="right") - 1
        return self.order[np.clip(places, 0, len(self.order) - 1)]

    def words(self, uniform: Floats) -> Integers:
        places = np.searchsorted(self.word_ends, uniform * self.word_ends[-1], side="right")
        return np.minimum(places, len(self.word_ends) - 1)


def _chunk(
    rng: np.random.Generator, shape: _Shape, n: int, length: float, cardinality: float
) -> tuple[Any, Any]:
    """Return counts and labels of n documents."""
    n_labels, n_words = len(shape.order), len(shape.word_ends)
    sizes = 1 + rng.poisson(max(0.0, cardinality * 1.34 - 1), size=n)  # some draws fall together
    owner = np.repeat(np.arange(n), sizes)
    labels = _draw_labels(rng, shape, owner, n)
    lengths = 1 + rng.poisson(rng.gamma(1.5, (length - 1) / 1.5, size=n))
    document = np.repeat(np.arange(n), lengths)
    # A document's labels have unequal shares: squaring the draw favours the first of them.
    starts = np.cumsum(sizes) - sizes
    drawn = starts[document] + (rng.random(len(document)) ** 2 * sizes[document]).astype(np.int64)
    words = _draw_words(rng, shape, labels[drawn])
    counts = _tally(np.int32, document, words, (n, n_words))
    return counts, _tally(bool, owner, labels, (n, n_labels))


def _tally(kind: Any, rows: Integers, columns: Integers, shape: tuple[int, int]) -> Any:
    places = (rows.astype(np.int32), columns.astype(np.int32))  # else scipy keeps 64-bit indices
    return coo_array((np.ones(len(rows), kind), places), shape=shape).tocsr()


def _draw_labels(rng: np.random.Generator, shape: _Shape, owner: Integers, n: int) -> Integers:
    total = shape.label_ends[-1]
    topics = np.searchsorted(shape.topic_ends, rng.random(n) * total, side="right") - 1
    low, high = shape.topic_ends[topics][owner], shape.topic_ends[topics + 1][owner]
    anywhere = rng.random(len(owner)) >= _TOPIC_SHARE
    uniform = rng.random(len(owner))
    return shape.labels(np.where(anywhere, uniform * total, low + uniform * (high - low)))


def _draw_words(rng: np.random.Generator, shape: _Shape, labels: Integers) -> Integers:
    ranks = (_WORDS_PER_LABEL * rng.random(len(labels)) ** 4).astype(np.uint64)
    own = _hashed_uniform(labels.astype(np.uint64) * np.uint64(_WORDS_PER_LABEL) + ranks)
    common = rng.random(len(labels)) < _COMMON_SHARE
    return shape.words(np.where(common, rng.random(len(labels)), own))


def _hashed_uniform(keys: npt.NDArray[np.uint64]) -> Floats:
    """Return a fixed number in [0, 1) for each key: a label's words need not be stored anywhere."""
    keys = (keys + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((keys ^ (keys >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53
