"""What the hybrid learns from documents held out: C, how many candidates, and the mixture.

Nothing of a document held out is in what scores it: features, frequencies, lists and the topic
model are those of the other documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.sparse import csr_array, vstack

from deplda.data.corpus import only_columns
from deplda.data.targets import Indicator
from deplda.engine.execution import Execution
from deplda.engine.pool import Stop
from deplda.engine.progress import stage
from deplda.models import mixture
from deplda.models.base import Counts, Floats, Numbers
from deplda.models.calibration import Calibration, HeldOutPairs, calibrate
from deplda.models.candidates import Index, Labels, Sparse, companions, training_lists
from deplda.models.external import ExternalSignal, external_values, scores_at
from deplda.models.hybrid_scorer import (
    BELOW,
    Shortlist,
    Shortlister,
    name_scores,
    with_named,
    with_scored,
)
from deplda.models.linear import reduced
from deplda.models.mixture import Bools, HeldOut, Judged
from deplda.models.name_evidence import Mentions, NamePairs, NameWeights, learn_weights
from deplda.models.quality import HeldOutQuality, held_out_quality
from deplda.models.signals import name_values

COSTS = (0.1, 0.3, 1.0, 3.0)
_USUAL_COST = 1.0
FEW, MANY = 100, 200
_WORTH_MORE = 0.005
"""More candidates are taken if they hold this share more of the true labels."""
_CHEAP_PAIRS = 20_000_000
_CLEARLY_BETTER, _WORTH_REQUIRING = 3.0, 0.005
"""Gain, and average precision by document or by label, from which on external arrays are used: they
are then required of every new document."""
_SAMPLED_PAIRS = 300_000
_DOCUMENTS_TO_CHOOSE_BY = 1_000


class Solved(Protocol):
    """SVMs that have been learned; where they are large, they are in memory when asked for."""

    @property
    def weights(self) -> Sparse:
        """The weights, labels × words."""

    @property
    def alpha(self) -> Any:
        """From where to solve a larger problem."""


class Svms(Protocol):
    """What SVMs are to learn."""

    def learn(
        self, costs: Sequence[float], numbers: Numbers, execution: Execution
    ) -> Sequence[Solved]:
        """Return the solution for each C; rows of labels not in `numbers` are empty."""


class Others(Protocol):
    """The documents that are not held out, wherever they are."""

    @property
    def n_documents(self) -> int:
        """How many there are."""

    @property
    def label_counts(self) -> Numbers:
        """How many of them have each label that is learned."""

    def problem(self, near: Index, k: int, execution: Execution) -> Svms:
        """Return what SVMs are to learn from shortlists of k labels."""


class InMemory(NamedTuple):
    """Documents in memory."""

    features: Sparse
    labels: Indicator
    weights: Floats | None = None
    """How many documents each counts as; None where each is one."""

    @property
    def n_documents(self) -> int:
        """How many there are."""
        return int(self.labels.shape[0])

    @property
    def label_counts(self) -> Numbers:
        """How many of them have each label that is learned."""
        return np.bincount(self.labels.indices, minlength=self.labels.shape[1])

    def problem(self, near: Index, k: int, execution: Execution) -> reduced.Problem:
        """Return what SVMs are to learn from shortlists of k labels."""
        beside = companions(self.labels, self.weights)
        lists = training_lists(self.features, self.labels, near, beside, k, execution)
        return reduced.problem_of(self.features, self.labels, lists, weights=self.weights)


class Fold(NamedTuple):
    """Documents held out, what the others taught, and the candidates it finds for them."""

    shortlister: Shortlister
    counts: Counts
    others: Others
    found: Shortlist
    truth: Sparse
    """Labels of the documents held out that others have too."""
    every_truth: Sparse
    """All of their labels."""
    mentions: Mentions | None
    """The labels whose names stand in them; None where names are not looked at."""
    scores: tuple[Sparse, ...] = ()
    """External scores of labels that other documents have."""

    def with_candidates(self, n: int, execution: Execution) -> Fold:
        """Return it with so many candidates a document."""
        if n == self.shortlister.n_candidates:
            return self
        shortlister = self.shortlister._replace(n_candidates=n)
        return self._replace(
            shortlister=shortlister, found=find_all(shortlister, self.counts, execution)
        )

    def problem(self, execution: Execution) -> Svms:
        """Return what the SVMs are to learn."""
        k, near = self.shortlister.n_candidates, self.shortlister.near
        return self.others.problem(near, k, execution)

    def held_out(self, weights: Sparse) -> HeldOut:
        """Return the signals of all candidates, with these weights."""
        margins = self.shortlister.margins(weights, self.found.features, self.found.labels)
        values = self.shortlister.signals(self.found, margins)
        return HeldOut(self.found.labels, values, self.truth)

    @property
    def is_taught(self) -> Bools:
        """Which labels other documents have."""
        return _are_taught(self.others, self.truth.shape[1])

    def named(self, weights: Sparse, mentions: Mentions) -> NamedFold:
        """Return the candidates with those that names bring up."""
        found, at = with_named(self.found, mentions)
        labels, n_learned = found.labels, self.shortlister.n_labels
        margins = self.shortlister.margins(
            weights, found.features, np.where(labels < n_learned, labels, -1).astype(np.int32)
        )
        values = self.shortlister.signals(found, margins)
        is_unseen = (labels >= 0) & (at >= 0) & ~self.is_taught[labels]
        is_known = (labels >= 0) & ~is_unseen
        seen = HeldOut(np.where(is_known, labels, -1).astype(np.int32), values, self.truth)
        return NamedFold(seen, HeldOut(labels, values, self.every_truth), at, mentions.features)

    def with_scored(self) -> Fold:
        """Return it with the labels that have external scores as candidates."""
        return self._replace(found=with_scored(self.found, self.scores))

    def recall_of(self, k: int) -> float:
        """Return the share of true labels among the k candidates with the largest shares."""
        order = np.argsort(-self.found.shares, axis=1, kind="stable")[:, :k]
        labels = np.take_along_axis(self.found.labels, order, axis=1)
        rows = np.repeat(np.arange(len(labels)), labels.shape[1])
        return float(np.asarray(self.truth[rows, labels.ravel()]).sum()) / max(self.truth.nnz, 1)


class NamedFold(NamedTuple):
    """Documents held out, with the labels that their names bring up."""

    seen: HeldOut
    """The candidates that other documents have, and those whose names are not there …"""
    every: HeldOut
    """… and with them those that no other document has, but whose names are there."""
    at: Numbers
    """Of each candidate the row of its features; −1 where its name is not there."""
    features: Floats

    @property
    def is_unseen(self) -> Bools:
        """Which candidates are known by name alone."""
        return (self.seen.labels < 0) & (self.every.labels >= 0)

    def pairs(self, rows: Bools) -> NamePairs:
        """Return the candidates of some documents whose names are there."""
        is_there = (self.at >= 0) & rows[:, None]
        unseen = self.is_unseen[is_there]
        often = np.where(unseen, self._least, self.every.values["frequency"][is_there])
        return NamePairs(
            self.features[self.at[is_there]], self.every.is_true[is_there], often, unseen
        )

    @property
    def _least(self) -> float:
        """The logarithm of the share that half a document would be."""
        return float(self.every.values["frequency"].min() - np.log(2))

    def together_with(self, others: Sequence[NamedFold]) -> NamedFold:
        """Return the documents of several folds."""
        parts = [self, *others]
        first = np.cumsum([0, *[len(part.features) for part in parts]])
        at = [np.where(p.at >= 0, p.at + n, -1) for p, n in zip(parts, first[:-1], strict=True)]
        return NamedFold(
            _together([part.seen for part in parts]), _together([part.every for part in parts]),
            np.concatenate(at), np.concatenate([part.features for part in parts]),
        )  # fmt: skip


class Lesson(NamedTuple):
    """What the SVMs learned from the documents that were not held out."""

    problem: Any
    alpha: Any


class Chosen(NamedTuple):
    """What was chosen by documents held out."""

    cost: float
    n_candidates: int
    judged: Judged
    held_out: HeldOut
    lessons: list[Lesson]
    """One for each fold."""
    name_weights: NameWeights | None = None
    """None where names are not looked at, or are of no use."""
    is_unseen: Bools | None = None
    """Which candidates no other document has, so that they are known by name alone."""
    external: tuple[ExternalSignal, ...] = ()
    """Empty if the external arrays are not useful."""
    taught_truth: Sparse | None = None
    """Labels of the documents held out that others have too, where `held_out` has more."""

    def quality(self, n_trained: Numbers) -> HeldOutQuality:
        """Return what the mixture reached, by cross-fitting.

        Labels are judged by what was learned of them, not by their names alone.
        """
        scores = self.held_out.matrix(self.judged.log_odds)
        return held_out_quality(scores, self.held_out.truth, n_trained, self.taught_truth)

    def calibration(
        self, n_trained: Numbers, n_documents: int, rows: Any = slice(None), **how: bool
    ) -> Calibration | None:
        """Return the calibration by these documents of the log-odds that they were cross-fitted.

        `n_trained` are training documents of each label, `n_documents` all of them. Labels that are
        no candidates are as likely as true labels were missed, or less. Those that were known by
        name alone, whichever they were in each fold, are one label more, the last. `how` goes to
        `calibrate`.
        """
        pairs = self._pairs(rows)
        # Of one fold the model has seen none, of several all but a part.
        is_part = len(self.held_out.labels) < n_documents // 2
        found = calibrate(pairs, np.append(n_trained, 0), n_documents, is_part=is_part, **how)
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
            found[half] = taught.log_odds(raw[half], np.maximum(self._groups[half], 0))
        both = {
            name: {key: value for key, value in mixture.measures(odds, held).items()
                   if key in mixture.BY_DOCUMENT}
            for name, odds in (("raw", raw), ("calibrated", found))
        }  # fmt: skip
        return mixture.best_of(both, "raw", parts=("raw",)) == "calibrated"

    @property
    def _groups(self) -> Labels:
        """The candidates, those known by name alone as one label behind all others."""
        labels = self.held_out.labels
        if self.is_unseen is None:
            return labels
        never = self.held_out.truth.shape[1]
        return np.where(self.is_unseen, never, labels).astype(np.int32)

    def _pairs(self, rows: Any) -> HeldOutPairs:
        """Return the candidates of some documents as pairs."""
        held, groups = self.held_out.only(rows), self._groups[rows]
        given, truth, n_labels = held.is_given, held.is_true, held.truth.shape[1]
        found = np.bincount(held.labels[truth], minlength=n_labels + 1)
        every = np.bincount(held.truth.indices, minlength=n_labels + 1)
        owner = np.broadcast_to(np.arange(len(given))[:, None], given.shape)
        return HeldOutPairs(
            owner[given], groups[given].astype(np.int64), self.judged.log_odds[rows][given],
            truth[given], len(given), every - found,
        )  # fmt: skip


def find_all(shortlister: Shortlister, counts: Counts, execution: Execution) -> Shortlist:
    """Return the candidates of many documents, some after the other.

    They are found here, whatever the engine: what finds them takes longer to send.
    """
    work, here = partial(_find, shortlister), replace(execution, engine="threads")
    first, *others = here.map_rows(work, counts, shortlister.batch_size, "ranking candidates of")
    if not others:
        return first
    parts = [
        np.concatenate(part) for part in zip(*(each[1:] for each in (first, *others)), strict=True)
    ]
    features = csr_array(vstack([each.features for each in (first, *others)]))
    return Shortlist(features, *parts)


def choose(
    folds: Sequence[Fold], costs: Sequence[float], numbers: Sequence[int], execution: Execution,
    signals: Sequence[str] = (),
) -> Chosen:  # fmt: skip
    """Return the C, the number of candidates and the mixture that are best for held-out documents.

    C is chosen with the first number of candidates, then another number is taken if it is better.
    Where that was by some labels, and is not the usual C, all labels decide between the two.
    `signals` are the names of external signals.
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
    solved = [task.problem.learn(left, every, execution) for task in chosen]
    held = [
        _together([t.fold.held_out(s.weights) for t, s in zip(chosen, of_cost, strict=True)])
        for of_cost in zip(*solved, strict=True)
    ]
    if len(left) > 1:
        measured = execution.map_here(partial(mixture.measured, "crossed"), held)
        cost = _best_cost(left, measured, usual)
    at, n = left.index(cost), chosen[0].fold.shortlister.n_candidates
    lessons = [Lesson(t.problem, s[at].alpha) for t, s in zip(chosen, solved, strict=True)]
    with stage("weighing signals", execution.progress):
        plain = Chosen(cost, n, mixture.judge(held[at], execution), held[at], lessons)
        own, svms = [t.fold for t in chosen], [s[at] for s in solved]
        named = _with_names(own, svms, plain, execution) or plain
        return _with_external(own, svms, named, signals, execution) if signals else named


class _Named(NamedTuple):
    """Candidates of documents held out with the signals of names, each half by the other's."""

    learned: NameWeights
    seen: HeldOut
    every: HeldOut
    is_unseen: Bools
    by_name: Floats
    """The log-odds of those that are known by name alone."""

    def log_odds(self, judged: Judged) -> Floats:
        """Return the log-odds of all candidates: of those by name alone, of others as judged."""
        return np.where(self.is_unseen, self.by_name, judged.log_odds)


def _named(folds: Sequence[Fold], svms: Sequence[Solved]) -> _Named | None:
    """Return the candidates with names; None where these are not looked at, or teach nothing."""
    parts = [
        fold.named(own.weights, fold.mentions)
        for fold, own in zip(folds, svms, strict=True)
        if fold.mentions is not None
    ]
    if not parts:
        return None
    both = parts[0].together_with(parts[1:])
    n = len(both.at)
    learned = learn_weights(both.pairs(np.ones(n, bool)))
    if learned is None:
        return None
    names, by_name = np.empty(both.at.shape), np.empty(both.at.shape)
    for half in mixture.halves(n):
        taught = learn_weights(both.pairs(~half)) or learned
        scores = name_scores(taught.scores(both.features), both.at[half])
        names[half], by_name[half] = scores - taught.centre, scores + taught.unseen
    values = both.every.values | name_values(names)
    seen, every = (replace(each, values=values) for each in (both.seen, both.every))
    return _Named(learned, seen, every, both.is_unseen, by_name)


def _with_names(
    folds: Sequence[Fold], svms: Sequence[Solved], plain: Chosen, execution: Execution
) -> Chosen | None:
    """Return what was chosen with names as a signal; None where they are no better.

    All labels of the documents count here, also those that no other document has.
    """
    named = _named(folds, svms)
    if named is None:
        return None
    judged = mixture.with_names(plain.judged.name, named.seen, execution)
    log_odds = named.log_odds(judged)
    of_all = replace(plain.held_out, truth=named.every.truth)
    measured = {
        "plain": mixture.measures(plain.judged.log_odds, of_all),
        "names": mixture.measures(log_odds, named.every),
    }
    if mixture.best_of(measured, "plain") == "plain":
        return None
    judged = judged._replace(log_odds=log_odds, measures=plain.judged.measures | judged.measures)
    return plain._replace(
        judged=judged, held_out=named.every, name_weights=named.learned,
        is_unseen=named.is_unseen, taught_truth=plain.held_out.truth,
    )  # fmt: skip


def _with_external(
    folds: Sequence[Fold], svms: Sequence[Solved], before: Chosen, names: Sequence[str],
    execution: Execution,
) -> Chosen:  # fmt: skip
    """Return the choice with external signals, or without them where they are no better."""
    wide = [fold.with_scored() for fold in folds]
    named = None if before.name_weights is None else _named(wide, svms)
    if named is None:
        seen = every = _together(
            [fold.held_out(own.weights) for fold, own in zip(wide, svms, strict=True)]
        )
    else:
        seen, every = named.seen, named.every
    scores = [csr_array(vstack(own)) for own in zip(*(f.scores for f in wide), strict=True)]
    signals = tuple(
        ExternalSignal.of(name, scores_at(own, seen.labels))
        for name, own in zip(names, scores, strict=True)
    )
    values = every.values | external_values(signals, scores, seen.labels)
    seen, every = (replace(each, values=values) for each in (seen, every))
    measured = {"before": mixture.measures(before.judged.log_odds, before.held_out)}
    forms, told = {}, before.judged.measures
    for form in mixture.OF_EXTERNAL:
        judged = mixture.with_external(before.judged, names, form, seen, execution)
        odds = judged.log_odds if named is None else named.log_odds(judged)
        forms[form], measured[form] = judged._replace(log_odds=odds), mixture.measures(odds, every)
        told = told | judged.measures
    best = mixture.best_of(measured, "before")
    if not _is_worth_requiring(measured[best], measured["before"]):
        return before._replace(judged=before.judged._replace(measures=told))
    return before._replace(
        judged=forms[best]._replace(measures=told), held_out=every, external=signals,
        is_unseen=None if named is None else named.is_unseen,
        name_weights=None if named is None else named.learned,
    )  # fmt: skip


def _is_worth_requiring(own: dict[str, Floats], before: dict[str, Floats]) -> bool:
    """Return whether measures with external arrays are clearly better, by more than a trifle."""
    more = max(
        mixture.mean(own[name]) - mixture.mean(before[name])
        for name in ("document average precision", "label average precision")
    )
    return more >= _WORTH_REQUIRING and mixture.gain(own, before) >= _CLEARLY_BETTER


def numbers_to_try(fold: Fold) -> list[int]:
    """Return the numbers of candidates to try: what is enough of a shortlist, then all labels."""
    n_labels = fold.shortlister.n_labels
    if n_labels <= MANY:
        return [n_labels]
    is_enough = fold.recall_of(MANY) - fold.recall_of(FEW) < _WORTH_MORE
    is_cheap = n_labels * fold.others.n_documents <= _CHEAP_PAIRS
    return [FEW if is_enough else MANY, *[n_labels] * is_cheap]


class _Task(NamedTuple):
    """A fold, and what the SVMs are to learn from the other documents."""

    fold: Fold
    problem: Svms


def _measured(
    tasks: Sequence[_Task], costs: Sequence[float], sample: Numbers, execution: Execution
) -> list[dict[str, Floats]]:
    """Return for each C the measures of the mixture on some labels."""
    paths = [task.problem.learn(costs, sample, execution) for task in tasks]
    held = [
        _together([task.fold.held_out(one.weights) for task, one in zip(tasks, own, strict=True)])
        for own in zip(*paths, strict=True)
    ]
    return execution.map_here(lambda each: mixture.measured("crossed", _only(each, sample)), held)


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
    n_pairs = fold.others.n_documents * fold.shortlister.n_candidates
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
    return replace(held_out, labels=labels, truth=truth.astype(bool))


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
    shortlister: Shortlister, others: Others, held: tuple[Counts, Indicator],
    mentions: Mentions | None, scores: Sequence[Sparse], execution: Execution,
) -> Fold:  # fmt: skip
    """Return documents held out with what the others taught; they may have labels of no other.

    Their counts are those of words that the others have.
    """
    counts, labels = held
    known = _are_taught(others, labels.shape[1])
    truth = csr_array(labels.multiply(known[None, :])).astype(bool)
    truth.eliminate_zeros()
    found = find_all(shortlister, counts, execution)
    return Fold(
        shortlister, counts, others, found, truth, labels, mentions,
        tuple(only_columns(own, known) for own in scores),
    )  # fmt: skip


def _are_taught(others: Others, n_labels: int) -> Bools:
    """Return which of all labels other documents have."""
    found = np.zeros(n_labels, bool)
    own = others.label_counts
    found[: len(own)] = own > 0
    return found
