"""How the hybrid scores a document: a shortlist, the signals of its labels, their mixture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deplda.data.corpus import only_columns, without_columns
from deplda.data.targets import Indicator
from deplda.inference.cpu import Cpu
from deplda.inference.scores import scores
from deplda.kernels import shortlists
from deplda.models.base import Counts, Floats, Numbers
from deplda.models.calibration import Calibration
from deplda.models.candidates import Index, Labels, Sparse, united
from deplda.models.external import (
    CountsAndArrays,
    ExternalSignal,
    LabelledEmbeddings,
    counts_in,
    external_values,
    more_candidates,
)
from deplda.models.linear import reduced
from deplda.models.linear.svm import tfidf
from deplda.models.mixture import BASE, NAME, NAMED, Bools, Mixture, Values
from deplda.models.name_evidence import Mentions, NameIndex, NameWeights
from deplda.models.signals import LEAST_SHARE, Candidates, values_of

BELOW = -30.0
"""Candidates have log-odds above it; other labels follow below it, by share and likeness."""
NO_LABEL = -1e9
"""The log-odds of a place without a label."""
_LEAST_LIKENESS = 1e-3
_LEAST_LOG_ODDS = -29.0
_BATCH, _BATCH_CELLS = 256, 2_000_000
_NEAR = 256
"""Labels near a document that the topic model has a look at."""


class Shortlist(NamedTuple):
    """Candidate labels of some documents, and what was found on the way."""

    features: Counts
    labels: Labels
    shares: Floats
    likeness: Floats


class Shortlister(NamedTuple):
    """Finds the labels that a document may have: near by its words, then by the topic model."""

    idf: Floats
    near: Index
    topics: Cpu
    log_frequencies: Floats
    """ln f of each label."""
    n_candidates: int
    topic_words: Bools | None = None
    """Which words the topic model knows; None if all."""

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return len(self.log_frequencies)

    @property
    def takes_all(self) -> bool:
        """Whether every label is a candidate."""
        return self.n_candidates >= self.n_labels

    @property
    def batch_size(self) -> int:
        """How many documents are looked at at a time."""
        return max(1, min(_BATCH, _BATCH_CELLS // self.n_candidates))

    def find(self, counts: Counts) -> Shortlist:
        """Return the candidates of the documents."""
        features = tfidf(self.idf, counts)
        if self.takes_all:
            every = np.tile(np.arange(self.n_labels, dtype=np.int32), (counts.shape[0], 1))
            likeness = self.all_likeness(features)
            return Shortlist(features, every, self.all_shares(counts), likeness)
        n_near = min(max(_NEAR, self.n_candidates), self.n_labels)
        near, cosines = self.near.nearest(features, n_near)
        if (near[:, -1:] < 0).any():
            usual = np.argsort(-self.log_frequencies, kind="stable")
            shortlists.fill(near, usual, self.n_labels)
        shares = self.topics.shares_among(self.for_topics(counts), near.astype(np.int64))
        by_share = np.argsort(-shares, axis=1, kind="stable").astype(np.int32)
        by_words = np.broadcast_to(np.arange(n_near, dtype=np.int32), near.shape)
        places = united(by_share, np.ascontiguousarray(by_words), n_near, self.n_candidates)
        return Shortlist(
            features,
            np.take_along_axis(near, places, axis=1),
            np.take_along_axis(shares, places, axis=1),
            np.take_along_axis(cosines, places, axis=1).astype(np.float64),
        )

    def for_topics(self, counts: Counts) -> Counts:
        """Return the counts of the words that the topic model knows."""
        if self.topic_words is None:
            return counts
        words: Counts = only_columns(counts, self.topic_words)
        return words

    def all_shares(self, counts: Counts) -> Floats:
        """Return the share of every label: ½ normalise(α′) + ½ normalise(N)."""
        return scores(self.topics.infer(self.for_topics(counts)), "blend", self.n_labels) / 2

    def all_likeness(self, features: Counts) -> Floats:
        """Return the cosine of the documents to every label's mean document."""
        return self.near.products(features)

    def below(self, counts: Counts, features: Counts) -> Floats:
        """Return ln(share × likeness) of every label, which ranks those that are no candidates.

        Both have a least value, and the product a largest, 1.
        """
        product = self.all_shares(counts) + LEAST_SHARE
        product *= self.all_likeness(features) + _LEAST_LIKENESS
        return np.log(np.minimum(product, 1.0))

    def margins(self, weights: Counts, features: Counts, labels: Labels) -> Floats:
        """Return w·x − 1 of each document's labels, −1 for those that are none."""
        return reduced.margins(weights, features, labels)

    def signals(
        self, found: Shortlist, margins: Floats, names: Floats | None = None
    ) -> dict[str, Floats]:
        """Return the signals of all candidates by name; those of labels never learned say nothing.

        `names` say how far the labels' names speak for them, where names are looked at.
        """
        often = self.log_frequencies[np.clip(found.labels, 0, self.n_labels - 1)]
        return values_of(
            Candidates(found.labels, margins, found.shares, found.likeness, often, names)
        )


class Names(NamedTuple):
    """What is looked for in documents beside their words: the names of labels."""

    finder: NameIndex
    weights: NameWeights
    is_taught: Bools
    """Of all labels, whether a training document has them."""


def with_named(found: Shortlist, mentions: Mentions) -> tuple[Shortlist, Numbers]:
    """Return the candidates with those that names bring up, and the place of each one's mention.

    −1 where there is no label, or its name is not there. What names bring up is neither near by its
    words nor likely by its topics: it has no share and no likeness.
    """
    at = mentions.at(found.labels)
    more = mentions.beside(at)
    return _with_more(found, mentions.labels_at(more)), np.concatenate([at, more], axis=1)


def with_scored(found: Shortlist, scores: Sequence[Sparse]) -> Shortlist:
    """Return the candidates with the labels that have external scores."""
    return _with_more(found, more_candidates(scores, found.labels))


def _with_more(found: Shortlist, labels: Labels) -> Shortlist:
    none = np.zeros(labels.shape)
    return Shortlist(
        found.features,
        np.concatenate([found.labels, labels], axis=1),
        np.concatenate([found.shares, none], axis=1),
        np.concatenate([found.likeness, none], axis=1),
    )


def name_scores(scores: Floats, at: Numbers) -> Floats:
    """Return the score of each candidate's name; NaN where it is not in the document."""
    return np.append(scores, np.nan)[at]


class HybridScorer(NamedTuple):
    """All that a worker needs to score documents."""

    shortlister: Shortlister
    weights: Counts
    """Of the SVMs, labels × words."""
    mixture: Mixture
    last_stage: Calibration | None
    """Where labels are ranked by calibrated log-odds."""
    names: Names | None = None
    names_at: range = range(0)
    """The columns of counts that are there for the sake of names."""
    n_never: int = 0
    """Labels that were never learned; their numbers follow those of the others."""
    external: tuple[ExternalSignal, ...] = ()
    """The last two are of embeddings, if the model uses embeddings."""
    embedded: LabelledEmbeddings | None = None

    @property
    def batch_size(self) -> int:
        """How many documents are scored at a time."""
        return self.shortlister.batch_size

    def candidates(self, documents: Counts | CountsAndArrays) -> tuple[Labels, Floats]:
        """Return the candidates of the documents and their log-odds, in no order.

        A document has as many as the shortlist at least; −1, far below all others, for no label.
        """
        found, values = self.signals(documents)
        return found.labels, self.log_odds(found.labels, values)

    def log_odds(self, labels: Labels, values: Values) -> Floats:
        """Return the log-odds of candidates by their signals, and by its name of what is unseen."""
        found = self.mixture.log_odds(values)
        if self.names is not None:
            weights = self.names.weights
            is_unseen = ~self.names.is_taught[labels] & (values[NAMED] > 0)
            by_name = values[NAME] + weights.centre + weights.unseen
            found = np.where(is_unseen, by_name, found)
        if self.last_stage is not None:
            found = self.last_stage.log_odds(found, labels)
        return np.where(labels < 0, NO_LABEL, np.maximum(found, _LEAST_LOG_ODDS))

    def signals(self, documents: Counts | CountsAndArrays) -> tuple[Shortlist, dict[str, Floats]]:
        """Return the candidates, and their signals by name."""
        counts, scores = counts_in(documents), tuple[Sparse, ...]()
        if isinstance(documents, CountsAndArrays):
            scores = documents.all_scores(self.embedded)
        words = without_columns(counts, self.names_at)
        found, names = self.shortlister.find(words), None
        if scores:
            found = with_scored(found, scores)
        if self.names is not None:
            mentions = self.names.finder.find(counts, lengths_of(words))
            found, at = with_named(found, mentions)
            weights = self.names.weights
            names = name_scores(weights.scores(mentions.features) - weights.centre, at)
        learned = np.where(found.labels < self.shortlister.n_labels, found.labels, -1)
        margins = self.shortlister.margins(self.weights, found.features, learned)
        values = self.shortlister.signals(found, margins, names)
        return found, values | external_values(self.external, scores, found.labels)

    def parts(self, label: int, values: Values) -> dict[str, float]:
        """Return what gives one label its log-odds, by its signals, before they are calibrated."""
        if self.names is not None and not self.names.is_taught[label] and values[NAMED][0, 0]:
            weights = self.names.weights
            by_name = float(values[NAME][0, 0]) + weights.centre - weights.intercept
            return {BASE: weights.intercept + weights.unseen, NAME: by_name}
        return {name: float(part[0, 0]) for name, part in self.mixture.parts(values).items()}

    def names_in(self, documents: Counts | CountsAndArrays) -> dict[int, int]:
        """Return the labels whose names stand in one document, and which name of the index."""
        if self.names is None:
            return {}
        counts = counts_in(documents)
        words = without_columns(counts, self.names_at)
        mentions = self.names.finder.find(counts, lengths_of(words))
        return dict(zip(mentions.labels.tolist(), mentions.names.tolist(), strict=True))

    def scores(self, documents: Counts | CountsAndArrays) -> Floats:
        """Return the scores of all labels: log-odds of candidates, and the others below.

        These are in the order of share × likeness, which finds the true ones among them sooner than
        either alone, or than their log-odds: their SVMs never learned from documents like this one.
        Labels that were never learned, and whose names are not there, come last.
        """
        found, values = self.signals(documents)
        log_odds = self.log_odds(found.labels, values)
        if self.shortlister.takes_all and not self.n_never:
            return log_odds[:, : self.shortlister.n_labels]
        words = without_columns(counts_in(documents), self.names_at)
        below = self.shortlister.below(words, found.features)
        never = np.log(np.full((len(below), self.n_never), LEAST_SHARE * _LEAST_LIKENESS))
        every = BELOW + np.concatenate([below, never], axis=1)
        rows, places = np.nonzero(found.labels >= 0)
        every[rows, found.labels[rows, places]] = log_odds[rows, places]
        return every


def is_taught(labels: Indicator) -> Bools:
    """Return which labels a document has."""
    return np.asarray(np.bincount(labels.indices, minlength=labels.shape[1]) > 0)


def lengths_of(words: Counts) -> Floats:
    """Return how many words each document has."""
    return np.asarray(words.sum(axis=1), np.float64).ravel()


def best_first(
    labels: Labels, keys: Floats, k: int, *values: Floats
) -> tuple[Numbers, list[Floats]]:
    """Return the k labels with the largest keys, equals in their order, and their values."""
    order = np.lexsort((labels, -keys), axis=1)[:, :k]
    numbers = np.take_along_axis(labels, order, axis=1).astype(np.int64)
    return numbers, [np.take_along_axis(each, order, axis=1) for each in values]
