"""What the hybrid learns from documents held out: C, how many candidates, and the mixture.

Nothing of a document held out is in what scores it: features, frequencies, lists and the topic
model are those of the other documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from deplda.data.targets import Indicator
from deplda.engine.execution import Execution
from deplda.engine.pool import Stop
from deplda.models import mixture
from deplda.models.base import Counts, Floats, Numbers
from deplda.models.calibration import Calibration, HeldOutPairs, calibrate
from deplda.models.candidates import Labels, Sparse, companions, training_lists
from deplda.models.folds import of_known_words
from deplda.models.hybrid_scorer import BELOW, Shortlist, Shortlister
from deplda.models.linear import reduced
from deplda.models.linear.svm import tfidf
from deplda.models.mixture import HeldOut, Judged
from deplda.models.quality import held_out_quality

COSTS = (0.1, 0.3, 1.0, 3.0)
_USUAL_COST = 1.0
FEW, MANY = 100, 200
_WORTH_MORE = 0.005
"""More candidates are taken if they hold this share more of the true labels."""
_CHEAP_PAIRS = 20_000_000
_SAMPLED_PAIRS = 300_000
_DOCUMENTS_TO_CHOOSE_BY = 1_000
_BATCH = 256


class Fold(NamedTuple):
    """Documents held out, what the others taught, and the candidates it finds for them."""

    shortlister: Shortlister
    counts: Counts
    features: Sparse
    labels: Indicator
    """Of the documents learned from, as the features."""
    found: Shortlist
    truth: Sparse
    """Labels of the documents held out that others have too."""

    def with_candidates(self, n: int, execution: Execution) -> Fold:
        """Return it with so many candidates a document."""
        if n == self.shortlister.n_candidates:
            return self
        shortlister = self.shortlister._replace(n_candidates=n)
        return self._replace(
            shortlister=shortlister, found=find_all(shortlister, self.counts, execution)
        )

    def problem(self, execution: Execution) -> reduced.Problem:
        """Return what the SVMs are to learn."""
        k, near = self.shortlister.n_candidates, self.shortlister.near
        lists = training_lists(
            self.features, self.labels, near, companions(self.labels), k, execution
        )
        return reduced.problem_of(self.features, self.labels, lists)

    def held_out(self, weights: Sparse) -> HeldOut:
        """Return the signals of all candidates, with these weights."""
        margins = reduced.margins(weights, self.found.features, self.found.labels)
        values = self.shortlister.signals(self.found, margins)
        return HeldOut(self.found.labels, values, self.truth)

    def recall_of(self, k: int) -> float:
        """Return the share of true labels among the k candidates with the largest shares."""
        order = np.argsort(-self.found.shares, axis=1, kind="stable")[:, :k]
        labels = np.take_along_axis(self.found.labels, order, axis=1)
        rows = np.repeat(np.arange(len(labels)), labels.shape[1])
        return float(np.asarray(self.truth[rows, labels.ravel()]).sum()) / max(self.truth.nnz, 1)


class Lesson(NamedTuple):
    """What the SVMs learned from the documents that were not held out."""

    problem: reduced.Problem
    alpha: Floats


class Chosen(NamedTuple):
    """What was chosen by documents held out."""

    cost: float
    n_candidates: int
    judged: Judged
    held_out: HeldOut
    lessons: list[Lesson]
    """One for each fold."""

    def quality(self) -> dict[str, float]:
        """Return what the mixture reached, by cross-fitting."""
        return held_out_quality(self.held_out.matrix(self.judged.log_odds), self.held_out.truth)

    def calibration(
        self, n_trained: Numbers, n_documents: int, rows: Any = slice(None), **how: bool
    ) -> Calibration | None:
        """Return the calibration by these documents of the log-odds that they were cross-fitted.

        `n_trained` are training documents of each label, `n_documents` all of them. Labels that are
        no candidates are as likely as true labels were missed, or less. `how` goes to `calibrate`.
        """
        pairs = self._pairs(rows)
        # Of one fold the model has seen none, of several all but a part.
        is_part = len(self.held_out.labels) < n_documents // 2
        found = calibrate(pairs, n_trained, n_documents, is_part=is_part, **how)
        n_below = pairs.n_documents * len(n_trained) - len(pairs.labels)
        if found is None or not n_below:
            return found
        return found.with_below(BELOW, (pairs.missed.sum() + 0.5) / (n_below + 1))

    def is_better_calibrated(self, n_trained: Numbers, n_documents: int) -> bool:
        """Return whether documents are ranked better by calibrated log-odds; by cross-fitting.

        Within a label calibration changes no order: that the halves have lines of their own would.
        """
        held, raw = self.held_out, self.judged.log_odds
        found = raw.copy()
        for half in mixture.halves(len(raw)):
            taught = self.calibration(n_trained, n_documents, ~half, is_thorough=False)
            if taught is None:
                return False
            found[half] = taught.log_odds(raw[half], np.maximum(held.labels[half], 0))
        both = {
            name: {key: value for key, value in mixture.measures(odds, held).items()
                   if key in mixture.BY_DOCUMENT}
            for name, odds in (("raw", raw), ("calibrated", found))
        }  # fmt: skip
        return mixture.best_of(both, "raw", parts=("raw",)) == "calibrated"

    def _pairs(self, rows: Any) -> HeldOutPairs:
        """Return the candidates of some documents as pairs."""
        held = self.held_out.only(rows)
        given, truth, n_labels = held.is_given, held.is_true, held.truth.shape[1]
        found = np.bincount(held.labels[truth], minlength=n_labels)
        every = np.bincount(held.truth.indices, minlength=n_labels)
        owner = np.broadcast_to(np.arange(len(given))[:, None], given.shape)
        return HeldOutPairs(
            owner[given], held.labels[given].astype(np.int64), self.judged.log_odds[rows][given],
            truth[given], len(given), every - found,
        )  # fmt: skip


def find_all(shortlister: Shortlister, counts: Counts, execution: Execution) -> Shortlist:
    """Return the candidates of many documents, some after the other."""
    work = partial(_find, shortlister)
    first, *others = execution.map_rows(work, counts, _BATCH, "looking up labels")
    if not others:
        return first
    parts = [
        np.concatenate(part) for part in zip(*(each[1:] for each in (first, *others)), strict=True)
    ]
    features = csr_array(vstack([each.features for each in (first, *others)]))
    return Shortlist(features, *parts)


def choose(
    folds: Sequence[Fold], costs: Sequence[float], numbers: Sequence[int], execution: Execution
) -> Chosen:
    """Return the C, the number of candidates and the mixture that are best for held-out documents.

    C is chosen with the first number of candidates, then another number is taken if it is better.
    Where that was by some labels, and is not the usual C, all labels decide between the two.
    """

    def with_candidates(n: int) -> list[_Task]:
        each = [fold.with_candidates(n, execution) for fold in folds]
        return [_Task(fold, fold.problem(execution)) for fold in each]

    chosen, sample = with_candidates(numbers[0]), _sample(folds[0])
    n_folds = -(-_DOCUMENTS_TO_CHOOSE_BY // max(1, folds[0].truth.shape[0]))
    cost = usual = _USUAL_COST if _USUAL_COST in costs else costs[0]
    if len(costs) > 1:
        found = _measured(chosen[:n_folds], costs, sample, execution)
        cost = _best_cost(costs, found, usual)
    for n in numbers[1:]:
        other = with_candidates(n)
        (before,), (now,) = (
            _measured(each[:n_folds], (cost,), sample, execution) for each in (chosen, other)
        )
        chosen = (
            other if mixture.best_of({"before": before, "now": now}, "before") == "now" else chosen
        )
    every = np.arange(folds[0].shortlister.n_labels)
    left = (cost,) if len(sample) == len(every) else tuple(sorted({cost, usual}))
    solved = [reduced.learn(task.problem, left, every, execution) for task in chosen]
    held = [
        _together([t.fold.held_out(s.weights) for t, s in zip(chosen, of_cost, strict=True)])
        for of_cost in zip(*solved, strict=True)
    ]
    if len(left) > 1:
        cost = _best_cost(left, [mixture.measured("crossed", each) for each in held], usual)
    at, n = left.index(cost), chosen[0].fold.shortlister.n_candidates
    lessons = [Lesson(t.problem, s[at].alpha) for t, s in zip(chosen, solved, strict=True)]
    return Chosen(cost, n, mixture.judge(held[at]), held[at], lessons)


def numbers_to_try(fold: Fold) -> list[int]:
    """Return the numbers of candidates to try: what is enough of a shortlist, then all labels."""
    n_labels = fold.shortlister.n_labels
    if n_labels <= MANY:
        return [n_labels]
    is_enough = fold.recall_of(MANY) - fold.recall_of(FEW) < _WORTH_MORE
    is_cheap = n_labels * fold.labels.shape[0] <= _CHEAP_PAIRS
    return [FEW if is_enough else MANY, *[n_labels] * is_cheap]


class _Task(NamedTuple):
    """A fold, and what the SVMs are to learn from the other documents."""

    fold: Fold
    problem: reduced.Problem


def _measured(
    tasks: Sequence[_Task], costs: Sequence[float], sample: Numbers, execution: Execution
) -> list[dict[str, Floats]]:
    """Return for each C the measures of the mixture on some labels."""
    paths = [reduced.learn(task.problem, costs, sample, execution) for task in tasks]
    return [
        mixture.measured("crossed", _only(_together(of_cost), sample))
        for of_cost in (
            [task.fold.held_out(one.weights) for task, one in zip(tasks, solved, strict=True)]
            for solved in zip(*paths, strict=True)
        )
    ]


def _best_cost(
    costs: Sequence[float], measured: Sequence[dict[str, Floats]], usual: float
) -> float:
    """Return the C with the best list of measures."""
    by_cost = {str(cost): own for cost, own in zip(costs, measured, strict=True)}
    return float(mixture.best_of(by_cost, str(usual)))


def _find(shortlister: Shortlister, counts: Counts, stop: Stop) -> Shortlist:
    return shortlister.find(counts)


def _sample(fold: Fold) -> Numbers:
    """Return the labels by which C is chosen: all, or some of all frequencies."""
    n_pairs = fold.features.shape[0] * fold.shortlister.n_candidates
    step = max(1, round(n_pairs / _SAMPLED_PAIRS))
    order = np.argsort(-fold.shortlister.log_frequencies, kind="stable")
    return np.sort(order[::step])


def _only(held_out: HeldOut, numbers: Numbers) -> HeldOut:
    """Return it as if there were no other labels."""
    n_labels = held_out.truth.shape[1]
    if len(numbers) == n_labels:
        return held_out
    is_kept = np.zeros(n_labels, bool)
    is_kept[numbers] = True
    labels: Labels = np.where(is_kept[np.maximum(held_out.labels, 0)], held_out.labels, -1).astype(
        np.int32
    )
    truth = csr_array(held_out.truth.multiply(is_kept[None, :]))
    truth.eliminate_zeros()
    return held_out._replace(labels=labels, truth=truth.astype(bool))


def _together(parts: Sequence[HeldOut]) -> HeldOut:
    """Return the documents of all folds."""
    if len(parts) == 1:
        return parts[0]
    values: dict[str, Any] = {
        name: np.concatenate([part.values[name] for part in parts]) for name in parts[0].values
    }
    truth = csr_array(vstack([part.truth for part in parts]))
    return HeldOut(np.concatenate([part.labels for part in parts]), values, truth)


def fold_of(
    shortlister: Shortlister, rest: tuple[Counts, Indicator], held: tuple[Counts, Indicator],
    execution: Execution,
) -> Fold:  # fmt: skip
    """Return documents held out with what the others taught."""
    known = np.bincount(rest[1].indices, minlength=rest[1].shape[1]) > 0
    truth = csr_array(held[1].multiply(known[None, :])).astype(bool)
    truth.eliminate_zeros()
    counts = of_known_words(held[0], rest[0])
    found = find_all(shortlister, counts, execution)
    return Fold(shortlister, counts, tfidf(shortlister.idf, rest[0]), rest[1], found, truth)
