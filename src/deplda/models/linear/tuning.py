"""What is chosen on held-out training documents: Tuned-SVM's positive weights, Tfidf-SVM's C."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from deplda.engine.pool import Stop
from deplda.models.linear.solver import Features, Machine, Signs, solve, step_until

Numbers = npt.NDArray[np.int64]

POSITIVE_WEIGHTS = (1, 2, 5, 10, 25, 50, 100, 250, 500, 1000)
COSTS = (0.3, 1.0, 3.0)
_CHOICE_TOLERANCE = 0.1  # scores are then right to about 0.01, enough to compare values of C


def shuffled(n: int, seed: int) -> Numbers:
    """Return documents in the random order in which they are held out."""
    return np.random.default_rng(np.random.SeedSequence(seed)).permutation(n)


def tenth(documents: Numbers) -> Numbers:
    """Return the first tenth of some documents, rounded, one at least."""
    return documents[: max(1, round(len(documents) / 10))]


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


def candidates(signs: Signs, weights: npt.NDArray[np.float64] | None = None) -> list[float]:
    """Return the positive weights to try, those closest to 1 first; documents have weights too."""
    n = np.ones(len(signs)) if weights is None else weights
    ratio = float(n[signs < 0].sum() / n[signs > 0].sum())
    return sorted({*map(float, POSITIVE_WEIGHTS), ratio}, key=lambda weight: abs(weight - 1))


class Search:
    """The search for one label's positive weight: the most accurate, of equals the closest to 1.

    Weights are tried from 1 outwards, each from the solution of the one before, so that a later one
    must be right on more held-out documents than the best so far. None can once all are right. And
    a weight need not be solved to the end: a score is within ‖x‖‖w − w*‖ of the solution's, so that
    its sign is soon sure. A weight is dropped when so many are sure to be wrong that it cannot be
    better. Neither changes the choice.
    """

    def __init__(
        self, features: Features, signs: Signs, order: Numbers, cost: float, start: Machine
    ) -> None:
        left, self._held = held_out(signs, order)
        self._is_positive = signs[self._held] > 0
        self._lengths = features.lengths[self._held]
        self._waiting, self._cost = candidates(signs, features.weights), cost
        self._best, self._weight, self.chosen = -1, self._waiting.pop(0), 1.0
        self.machine = Machine(features, left, self._costs(), start)

    def _costs(self) -> tuple[float, float]:
        return self._cost, self._cost * self._weight

    def is_finished(self, tolerance: float) -> bool:
        """Judge the weight by the scores it gives so far; say whether no other is left to try."""
        while self._is_judged(tolerance):
            if self._best == len(self._held) or not self._waiting:
                return True
            self._weight = self._waiting.pop(0)
            self.machine.set_costs(self._costs())
        return False

    def _is_judged(self, tolerance: float) -> bool:
        scores, n = self.machine.scores[self._held], len(self._held)
        is_right = (scores > 0) == self._is_positive
        if not self.machine.is_done(tolerance):
            is_sure = np.abs(scores) > self._lengths * self.machine.error
            if n - np.count_nonzero(is_sure & ~is_right) <= self._best:
                return True
            if not is_sure.all():
                return False
        if (right := int(np.count_nonzero(is_right))) > self._best:
            self._best, self.chosen = right, self._weight
        return True


def search_weights(searches: Sequence[Search], tolerance: float, stop: Stop) -> list[float]:
    """Return the chosen positive weight of each of some labels."""
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
        solve(machines, _CHOICE_TOLERANCE, stop)
        found[k] = np.stack([machine.scores[held] for machine in machines], axis=1)
    return found


def best_cost(costs: Sequence[float], quality: Callable[[int], float]) -> float:
    """Return the C of the best quality, of equals the closest to 1."""
    return max((quality(k), -abs(np.log(cost)), cost) for k, cost in enumerate(costs))[2]
