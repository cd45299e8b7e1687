"""What is chosen on held-out training documents: Tuned-SVM's weights, Tfidf-SVM's C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from deplda.data.targets import Indicator
from deplda.engine.pool import Stop
from deplda.models.linear.solver import Features, Machine, Signs, solve, step_until

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Weighted = Literal["positive", "both"]
"""Which documents a label's weight is of: those that have the label, or all."""

POSITIVE_WEIGHTS = (1, 2, 5, 10, 25, 50, 100, 250, 500, 1000)
COSTS = (0.3, 1.0, 3.0)
CHOICE_TOLERANCE = 0.1  # scores are then right to about 0.01, enough to compare values of C
HELD_OUT_TOLERANCE = 0.03
"""Scores of held-out documents are then right to some thousandths."""


def shuffled(n: int, seed: int) -> Numbers:
    """Return documents in the random order in which they are held out."""
    return np.random.default_rng(np.random.SeedSequence(seed)).permutation(n)


def n_held_out(n: int) -> int:
    """Return how many of so many documents are held out: a tenth, rounded, one at least."""
    return max(1, round(n / 10))


def tenth(documents: Numbers) -> Numbers:
    """Return the first of some documents, as many as are held out."""
    return documents[: n_held_out(len(documents))]


def held_out(signs: Signs, order: Numbers) -> tuple[Signs, Numbers]:
    """Return the signs of what is left to train on, 0 for documents held out, and those held out.

    A tenth of the documents with the label and a tenth of those without. The only document with (or
    without) a label is in both sets.
    """
    left, held = signs.copy(), []
    for sign in (1, -1):
        documents = order[signs[order] == sign]
        held.append(tenth(documents))
        if len(documents) > 1:
            left[held[-1]] = 0
    return left, np.concatenate(held)


def weighted(cost: float, weight: float, which: Weighted) -> tuple[float, float]:
    """Return C of documents without and with a label of some weight."""
    return cost * weight if which == "both" else cost, cost * weight


def weighted_costs(cost: float, weights: Sequence[float] | Floats, which: Weighted) -> Floats:
    """Return C of documents without and with each label, 2 × labels."""
    return np.array([weighted(cost, weight, which) for weight in weights]).reshape(-1, 2).T


def candidates(signs: Signs, weights: Floats | None = None) -> list[float]:
    """Return the weights to try, those closest to 1 first; documents have weights too."""
    n = np.ones(len(signs)) if weights is None else weights
    ratio = float(n[signs < 0].sum() / n[signs > 0].sum())
    return sorted({*map(float, POSITIVE_WEIGHTS), ratio}, key=lambda weight: abs(weight - 1))


class Choice:
    """The choice of one label's weight: the most accurate, of equals the closest to 1.

    Weights are tried from 1 outwards, each from the solution of the one before, so that a later one
    must be right on more held-out documents than the best so far. None can once all are right. And
    a weight need not be solved to the end: a score is within ‖x‖‖w − w*‖ of the solution's, so that
    its sign is soon sure. A weight is dropped when so many are sure to be wrong that it cannot be
    better. Neither changes the choice.
    """

    def __init__(self, weights: list[float], n_held: int) -> None:
        self._waiting, self._n, self._best = weights[1:], n_held, -1
        self.weight, self.chosen = weights[0], 1.0

    def is_judged(self, n_right: int, n_surely_wrong: int, n_unsure: int, is_done: bool) -> bool:
        """Judge the weight by the scores of held-out documents so far; say whether that was it."""
        if not is_done:
            if self._n - n_surely_wrong <= self._best:
                return True
            if n_unsure:
                return False
        if n_right > self._best:
            self._best, self.chosen = n_right, self.weight
        return True

    def goes_on(self) -> bool:
        """Go on to the next weight; say whether there is one that may be better."""
        if self._best == self._n or not self._waiting:
            return False
        self.weight = self._waiting.pop(0)
        return True


class Search:
    """The search for one label's weight, on the CPU."""

    def __init__(
        self, features: Features, signs: Signs, order: Numbers, which: Weighted, start: Machine
    ) -> None:
        left, self._held = held_out(signs, order)
        self._is_positive = signs[self._held] > 0
        self._lengths = features.lengths[self._held]
        self._cost, self._which = start.costs[0], which
        self._choice = Choice(candidates(signs, features.weights), len(self._held))
        self.machine = Machine(features, left, self._costs(), start)

    @property
    def chosen(self) -> float:
        """The best weight so far."""
        return self._choice.chosen

    def _costs(self) -> tuple[float, float]:
        return weighted(self._cost, self._choice.weight, self._which)

    def is_finished(self, tolerance: float) -> bool:
        """Judge the weight by the scores it gives so far; say whether no other is left to try."""
        while self._is_judged(tolerance):
            if not self._choice.goes_on():
                return True
            self.machine.set_costs(self._costs())
        return False

    def _is_judged(self, tolerance: float) -> bool:
        scores = self.machine.scores[self._held]
        is_right = (scores > 0) == self._is_positive
        is_sure = np.abs(scores) > self._lengths * self.machine.error
        counted = (is_right, is_sure & ~is_right, ~is_sure)
        n_right, n_surely_wrong, n_unsure = (int(np.count_nonzero(each)) for each in counted)
        is_done = self.machine.is_done(tolerance)
        return self._choice.is_judged(n_right, n_surely_wrong, n_unsure, is_done)


def search_weights(searches: Sequence[Search], tolerance: float, stop: Stop) -> list[float]:
    """Return the chosen weight of each of some labels."""
    machines = [search.machine for search in searches]
    step_until(machines, lambda number: searches[number].is_finished(tolerance), stop)
    return [search.chosen for search in searches]


def path_scores(
    machines: Sequence[Machine], held: Numbers, costs: Sequence[float], stop: Stop
) -> npt.NDArray[np.float32]:
    """Return the scores of held-out documents for each C: costs × documents × labels."""
    found = np.empty((len(costs), len(held), len(machines)), np.float32)
    for k, cost in enumerate(costs):
        for machine in machines:
            machine.set_costs((cost, cost))
        solve(machines, CHOICE_TOLERANCE, stop)
        found[k] = np.stack([machine.scores[held] for machine in machines], axis=1)
    return found


def average_precision(truth: Indicator, scores: npt.NDArray[np.float32]) -> float:
    """Return scikit-learn's label_ranking_average_precision_score, found in less time."""
    ascending, found = np.sort(scores, axis=1), np.ones(len(scores))
    for i, row in enumerate(scores):
        own = np.sort(row[truth.indices[truth.indptr[i] : truth.indptr[i + 1]]])
        if len(own):
            n_as_good = len(row) - np.searchsorted(ascending[i], own)
            found[i] = np.mean((len(own) - np.searchsorted(own, own)) / n_as_good)
    return float(found.mean())


def best_cost(costs: Sequence[float], quality: Callable[[int], float]) -> float:
    """Return the C of the best quality, of equals the closest to 1."""
    return max((quality(k), -abs(np.log(cost)), cost) for k, cost in enumerate(costs))[2]
