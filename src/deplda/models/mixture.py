"""A mixture of SVM margins and topic-model shares, its few weights tuned on held-out documents.

H_dc = log(exp(o_dc) + δ) + λ log(P_dc + ε). o is the log-odds that a logistic fit gives an SVM
margin; below the floor δ margins are noise, and P, the topic model's share of the label, orders
what is left.
"""

from __future__ import annotations

from itertools import product
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from deplda.evaluation import rank_metrics

Floats = npt.NDArray[np.float64]
Truth = npt.NDArray[np.bool_]

FLOORS = (0.0, 0.003, 0.01, 0.03)
TOPIC_WEIGHTS = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
_LEAST_SHARE = 1e-6
_RIDGE = 1.0
_MOST_STEPS = 50
_BLOCK_CELLS = 1 << 20


class Mixture(msgspec.Struct, frozen=True):
    """The weights; by default those taken where nothing could be held out."""

    model: Literal["both", "svm", "topics"] = "both"
    """Both parents mixed, or the one that was better alone."""
    slope: float = 4.0
    intercept: float = 0.0
    frequency: float = 0.0
    """Weight of a label's log share of the training documents, ln f."""
    slope_frequency: float = 0.0
    """Weight of margin × ln f."""
    floor: float = 0.01
    topics: float = 0.2
    """λ, the weight of the topic model."""
    threshold: float = 0.0
    """The score with the best micro-F1 on held-out documents."""
    temperature: float = 1.0
    """Of the softmax, where a document has one class."""

    def scores(self, margins: Floats, shares: Floats, log_frequencies: Floats) -> Floats:
        """Return H of documents × labels, the sum of its parts."""
        first, *others = self.parts(margins, shares, log_frequencies).values()
        return first + others[0] if others else first

    def parts(self, margins: Floats, shares: Floats, log_frequencies: Floats) -> dict[str, Floats]:
        """Return what each model gives to the scores: log(exp(o) + δ) and λ log(P + ε)."""
        if self.model == "svm":
            return {"svm": margins}
        if self.model == "topics":
            return {"topics": shares}
        slopes = self.slope + self.slope_frequency * log_frequencies
        odds = slopes * margins + (self.intercept + self.frequency * log_frequencies)
        supported = np.logaddexp(odds, np.log(self.floor)) if self.floor else odds
        return {"svm": supported, "topics": self.topics * np.log(shares + _LEAST_SHARE)}


class HeldOutScores(NamedTuple):
    """What both parents say of documents that they have not learned from, documents × labels."""

    margins: Floats
    shares: Floats
    truth: Truth
    log_frequencies: Floats
    """ln f of each label: its share of the training documents."""


class Probabilities(NamedTuple):
    """How likely a label is at a score: a rising line through these points."""

    scores: Floats
    values: Floats

    def at(self, scores: Floats) -> Floats:
        """Return the probabilities at these scores."""
        return np.interp(scores, self.scores, self.values)


def tune(held_out: HeldOutScores) -> tuple[Mixture, dict[str, float]]:
    """Return the best mixture, and the quality of it and of each parent alone.

    It is never worse than a parent: if none of the mixtures is better, it is that parent.
    """
    candidates = [Mixture("svm"), Mixture("topics")]
    qualities = [_quality_of(mixture, held_out) for mixture in candidates]
    for by_frequency in (False, True):
        calibrated = _calibrated(held_out, by_frequency)
        found = _search(calibrated, held_out)
        candidates += found[0]
        qualities += found[1]
    best = int(np.argmax(qualities))
    told = {"hybrid": qualities[best], "svm": qualities[0], "topics": qualities[1]}
    return _with_cuts(candidates[best], held_out), told


def quality(scores: Floats, truth: Truth) -> float:
    """Return dAP − .02 ln RL − .0025 One-Error + lAP − .02 ln(1 − lAUC): more is better."""
    tested = truth.any(axis=0)
    by_document = rank_metrics(scores, truth, ks=())
    by_label = rank_metrics(scores[:, tested], truth[:, tested], pivot="label", ks=())
    return float(
        _mean(by_document["average_precision"])
        - 0.02 * np.log(max(_mean(by_document["ranking_loss"]), 1e-3))
        - 0.0025 * _mean(by_document["one_error"])
        + _mean(by_label["average_precision"])
        - 0.02 * np.log(max(1 - _mean(by_label["auc_roc"]), 1e-5))
    )


def probabilities_of(scores: Floats, truth: Truth) -> Probabilities:
    """Return the rising line closest to the truth (isotonic regression), never quite 0 or 1."""
    fitted = IsotonicRegression().fit(scores.ravel(), truth.ravel())
    n_positive = int(truth.sum())
    low, high = 1 / (truth.size - n_positive + 2), 1 - 1 / (n_positive + 2)
    return Probabilities(
        np.asarray(fitted.X_thresholds_, np.float64),
        np.clip(np.asarray(fitted.y_thresholds_, np.float64), low, max(low, high)),
    )


def best_threshold(scores: Floats, truth: Truth) -> float:
    """Return the score at and above which labels have the best micro-F1."""
    order = np.argsort(-scores, axis=None, kind="stable")
    hits = np.cumsum(truth.ravel()[order])
    f1 = 2 * hits / (np.arange(1, len(hits) + 1) + hits[-1])
    return float(scores.ravel()[order[int(np.argmax(f1))]])


def _search(calibrated: Mixture, held_out: HeldOutScores) -> tuple[list[Mixture], list[float]]:
    """Return mixtures and their qualities: λ at a middling floor, floors at the best λ, λ again."""
    tried: dict[tuple[float, float], float] = {}

    def best_of(floors: tuple[float, ...], weights: tuple[float, ...]) -> tuple[float, float]:
        for floor, weight in product(floors, weights):
            if (floor, weight) not in tried:
                mixture = msgspec.structs.replace(calibrated, floor=floor, topics=weight)
                tried[floor, weight] = _quality_of(mixture, held_out)
        return max(tried, key=lambda at: tried[at])

    _, weight = best_of((0.01,), TOPIC_WEIGHTS)
    floor, weight = best_of(FLOORS, (weight,))
    at = TOPIC_WEIGHTS.index(weight)
    best_of((floor,), TOPIC_WEIGHTS[max(at - 1, 0) : at + 2])
    mixtures = [
        msgspec.structs.replace(calibrated, floor=floor, topics=weight) for floor, weight in tried
    ]
    return mixtures, list(tried.values())


def _quality_of(mixture: Mixture, held_out: HeldOutScores) -> float:
    margins, shares, truth, log_frequencies = held_out
    return quality(mixture.scores(margins, shares, log_frequencies), truth)


def _with_cuts(mixture: Mixture, held_out: HeldOutScores) -> Mixture:
    margins, shares, truth, log_frequencies = held_out
    scores = mixture.scores(margins, shares, log_frequencies)
    return msgspec.structs.replace(
        mixture, threshold=best_threshold(scores, truth), temperature=_temperature(scores, truth)
    )


def _temperature(scores: Floats, truth: Truth) -> float:
    """Return the t of a softmax of t · scores under which the classes are likeliest."""
    single = truth.sum(axis=1) == 1
    rows, own = scores[single], truth[single]
    if not len(rows):
        return 1.0
    tried = np.geomspace(1 / 16, 64, 41)

    def likelihood(t: float) -> float:
        values = t * (rows - rows.max(axis=1, keepdims=True))
        return float((values[own] - np.log(np.exp(values).sum(axis=1))).sum())

    return float(max(tried, key=likelihood))


def _calibrated(held_out: HeldOutScores, by_frequency: bool) -> Mixture:
    """Return the logistic fit of held-out margins, by Newton's method, some documents at a time."""
    n = 4 if by_frequency else 2
    weights, ridge = np.zeros(n), _RIDGE * (np.arange(n) != 1)
    size = max(1, _BLOCK_CELLS // held_out.margins.shape[1])
    for _ in range(_MOST_STEPS):
        gradient, curvature = ridge * weights, np.diag(ridge)
        for first in range(0, len(held_out.margins), size):
            block = slice(first, first + size)
            features = _features(held_out.margins[block], held_out.log_frequencies, n)
            chances = expit(weights @ features)
            gradient = gradient + features @ (chances - held_out.truth[block].ravel())
            curvature = curvature + (features * (chances * (1 - chances))) @ features.T
        step = np.linalg.solve(curvature + 1e-9 * np.eye(n), gradient)
        weights = weights - step
        if np.abs(step).max() < 1e-6:
            break
    return Mixture("both", *weights.tolist())


def _features(margins: Floats, log_frequencies: Floats, n: int) -> Floats:
    """Return margin, 1, ln f and margin × ln f of all pairs, or the first n of them."""
    frequencies = np.broadcast_to(log_frequencies, margins.shape)
    every = (margins, np.ones_like(margins), frequencies, margins * frequencies)
    return np.stack([feature.ravel() for feature in every[:n]])


def _mean(values: npt.NDArray[Any]) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else 0.5
