"""Many linear SVMs on the same documents, one for each label, solved some labels at a time.

Newton's method on the primal: most labels are rare and most documents lie beyond their margins, so
the second derivative is a sum over few documents. A label starts from the solution for a label that
no document has, and the labels of a block share each pass over all documents. Nothing is random.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from deplda.engine.pool import Stop, check_stop
from deplda.kernels import linear

Floats = npt.NDArray[np.float64]
Signs = npt.NDArray[np.int8]
Numbers = npt.NDArray[np.int64]

MOST_STEPS = 100
MOST_INNER_STEPS = 200
MOST_LINE_STEPS = 50
EASE = 0.1  # how far conjugate gradients bring the gradient down in one of Newton's steps


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Documents as kernels read them, and each one's length with its constant 1."""

    starts: npt.NDArray[np.int64]
    words: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32]
    lengths: Floats
    n_words: int
    weights: Floats
    """What C of each document is multiplied by."""

    @classmethod
    def of(cls, matrix: csr_array[Any, tuple[int, int]], weights: Floats | None = None) -> Self:
        """Return the rows of a sparse matrix, all of weight 1 where nothing else is said."""
        values = matrix.data.astype(np.float32)
        squares = csr_array(
            (np.square(values, dtype=np.float64), matrix.indices, matrix.indptr), matrix.shape
        )
        lengths: Floats = np.sqrt(1.0 + np.asarray(squares.sum(axis=1), np.float64).ravel())
        return cls(
            matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), values, lengths,
            matrix.shape[1], np.ones(len(lengths)) if weights is None else weights,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.lengths)

    def scores(self, weights: Sequence[Floats]) -> Floats:
        """Return the scores of all documents for some weights, weights × documents."""
        scores = np.empty((len(weights), len(self)))
        columns = np.stack(weights, axis=1).astype(np.float32)  # half the memory to go through
        linear.score_documents(self.starts, self.words, self.values, columns, scores)
        return scores

    def sum(self, documents: npt.NDArray[np.int64], factors: Floats) -> Floats:
        """Return the sum of some documents, each times its factor."""
        total = np.zeros(self.n_words + 1)
        linear.add_documents(self.starts, self.words, self.values, documents, factors, total)
        return total


class Problem(NamedTuple):
    """What is known of all labels: sent to every worker, once."""

    features: Features
    starts: npt.NDArray[Any]
    documents: npt.NDArray[Any]
    """The documents of label c are documents[starts[c] : starts[c + 1]]."""
    order: Numbers
    tolerance: float

    def signs(self, label: int) -> Signs:
        """Return 1 for documents that have the label and −1 for the others."""
        signs = np.full(len(self.features), -1, np.int8)
        signs[self.documents[self.starts[label] : self.starts[label + 1]]] = 1
        return signs


class Solved(NamedTuple):
    """What was learned of some labels."""

    weights: list[tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]]
    """Of each label its words and their weights."""
    intercepts: list[float]
    unsolved: int
    held_out: list[npt.NDArray[np.float32]]
    """For each fold documents × labels."""


class Machine:
    """The SVM of one label while it is solved: w, with the intercept at its end, and its scores."""

    def __init__(
        self, features: Features, signs: Signs, costs: tuple[float, float], start: Machine | None
    ) -> None:
        self.features, self.signs = features, signs
        self.w: Floats = np.zeros(features.n_words + 1) if start is None else start.w
        self.scores: Floats = np.zeros(len(features)) if start is None else start.scores
        self.set_costs(costs)

    def set_costs(self, costs: tuple[float, float]) -> None:
        """Set C of documents without and with the label."""
        self.costs, self.n_steps = costs, 0
        self._look()

    def _look(self) -> None:
        """Find the documents within the margin, and the gradient."""
        slack = np.where(self.signs != 0, 1.0 - self.signs * self.scores, 0.0)
        self._within = np.flatnonzero(slack > 0)
        signs = self.signs[self._within].astype(np.float64)
        costs = np.where(signs > 0, self.costs[1], self.costs[0])
        self._costs_within = costs * self.features.weights[self._within]
        pull = 2 * self._costs_within * signs * slack[self._within]
        self.weights = self.features.sum(self._within, pull)
        """What w is at the solution, where the gradient is 0; words of no document within are 0."""
        self._gradient = self.w - self.weights
        self.error = float(np.sqrt(linear.product(self._gradient, self._gradient)))
        """‖w − w*‖ at most: the objective's second derivative is nowhere below 1."""

    def direction(self) -> Floats:
        """Return the direction of Newton's next step."""
        features = self.features
        found: Floats = linear.newton_direction(
            features.starts, features.words, features.values, self._within, self._costs_within,
            self._gradient, EASE, MOST_INNER_STEPS,
        )  # fmt: skip
        return found

    def step(self, direction: Floats, changes: Floats) -> None:
        """Go to the least objective in a direction, which changes scores by `changes`."""
        t = linear.line_minimum(
            self.scores, changes, self.signs, self.features.weights,
            linear.product(self.w, direction), linear.product(direction, direction), self.costs,
            MOST_LINE_STEPS,
        )  # fmt: skip
        self.w = self.w + t * direction
        self.scores = self.scores + t * changes
        self.n_steps += 1
        self._look()

    def is_done(self, tolerance: float) -> bool:
        """Return whether it is solved, or has taken as many steps as it may."""
        return self.error <= tolerance or self.n_steps >= MOST_STEPS


def never(features: Features, cost: float, tolerance: float) -> Machine:
    """Return the machine of a label that no document has, from which all labels start."""
    signs = np.full(len(features), -1, np.int8)
    machine = Machine(features, signs, (cost, cost), None)
    solve([machine], tolerance, Event())
    return machine


def solve(machines: Sequence[Machine], tolerance: float, stop: Stop) -> None:
    """Solve machines on the same documents, to within the tolerance in w."""
    step_until(machines, lambda number: machines[number].is_done(tolerance), stop)


def step_until(machines: Sequence[Machine], is_finished: Callable[[int], bool], stop: Stop) -> None:
    """Let machines take steps until each is finished with."""
    while left := [number for number in range(len(machines)) if not is_finished(number)]:
        check_stop(stop)
        directions = [machines[number].direction() for number in left]
        changes = machines[0].features.scores(directions)
        for number, direction, change in zip(left, directions, changes, strict=True):
            machines[number].step(direction, change)
