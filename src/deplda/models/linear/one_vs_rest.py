"""One SVM for each label, in blocks on all cores; the documents are shared."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import label_ranking_average_precision_score

from deplda.data.targets import Indicator
from deplda.engine.execution import Execution, Shown
from deplda.engine.pool import Stop
from deplda.engine.progress import compiling
from deplda.models.linear import tuning
from deplda.models.linear.solver import Features, Floats, Machine, Signs, never, solve

Result = TypeVar("Result")
Numbers = npt.NDArray[np.int64]

CONSTANT = 2.0
"""Score of a label that all training documents have; less than 0 of one that none has."""

HELD_OUT_TOLERANCE = 0.03
"""Scores of held-out documents are then right to some thousandths."""

_BLOCK_LABELS, _BLOCK_CELLS = 32, 1 << 22
_MOST_HELD_OUT = 2_000
_MOST_LABELS_TO_CHOOSE_BY = 2_048


class Weights(NamedTuple):
    """What is learned: the weights, words × labels, and one intercept for each label."""

    weights: csr_array[Any, tuple[int, int]]
    intercepts: Floats


class HeldOut:
    """Documents to be scored by machines that have not seen them, some folds of all documents."""

    def __init__(self, folds: Sequence[Numbers], n_labels: int) -> None:
        self.folds = folds
        self.scores = [np.full((len(fold), n_labels), -CONSTANT, np.float32) for fold in folds]
        """Of each fold documents × labels; a label of no document scores as one that none has."""


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


class OneVsRest:
    """Training documents and their labels, for which machines are solved some labels at a time."""

    def __init__(
        self, matrix: csr_array[Any, tuple[int, int]], labels: Indicator, tolerance: float,
        seed: int, execution: Execution, weights: Floats | None = None,
    ) -> None:  # fmt: skip
        self._labels, columns, self._execution = labels, csc_array(labels), execution
        n_positive, n = np.diff(columns.indptr), labels.shape[0]
        taught = np.flatnonzero((n_positive > 0) & (n_positive < n))
        # The frequent ones take longest: they come first, so that all cores end together.
        self._taught = taught[np.argsort(-n_positive[taught], kind="stable")]
        self._constants = np.where(n_positive > 0, CONSTANT, -CONSTANT)
        order = tuning.shuffled(n, seed)
        with compiling(execution.progress):
            features = Features.of(matrix, weights)
            never(Features.of(matrix[:1]), 1.0, 1.0)
        self._problem = Problem(features, columns.indptr, columns.indices, order, tolerance)

    def learn(
        self,
        cost: float,
        least: float,
        positive_weights: Floats | None = None,
        held_out: HeldOut | None = None,
    ) -> Weights:
        """Return the solution for C; weights of no more than `least` are left out.

        `positive_weights` multiply C of the documents that have a label, label by label. `held_out`
        documents are scored by machines that have not seen them, on the way to the solution.
        """
        n_labels = self._labels.shape[1]
        of_label: list[Any] = [(np.zeros(0, np.int32), np.zeros(0, np.float32))] * n_labels
        intercepts, unsolved = self._constants.copy(), 0
        ratios = np.ones(n_labels) if positive_weights is None else positive_weights
        folds = () if held_out is None else held_out.folds
        given = (self._start(cost), cost * ratios, least, folds)
        for labels, found in self._blocks("training SVMs of", self._taught, _learned, given):
            intercepts[labels] = found.intercepts
            unsolved += found.unsolved
            for label, words_and_weights in zip(labels, found.weights, strict=True):
                of_label[label] = words_and_weights
            if held_out is not None:
                for every, scores in zip(held_out.scores, found.held_out, strict=True):
                    every[:, labels] = scores
        if unsolved:
            _warn_unsolved(unsolved, self._problem.tolerance)
        return Weights(_assembled(of_label, self._problem.features.n_words), intercepts)

    def tune(self, cost: float) -> Floats:
        """Return the positive weight of every label by the paper's hold-out rule."""
        found = np.ones(self._labels.shape[1])
        given = (self._start(cost),)
        for labels, chosen in self._blocks("tuning SVMs of", self._taught, _tuned, given):
            found[labels] = chosen
        return found

    def choose_cost(self, costs: Sequence[float], folds: Sequence[Numbers] = ()) -> float:
        """Return the C with the best average precision on held-out documents: folds, or a tenth.

        Of many labels, some of all frequencies are enough to choose by, and so are some documents.
        """
        if len(self._taught) < 2:
            return 1.0
        chosen_by = self._taught[:: -(-len(self._taught) // _MOST_LABELS_TO_CHOOSE_BY)]
        folds = [fold[:_MOST_HELD_OUT] for fold in folds or [tuning.tenth(self._problem.order)]]
        given = (self._start(costs[0]), costs, folds)
        parts = [scores for _, scores in self._blocks("choosing C by", chosen_by, _path, given)]
        scores = np.concatenate(parts, axis=2)
        truth = self._labels[np.concatenate(folds)][:, chosen_by].toarray()
        return tuning.best_cost(
            costs, lambda k: float(label_ranking_average_precision_score(truth, scores[k]))
        )

    def _start(self, cost: float) -> Machine:
        return never(self._problem.features, cost, self._problem.tolerance)

    def _blocks(
        self, what: str, labels: Numbers, work: Callable[..., Result], given: tuple[Any, ...]
    ) -> Iterator[tuple[list[int], Result]]:
        """Yield some of the labels and work(problem, *given, some, stop), block after block."""
        size = min(_BLOCK_LABELS, max(1, _BLOCK_CELLS // max(1, len(self._problem.features))))
        blocks = [labels[k : k + size].tolist() for k in range(0, len(labels), size)]
        shown = Shown(f"{what} {len(labels):,} labels", len(labels), len)
        results = self._execution.map(work, blocks, self._problem, *given, shown=shown)
        return zip(blocks, results, strict=True)


# What workers do, for some labels -----------------------------------------------------------------


class _Solved(NamedTuple):
    """What was learned of some labels."""

    weights: list[tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]]
    intercepts: list[float]
    unsolved: int
    held_out: list[npt.NDArray[np.float32]]
    """For each fold documents × labels."""


def _learned(
    problem: Problem, start: Machine, positive_costs: Floats, least: float,
    folds: Sequence[Numbers], labels: Sequence[int], stop: Stop,
) -> _Solved:  # fmt: skip
    """Solve labels, those without the documents of each fold first, which is scored by them.

    A fold's machines start where no document of the fold has been seen: what is left of the start
    when they stop would else be the fold's own labels. The last fold's are where the solution for
    all documents starts.
    """
    all_signs = [problem.signs(label) for label in labels]
    costs = [(start.costs[0], positive_costs[label]) for label in labels]

    def machines(left_out: Numbers, starts: Sequence[Machine]) -> list[Machine]:
        return [
            Machine(problem.features, _without(signs, left_out), both, begin)
            for signs, both, begin in zip(all_signs, costs, starts, strict=True)
        ]

    nothing, solved, held_out = np.zeros(0, np.int64), [start] * len(labels), []
    for fold in folds:
        solved = machines(fold, [start] * len(labels))
        solve(solved, HELD_OUT_TOLERANCE, stop)
        held_out.append(np.stack([m.scores[fold] for m in solved], axis=1).astype(np.float32))
    solved = machines(nothing, solved)
    solve(solved, problem.tolerance, stop)
    return _Solved(
        [_sparse(machine.weights[:-1], least) for machine in solved],
        [machine.weights[-1] for machine in solved],
        sum(machine.error > problem.tolerance for machine in solved),
        held_out,
    )


def _tuned(problem: Problem, start: Machine, labels: Sequence[int], stop: Stop) -> list[float]:
    cost = start.costs[0]
    searches = [
        tuning.Search(problem.features, problem.signs(label), problem.order, cost, start)
        for label in labels
    ]
    return tuning.search_weights(searches, problem.tolerance, stop)


def _path(
    problem: Problem, start: Machine, costs: Sequence[float], folds: Sequence[Numbers],
    labels: Sequence[int], stop: Stop,
) -> npt.NDArray[np.float32]:  # fmt: skip
    """Return scores of held-out documents for each C: costs × documents × labels."""
    found = []
    for fold in folds:
        machines = [
            Machine(problem.features, _without(problem.signs(label), fold), start.costs, start)
            for label in labels
        ]
        found.append(tuning.path_scores(machines, fold, costs, stop))
    return np.concatenate(found, axis=1)


def _without(signs: Signs, fold: Numbers) -> Signs:
    left = signs.copy()
    left[fold] = 0
    return left


def _sparse(w: Floats, least: float) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    words = np.flatnonzero(np.abs(w) > least)
    return words.astype(np.int32), w[words].astype(np.float32)


def _assembled(columns: Sequence[Any], n_words: int) -> csr_array[Any, tuple[int, int]]:
    """Return a sparse matrix of columns, each its row numbers and values."""
    starts = np.concatenate([[0], np.cumsum([len(words) for words, _ in columns])])
    words, values = (np.concatenate(part) for part in zip(*columns, strict=True))
    return csr_array(csc_array((values, words, starts), shape=(n_words, len(columns))))


def _warn_unsolved(n: int, tolerance: float) -> None:
    warnings.warn(
        f"the SVMs of {n:,} labels have not come down to tol={tolerance:g}; "
        "a smaller C or a larger tol helps",
        ConvergenceWarning,
        stacklevel=4,
    )
