"""How the hybrid scores a document: a shortlist, the signals of its labels, their mixture."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deplda.inference.cpu import Cpu
from deplda.inference.scores import scores
from deplda.kernels import shortlists
from deplda.models.base import Counts, Floats, Numbers
from deplda.models.calibration import Calibration
from deplda.models.candidates import Index, Labels, united
from deplda.models.linear import reduced
from deplda.models.linear.svm import tfidf
from deplda.models.mixture import Mixture, Values
from deplda.models.signals import LEAST_SHARE, Candidates, values_of

BELOW = -30.0
"""Candidates have log-odds above it; other labels follow below it, by share and likeness."""
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

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return len(self.log_frequencies)

    @property
    def takes_all(self) -> bool:
        """Whether every label is a candidate."""
        return self.n_candidates >= self.n_labels

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
        shares = self.topics.shares_among(counts, near.astype(np.int64))
        by_share = np.argsort(-shares, axis=1, kind="stable").astype(np.int32)
        by_words = np.broadcast_to(np.arange(n_near, dtype=np.int32), near.shape)
        places = united(by_share, np.ascontiguousarray(by_words), n_near, self.n_candidates)
        return Shortlist(
            features,
            np.take_along_axis(near, places, axis=1),
            np.take_along_axis(shares, places, axis=1),
            np.take_along_axis(cosines, places, axis=1).astype(np.float64),
        )

    def all_shares(self, counts: Counts) -> Floats:
        """Return the share of every label: ½ normalise(α′) + ½ normalise(N)."""
        return scores(self.topics.infer(counts), "blend", self.n_labels) / 2

    def all_likeness(self, features: Counts) -> Floats:
        """Return the cosine of the documents to every label's mean document."""
        return np.asarray((features @ self.near.matrix).toarray(), np.float64)

    def signals(self, found: Shortlist, margins: Floats) -> dict[str, Floats]:
        """Return the signals of all candidates by name."""
        often = self.log_frequencies[found.labels]
        return values_of(Candidates(found.labels, margins, found.shares, found.likeness, often))


class HybridScorer(NamedTuple):
    """All that a worker needs to score documents."""

    shortlister: Shortlister
    weights: Counts
    """Of the SVMs, labels × words."""
    mixture: Mixture
    last_stage: Calibration | None
    """Where labels are ranked by calibrated log-odds."""

    @property
    def batch_size(self) -> int:
        """How many documents are scored at a time."""
        most = self.shortlister.n_candidates
        return max(1, min(_BATCH, _BATCH_CELLS // most))

    def candidates(self, counts: Counts) -> tuple[Labels, Floats]:
        """Return the candidates of the documents and their log-odds, in no order."""
        found, values = self.signals(counts)
        return found.labels, self.log_odds(found.labels, values)

    def log_odds(self, labels: Labels, values: Values) -> Floats:
        """Return the log-odds of candidates by their signals."""
        found = self.mixture.log_odds(values)
        if self.last_stage is not None:
            found = self.last_stage.log_odds(found, labels)
        return np.maximum(found, _LEAST_LOG_ODDS)

    def signals(self, counts: Counts) -> tuple[Shortlist, dict[str, Floats]]:
        """Return the candidates, and their signals by name."""
        found = self.shortlister.find(counts)
        margins = reduced.margins(self.weights, found.features, found.labels)
        return found, self.shortlister.signals(found, margins)

    def scores(self, counts: Counts) -> Floats:
        """Return the scores of all labels: log-odds of candidates, and the others below.

        These are in the order of share × likeness, which finds the true ones among them sooner than
        either alone, or than their log-odds: their SVMs never learned from documents like this one.
        """
        found, values = self.signals(counts)
        log_odds = self.log_odds(found.labels, values)
        if self.shortlister.takes_all:
            return log_odds
        product = self.shortlister.all_shares(counts) + LEAST_SHARE
        product *= self.shortlister.all_likeness(found.features) + _LEAST_LIKENESS
        every = BELOW + np.log(np.minimum(product, 1.0))
        np.put_along_axis(every, found.labels.astype(np.int64), log_odds, axis=1)
        return every


def best_first(
    labels: Labels, keys: Floats, k: int, *values: Floats
) -> tuple[Numbers, list[Floats]]:
    """Return the k labels with the largest keys, equals in their order, and their values."""
    order = np.lexsort((labels, -keys), axis=1)[:, :k]
    numbers = np.take_along_axis(labels, order, axis=1).astype(np.int64)
    return numbers, [np.take_along_axis(each, order, axis=1) for each in values]
