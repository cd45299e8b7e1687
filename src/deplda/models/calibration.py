"""Scores of documents held out become probabilities: how likely a label is at a score.

In three stages, of which the later ones are left out where they do not make the truth of other
documents more likely: isotonic regression of truth on score, for all labels together; a logistic in
its log-odds and the label's frequency in training, since the same score does not mean the same for
a rare label, and isotonic regression once more, as the logistic may bend the line; and a shift for
each label, shrunk to 0, so that a label is told about as often as it is true.

No pair is left out. The highest scores, 200 a document on average, are taken one by one; those
below are counted by label in a few groups of scores, so that what is told of them is right for each
label and group.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit, softmax
from sklearn.isotonic import isotonic_regression

from deplda.evaluation.reliability import calibration_error

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]
Truth = npt.NDArray[np.bool_]

_FOLDS = 5
_HIGH_SCORES = 200  # a document
_GROUPS_PER_E = 256  # groups of scores while ranks grow e-fold
_LEAST_GAIN = 3.0  # in log-likelihood, for which stages are added
_RIDGE = 1.0
_LEAST_SLOPE = 0.05
_TILT = 1e-4
_MOST_LOG_ODDS = 30.0  # no probability is quite 0 or 1
_BY_FREQUENCY: tuple[Literal["no", "logistic", "isotonic"], ...] = ("no", "logistic", "isotonic")
_WIDTHS = (0.25, 0.5)  # wider ones do not hold for the model that has learned from all documents
_ANCHORS = (0.0, 0.5, 2.0)
_MOST_STEPS, _LONGEST_STEP, _SMALL_STEP = 30, 2.0, 1e-3
_FEW_POSITIVES = 1.0
_TEMPERATURES = np.geomspace(1 / 16, 4096, 65)


class HeldOutPairs(NamedTuple):
    """Pairs of documents and labels, scored by a model that has not learned from the documents."""

    documents: Numbers
    labels: Numbers
    scores: Floats
    truth: Truth
    n_documents: int
    missed: Numbers
    """Of each label the true pairs that are not among these: the model did not score them."""


class Calibration(NamedTuple):
    """What makes probabilities of scores, and where they are best cut off."""

    points: Floats
    """Scores, rising."""
    values: Floats
    """Log-odds g of any label at these scores, rising."""
    slopes: Floats
    """Of each label, above 0: what g is multiplied by …"""
    offsets: Floats
    """… and what is added then, by the label's frequency in training: h."""
    second_points: Floats
    """Values of h, rising."""
    second_values: Floats
    """Log-odds of any label at these, rising."""
    shifts: Floats
    """Of each label: what is added to them."""
    label_thresholds: Floats
    """Of each label, half the best expected F1 on the documents held out."""
    threshold: float
    """The probability with the best micro-F1 on the documents held out."""
    error: float
    """Expected calibration error on documents that had no part in the calibration."""
    temperature: float = 0.0
    """Of a softmax over a document's scores, where it has one class; 0 where it has several."""
    without_labels: float | None = None
    """Share of the documents held out that have no label at or above the threshold; None in a
    model that was saved before this was measured."""

    def log_odds(self, scores: Floats, labels: Any) -> Floats:
        """Return the log-odds of these labels (numbers) at these scores, one by one."""
        common = np.interp(scores, self.points, self.values)
        by_frequency = self.slopes[labels] * common + self.offsets[labels]
        found = np.interp(by_frequency, self.second_points, self.second_values)
        return np.clip(found + self.shifts[labels], -_MOST_LOG_ODDS, _MOST_LOG_ODDS)

    def at(self, scores: Floats, labels: Any) -> Floats:
        """Return the probabilities of these labels (numbers) at these scores, one by one."""
        return np.asarray(expit(self.log_odds(scores, labels)))

    def of_documents(self, scores: Floats) -> Floats:
        """Return the probabilities of all labels, documents × labels."""
        if self.temperature:
            return np.asarray(softmax(self.temperature * scores, axis=1))
        return self.at(scores, np.arange(scores.shape[1]))

    def with_below(self, score: float, chance: float) -> Calibration:
        """Return it with this probability (or less) for all labels at a score below all others.

        Both lines begin with a step down to it, below all that the scores before reach.
        """
        if score >= self.points[0]:
            return self
        low = float((self.slopes * (self.values[0] - _TILT) + self.offsets).min())
        least = float(np.interp(low, self.second_points, self.second_values)) - _TILT / 4
        value = min(float(logit(chance)), least - _TILT)
        far = float(((low - 2.0 - self.offsets) / self.slopes).min())
        is_above = self.second_points > low
        return self._replace(
            points=np.append([score, np.nextafter(self.points[0], -np.inf)], self.points),
            values=np.append([far, self.values[0] - _TILT], self.values),
            second_points=np.append([low - 2.0, low - 1.0, low], self.second_points[is_above]),
            second_values=np.append(
                [value, least - _TILT / 2, least], self.second_values[is_above]
            ),
        )

    def of_log_odds(self) -> Calibration:
        """Return the calibration of scores that are these log-odds already: it changes nothing."""
        line, n_labels = np.array([-_MOST_LOG_ODDS, _MOST_LOG_ODDS]), len(self.slopes)
        ones, zeros = np.ones(n_labels), np.zeros(n_labels)
        return self._replace(
            points=line, values=line, slopes=ones, offsets=zeros, second_points=line,
            second_values=line, shifts=zeros,
        )  # fmt: skip

    def for_labels(self, like: Numbers, is_new: Truth) -> Calibration:
        """Return it for other labels, told as those of these numbers; new ones are not shifted."""
        return self._replace(
            slopes=self.slopes[like],
            offsets=self.offsets[like],
            shifts=np.where(is_new, 0.0, self.shifts[like]),
            label_thresholds=self.label_thresholds[like],
        )


def all_pairs(scores: Floats, truth: Truth, learned: Truth) -> HeldOutPairs:
    """Return all pairs of documents × labels but those of labels that could not be learned."""
    n, known = len(scores), np.flatnonzero(learned)
    return HeldOutPairs(
        np.repeat(np.arange(n), len(known)), np.tile(known, n), scores[:, known].ravel(),
        truth[:, known].ravel(), n, np.zeros(len(learned), np.int64),
    )  # fmt: skip


def calibrate(
    held_out: HeldOutPairs,
    n_trained: Numbers,
    n_documents: int,
    *,
    is_part: bool = True,
    one_class: bool = False,
    is_thorough: bool = True,
) -> Calibration | None:
    """Return the calibration by documents held out; None if no pair, or every pair, is true.

    Parameters
    ----------
    held_out : HeldOutPairs
    n_trained, n_documents : training documents of each label, and all of them
    is_part : whether the documents held out are among these. The model that scored them has not
        learned from them: they are taken off to see how scores depend on frequency.
    one_class : whether each document has one class, so that its probabilities sum to 1
    is_thorough : whether stages are chosen and probabilities are judged, or else those are taken
        that mostly are, for log-odds alone: thresholds and the error are then 0
    """
    n_true = int(held_out.truth.sum())
    if not 0 < n_true < len(held_out.truth):
        return None
    seen, n_seen = np.asarray(n_trained), n_documents
    if is_part:
        own = np.bincount(held_out.labels[held_out.truth], minlength=len(seen))
        seen, n_seen = seen - own - held_out.missed, n_documents - held_out.n_documents
    task = _Task(
        _cells_of(held_out), _log_frequencies(seen, n_seen), _anchors(held_out, seen, n_seen)
    )
    if not is_thorough:
        return task.calibration(_USUAL, _log_frequencies(n_trained, n_documents))
    stages, told = _choose(task, _EVERY)
    temperature = 0.0
    if one_class:
        temperature, told = _softmax(held_out)
    threshold = _best_threshold(told, int(held_out.missed.sum()))
    calibration = task.calibration(stages, _log_frequencies(n_trained, n_documents))
    # Lower scores are many, and never likely enough.
    is_high = (
        held_out.scores >= _coarse_groups(held_out.scores, _HIGH_SCORES * held_out.n_documents)[-1]
    )
    chances = (
        told.chances[is_high]
        if one_class
        else calibration.at(held_out.scores[is_high], held_out.labels[is_high])
    )
    n_with_labels = len(np.unique(held_out.documents[is_high][chances >= threshold]))
    return calibration._replace(
        label_thresholds=_label_thresholds(told, held_out.missed, threshold), threshold=threshold,
        error=calibration_error(told.chances, told.n_true, told.n), temperature=temperature,
        without_labels=1 - n_with_labels / held_out.n_documents,
    )  # fmt: skip


# Counting pairs -----------------------------------------------------------------------------------


class _Cells(NamedTuple):
    """Pairs, counted where they are of one fold, one label and one group of scores."""

    fold: Numbers
    label: Numbers
    score: Floats
    """The lowest of the group."""
    n: Numbers
    n_true: Numbers

    def only(self, chosen: Truth) -> _Cells:
        return _Cells(
            self.fold[chosen], self.label[chosen], self.score[chosen], self.n[chosen],
            self.n_true[chosen],
        )  # fmt: skip


def _cells_of(held_out: HeldOutPairs) -> _Cells:
    """Return all pairs counted: the highest scores in fine groups, the others in a few."""
    scores, n_labels = held_out.scores, len(held_out.missed)
    lows = _coarse_groups(scores, _HIGH_SCORES * held_out.n_documents)
    is_high, fold = scores >= lows[-1], held_out.documents % _FOLDS
    fine = _fine_groups(np.sort(scores[is_high]))
    high = _Cells(
        fold[is_high], held_out.labels[is_high],
        fine[np.searchsorted(fine, scores[is_high], side="right") - 1],
        np.ones(np.count_nonzero(is_high), np.int64), held_out.truth[is_high].astype(np.int64),
    )  # fmt: skip
    if len(lows) == 1:
        return high
    low = ~is_high
    group = np.zeros(np.count_nonzero(low), np.int64)
    for bound in lows[1:-1]:
        group += scores[low] >= bound
    shape = (_FOLDS, n_labels, len(lows) - 1)
    key = np.ravel_multi_index((fold[low], held_out.labels[low], group), shape)
    n = np.bincount(key, minlength=np.prod(shape))
    n_true = np.bincount(key[held_out.truth[low]], minlength=np.prod(shape))
    some = np.flatnonzero(n)
    folds, labels, groups = np.unravel_index(some, shape)
    rest = _Cells(folds, labels, lows[groups], n[some], n_true[some])
    parts: Any = zip(rest, high, strict=True)
    return _Cells(*map(np.concatenate, parts))


def _coarse_groups(scores: Floats, n_high: int) -> Floats:
    """Return the lowest score of each group: the `n_high` highest, as many again, twice as many."""
    sizes, size = [len(scores)], n_high
    while size < len(scores):
        sizes.append(size)
        size *= 2
    ranks = len(scores) - np.array(sizes)
    return np.unique(np.partition(scores, ranks)[ranks])


def _fine_groups(rising: Floats) -> Floats:
    """Return the lowest score of each group; a group holds a 256th of the scores above it."""
    ranks, rank = [], 1.0
    while rank < len(rising):
        ranks.append(int(rank))
        rank += max(1.0, rank / _GROUPS_PER_E)
    return np.unique(rising[len(rising) - np.array([*ranks, len(rising)])])


def _log_frequencies(n_trained: Any, n_documents: int) -> Floats:
    """Return ln f of each label; one that no document has counts as half a document's."""
    return np.log(np.maximum(np.asarray(n_trained), 0.5) / max(n_documents, 1))


def _anchors(held_out: HeldOutPairs, n_trained: Numbers, n_documents: int) -> Floats:
    """Return how many true pairs each label's training frequency promises among the pairs."""
    n_true, n_missed = int(held_out.truth.sum()), int(held_out.missed.sum())
    share = held_out.n_documents / max(n_documents, 1) * n_true / (n_true + n_missed)
    is_scored = np.bincount(held_out.labels, minlength=len(n_trained)) > 0
    return share * np.where(is_scored, n_trained, 0)


# The stages ---------------------------------------------------------------------------------------


class Line(NamedTuple):
    """Log-odds that rise with what they are told by."""

    points: Floats
    """Rising."""
    values: Floats
    """Rising, if only by a hair: no two points are told the same, and labels keep their order."""

    def at(self, x: Floats) -> Floats:
        """Return the log-odds at x."""
        return np.interp(x, self.points, self.values)


class _Logistic(NamedTuple):
    """Log-odds as a linear function of those of all labels, g, of ln f, and of g ln f."""

    weights: Floats
    centre: float

    def of_labels(self, log_frequencies: Floats) -> tuple[Floats, Floats]:
        """Return of each label what g is multiplied by, and what is added then."""
        frequency = log_frequencies - self.centre
        constant, slope, by_frequency, slope_by_frequency = self.weights
        slopes = np.maximum(slope + slope_by_frequency * frequency, _LEAST_SLOPE)
        return slopes, constant + by_frequency * frequency


_IDENTITY = _Logistic(np.array([0.0, 1.0, 0.0, 0.0]), 0.0)
_STRAIGHT = Line(*[np.array([-_MOST_LOG_ODDS, _MOST_LOG_ODDS])] * 2)


class _Stages(NamedTuple):
    """Which stages follow the first, and how far a label may be shifted."""

    by_frequency: Literal["no", "logistic", "isotonic"] = "no"
    """Whether a logistic follows, and whether isotonic regression follows that."""
    width: float = 0.0
    """Of the normal prior of shifts; 0 for none."""
    anchor: float = 0.0
    """What training frequency weighs, beside the documents held out."""


class _Fitted(NamedTuple):
    common: Line
    logistic: _Logistic
    second: Line
    shifts: Floats

    def unshifted(self, common: Floats, labels: Numbers, log_frequencies: Floats) -> Floats:
        """Return the log-odds of labels before their shifts, by those of any label."""
        slopes, offsets = self.logistic.of_labels(log_frequencies)
        return self.second.at(slopes[labels] * common + offsets[labels])


class _Counts(NamedTuple):
    """Pairs of one label at one level, and how many of them are true."""

    label: Numbers
    log_odds: Floats
    n: Any
    n_true: Any


class _Told(NamedTuple):
    """Pairs of one label and one probability, told by a calibration that has not seen them."""

    label: Numbers
    chances: Floats
    n: Numbers
    n_true: Numbers


class _Task(NamedTuple):
    """Pairs, and what is known of labels from the documents that the model learned from."""

    cells: _Cells
    log_frequencies: Floats
    anchors: Floats

    def fit(self, cells: _Cells, every: Sequence[_Stages]) -> list[_Fitted]:
        """Return the calibrations with these stages by some cells."""
        common = _isotonic(cells.score, cells.n, cells.n_true)
        counts = _merged(cells, common, len(self.anchors))
        logistic = _fit_logistic(counts, self.log_frequencies)
        slopes, offsets = logistic.of_labels(self.log_frequencies)
        by_frequency = slopes[counts.label] * counts.log_odds + offsets[counts.label]
        second = _isotonic(by_frequency, counts.n, counts.n_true)
        chains = {
            "no": (_IDENTITY, _STRAIGHT, counts.log_odds),
            "logistic": (logistic, _STRAIGHT, by_frequency),
            "isotonic": (logistic, second, second.at(by_frequency)),
        }
        anchors = self.anchors * cells.n.sum() / self.cells.n.sum()
        found, shifts = [], np.zeros(len(anchors))
        for stages in every:
            own, line, log_odds = chains[stages.by_frequency]
            told = counts._replace(log_odds=log_odds)
            # Those of the stages before are a good start.
            shifts = _fit_shifts(told, anchors, stages, shifts) if stages.width else shifts * 0
            found.append(_Fitted(common, own, line, shifts))
        return found

    def calibration(self, stages: _Stages, log_frequencies: Floats) -> Calibration:
        """Return the calibration with these stages by all cells, for labels so frequent."""
        (fitted,) = self.fit(self.cells, [stages])
        slopes, offsets = fitted.logistic.of_labels(log_frequencies)
        none = np.zeros(len(slopes))
        return Calibration(
            *fitted.common, slopes, offsets, *fitted.second, fitted.shifts, none, 0.0, 0.0
        )


_EVERY = tuple(
    _Stages(by_frequency, width, anchor)
    for by_frequency in _BY_FREQUENCY
    for width, anchor in [(0.0, 0.0), *product(_WIDTHS, _ANCHORS)]
)


_USUAL = _Stages("isotonic", 0.25, 0.5)


def _choose(task: _Task, every: Sequence[_Stages]) -> tuple[_Stages, _Told]:
    """Return the stages under which documents are likeliest that were not learned from, and told.

    The first stage alone unless others are clearly better: of a few documents anything can be.
    """
    likelihoods, parts = np.zeros(len(every)), []
    for fold in np.unique(task.cells.fold):
        is_left_out = task.cells.fold == fold
        cells = task.cells.only(is_left_out)
        # One document alone has to do for both.
        others = cells if is_left_out.all() else task.cells.only(~is_left_out)
        fits = dict(zip(every, task.fit(others, every), strict=True))
        # All stages that differ in their shifts alone have the same log-odds before these.
        any_with = {stages.by_frequency: fitted for stages, fitted in fits.items()}
        common = fits[every[0]].common.at(cells.score)
        unshifted = {
            by: fitted.unshifted(common, cells.label, task.log_frequencies)
            for by, fitted in any_with.items()
        }
        log_odds = [
            unshifted[stages.by_frequency] + fitted.shifts[cells.label]
            for stages, fitted in fits.items()
        ]
        likelihoods += [_log_likelihood(each, cells) for each in log_odds]
        parts.append((cells, log_odds))
    best = int(np.argmax(likelihoods))
    if len(parts) < 2 or likelihoods[best] < likelihoods[0] + _LEAST_GAIN:
        best = 0
    told = [
        _Told(cells.label, expit(log_odds[best]), cells.n, cells.n_true)
        for cells, log_odds in parts
    ]
    return every[best], _Told(*map(np.concatenate, zip(*told, strict=True)))


def _log_likelihood(log_odds: Floats, cells: _Cells) -> float:
    """Return how likely cells are: log(1 − p) is log p less the log-odds."""
    found = cells.n * log_expit(log_odds) - (cells.n - cells.n_true) * log_odds
    return float(found.sum())


def _isotonic(x: Floats, n: Any, n_true: Any) -> Line:
    """Return the log-odds of truth at x, rising (isotonic regression).

    A level of n pairs of which k are true has (k + ½)/(n + 1): never quite 0 or 1.
    """
    at, place = np.unique(x, return_inverse=True)
    size, hits = np.bincount(place, n), np.bincount(place, n_true)
    shares = isotonic_regression(hits / size, sample_weight=size)
    level = np.cumsum(np.diff(shares, prepend=shares[0]) > 0)
    rates = (np.bincount(level, hits) + 0.5) / (np.bincount(level, size) + 1)
    begin = at[np.flatnonzero(np.diff(level, prepend=-1))]
    # A level goes on to where the next begins: x may be the lowest of a group of scores.
    end = np.append(np.nextafter(begin[1:], -np.inf), at[-1])
    points, where = np.unique(np.stack([begin, end], axis=1), return_index=True)
    values = np.repeat(np.maximum.accumulate(logit(rates)), 2)[where]
    return Line(points, values + _TILT * np.arange(len(values)) / len(values))


def _merged(cells: _Cells, line: Line, n_labels: int) -> _Counts:
    """Return the pairs of each label and level, to a hair, of a line."""
    levels, level = np.unique(np.round(line.at(cells.score), 3), return_inverse=True)
    key = cells.label * len(levels) + level
    size = n_labels * len(levels)
    n, n_true = np.bincount(key, cells.n, size), np.bincount(key, cells.n_true, size)
    some = np.flatnonzero(n)
    return _Counts(some // len(levels), levels[some % len(levels)], n[some], n_true[some])


def _fit_logistic(counts: _Counts, log_frequencies: Floats) -> _Logistic:
    """Return the logistic of log-odds and ln f with a ridge to what the log-odds say alone."""
    label, common, n, n_true = counts
    centre = float(log_frequencies[label] @ n_true / max(n_true.sum(), 1))
    frequency = log_frequencies[label] - centre
    features = np.stack([np.ones_like(common), common, frequency, common * frequency])

    def loss(weights: Floats) -> tuple[float, Floats]:
        log_odds, off = weights @ features, weights - _IDENTITY.weights
        value = -(log_expit(log_odds) @ n_true + log_expit(-log_odds) @ (n - n_true))
        slope = features @ (n * expit(log_odds) - n_true)
        return float(value + _RIDGE / 2 * off @ off), slope + _RIDGE * off

    def curvature(weights: Floats) -> Floats:
        chances = expit(weights @ features)
        return np.asarray(
            (features * (n * chances * (1 - chances))) @ features.T + _RIDGE * np.eye(4)
        )

    found = minimize(loss, _IDENTITY.weights, jac=True, hess=curvature, method="trust-exact")
    return _Logistic(np.asarray(found.x), centre)


def _fit_shifts(counts: _Counts, anchors: Floats, stages: _Stages, start: Floats) -> Floats:
    """Return the likeliest shift of each label under a normal prior, by Newton's method.

    `anchors`, the true pairs that training promises, count as so many more documents do.
    """
    label, log_odds, n, n_true = counts
    n_labels, weight, precision = len(anchors), 1 + stages.anchor, stages.width**-2
    wanted = np.bincount(label, n_true, n_labels) + stages.anchor * anchors
    shifts = start
    for _ in range(_MOST_STEPS):
        chances = expit(log_odds + shifts[label])
        told = np.bincount(label, n * chances, n_labels)
        spread = np.bincount(label, n * chances * (1 - chances), n_labels)
        step = (weight * told - wanted + precision * shifts) / (weight * spread + precision)
        shifts = shifts - np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
        if np.abs(step).max() < _SMALL_STEP:
            break
    return shifts


# Cutting off --------------------------------------------------------------------------------------


def _best_threshold(told: _Told, n_missed: int) -> float:
    """Return the probability at and above which micro-F1 is best.

    It is in the middle of the gap below the least probability that is high enough: where labels
    are easy to tell apart, another document's slightly lower probability is high enough, too.
    """
    chances, which = np.unique(-told.chances, return_inverse=True)
    given = np.cumsum(np.bincount(which, told.n))
    hits = np.cumsum(np.bincount(which, told.n_true))
    place = int(np.argmax(hits / (given + hits[-1] + n_missed)))
    best = -float(chances[place : place + 2].mean())
    return float(np.clip(best, *expit([-_MOST_LOG_ODDS, _MOST_LOG_ODDS])))


def _label_thresholds(told: _Told, missed: Numbers, common: float) -> Floats:
    """Return half of the best F1 that each label's probabilities promise.

    That is where to cut off for the best F1 (Lipton, Elkan and Naryanaswamy 2014). A label for
    which few true pairs are expected is cut off near the common threshold.
    """
    order = np.lexsort((-told.chances, told.label))
    label, n = told.label[order], told.n[order]
    mass = n * told.chances[order]
    expected = np.bincount(label, mass, len(missed))
    before = np.searchsorted(label, np.arange(len(missed)))  # where each label begins
    given, sure = np.cumsum(n), np.cumsum(mass)
    given_before, sure_before = np.append(0, given)[before], np.append(0, sure)[before]
    whole = (expected + missed)[label]
    f1 = 2 * (sure - sure_before[label]) / (given - given_before[label] + whole)
    best = np.zeros(len(missed))
    np.maximum.at(best, label, f1)
    weight = expected / (expected + _FEW_POSITIVES)
    return np.asarray(weight * best / 2 + (1 - weight) * common)


def _softmax(held_out: HeldOutPairs) -> tuple[float, _Told]:
    """Return the t under which a softmax of t · scores makes the classes likeliest, and told."""
    documents = np.unique(held_out.documents, return_inverse=True)[1]
    order = np.argsort(documents, kind="stable")
    starts = np.searchsorted(documents[order], np.arange(documents.max() + 1))
    scores, truth, row = held_out.scores[order], held_out.truth[order], documents[order]
    scores = scores - np.maximum.reduceat(scores, starts)[row]

    def log_chances(t: float) -> Floats:
        return t * scores - np.log(np.add.reduceat(np.exp(t * scores), starts))[row]

    def likeliest(chosen: Truth) -> float:
        return float(max(_TEMPERATURES, key=lambda t: log_chances(t)[chosen & truth].sum()))

    chances, fold = np.zeros(len(scores)), row % _FOLDS
    for number in range(_FOLDS):
        mine = fold == number
        chances[mine] = np.exp(log_chances(likeliest(~mine))[mine])
    temperature, as_given = likeliest(np.ones(len(row), bool)), np.argsort(order)
    told = _Told(
        held_out.labels, chances[as_given], np.ones(len(row), np.int64),
        held_out.truth.astype(np.int64),
    )  # fmt: skip
    return temperature, told
